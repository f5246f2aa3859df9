/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The search for neighbours: groups whose boxes are within r_cut of each other. */
#include <math.h>
#include <stdlib.h>

#include "photons/base/comm.h"
#include "photons/base/debug_check.h"
#include "photons/base/error.h"
#include "photons/base/kept.h"
#include "photons/domain/codelets.h"
#include "photons/domain/domain.h"
#include "photons/runtime/loop.h"

LOOP_STAGE(neighbours, 0xaaaaaa);

float box_gap_squared(const struct geometry *geometry, const struct node *a, const struct node *b) {
  float gap2 = 0.0f;
  for (int c = 0; c < 3; c++) {
    float d = fabsf((float)position_difference(a->centre[c], b->centre[c])) * geometry->scale;
    float gap = fmaxf(d - (a->half[c] + b->half[c]), 0.0f);
    gap2 += gap * gap;
  }
  return gap2;
}

/** A box around the nearest images of two boxes, widened by more than the rounding of floats. */
static struct node box_around(const struct geometry *geometry, const struct node *a,
                              const struct node *b) {
  struct node box = {0};
  for (int c = 0; c < 3; c++) {
    const float d = (float)position_difference(b->centre[c], a->centre[c]) * geometry->scale;
    const float low = fminf(-a->half[c], d - b->half[c]), high = fmaxf(a->half[c], d + b->half[c]);
    box.centre[c] = a->centre[c] + (uint32_t)(int64_t)(0.5f * (low + high) / geometry->scale);
    box.half[c] = 0.5f * (high - low) * (1.0f + 1e-5f);
  }
  return box;
}

/** Units of r_cut^2. For nodes above the groups, rounding may hide a gap of this size; between two
 * groups the gap is taken as computed. */
#define ROUNDING 1e-4f

/** The boxes of the nodes of the ORB tree, in heap order; the groups are the last level. */
struct search {
  struct domain *domain;
  struct node *box;
  float moved; /* the most of any group */
  uint32_t tasks;
};

/** Squared distance within which two groups may be neighbours, considering how far particles may
 * have moved since their boxes were made. */
static float reach_squared(float moved, float other_moved) {
  const float reach = R_CUT + (moved + other_moved); /* the same for both groups */
  return reach * reach;
}

static void add_neighbour(struct neighbours *near, uint32_t group) {
  if (near->count == near->room) {
    near->room = 2 * near->room + 30;
    near->group = reallocate(near->group, near->room, sizeof *near->group, "neighbours");
  }
  near->group[near->count++] = group;
}

static void find_neighbours(const struct search *search, struct group *group) {
  const struct domain *d = search->domain;
  const uint32_t groups = d->group_count;
  uint32_t stack[64], depth = 0;
  group->near.count = 0;
  add_neighbour(&group->near, group->index);
  stack[depth++] = 1;
  while (depth > 0) {
    const uint32_t node = stack[--depth];
    const float reach = node < groups ? reach_squared(group->moved, search->moved) + ROUNDING
                                      : reach_squared(group->moved, d->groups[node - groups].moved);
    if (box_gap_squared(&d->geometry, &group->root, &search->box[node]) >= reach) continue;
    if (node >= groups) {
      if (node - groups != group->index) add_neighbour(&group->near, node - groups);
    } else {
      stack[depth++] = 2 * node + 1;
      stack[depth++] = 2 * node;
    }
  }
}

static void find_part(void *context, uint32_t task) {
  const struct search *search = context;
  const struct domain *d = search->domain;
  const size_t own = group_first(d, comm_rank()), groups = d->particles.blocks;
  for (size_t i = block_first(groups, search->tasks, task);
       i < block_first(groups, search->tasks, task + 1); i++)
    find_neighbours(search, &d->groups[own + i]);
}

static bool is_neighbour(const struct neighbours *near, uint32_t group) {
  for (uint32_t k = 0; k < near->count; k++)
    if (near->group[k] == group) return true;
  return false;
}

/** Of two groups of this rank each is in reach of the other, or neither. */
static void check_mutual(struct domain *d) {
  FOR_GROUPS(d, g) for (uint32_t k = 0; k < g->near.count; k++) {
    const struct group *other = &d->groups[g->near.group[k]];
    DEBUG_CHECK(other->owner != comm_rank() || is_neighbour(&other->near, g->index),
                "group %u has the neighbour %u, but not the other way round", g->index,
                other->index);
  }
}

/** Tell all ranks the boxes, targets and motion of all groups. */
static void announce(struct domain *d) {
  struct announcement {
    struct node box;
    uint32_t targets;
    float moved;
  } *all = allocate(d->group_count, sizeof *all, "boxes of all groups"),
    *mine = allocate(d->particles.blocks, sizeof *mine, "boxes of groups");
  size_t *bytes = allocate((size_t)comm_size(), sizeof *bytes, "message sizes"), n = 0;
  for (int r = 0; r < comm_size(); r++)
    bytes[r] = (group_first(d, r + 1) - group_first(d, r)) * sizeof *all;
  FOR_GROUPS(d, g) mine[n++] = (struct announcement){g->top[1], g->targets, g->moved};
  kept_set(KEPT_BOXES, d->group_count * sizeof *all);
  comm_gather_all_sizes(mine, bytes, all);
  for (uint32_t i = 0; i < d->group_count; i++) {
    d->groups[i].root = all[i].box;
    d->groups[i].targets = all[i].targets;
    d->groups[i].moved = all[i].moved;
  }
  free(bytes);
  free(mine);
  free(all);
}

bool domain_source_wanted(const struct domain *d, const struct group *g) {
  for (uint32_t k = 0; k < g->near.count; k++)
    if (d->groups[g->near.group[k]].targets > 0) return true;
  return false;
}

void domain_find_neighbours(struct domain *d) {
  const uint32_t groups = d->group_count;
  announce(d);
  struct node *box = allocate(2 * (size_t)groups, sizeof *box, "boxes of all nodes");
  kept_set(KEPT_BOXES, 2 * (size_t)groups * sizeof *box);
  for (uint32_t i = 0; i < groups; i++) box[groups + i] = d->groups[i].root;
  for (uint32_t node = groups - 1; node > 0; node--)
    box[node] = box_around(&d->geometry, &box[2 * node], &box[2 * node + 1]);
  struct search search = {.domain = d, .box = box, .tasks = groups < 64 ? 1 : 64};
  for (uint32_t i = 0; i < groups; i++) search.moved = fmaxf(search.moved, d->groups[i].moved);
  if (search.tasks == 1) /* less work than a task */
    find_part(&search, 0);
  else
    loop_run(&neighbours_stage, search.tasks, find_part, &search);
  if (DEBUG_CHECKS) check_mutual(d);
  free(box);
}
