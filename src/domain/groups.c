/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which ranks own which groups, and which groups a rank knows. */
#include "groups.h"

#include <stdlib.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/base/kept.h"
#include "photons/domain/domain.h"
#include "photons/runtime/pinned.h"

uint32_t group_first(const struct domain *d, int rank) {
  return d->owner_first ? d->owner_first[rank] : (uint32_t)comm_first(d->group_count, rank);
}

int group_owner(const struct domain *d, uint32_t group) {
  int low = 0, high = comm_size(); /* group_first(low) <= group < group_first(high) */
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    if (group_first(d, middle) <= group)
      low = middle;
    else
      high = middle;
  }
  return low;
}

static int compare_groups(const void *a, const void *b) {
  const struct group *x = a, *y = b;
  return (x->index > y->index) - (x->index < y->index);
}

/** Of the nodes above groups of this rank alone. */
static struct group *find_above(const struct domain *d, uint32_t index) {
  uint32_t low = 0, high = d->above_count; /* it is in low .. high - 1 if it is there */
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (d->above[middle]->index == index) return d->above[middle];
    if (d->above[middle]->index < index)
      low = middle + 1;
    else
      high = middle;
  }
  return NULL;
}

struct group *group_known(const struct domain *d, uint32_t index) {
  const size_t place = index - d->particles.first_block;
  if (place < d->particles.blocks) return &d->groups[place];
  struct group *above = index >= d->group_count ? find_above(d, index) : NULL;
  if (above) return above;
  const struct group key = {.index = index};
  return d->met_count > 0 ? bsearch(&key, d->met, d->met_count, sizeof key, compare_groups) : NULL;
}

void groups_take(struct domain *d) {
  const struct particles *p = &d->particles;
  d->groups = allocate(p->blocks, sizeof *d->groups, "groups");
  d->group_seconds = allocate(p->blocks, sizeof *d->group_seconds, "times of groups");
  kept_set(KEPT_GROUPS, p->blocks * (sizeof *d->groups + sizeof *d->group_seconds));
  pin_memory(d->groups, p->blocks * sizeof *d->groups); /* GPU tasks write results into it */
  for (uint32_t i = 0; i < p->blocks; i++)
    d->groups[i] = (struct group){.index = (uint32_t)p->first_block + i,
                                  .count = (uint32_t)particles_block(p, i).count,
                                  .owner = comm_rank(),
                                  .part = {NULL, 1u << d->top_depth, d->top_depth}};
}

void groups_leave(struct domain *d) {
  FOR_GROUPS(d, g) free(g->near.group);
  unpin_memory(d->groups, d->particles.blocks * sizeof *d->groups);
  free(d->groups);
  free(d->group_seconds);
  free(d->met);
  d->met = NULL;
  d->met_count = 0;
}
