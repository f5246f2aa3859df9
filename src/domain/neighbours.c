/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which groups meet, and which cells of the mesh they touch, from the boxes of all groups. */
#include <math.h>
#include <stdlib.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/domain/simulation.h"

float box_gap_squared(const struct simulation *s, const struct node *a, const struct node *b) {
  float gap2 = 0.0f;
  for (int c = 0; c < 3; c++) {
    float d = fabsf((float)(int32_t)(a->centre[c] - b->centre[c])) * s->scale;
    float gap = fmaxf(d - (a->half[c] + b->half[c]), 0.0f);
    gap2 += gap * gap;
  }
  return gap2;
}

/** A box around two others, the nearest images of each other; widened by more than the rounding of floats. */
static struct node box_around(const struct simulation *s, const struct node *a, const struct node *b) {
  struct node box = {0};
  for (int c = 0; c < 3; c++) {
    const float d = (float)(int32_t)(b->centre[c] - a->centre[c]) * s->scale;
    const float low = fminf(-a->half[c], d - b->half[c]), high = fmaxf(a->half[c], d + b->half[c]);
    box.centre[c] = a->centre[c] + (uint32_t)(int64_t)(0.5f * (low + high) / s->scale);
    box.half[c] = 0.5f * (high - low) * (1.0f + 1e-5f);
  }
  return box;
}

/** Boxes of the ORB tree's nodes in heap order; those of the groups are the last level. */
struct search {
  struct simulation *simulation;
  struct node *box;
  uint32_t tasks;
};

static void add_neighbour(struct group *group, uint32_t other) {
  if (group->neighbours == group->neighbour_room) {
    group->neighbour_room = 2 * group->neighbour_room + 30;
    group->neighbour = reallocate(group->neighbour, group->neighbour_room, sizeof *group->neighbour, "neighbour list");
  }
  group->neighbour[group->neighbours++] = other;
}

/** Slot 0 is the group itself, the others follow by rising number. */
static void find_neighbours(const struct search *search, struct group *group) {
  const struct simulation *s = search->simulation;
  const uint32_t groups = s->group_count;
  uint32_t stack[64], depth = 0;
  group->neighbours = 0;
  add_neighbour(group, group->index);
  stack[depth++] = 1;
  while (depth > 0) {
    const uint32_t node = stack[--depth];
    /* Rounding may hide a gap of this size above the groups, never one between two groups. */
    if (box_gap_squared(s, &group->root, &search->box[node]) >= (node < groups ? 1.0f + 1e-4f : 1.0f)) continue;
    if (node >= groups) {
      if (node - groups != group->index) add_neighbour(group, node - groups);
    } else {
      stack[depth++] = 2 * node + 1;
      stack[depth++] = 2 * node;
    }
  }
}

static void find_part(void *context, uint32_t task) {
  const struct search *search = context;
  struct simulation *s = search->simulation;
  const size_t own = group_first(s, comm_rank()), groups = s->particles.blocks;
  for (size_t i = block_first(groups, search->tasks, task); i < block_first(groups, search->tasks, task + 1); i++)
    find_neighbours(search, &s->groups[own + i]);
  for (size_t i = block_first(s->group_count, search->tasks, task);
       i < block_first(s->group_count, search->tasks, task + 1); i++) {
    struct group *group = &s->groups[i];
    double half[3];
    for (int c = 0; c < 3; c++) half[c] = fmin((double)group->root.half[c] / (double)s->scale, 2147483648.0);
    group->patch = patch_for_box(s->mesh, group->root.centre, half);
  }
}

void domain_find_neighbours(struct simulation *s) {
  const uint32_t groups = s->group_count, own = group_first(s, comm_rank());
  struct node *box = allocate(2 * (size_t)groups, sizeof *box, "boxes of all groups"),
              *mine = allocate(s->particles.blocks, sizeof *mine, "boxes of groups");
  size_t *bytes = allocate((size_t)comm_size(), sizeof *bytes, "message sizes");
  for (int r = 0; r < comm_size(); r++) bytes[r] = (group_first(s, r + 1) - group_first(s, r)) * sizeof *box;
  for (uint32_t i = 0; i < s->particles.blocks; i++) mine[i] = s->groups[own + i].top[1];
  comm_gather_all_sizes(mine, bytes, box + groups);
  for (uint32_t i = 0; i < groups; i++) s->groups[i].root = box[groups + i];
  for (uint32_t node = groups - 1; node > 0; node--) box[node] = box_around(s, &box[2 * node], &box[2 * node + 1]);
  struct search search = {.simulation = s, .box = box, .tasks = groups < 64 ? 1 : 64};
  parallel_for(s, STAGE_REFIT, search.tasks, find_part, &search);
  free(bytes);
  free(mine);
  free(box);
}
