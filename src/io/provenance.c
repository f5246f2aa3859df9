/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where a file comes from. */
#include "photons/io/provenance.h"

#include <errno.h>
#include <inttypes.h>
#include <starpu.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "hdf5_util.h"
#include "photons/base/clock.h"
#include "photons/base/comm.h"
#include "photons/base/version.h"

struct provenance provenance_of(const struct parameters *p) {
  uint64_t workers[2] = {0};
  if (starpu_is_initialized()) {
    workers[0] = starpu_cpu_worker_get_count();
    workers[1] = starpu_cuda_worker_get_count();
  }
  comm_sum_u64(workers, 2);
  return (struct provenance){.parameters = p, .workers = workers[0], .gpus = workers[1]};
}

enum { TEXT_MOST = PARAMETER_PATH_MAX + 128 };

/** One item: a text, or a number where `text` is empty. */
struct item {
  const char *name;
  char text[TEXT_MOST];
  double number;
};

static void write_date(char *text) {
  const time_t now = time(NULL);
  struct tm utc;
  if (!gmtime_r(&now, &utc) || strftime(text, TEXT_MOST, "%Y-%m-%dT%H:%M:%SZ", &utc) == 0)
    snprintf(text, TEXT_MOST, "unknown");
}

static void write_host(char *text) {
  if (gethostname(text, TEXT_MOST) != 0) snprintf(text, TEXT_MOST, "unknown");
  text[TEXT_MOST - 1] = '\0';
}

static void write_particles(char *text, const struct parameters *p) {
  if (p->ic.source == IC_GENERATE)
    snprintf(text, TEXT_MOST, "generated with seed %" PRId64, p->ic.seed);
  else
    snprintf(text, TEXT_MOST, "read from %s", p->ic.file);
}

/** How the linear power spectrum was made. */
static void write_spectrum(char *text, const struct parameters *p) {
  const bool table = p->ic.power_spectrum == POWER_FILE;
  const int length = table ? snprintf(text, TEXT_MOST, "table %s", p->ic.power_spectrum_file)
                           : snprintf(text, TEXT_MOST, "Eisenstein & Hu (1998), n_s %g",
                                      p->cosmology.n_s);
  if (p->ic.normalise || !table)
    snprintf(text + length, (size_t)(TEXT_MOST - length), ", sigma8 %g", p->cosmology.sigma8);
}

enum { ITEMS = 11 };

static void fill_items(struct item items[ITEMS], const struct provenance *provenance) {
  const struct parameters *p = provenance->parameters;
  int version[3];
  starpu_get_version(&version[0], &version[1], &version[2]);
  const struct item known[ITEMS] = {{.name = "program"},
                                    {.name = "git_revision"},
                                    {.name = "date"},
                                    {.name = "host"},
                                    {.name = "particles"},
                                    {.name = "spectrum"},
                                    {.name = "StarPU"},
                                    {.name = "ranks", .number = comm_size()},
                                    {.name = "workers", .number = (double)provenance->workers},
                                    {.name = "gpus", .number = (double)provenance->gpus},
                                    {.name = "wall_seconds", .number = wall_clock_of_program()}};
  memcpy(items, known, sizeof known);
  snprintf(items[0].text, TEXT_MOST, "%s", program_version());
  snprintf(items[1].text, TEXT_MOST, "%s", program_revision());
  write_date(items[2].text);
  write_host(items[3].text);
  write_particles(items[4].text, p);
  write_spectrum(items[5].text, p);
  snprintf(items[6].text, TEXT_MOST, "%d.%d.%d", version[0], version[1], version[2]);
}

void provenance_write(hid_t file, const char *path, const struct provenance *provenance) {
  const hid_t group = hdf5_create_group(file, path, PROVENANCE_GROUP);
  struct item items[ITEMS];
  fill_items(items, provenance);
  for (int i = 0; i < ITEMS; i++)
    if (items[i].text[0])
      hdf5_write_text(group, path, items[i].name, items[i].text);
    else
      hdf5_write_double(group, path, items[i].name, items[i].number);
  char *config = hdf5_config_text(provenance->parameters);
  hdf5_write_text(group, path, "config.ini", config);
  free(config);
  hdf5_close_group(group, path);
}

void provenance_print(FILE *file, const struct provenance *provenance) {
  struct item items[ITEMS];
  fill_items(items, provenance);
  for (int i = 0; i < ITEMS; i++)
    if (items[i].text[0])
      fprintf(file, "# provenance %s: %s\n", items[i].name, items[i].text);
    else
      fprintf(file, "# provenance %s: %.6g\n", items[i].name, items[i].number);
}
