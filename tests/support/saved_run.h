/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parameters, particles and state of a run, for tests of snapshots and checkpoints. */
#ifndef PHOTONS_TESTS_SAVED_RUN_H
#define PHOTONS_TESTS_SAVED_RUN_H

#include <stdint.h>
#include <string.h>

#include "photons/cosmology/cosmology.h"
#include "photons/io/snapshot.h"

static const double box = 75.0, a_snapshot = 0.4;

static inline void set_parameters(struct parameters *p) {
  parameters_default(p);
  p->cosmology.omega_m = 0.31;
  p->cosmology.omega_lambda = 0.69;
  p->cosmology.h = 0.68;
  p->box.size = box;
  p->ic.source = IC_GENERATE;
  p->ic.z_init = 49.0;
}

/** All particles, on every rank. */
static inline struct particles make_particles(size_t count, size_t blocks) {
  const struct cosmology c = {.omega_m = 0.31};
  struct particles s = particles_create(count, box,
                                        cosmology_particle_mass(&c, box, (double)count));
  s.blocks = s.all_blocks = blocks;
  uint64_t random = 1;
  for (size_t i = 0; i < 3 * count; i++) {
    random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    s.position[i] = (uint32_t)(random >> 32);
    s.momentum[i] = (float)((double)(random >> 40) / 16777216.0 - 0.5) * 400.0F;
    s.acceleration[i] = (float)((double)(random >> 30 & 0xffffff) / 16777216.0 - 0.5) * 1e6F;
  }
  s.position[0] = UINT32_MAX; /* nearest to the box's end */
  for (size_t i = 0; i < count; i++) s.id[i] = count - i;
  return s;
}

static const struct checkpoint_state there = {
    .a = 0.1 + 0.2,
    .start_a = 0.02,
    .step = INT64_C(1) << 40,
    .outputs_done = 3,
    .last_output = 1.0 / 7.0,
    .mesh_cells = 8,
    .next_mesh_cells = 12,
    .policy.steps_since_sort = 3,
    .policy.steps_since_rebuild = 5,
    .policy.sort_debt = 1.0 / 3.0,
    .policy.loosening = -1e-3,
    .policy.spread = 2.0 / 7.0,
    .policy.fresh_spread = 1e-30,
    .policy.fresh_work = 1e30,
    .renewals.of = {{1.0 / 7.0, 1e20, 0.3}, {2.0 / 7.0, 3e20, 0.7}},
    .energy = {0.3, 1.0 / 7.0, 2.0 / 3.0, -1e-5},
    .wall_seconds = 1e-7};

static inline bool same_particles(const struct particles *a, const struct particles *b) {
  return a->all == b->all && a->all_blocks == b->all_blocks && a->count == b->count &&
         a->blocks == b->blocks && a->first_block == b->first_block && a->box == b->box &&
         a->mass == b->mass &&
         memcmp(a->position, b->position, 3 * a->count * sizeof *a->position) == 0 &&
         memcmp(a->momentum, b->momentum, 3 * a->count * sizeof *a->momentum) == 0 &&
         memcmp(a->acceleration, b->acceleration, 3 * a->count * sizeof *a->acceleration) == 0 &&
         memcmp(a->id, b->id, a->count * sizeof *a->id) == 0;
}

static inline bool same_renewals(const struct renewal_policy *a, const struct renewal_policy *b) {
  for (int k = 0; k < RENEWALS; k++)
    if (a->of[k].debt != b->of[k].debt || a->of[k].fresh_work != b->of[k].fresh_work ||
        a->of[k].looseness != b->of[k].looseness)
      return false;
  return true;
}

static inline bool same_state(const struct checkpoint_state *s) {
  return s->a == there.a && s->start_a == there.start_a && s->step == there.step &&
         s->outputs_done == there.outputs_done && s->last_output == there.last_output &&
         s->policy.steps_since_sort == there.policy.steps_since_sort &&
         s->policy.steps_since_rebuild == there.policy.steps_since_rebuild &&
         s->policy.sort_debt == there.policy.sort_debt &&
         s->policy.loosening == there.policy.loosening && s->policy.spread == there.policy.spread &&
         s->policy.fresh_spread == there.policy.fresh_spread &&
         s->policy.fresh_work == there.policy.fresh_work &&
         same_renewals(&s->renewals, &there.renewals) && s->wall_seconds == there.wall_seconds;
}

/** Write a checkpoint of the state `there`. */
static inline void write_checkpoint(const char *path, const struct parameters *p,
                                    const struct particles *s) {
  struct checkpoint_state state = there;
  checkpoint_write(path, p, s, &state);
}

#endif
