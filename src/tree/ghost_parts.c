/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which parts of the trees of isolated systems ranks need of each other's groups. All ranks tell all ranks bounds on
 * their groups as sources. A rank tells bounds on its targets to those ranks of which its walks may open a group at all.
 * The owner of a source then finds the nodes that a walk over there can open, and sends what is below them and
 * nothing else. Nodes that are sent and not opened change no bits. */
#include <stdlib.h>

#include "ghost_bounds.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/base/kept.h"
#include "photons/tree/short_range.h"

/** Bounds on targets of those ranks whose walks may open groups of this rank. */
struct finding {
  const struct short_range *s;
  struct rank_targets *targets; /* [from.ranks] */
  struct sparse_from from;
};

/** What a rank tells others of its targets: the same to each. */
struct telling {
  struct rank_targets *targets; /* [ranks] */
  int *rank;
  size_t *bytes;
  uint32_t ranks;
};

/** The ranks of which walks of these targets may open a group. */
static struct telling ranks_opened(const struct short_range *s, const struct rank_targets *mine) {
  const size_t ranks = (size_t)comm_size();
  const struct domain *d = s->domain;
  const struct rank_sources own = ghost_sources(s, d->groups, d->particles.blocks);
  struct rank_sources *all = allocate(ranks, sizeof *all, "bounds of ranks");
  struct telling t = {.rank = allocate(ranks, sizeof *t.rank, "message sizes")};
  comm_gather_all(&own, sizeof own, all);
  for (int r = 0; r < comm_size(); r++)
    if (r != comm_rank() && ghost_may_open_any(s, mine, &all[r])) t.rank[t.ranks++] = r;
  free(all);
  return t;
}

static struct telling tell(const struct short_range *s) {
  const struct domain *d = s->domain;
  const struct rank_targets mine = ghost_targets(s, d->groups, d->particles.blocks);
  struct telling t = ranks_opened(s, &mine);
  t.targets = allocate(t.ranks, sizeof *t.targets, "targets of ranks");
  t.bytes = allocate(t.ranks, sizeof *t.bytes, "message sizes");
  for (uint32_t k = 0; k < t.ranks; k++) {
    t.targets[k] = mine;
    t.bytes[k] = sizeof mine;
  }
  return t;
}

/** Collective. */
static struct finding begin_finding(const struct short_range *s) {
  struct telling t = tell(s);
  struct finding f = {.s = s};
  f.targets = comm_exchange_sparse(t.targets, t.rank, t.bytes, t.ranks, &f.from);
  const size_t each = sizeof *t.targets + sizeof *t.rank + sizeof *t.bytes;
  kept_set(KEPT_BOXES, (size_t)comm_size() * (sizeof(struct rank_sources) + sizeof *t.rank) +
                           (t.ranks + f.from.ranks) * each);
  free(t.targets);
  free(t.rank);
  free(t.bytes);
  return f;
}

static void end_finding(struct finding *f) {
  free(f->targets);
  sparse_from_free(&f->from);
}

/** Bounds on the targets of a rank; NULL: they open no group of this rank. */
static const struct rank_targets *targets_of(const struct finding *f, int rank) {
  uint32_t low = 0, high = f->from.ranks; /* the rank is in low .. high - 1 if it is there */
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (f->from.rank[middle] == rank) return &f->targets[middle];
    if (f->from.rank[middle] < rank)
      low = middle + 1;
    else
      high = middle;
  }
  return NULL;
}

/** As in struct ghost_rule. */
static struct tree_part find_part(const void *context, const struct group *g, int rank) {
  const struct finding *f = context;
  const struct rank_targets *targets = targets_of(f, rank);
  return targets ? ghost_part(f->s, g, targets)
                 : (struct tree_part){.top = f->s->domain->top_depth};
}

/** Bytes of what is received of ghosts. */
static size_t bytes_received(const struct short_range *s) {
  const struct domain *d = s->domain;
  const size_t node = sizeof(struct node) + fmm_multipole_size(s->order) * sizeof(float);
  size_t bytes = 0;
  for (uint32_t i = 0; i < d->received.count; i++) {
    const struct group *g = group_known(d, d->received.ghost[i].group);
    bytes += tree_nodes(g->levels) * node;
    if (group_has_particles(g)) bytes += (size_t)g->count * 3 * sizeof(uint32_t);
  }
  return bytes;
}

static void find_ghosts(struct short_range *s) {
  if (comm_size() == 1) return;
  if (s->acceptance.newton) {
    struct finding f = begin_finding(s);
    domain_find_ghosts(s->domain, &(struct ghost_rule){find_part, &f});
    end_finding(&f);
  } else {
    domain_find_ghosts(s->domain, NULL);
  }
  short_range_follow_ghosts(s);
  kept_set(KEPT_SOURCES, bytes_received(s));
}

void short_range_find_ghosts(struct short_range *s) {
  find_ghosts(s);
  if (s->domain->sources_later) upper_find(s);
}
