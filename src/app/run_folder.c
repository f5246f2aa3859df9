/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/app/run_folder.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "photons/app/results.h"
#include "photons/base/error.h"
#include "photons/base/input_file.h"

/* Bytes at the end of a file that are read: the recent past of a run of any length. */
enum { ROWS_MOST = 1 << 20, LOG_MOST = 1 << 17, FILE_MOST = 1 << 20 };

static char *path_of(const char *folder, const char *name) {
  const size_t size = strlen(folder) + strlen(name) + 2;
  char *path = allocate(size, 1, "a file name");
  snprintf(path, size, "%s/%s", folder, name);
  return path;
}

static bool has(const char *folder, const char *name) {
  char *path = path_of(folder, name);
  const bool found = access(path, F_OK) == 0;
  free(path);
  return found;
}

bool run_folder_valid(const char *path, const char **reason) {
  struct stat status;
  *reason = NULL;
  if (stat(path, &status) != 0)
    *reason = errno == ENOENT ? "there is no such folder" : strerror(errno);
  else if (!S_ISDIR(status.st_mode))
    *reason = "it is not a folder; --watch takes the output folder of a run";
  else if (access(path, R_OK | X_OK) != 0)
    *reason = strerror(errno);
  else if (!has(path, ".lock") && !has(path, "config-used.ini"))
    *reason = "no run has begun in this folder; --watch takes the output folder of a run";
  return *reason == NULL;
}

static char *lines_of(const char *folder, const char *name, size_t most) {
  char *path = path_of(folder, name), *lines = input_lines(path, 0, most);
  free(path);
  return lines;
}

static size_t read_list(const char *text, double *values, size_t most) {
  size_t count = 0;
  for (char *end; count < most; text = end + strspn(end, ", ")) {
    values[count] = strtod(text, &end);
    if (end == text) break;
    count++;
  }
  return count;
}

/** Whether outputs have times, and no redshifts. */
static bool has_times(const struct run_folder *f) { return f->isolated || f->clock; }

/** A density, or what dark energy is. Where the table of w cannot be read from here, as on another machine, dark energy counts
 * as a cosmological constant. */
static void take_cosmology(struct cosmology *c, const char *key, const char *value) {
  char reason[256];
  if (strcmp(key, "w_table") == 0 && *value && !w_table_read(&c->w, value, reason, sizeof reason))
    c->w.rows = 0;
  const struct {
    const char *key;
    double *value;
  } known[] = {{"Omega_m", &c->omega_m},
               {"Omega_lambda", &c->omega_lambda},
               {"Omega_r", &c->omega_r},
               {"w0", &c->w0},
               {"wa", &c->wa}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (strcmp(key, known[i].key) == 0) *known[i].value = strtod(value, NULL);
  c->omega_k = 1.0 - c->omega_m - c->omega_lambda - c->omega_r;
}

/** The program wrote this file itself: a line is [section] or key = value. parameters_read() would
 * end the program where a file that the parameters name is gone. [run] and [box] come first. */
static void read_parameters(struct run_folder *f) {
  char *text = lines_of(f->path, "config-used.ini", FILE_MOST), *rest = text;
  char section[32] = "", key[32];
  f->end_time = NAN;
  for (char *line; (line = strsep(&rest, "\n"));) {
    int value = 0;
    if (sscanf(line, "[%31[^]]", section) == 1) continue;
    if (sscanf(line, "%31s = %n", key, &value) != 1 || value == 0) continue;
    if (strcmp(section, "run") == 0 && strcmp(key, "system") == 0)
      f->clock = f->gas = strcmp(line + value, "gas") == 0;
    if (strcmp(section, "gas") == 0 && strcmp(key, "comoving") == 0)
      f->clock = strcmp(line + value, "yes") != 0;
    if (strcmp(section, "cosmology") == 0) take_cosmology(&f->universe, key, line + value);
    if (strcmp(section, "box") == 0 && strcmp(key, "boundary") == 0)
      f->isolated = strcmp(line + value, "isolated") == 0;
    if (strcmp(section, "time") == 0 && strcmp(key, has_times(f) ? "end" : "z_end") == 0)
      f->end_time = strtod(line + value, NULL);
    if (strcmp(section, "output") == 0 && strcmp(key, has_times(f) ? "times" : "redshifts") == 0)
      f->output_time_count = read_list(line + value, f->output_times, PARAMETER_LIST_MAX);
  }
  free(text);
}

static void read_table(struct csv *table, const char *folder, const char *name) {
  char *path = path_of(folder, name);
  csv_read(table, path, ROWS_MOST);
  free(path);
}

static double age_of(const char *folder, const char *name) {
  struct stat status;
  char *path = path_of(folder, name);
  const bool found = stat(path, &status) == 0;
  free(path);
  return found ? fmax(difftime(time(NULL), status.st_mtime), 0.0) : NAN;
}

/** What follows the date of a line; NULL: the line does not begin with one. */
static const char *after_date(const char *line) {
  const size_t length = strcspn(line, " ");
  if (!isdigit((unsigned char)*line) || line[length] != ' ' || line[length - 1] != 'Z') return NULL;
  return line + length + 1;
}

static bool begins(const char *text, const char *with) {
  return strncmp(text, with, strlen(with)) == 0;
}

/** What follows a text in a line; NULL: the text is not in it. */
static const char *after(const char *line, const char *text) {
  const char *found = strstr(line, text);
  return found ? found + strlen(text) : NULL;
}

static void keep_message(struct run_folder *f, char *line) {
  memmove(f->messages + 1, f->messages, (RUN_MESSAGES - 1) * sizeof *f->messages);
  f->messages[0] = line;
}

static void take_log_line(struct run_folder *f, char *line) {
  const char *written = begins(line, "output ") ? after(line, " written in ") : NULL;
  if (written) {
    f->output_seconds += strtod(written, NULL);
    f->output_count++;
  }
  const char *text = after_date(line);
  if (!text) return;
  if (begins(text, "the run begins") || begins(text, "the run goes on")) f->end = RUN_BEGUN;
  if (begins(text, "the run ends")) f->end = RUN_ENDED;
  if (begins(text, "the run is stopped")) f->end = RUN_STOPPED;
  if (begins(text, "error: ")) f->end = RUN_FAILED;
  if (begins(text, "error: ") || begins(text, "warning: ")) keep_message(f, line);
}

static void read_log(struct run_folder *f) {
  f->log = lines_of(f->path, "log/run.log", LOG_MOST);
  char *rest = f->log;
  for (char *line; (line = strsep(&rest, "\n"));) take_log_line(f, line);
}

/** A heading, or numbers, of which the first two are k and P. */
static void take_spectrum_line(struct run_spectrum *s, const char *line) {
  const char *z = begins(line, "# a = ") ? after(line, ", z = ") : NULL;
  if (z) s->z = strtod(z, NULL);
  char *rest, *end;
  const double k = strtod(line, &rest), power = strtod(rest, &end);
  if (!(k > 0.0) || end == rest) return;
  s->k = reallocate(s->k, s->count + 1, sizeof *s->k, "a power spectrum");
  s->power = reallocate(s->power, s->count + 1, sizeof *s->power, "a power spectrum");
  s->k[s->count] = k;
  s->power[s->count++] = power;
}

static void read_spectrum(struct run_spectrum *s, const char *folder, const char *stem) {
  size_t count;
  long *numbers = results_numbers(folder, stem, &count);
  *s = (struct run_spectrum){.number = count > 0 ? numbers[count - 1] : -1, .z = NAN};
  free(numbers);
  if (count == 0) return;
  char name[48];
  snprintf(name, sizeof name, "%s%03ld.txt", stem, s->number);
  char *text = lines_of(folder, name, FILE_MOST), *rest = text;
  for (const char *line; (line = strsep(&rest, "\n"));) take_spectrum_line(s, line);
  free(text);
}

void run_folder_read(struct run_folder *f, const char *path) {
  *f = (struct run_folder){.path = path};
  f->goes_on = folder_locked(path, f->holder); /* first: what a run that has ended wrote is read */
  read_parameters(f);
  f->age = age_of(path, "log/timings.csv");
  read_table(&f->timings, path, "log/timings.csv");
  if (*csv_text(&f->timings, 0, "time_myr")) f->isolated = true; /* config-used.ini may be gone */
  if (*csv_text(&f->timings, 0, "level_patches")) f->gas = true;
  if (*csv_text(&f->timings, 0, "time")) f->clock = true;
  read_table(&f->statistics, path, "log/statistics.csv");
  read_log(f);
  f->outputs = results_numbers(path, "", &f->outputs_written);
  read_spectrum(&f->spectrum, path, f->gas ? "powerspec_gas_" : "powerspec_");
}

void run_folder_free(struct run_folder *f) {
  csv_free(&f->timings);
  csv_free(&f->statistics);
  free(f->log);
  free(f->outputs);
  free(f->spectrum.k);
  free(f->spectrum.power);
}
