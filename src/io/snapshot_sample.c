/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A part of the particles, chosen by their ids: the same particles in all outputs of a run, on any number of
 * ranks, and in other runs with the same ids. */
#include <math.h>
#include <stdlib.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/io/snapshot.h"
#include "photons/runtime/exact_sums.h"
#include "snapshot_set.h"

#define HASHES 18446744073709551616.0 /* 2^64 */

/** Whether a sample has the particle of this id. */
static bool chosen(uint64_t id, double fraction) {
  return (double)XXH3_64bits(&id, sizeof id) < fraction * HASHES;
}

/** The mass of all particles of the run in units of s->mass: the same bits on any ranks. */
static double mass_of(const struct particles *s) {
  double mass;
  if (!particles_have(s, COLUMN_relative_mass)) return (double)s->all;
  struct exact_sums sum = exact_sums_create(1, 1);
  for (size_t i = 0; i < s->count; i++) exact_add(sum.sum, (double)s->relative_mass[i]);
  exact_sums_finish(&sum, &mass);
  return mass;
}

/** @return particles that stand for all: their masses are those of the others, too */
static struct particles choose(const struct particles *s, double fraction) {
  bool *keep = allocate(s->count, sizeof *keep, "a sample of the particles");
  for (size_t i = 0; i < s->count; i++) keep[i] = chosen(s->id[i], fraction);
  struct particles sample = particles_select(s, keep);
  free(keep);
  if (sample.all > 0) sample.mass = s->mass * (mass_of(s) / mass_of(&sample));
  return sample;
}

void snapshot_write_sample(const char *path, const struct parameters *p, const struct particles *s,
                           double a) {
  const double fraction = p->output.subsample;
  struct particles sample = choose(s, fraction);
  if (sample.all > 0)
    snapshot_write_part(path, p, &sample, a, fraction);
  else if (comm_rank() == 0)
    warn("%s: not written: output.subsample = %g takes none of %zu particles", path, fraction,
         s->all);
  particles_free(&sample);
}
