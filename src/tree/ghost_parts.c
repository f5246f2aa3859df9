/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which parts of the trees of isolated systems ranks need of each other's groups. All ranks tell all ranks bounds on
 * their targets. The owner of a source then finds the nodes that a walk over there can open, and sends what is below
 * them and nothing else. Nodes that are sent and not opened change no bits. */
#include <stdlib.h>

#include "ghost_bounds.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/base/kept.h"
#include "photons/tree/short_range.h"

/** Bounds on the targets of all ranks. */
struct finding {
  const struct short_range *s;
  struct rank_targets *targets; /* [comm_size()] */
};

/** Collective. */
static struct finding begin_finding(const struct short_range *s) {
  const size_t ranks = (size_t)comm_size();
  const struct domain *d = s->domain;
  const struct rank_targets mine = ghost_targets(s, d->groups, d->particles.blocks);
  struct finding f = {.s = s, .targets = allocate(ranks, sizeof mine, "targets of ranks")};
  comm_gather_all(&mine, sizeof mine, f.targets);
  kept_set(KEPT_BOXES, ranks * sizeof mine);
  return f;
}

/** As in struct ghost_rule. */
static void find_part(const void *context, const struct group *g, int rank, uint64_t *below) {
  const struct finding *f = context;
  ghost_part(f->s, g, &f->targets[rank], below);
}

/** Bytes of what is received of ghosts. */
static size_t bytes_received(const struct short_range *s) {
  const struct domain *d = s->domain;
  const size_t node = sizeof(struct node) + fmm_multipole_size(s->order) * sizeof(float);
  size_t bytes = 0;
  for (uint32_t i = 0; i < d->received.count; i++) {
    const struct group *g = group_known(d, d->received.ghost[i].group);
    bytes += part_room(&g->part, d->depth) * node;
    if (group_has_particles(g)) bytes += (size_t)g->count * 3 * sizeof(uint32_t);
  }
  return bytes;
}

static void find_isolated(struct short_range *s) {
  struct finding f = begin_finding(s);
  if (s->domain->sources_later) {
    upper_tell(s, f.targets);
    upper_find(s);
  }
  domain_find_ghosts(s->domain, &(struct ghost_rule){find_part, &f});
  free(f.targets);
}

void short_range_find_ghosts(struct short_range *s) {
  if (comm_size() == 1 && !s->domain->sources_later) return;
  if (s->acceptance.newton)
    find_isolated(s);
  else
    domain_find_ghosts(s->domain, NULL);
  if (comm_size() == 1) return;
  short_range_follow_ghosts(s);
  kept_set(KEPT_SOURCES, bytes_received(s));
}
