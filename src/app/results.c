/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE /* FNM_EXTMATCH; NOLINT(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */
#include "photons/app/results.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "photons/base/error.h"

#define NUMBER "+([0-9])"

/** Names of files as fnmatch() has them with FNM_EXTMATCH. */
static const struct kind {
  const char *folder, *pattern;
  const char *told; /* in the last line of a run; NULL: not there */
} kinds[] = {
    {"", "snap_" NUMBER "?(." NUMBER ").hdf5", "snapshots snap_*.hdf5"},
    {"", "snapshot_" NUMBER "?(." NUMBER ").hdf5", "snapshots snapshot_*.hdf5"},
    {"", "snap_" NUMBER "?(." NUMBER ")", "snapshots snap_*"}, /* of output.format = gadget2 */
    {"", "snapshot_" NUMBER "?(." NUMBER ")", "snapshots snapshot_*"},
    {"", "subsample_" NUMBER "?(." NUMBER ")?(.hdf5)", "subsamples subsample_*"},
    {"", "@(snap|snapshot)_" NUMBER ".swift.hdf5", NULL}, /* made by tools/swift_view.py */
    {"", "gas_" NUMBER ".hdf5", "gas gas_*.hdf5"},
    {"", "gas_" NUMBER "-[a-d]." NUMBER ".hdf5", NULL}, /* parts of these */
    {"", "fof_tab_" NUMBER ".hdf5", "halos fof_tab_*.hdf5"},
    {"", "fof_subhalo_tab_" NUMBER ".hdf5", "halos fof_subhalo_tab_*.hdf5"},
    {"", "tree_" NUMBER ".hdf5", "links of halos tree_*.hdf5"},
    {"", "trees.hdf5", "merger trees trees.hdf5"},
    {"", "powerspec_" NUMBER ".txt", "powerspec_*.txt"},
    {"", "powerspec_@(gas|particles)_" NUMBER ".txt", "powerspec_*.txt"},
    {"", "@(multipoles|correlation|bispectrum|halopower)_" NUMBER ".txt", "statistics *_NNN.txt"},
    {"", "massfunc_" NUMBER ".txt", "massfunc_*.txt"},
    {"", "@(energy|components)_" NUMBER ".csv", NULL}, /* made by --analyse */
    {"", "@(density|slice)_" NUMBER ".png", "pictures *.png"},
    {"",
     "@(slice_@(density|pressure|temperature|speed|level)|projection_@(density|particles))_" NUMBER
     ".png",
     "pictures *.png"},
    {"lightcone", "@(@(particles|shell)_" NUMBER ".hdf5|convergence.png)", "lightcone/"},
    {"movie", "frame_" NUMBER ".png", "movie/"},
    {"", "checkpoint?(-previous|-damaged).hdf5", "checkpoint.hdf5"},
    {"", "checkpoint-[a-d]." NUMBER ".hdf5", NULL},
    {"log", "timings.csv", "log/timings.csv"},
    {"log", "statistics.csv", "log/statistics.csv"},
    {"log", "outputs.csv", "log/outputs.csv"},
    {"log", "energy.csv", "log/energy.csv"},
    {"log", "galaxy.csv", "log/galaxy.csv"},
    {"log", "escapers.csv", "log/escapers.csv"},
    {"log", "ranks.csv", NULL},
    {"log", "run.log", NULL},
    {"", "config-used.ini", NULL},
    {"", "report.html", NULL},
};
static const struct kind traces = {"trace",
                                   "@(@(tasks_" NUMBER "|graph_" NUMBER "|stages).csv|fxt_" NUMBER
                                   "|timeline.png|paje.trace|vite.svg"
                                   "|dag.@(dot|svg))",
                                   NULL};
enum { KINDS = sizeof kinds / sizeof *kinds };

static char *join(const char *folder, const char *name) {
  const size_t size = strlen(folder) + strlen(name) + 2;
  char *path = allocate(size, 1, "a file name");
  snprintf(path, size, *name ? "%s/%s" : "%s%s", folder, name);
  return path;
}

/** Whether a file's name is of this kind.
 * @param finished  false: an unfinished file, which a killed run leaves, will do as well */
static bool is_of(const struct kind *kind, const char *name, bool finished) {
  static const char suffix[] = ".tmp";
  const size_t length = strlen(name), tail = sizeof suffix - 1;
  char stem[NAME_MAX + 1];
  snprintf(stem, sizeof stem, "%s", name);
  if (!finished && length > tail && strcmp(name + length - tail, suffix) == 0)
    stem[length - tail] = '\0';
  return fnmatch(kind->pattern, stem, FNM_EXTMATCH) == 0;
}

/** The first file of a kind in the folder, malloc'ed; NULL: there is none. */
static char *find(const char *dir, const struct kind *kind, bool finished) {
  char *folder = join(dir, kind->folder), *found = NULL;
  DIR *stream = opendir(folder);
  if (!stream && errno != ENOENT)
    fail(EXIT_RUN_FAILED, "cannot read the folder %s: %s", folder, strerror(errno));
  for (const struct dirent *entry; stream && !found && (entry = readdir(stream));)
    if (is_of(kind, entry->d_name, finished)) found = join(folder, entry->d_name);
  if (stream) closedir(stream);
  free(folder);
  return found;
}

/** Whether a log has a line of a step. A run that only computed the first forces leaves two lines.
 */
static bool has_steps(const char *log) {
  FILE *file = fopen(log, "r");
  if (!file) fail(EXIT_RUN_FAILED, "cannot read %s: %s", log, strerror(errno));
  int lines = 0;
  for (int c; lines < 3 && (c = fgetc(file)) != EOF;) lines += c == '\n';
  fclose(file);
  return lines >= 3;
}

char *results_example(const char *dir) {
  for (int k = 0; k < KINDS; k++) {
    char *found = kinds[k].told ? find(dir, &kinds[k], true) : NULL;
    if (found && (strcmp(kinds[k].folder, "log") != 0 || has_steps(found))) return found;
    free(found);
  }
  return find(dir, &traces, true);
}

static void remove_kind(const char *dir, const struct kind *kind) {
  for (char *path; (path = find(dir, kind, false)); free(path))
    if (unlink(path) != 0) fail(EXIT_RUN_FAILED, "cannot remove %s: %s", path, strerror(errno));
}

void results_remove(const char *dir) {
  for (int k = 0; k < KINDS; k++) remove_kind(dir, &kinds[k]);
}

void results_remove_traces(const char *dir) { remove_kind(dir, &traces); }

/** The number of the output that a file belongs to; -1: to none. */
static long output_of(const char *name) {
  for (int k = 0; k < KINDS; k++)
    if (!*kinds[k].folder && kinds[k].told && strstr(kinds[k].pattern, "_" NUMBER) &&
        is_of(&kinds[k], name, true))
      return strtol(strrchr(name, '_') + 1, NULL, 10);
  return -1;
}

static void insert(long *numbers, size_t *count, long number) {
  size_t place = *count;
  while (place > 0 && numbers[place - 1] > number) place--;
  if (place > 0 && numbers[place - 1] == number) return;
  memmove(numbers + place + 1, numbers + place, (*count - place) * sizeof *numbers);
  numbers[place] = number;
  ++*count;
}

long *results_numbers(const char *dir, const char *stem, size_t *count) {
  long *numbers = NULL;
  *count = 0;
  DIR *stream = opendir(dir);
  for (const struct dirent *entry; stream && (entry = readdir(stream));) {
    const long number = output_of(entry->d_name);
    if (number < 0 || strncmp(entry->d_name, stem, strlen(stem)) != 0) continue;
    numbers = reallocate(numbers, *count + 1, sizeof *numbers, "the numbers of outputs");
    insert(numbers, count, number);
  }
  if (stream) closedir(stream);
  return numbers;
}

void results_print(FILE *out, const char *dir) {
  const char *before = ": ";
  fprintf(out, "results in %s", dir);
  for (int k = 0; k < KINDS; k++) {
    char *found = kinds[k].told ? find(dir, &kinds[k], true) : NULL;
    if (!found) continue;
    fprintf(out, "%s%s", before, kinds[k].told);
    before = ", ";
    free(found);
  }
  fprintf(out, "\none page of all that: tools/report.py %s (installed: photons-report)\n", dir);
}
