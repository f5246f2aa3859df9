/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rebuild of the domain by tasks. Levels of the ORB tree are split one after the other. Tasks pass
 * over the particles of the old groups, which stay where they are, and the host adds up what they find:
 * boxes, and numbers of particles by digits of the medians. At last particles move (regroup_move.c). */
#include "regroup.h"

#include <stdlib.h>
#include <string.h>

#include "bisect.h"
#include "keys.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/base/kept.h"
#include "photons/domain/domain.h"
#include "photons/runtime/handle.h"
#include "photons/runtime/message.h"
#include "regroup_move.h"

/** A new array of results, to be written by the next pass. */
static void expect(struct old_group *o, size_t count, size_t size) {
  handle_drop(&o->pass.result);
  o->pass.result = handle_make(count, size);
}

/** Call function() for the results of all groups, which come to the host together. */
static void for_results(struct regrouping *r,
                        void (*function)(struct regrouping *r, struct old_group *o,
                                         const void *result)) {
  for (uint32_t g = 0; g < r->groups; g++)
    (void)starpu_data_prefetch_on_node(r->old[g].pass.result, STARPU_MAIN_RAM, 1);
  for (uint32_t g = 0; g < r->groups; g++) {
    const starpu_data_handle_t result = r->old[g].pass.result;
    handle_acquire(result, STARPU_R);
    function(r, &r->old[g], starpu_data_get_local_ptr(result));
    starpu_data_release(result);
  }
}

/** Sides become nodes of the next level: each that holds particles of the group gets a row. */
static void take_sides(struct regrouping *r, struct old_group *o, const void *result) {
  const uint32_t sides = 2 * o->pass.rows, *parent = o->node;
  uint32_t *node = allocate(sides, sizeof *node, "nodes of a group"), rows = 0;
  o->part = reallocate(o->part, sides, sizeof *o->part, "parts of a group");
  o->pass.cut = reallocate(o->pass.cut, sides, sizeof *o->pass.cut, "cuts of a group");
  memcpy(o->part, result, sides * sizeof *o->part);
  memset(o->pass.cut, 0, sides * sizeof *o->pass.cut);
  for (uint32_t s = 0; s < sides; s++) {
    const struct node_part *part = &o->part[s];
    if (part->count == 0) continue;
    const uint32_t of = parent ? 2 * parent[s / 2] + s % 2 : 0;
    for (size_t c = 0; c < 3; c++) {
      if (part->low[c] < r->low[of][c]) r->low[of][c] = part->low[c];
      if (part->high[c] > r->high[of][c]) r->high[of][c] = part->high[c];
    }
    o->pass.cut[s].row = rows;
    node[rows++] = of;
  }
  free(o->node);
  o->node = node;
  o->pass.sides = sides;
  o->pass.rows = rows;
}

/** Send all particles to the sides of the cuts, and measure the nodes of the next level. */
static void send_down(struct regrouping *r, uint32_t nodes) {
  memset(r->low, 0xff, nodes * sizeof *r->low);
  memset(r->high, 0, nodes * sizeof *r->high);
  FOR_GROUPS(r->d, g) {
    struct old_group *o = &r->old[g->index - r->first];
    expect(o, 2 * (size_t)o->pass.rows, sizeof(struct node_part));
    cut_send_submit(g, &o->pass);
  }
  for_results(r, take_sides);
  comm_min_u32(r->low[0], 3 * (size_t)nodes);
  comm_max_u32(r->high[0], 3 * (size_t)nodes);
}

static void add_values(struct regrouping *r, struct old_group *o, const void *result) {
  const uint32_t *of_value = result;
  for (uint32_t row = 0; row < o->pass.rows; row++)
    for (uint32_t k = 0; k < DIGIT_VALUES; k++)
      r->of_value[(size_t)o->node[row] * DIGIT_VALUES + k] += of_value[row * DIGIT_VALUES + k];
}

static void find_digit(struct regrouping *r, uint32_t nodes, int digit) {
  const size_t values = (size_t)nodes * DIGIT_VALUES;
  memset(r->of_value, 0, values * sizeof *r->of_value);
  FOR_GROUPS(r->d, g) {
    struct old_group *o = &r->old[g->index - r->first];
    expect(o, (size_t)o->pass.rows * DIGIT_VALUES, sizeof(uint32_t));
    cut_count_submit(g, &o->pass, digit);
  }
  for_results(r, add_values);
  comm_sum_u64(r->of_value, values);
  for (uint32_t node = 0; node < nodes; node++)
    cut_find_digit(&r->cut[node], digit, r->of_value + (size_t)node * DIGIT_VALUES);
  for (uint32_t g = 0; g < r->groups; g++)
    FOR_CUTS(&r->old[g], c, node) c->value = r->cut[node].value;
}

/** After the last digit: the group's particles at the medians. */
static void take_ties(struct regrouping *r, struct old_group *o, const void *result) {
  const uint32_t *of_value = result, lowest = (1u << digit_shift(DIGITS - 2)) - 1;
  o->ties = reallocate(o->ties, o->pass.rows, sizeof *o->ties, "ties of a group");
  for (uint32_t row = 0; row < o->pass.rows; row++)
    o->ties[row] = of_value[row * DIGIT_VALUES + (r->cut[o->node[row]].value & lowest)];
}

/** Of the particles at a median the first ones, in the order of ranks and old groups, go left. */
static void share_ties(struct regrouping *r, uint32_t nodes) {
  uint64_t *before = allocate(nodes, sizeof *before, "ties"); /* of lower ranks */
  kept_set(KEPT_TIES, nodes * sizeof *before);
  for (uint32_t g = 0; g < r->groups; g++)
    FOR_CUTS(&r->old[g], c, node) before[node] += r->old[g].ties[c->row];
  comm_sums_before(before, nodes);
  for (uint32_t node = 0; node < nodes; node++) {
    const uint64_t left = r->cut[node].left;
    r->cut[node].left -= before[node] < left ? before[node] : left;
  }
  for (uint32_t g = 0; g < r->groups; g++) FOR_CUTS(&r->old[g], c, node) {
      const uint64_t ties = r->old[g].ties[c->row], left = r->cut[node].left;
      c->ties = ties <= left ? UINT32_MAX : (uint32_t)left;
      r->cut[node].left -= ties <= left ? ties : left;
    }
  free(before);
}

static void split_level(struct regrouping *r, unsigned level) {
  const uint32_t nodes = 1u << level, groups = r->d->group_count;
  const size_t all = r->d->particles.all;
  for (uint32_t node = 0; node < nodes; node++)
    r->cut[node] = (struct cut){.node = node,
                                .axis = side_to_cut(level, groups, r->low[node], r->high[node]),
                                .left = block_first(all, 2 * (size_t)nodes, 2 * (size_t)node + 1) -
                                        block_first(all, nodes, node)};
  for (uint32_t g = 0; g < r->groups; g++)
    FOR_CUTS(&r->old[g], c, node) c->axis = (uint32_t)r->cut[node].axis;
  for (int digit = 0; digit < DIGITS; digit++) find_digit(r, nodes, digit);
  for_results(r, take_ties);
  share_ties(r, nodes);
  send_down(r, 2 * nodes);
}

void orb_regroup(struct domain *d, uint32_t (*centre)[3]) {
  const size_t groups = d->group_count;
  struct regrouping r = {.d = d,
                         .first = group_first(d, comm_rank()),
                         .groups = (uint32_t)d->particles.blocks,
                         .old = allocate(d->particles.blocks, sizeof *r.old, "groups"),
                         .cut = allocate(groups, sizeof *r.cut, "cuts of the domain"),
                         .low = allocate(groups, sizeof *r.low, "boxes of the domain"),
                         .high = allocate(groups, sizeof *r.high, "boxes of the domain"),
                         .of_value = allocate(groups * DIGIT_VALUES, sizeof *r.of_value,
                                              "counts of the domain decomposition")};
  kept_set(KEPT_COUNTS, groups * (DIGIT_VALUES * sizeof *r.of_value + sizeof *r.low +
                                  sizeof *r.high + sizeof *r.cut));
  message_wait();
  FOR_GROUPS(d, g) {
    struct group_cut *c = &r.old[g->index - r.first].pass;
    c->side = handle_make(g->count, sizeof(uint16_t));
    c->rows = 1;
  }
  send_down(&r, 1);
  for (unsigned level = 0; 1u << level < d->group_count; level++) split_level(&r, level);
  regroup_move(&r);
  for (uint32_t g = 0; g < r.groups; g++) {
    struct old_group *o = &r.old[g];
    const uint32_t *low = r.low[r.first + g], *high = r.high[r.first + g];
    for (size_t c = 0; c < 3; c++) centre[g][c] = low[c] + (high[c] - low[c]) / 2;
    handle_drop(&o->pass.side);
    handle_drop(&o->pass.result);
    free(o->pass.cut);
    free(o->node);
    free(o->part);
    free(o->ties);
  }
  free(r.of_value);
  free(r.high);
  free(r.low);
  free(r.cut);
  free(r.old);
}
