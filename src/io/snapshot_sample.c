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
#include "snapshot_set.h"

#define HASHES 18446744073709551616.0 /* 2^64 */
#define MASS_STEPS 1048576.0          /* of the mean mass */

/** Whether a sample has the particle of this id. */
static bool chosen(uint64_t id, double fraction) {
  return (double)XXH3_64bits(&id, sizeof id) < fraction * HASHES;
}

/** The mass of all particles of the run in units of s->mass. Whole numbers are summed, which have the same bits in any
 * order. */
static double mass_of(const struct particles *s) {
  uint64_t sum = 0;
  if (!particles_have(s, COLUMN_relative_mass)) return (double)s->all;
  for (size_t i = 0; i < s->count; i++)
    sum += (uint64_t)llround((double)s->relative_mass[i] * MASS_STEPS);
  comm_sum_u64(&sum, 1);
  return (double)sum / MASS_STEPS;
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
