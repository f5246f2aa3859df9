/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Snapshots: what all ranks know before they write, and the names of the files. */
#include "photons/io/snapshot.h"
#include "photons/domain/geometry.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/base/parts.h"
#include "photons/cosmology/cosmology.h"
#include "photons/runtime/loop.h"
#include "snapshot_set.h"

enum { TYPES = PARTICLE_TYPES, PARTS = 64 /* of a loop over particles */ };

LOOP_STAGE(survey, 0x665533, .untimed = true);

static const double cm_per_kpc = 3.085678e21;

static uint64_t largest_of_ranks(uint64_t own) {
  uint64_t largest = 0, *all = allocate((size_t)comm_size(), sizeof *all, "particle ids");
  comm_gather_all(&own, sizeof own, all);
  for (int r = 0; r < comm_size(); r++) largest = all[r] > largest ? all[r] : largest;
  free(all);
  return largest;
}

/** What particles of a rank, or of a part of them, are. */
struct census {
  uint64_t count[TYPES], largest_id;
  double extremes[2 * TYPES]; /* of each type the largest mass, and the least with a minus sign */
};

static struct census census_create(void) {
  struct census c = {.largest_id = 0};
  for (int k = 0; k < 2 * TYPES; k++) c.extremes[k] = -HUGE_VAL;
  return c;
}

static void census_join(struct census *c, const struct census *other) {
  for (int t = 0; t < TYPES; t++) c->count[t] += other->count[t];
  if (other->largest_id > c->largest_id) c->largest_id = other->largest_id;
  for (int k = 0; k < 2 * TYPES; k++) c->extremes[k] = fmax(c->extremes[k], other->extremes[k]);
}

struct surveying {
  const struct particles *particles;
  struct census of[PARTS];
};

/** Particles of one type and mass. */
static struct census survey_alike(const struct particles *p, size_t begin, size_t end) {
  struct census c = census_create();
  if (begin == end) return c;
  c.count[PARTICLE_HALO] = end - begin;
  c.extremes[2 * PARTICLE_HALO] = p->mass;
  c.extremes[2 * PARTICLE_HALO + 1] = -p->mass;
  for (size_t i = begin; i < end; i++)
    if (p->id[i] > c.largest_id) c.largest_id = p->id[i];
  return c;
}

static void survey_part(void *context, uint32_t part) {
  struct surveying *s = context;
  const struct particles *p = s->particles;
  const size_t begin = block_first(p->count, PARTS, part),
               end = block_first(p->count, PARTS, (size_t)part + 1);
  struct census c = census_create();
  if (!particles_have(p, COLUMN_type) && !particles_have(p, COLUMN_relative_mass)) {
    s->of[part] = survey_alike(p, begin, end);
    return;
  }
  for (size_t i = begin; i < end; i++) {
    const unsigned type = particle_type(p, i);
    const double mass = particle_mass(p, i);
    c.count[type]++;
    if (p->id[i] > c.largest_id) c.largest_id = p->id[i];
    c.extremes[2 * type] = fmax(c.extremes[2 * type], mass);
    c.extremes[2 * type + 1] = fmax(c.extremes[2 * type + 1], -mass);
  }
  s->of[part] = c;
}

/** Count the particles of all ranks, and find the types with one mass. Collective. */
static void survey(struct snapshot *s) {
  struct surveying parts = {.particles = s->particles};
  struct census own = census_create();
  loop_run(&survey_stage, PARTS, survey_part, &parts);
  for (int part = 0; part < PARTS; part++) census_join(&own, &parts.of[part]);
  comm_max_double(own.extremes, 2 * TYPES);
  comm_gather_all(own.count, sizeof own.count, s->count);
  s->largest_id = largest_of_ranks(own.largest_id);
  for (int t = 0; t < TYPES; t++)
    s->mass[t] = own.extremes[2 * t] == -own.extremes[2 * t + 1] ? own.extremes[2 * t] : 0.0;
}

/** The names of the files: of NAME.hdf5 and several files NAME.k.hdf5, in Gadget-2's format NAME and NAME.k. */
static char **list_paths(const char *path, size_t files, enum snapshot_format format) {
  static const char hdf5[] = ".hdf5";
  const char *ending = format == FORMAT_HDF5 ? hdf5 : "";
  size_t stem = strlen(path);
  if (stem >= strlen(hdf5) && strcmp(path + stem - strlen(hdf5), hdf5) == 0) stem -= strlen(hdf5);
  char **paths = allocate(files, sizeof *paths, "file names");
  for (size_t f = 0; f < files; f++) {
    const size_t size = strlen(path) + 32;
    paths[f] = allocate(size, 1, "file names");
    if (files == 1)
      snprintf(paths[f], size, "%.*s%s", (int)stem, path, ending);
    else
      snprintf(paths[f], size, "%.*s.%zu%s", (int)stem, path, f, ending);
  }
  return paths;
}

void snapshot_write(const char *path, const struct parameters *p, const struct particles *particles,
                    double a) {
  snapshot_write_part(path, p, particles, a, 1.0);
}

void snapshot_write_part(const char *path, const struct parameters *p,
                         const struct particles *particles, double a, double fraction) {
  const double length = p->output.unit_length == LENGTH_MPC_H ? 1.0
                                                              : 1000.0; /* file units in Mpc/h */
  const size_t ranks = (size_t)comm_size();
  const bool isolated = p->box.boundary == BOUNDARY_ISOLATED;
  const double side = particles->box * length;
  struct snapshot s = {.parameters = p,
                       .provenance = provenance_of(p),
                       .particles = particles,
                       .fraction = fraction,
                       .a = isolated ? 1.0 : a,
                       .time = isolated ? cosmology_myr(a) * MYR * length : a,
                       .time_gyr = isolated ? 1e-3 * cosmology_myr(a) : 0.0,
                       .box = isolated ? 0.0 : particles->box * length,
                       .files = snapshot_files(p, ranks)};
  s.units = (struct file_units){.position = side / POSITION_TURN,
                                .corner = isolated ? -0.5 * side : 0.0,
                                .side = isolated ? HUGE_VAL : side,
                                .momentum = pow(s.a, -1.5), /* u = v_pec / sqrt(a), p = a v_pec */
                                .acceleration = 1.0 / length,
                                .mass = particles->mass,
                                .length_cgs = cm_per_kpc * 1000.0 / length,
                                .rounding = rounding_of(p, particles, s.a, length),
                                .kernels = io_kernels_select()};
  s.count = allocate(ranks, sizeof *s.count, "particle counts");
  survey(&s);
  char **paths = list_paths(path, s.files, p->output.format);
  output_together(paths, s.files, NULL,
                  p->output.format == FORMAT_HDF5 ? snapshot_write_hdf5 : snapshot_write_gadget2,
                  &s);
  for (size_t f = 0; f < s.files; f++) free(paths[f]);
  free(paths);
  free(s.count);
}
