/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The short-range part of the potential energy, by the same walks as forces. */
#include "photons/step/potential.h"

#include <stdlib.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/domain/codelets.h"
#include "photons/runtime/message.h"
#include "photons/tree/codelets.h"

/** All pairs in reach are summed directly: no expansion of the potential is needed. */
static void submit(struct nbody *n) {
  struct domain *d = &n->domain;
  struct short_range *s = &n->short_range;
  domain_find_ghosts(d);
  short_range_follow_ghosts(s);
  message_begin();
  ghosts_submit(d);
  FOR_GROUPS(d, g) {
    targets_all(s, g, false);
    lists_begin(s, g);
  }
  FOR_GROUPS(d, g) {
    lists_make(s, g);
    potential_submit(s, g);
    list_release(&expansions_of(s, g)->lists, LIST_FAR);
    targets_release(s, g);
  }
  message_wait();
}

/** Sum over the groups of all ranks in the order of their numbers, so that it does not depend on the
 * number of ranks. */
static double sum_groups(struct nbody *n) {
  const uint32_t groups = n->domain.group_count;
  double sum = 0.0, *potential = allocate(groups, sizeof *potential, "energies of groups");
  FOR_GROUPS(&n->domain, g) potential[g->index] = expansions_of(&n->short_range, g)->potential;
  comm_sum_double(potential, groups);
  for (uint32_t i = 0; i < groups; i++) sum += potential[i];
  free(potential);
  return sum;
}

double step_pair_potential(struct nbody *n) {
  const bool expansions = n->short_range.expansions;
  FOR_GROUPS(&n->domain, g) {
    g->targets = g->count;
    g->moved = 0.0f;
    refit_submit(&n->short_range, g);
  }
  message_wait();
  domain_find_neighbours(&n->domain);
  short_range_expansions(&n->short_range, false);
  submit(n);
  short_range_expansions(&n->short_range, expansions);
  return sum_groups(n);
}
