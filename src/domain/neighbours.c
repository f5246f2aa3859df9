/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The search for neighbours: groups whose boxes are within r_cut of each other. */
#include <math.h>
#include <stdlib.h>

#include "box_tree.h"
#include "meet.h"
#include "photons/base/comm.h"
#include "photons/base/debug_check.h"
#include "photons/base/error.h"
#include "photons/base/kept.h"
#include "photons/domain/codelets.h"
#include "photons/domain/domain.h"
#include "photons/runtime/loop.h"

LOOP_STAGE(neighbours, 0xaaaaaa);

struct search {
  struct domain *domain;
  struct box_tree tree; /* of all groups that are known here */
  uint32_t tasks;
};

void neighbours_add(struct neighbours *near, struct group *group) {
  if (near->count == near->room) {
    near->room = 2 * near->room + 30;
    near->group = reallocate(near->group, near->room, sizeof(struct group *), "neighbours");
  }
  near->group[near->count++] = group;
}

static void find_neighbours(const struct search *search, struct group *group) {
  const struct box_tree *tree = &search->tree;
  group->near.count = 0;
  neighbours_add(&group->near, group);
  for (uint32_t i = 0; i < tree->count;) {
    const struct box_node *node = &tree->node[i];
    const float reach = node->group ? reach_squared(group->moved, node->group->moved)
                                    : reach_squared(group->moved, tree->moved) + BOX_ROUNDING;
    const bool near = box_gap_squared(&search->domain->geometry, &group->root, &node->box) < reach;
    if (near && node->group && node->group != group) neighbours_add(&group->near, node->group);
    i = near ? i + 1 : node->next;
  }
}

static void find_part(void *context, uint32_t task) {
  const struct search *search = context;
  const struct domain *d = search->domain;
  const size_t groups = d->particles.blocks;
  for (size_t i = block_first(groups, search->tasks, task);
       i < block_first(groups, search->tasks, task + 1); i++)
    find_neighbours(search, &d->groups[i]);
}

static int compare_index(const void *a, const void *b) {
  const struct group *x = *(struct group *const *)a, *y = *(struct group *const *)b;
  return (x->index > y->index) - (x->index < y->index);
}

/** Neighbours rise behind the first one, the group itself. */
static bool is_neighbour(const struct neighbours *near, const struct group *group) {
  return near->group[0] == group ||
         bsearch(&group, near->group + 1, near->count - 1, sizeof(struct group *), compare_index);
}

/** Of two groups of this rank each is in reach of the other, or neither. */
static void check_mutual(struct domain *d) {
  FOR_GROUPS(d, g) for (uint32_t k = 0; k < g->near.count; k++) {
    const struct group *other = g->near.group[k];
    DEBUG_CHECK(other->owner != comm_rank() || is_neighbour(&other->near, g),
                "group %u has the neighbour %u, but not the other way round", g->index,
                other->index);
  }
}

uint32_t near_with_particles(const struct neighbours *near) {
  uint32_t n = 0;
  for (uint32_t k = 0; k < near->count; k++) n += group_has_particles(near->group[k]);
  return n;
}

bool domain_source_wanted(const struct group *g) {
  for (uint32_t k = 0; k < g->near.count; k++)
    if (g->near.group[k]->targets > 0) return true;
  return false;
}

/** A tree of all groups that this rank knows. */
static struct box_tree tree_of_known(struct domain *d) {
  const size_t most = d->particles.blocks + d->met_count;
  struct group **known = allocate(most, sizeof(struct group *), "groups");
  uint32_t n = 0, met = 0;
  for (; met < d->met_count && d->met[met].index < d->particles.first_block; met++)
    known[n++] = &d->met[met];
  FOR_GROUPS(d, g) known[n++] = g;
  for (; met < d->met_count; met++) known[n++] = &d->met[met];
  kept_set(KEPT_BOXES, 2 * most * sizeof(struct box_node) + most * sizeof(struct group *));
  const struct box_tree tree = box_tree_make(&d->geometry, known, n);
  free(known);
  return tree;
}

void domain_find_neighbours(struct domain *d) {
  FOR_GROUPS(d, g) g->root = g->top[1];
  if (d->sources_later) return;
  domain_meet(d);
  struct search search = {.domain = d, .tree = tree_of_known(d)};
  search.tasks = d->particles.blocks < 64 ? 1 : 64;
  if (search.tasks == 1) /* less work than a task */
    find_part(&search, 0);
  else
    loop_run(&neighbours_stage, search.tasks, find_part, &search);
  if (DEBUG_CHECKS) check_mutual(d);
  box_tree_free(&search.tree);
}
