/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of black holes. */
#include "photons/step/holes.h"

#include <stdlib.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/config/parameters.h"
#include "photons/runtime/handle.h"
#include "photons/step/codelets.h"
#include "photons/step/timeline.h"

struct system_holes *holes_start(const struct parameters *p, size_t groups, bool types) {
  if (p->time.pair_type == 0) return NULL;
  if (!types)
    fail(EXIT_BAD_INPUT,
         "time.pair_type = %d, but all particles have one type: black holes need a type of their "
         "own",
         (int)p->time.pair_type);
  struct system_holes *h = allocate(1, sizeof *h, "black holes");
  const double softening = 1e-3 * softening_of_type(p, (unsigned)p->time.pair_type);
  h->softening2 = softening * softening;
  h->table = handle_register(&h->all, 1, sizeof h->all);
  holes_register(h, groups);
  return h;
}

void holes_register(struct system_holes *h, size_t groups) {
  h->groups = groups;
  h->of_group = allocate(groups, sizeof *h->of_group, "black holes of groups");
  h->found = allocate(groups, sizeof(starpu_data_handle_t), "black holes of groups");
  for (size_t g = 0; g < groups; g++)
    h->found[g] = handle_register(&h->of_group[g], 1, sizeof *h->of_group);
}

void holes_unregister(struct system_holes *h) {
  for (size_t g = 0; g < h->groups; g++) handle_unregister(&h->found[g]);
  free(h->found);
  free(h->of_group);
}

void holes_free(struct system_holes *h) {
  if (!h) return;
  holes_unregister(h);
  handle_unregister(&h->table);
  free(h);
}

void holes_submit(struct nbody *n) { FOR_GROUPS(&n->domain, g) holes_find_submit(n, g); }

/** Add some to a table. */
static void add(struct holes *to, const struct holes *some) {
  if (to->count + some->count > HOLES_MOST)
    fail(EXIT_RUN_FAILED, "more than %d particles of the type of time.pair_type", HOLES_MOST);
  for (uint32_t i = 0; i < some->count; i++) to->hole[to->count++] = some->hole[i];
  if (some->rung > to->rung) to->rung = some->rung;
}

/** The deepest rung with particles of this rank that are not black holes. */
static uint32_t deepest_of_others(const struct nbody *n, const struct holes *mine) {
  uint64_t others[RUNGS] = {0};
  FOR_GROUPS(&n->domain, g)
  for (int k = 0; k < RUNGS; k++) others[k] += rungs_of(n, g)->particles[k];
  for (uint32_t i = 0; i < mine->count; i++)
    if (others[mine->hole[i].rung] > 0) others[mine->hole[i].rung]--;
  uint32_t deepest = RUNG_MOST;
  while (deepest > 0 && others[deepest] == 0) deepest--;
  return deepest;
}

static struct holes holes_of_rank(const struct nbody *n) {
  struct holes mine = {0};
  FOR_GROUPS(&n->domain, g) {
    handle_acquire(n->holes->found[group_place(&n->domain, g)], STARPU_R);
    add(&mine, &n->holes->of_group[group_place(&n->domain, g)]);
    starpu_data_release(n->holes->found[group_place(&n->domain, g)]);
  }
  mine.rung = deepest_of_others(n, &mine);
  return mine;
}

void holes_gather(struct nbody *n) {
  const struct holes mine = holes_of_rank(n);
  struct holes *of_rank = allocate((size_t)comm_size(), sizeof *of_rank, "black holes of ranks");
  comm_gather_all(&mine, sizeof mine, of_rank);
  handle_acquire(n->holes->table, STARPU_W);
  n->holes->all = (struct holes){0};
  for (int r = 0; r < comm_size(); r++) add(&n->holes->all, &of_rank[r]);
  starpu_data_release(n->holes->table);
  free(of_rank);
}
