/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where a file comes from. */
#include "photons/io/provenance.h"

#include <inttypes.h>
#include <starpu.h>
#include <stdarg.h>
#include <stdlib.h>
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

enum { TEXT_MOST = PARAMETER_PATH_MAX + 128, ITEMS_MOST = 16 };

/** What is written, a text or a number each. */
struct items {
  int count;
  struct item {
    const char *name;
    char text[TEXT_MOST]; /* empty: a number */
    double number;
  } item[ITEMS_MOST];
};

static void add_number(struct items *items, const char *name, double number) {
  items->item[items->count++] = (struct item){.name = name, .number = number};
}

__attribute__((format(printf, 3, 4))) static void add_text(struct items *items, const char *name,
                                                           const char *format, ...) {
  struct item *item = &items->item[items->count++];
  *item = (struct item){.name = name};
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(item->text, sizeof item->text, format, arguments);
  va_end(arguments);
}

static void add_date(struct items *items) {
  const time_t now = time(NULL);
  struct tm utc;
  char text[32];
  const bool known = gmtime_r(&now, &utc) && strftime(text, sizeof text, "%FT%TZ", &utc) > 0;
  add_text(items, "date", "%s", known ? text : "unknown");
}

static void add_host(struct items *items) {
  char name[256] = "";
  const bool known = gethostname(name, sizeof name - 1) == 0 && name[0];
  add_text(items, "host", "%s", known ? name : "unknown");
}

static void add_particles(struct items *items, const struct parameters *p) {
  if (p->ic.source == IC_GENERATE)
    add_text(items, "particles", "generated with seed %" PRId64, p->ic.seed);
  else
    add_text(items, "particles", "read from %s", p->ic.file);
}

/** How the linear power spectrum was made. Without '=', which readers of texts take for numbers of
 * the header. */
static void add_spectrum(struct items *items, const struct parameters *p) {
  const double n_s = p->cosmology.n_s, sigma8 = p->cosmology.sigma8;
  if (p->ic.power_spectrum == POWER_EH98)
    add_text(items, "spectrum", "Eisenstein & Hu (1998), n_s %g, sigma8 %g", n_s, sigma8);
  else if (p->ic.normalise)
    add_text(items, "spectrum", "table %s, sigma8 %g", p->ic.power_spectrum_file, sigma8);
  else
    add_text(items, "spectrum", "table %s", p->ic.power_spectrum_file);
}

static struct items items_of(const struct provenance *provenance) {
  struct items items = {.count = 0};
  int starpu[3];
  starpu_get_version(&starpu[0], &starpu[1], &starpu[2]);
  add_text(&items, "program", "%s", program_version());
  add_text(&items, "git_revision", "%s", program_revision());
  add_date(&items);
  add_host(&items);
  add_particles(&items, provenance->parameters);
  add_spectrum(&items, provenance->parameters);
  add_text(&items, "StarPU", "%d.%d.%d", starpu[0], starpu[1], starpu[2]);
  add_number(&items, "ranks", comm_size());
  add_number(&items, "workers", (double)provenance->workers);
  add_number(&items, "gpus", (double)provenance->gpus);
  add_number(&items, "wall_seconds", wall_clock_of_program());
  return items;
}

void provenance_write(hid_t file, const char *path, const struct provenance *provenance) {
  const struct items items = items_of(provenance);
  const hid_t group = hdf5_create_group(file, path, PROVENANCE_GROUP);
  for (const struct item *i = items.item; i < items.item + items.count; i++)
    if (i->text[0])
      hdf5_write_text(group, path, i->name, i->text);
    else
      hdf5_write_double(group, path, i->name, i->number);
  char *config = hdf5_config_text(provenance->parameters);
  hdf5_write_text(group, path, "config.ini", config);
  free(config);
  hdf5_close_group(group, path);
}

void provenance_print(FILE *file, const struct provenance *provenance) {
  const struct items items = items_of(provenance);
  for (const struct item *i = items.item; i < items.item + items.count; i++)
    if (i->text[0])
      fprintf(file, "# provenance %s: %s\n", i->name, i->text);
    else
      fprintf(file, "# provenance %s: %.6g\n", i->name, i->number);
}
