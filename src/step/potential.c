/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The short-range part of the potential energy, by the same walks as forces. */
#include "photons/step/potential.h"

#include <stdlib.h>
#include <string.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/domain/codelets.h"
#include "photons/runtime/message.h"
#include "photons/tree/codelets.h"

/** Before ghosts are sent, among which the masses of nodes above groups are. */
static void submit_own_multipoles(struct domain *d, struct short_range *s) {
  FOR_GROUPS(d, g) p2m_submit(s, g);
  m2m_upper_submit(s, true);
}

static void submit_other_multipoles(struct short_range *s) {
  multipoles_transfer(s);
  m2m_upper_submit(s, false);
}

/** @param of_particles  of this rank, or NULL */
static void submit_group(struct short_range *s, struct group *g, bool expansions,
                         float *of_particles) {
  const struct particles *p = &s->domain->particles;
  lists_make(s, g);
  potential_submit(s, g);
  if (expansions) {
    m2l_potential_submit(s, g);
    l2l_submit(s, g);
    l2p_potential_submit(s, g);
  } else {
    list_release(&expansions_of(s, g)->lists, LIST_FAR);
  }
  const size_t first = particles_block(p, g->index - p->first_block).first;
  potential_sum_submit(s, g, of_particles ? of_particles + first : NULL);
  targets_release(s, g);
}

static void submit(struct nbody *n, bool expansions, float *of_particles) {
  struct domain *d = &n->domain;
  struct short_range *s = &n->short_range;
  short_range_find_ghosts(s);
  message_begin();
  if (expansions) submit_own_multipoles(d, s);
  ghosts_submit(d);
  if (expansions) submit_other_multipoles(s); /* before walks, which read masses */
  FOR_GROUPS(d, g) {
    targets_all(s, g, false);
    lists_begin(s, g);
  }
  FOR_GROUPS(d, g) submit_group(s, g, expansions, of_particles);
  message_wait();
}

static void sum_groups(struct nbody *n, double of_types[PARTICLE_TYPES]) {
  double(*potential)[PARTICLE_TYPES] = allocate(n->domain.particles.blocks, sizeof *potential,
                                                "energies of groups");
  FOR_GROUPS(&n->domain, g)
  memcpy(potential[group_place(&n->domain, g)], expansions_of(&n->short_range, g)->potential_sum,
         sizeof *potential);
  group_sums(&n->domain.particles, (double *)potential, PARTICLE_TYPES, of_types);
  free(potential);
}

/* Energies are to be more exact than forces: of their changes one sees little. Walks allow expansions this
 * part of the forces' error. */
#define TOLERANCE_OF_ENERGY 0.25f

double step_pair_potential(struct nbody *n, bool expansions, float *of_particles,
                           double of_types[PARTICLE_TYPES]) {
  struct short_range *s = &n->short_range;
  const bool before = s->expansions;
  const float tolerance = s->acceptance.tolerance;
  FOR_GROUPS(&n->domain, g) {
    g->targets = g->count;
    g->moved = 0.0f;
    refit_submit(s, g);
  }
  message_wait();
  domain_find_neighbours(&n->domain);
  short_range_expansions(s, expansions);
  if (expansions) short_range_set_order(s, FMM_ORDER_MAX);
  s->acceptance.tolerance = TOLERANCE_OF_ENERGY * tolerance;
  submit(n, expansions, of_particles);
  s->acceptance.tolerance = tolerance;
  short_range_set_order(s, s->acceptance.order);
  short_range_expansions(s, before);
  double sums[PARTICLE_TYPES], sum = 0.0;
  sum_groups(n, sums);
  for (int t = 0; t < PARTICLE_TYPES; t++) sum += sums[t];
  if (of_types) memcpy(of_types, sums, sizeof sums);
  return sum;
}
