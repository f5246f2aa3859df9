/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/analysis/system.h"

#include <string.h>

#include "members.h"
#include "photons/base/comm.h"

const int system_percent[SYSTEM_SHARES] = {10, 25, 50, 75, 90};
_Static_assert((int)SYSTEM_SHARES <= (int)SHARES_MOST, "all shares are found together");

/** Sums of numbers and of m. */
static void add_mass(const void *context, const struct body *b, double *sum) {
  (void)context;
  sum[0]++;
  sum[1] += b->mass;
}

static void measure_part(const struct members *m, const double centre[3],
                         struct system_part *part) {
  struct body_frame frame = {.axis = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
  double sum[2], share[SYSTEM_SHARES];
  memcpy(frame.centre, centre, sizeof frame.centre);
  members_sum(m, add_mass, NULL, 2, sum);
  part->count = (uint64_t)sum[0];
  part->mass = sum[1];
  for (int k = 0; k < SYSTEM_SHARES; k++) share[k] = 0.01 * system_percent[k];
  if (part->count > 0)
    radii_of_shares(m, &frame, distance_from_centre, SYSTEM_SHARES, share, part->radius);
}

static void add_momenta(const struct particles *s, struct system *system) {
  double momentum[PARTICLE_TYPES][3] = {{0}};
  for (size_t g = 0; g < s->blocks; g++) {
    const struct particle_block b = particles_block(s, g);
    for (size_t i = 0; i < b.count; i++)
      for (size_t c = 0; c < 3; c++)
        momentum[particle_type(s, b.first + i)][c] += particle_mass(s, b.first + i) *
                                                      (double)b.p[c][i];
  }
  comm_sum_double(momentum[0], PARTICLE_TYPES * 3);
  for (int t = 0; t < PARTICLE_TYPES; t++)
    for (int c = 0; c < 3; c++) {
      system->type[t].momentum[c] = momentum[t][c];
      system->all.momentum[c] += momentum[t][c];
    }
}

struct system system_measure(const struct particles *s) {
  struct system system = {.all = {0}};
  const struct galaxy_ids one = {.count = 1};
  const struct members all = {s, &one, 0, ALL_TYPES};
  densest_point(&all, system.densest);
  for (unsigned t = 0; t < PARTICLE_TYPES; t++)
    measure_part(&(const struct members){s, &one, 0, 1U << t}, system.densest, &system.type[t]);
  measure_part(&all, system.densest, &system.all);
  add_momenta(s, &system);
  return system;
}
