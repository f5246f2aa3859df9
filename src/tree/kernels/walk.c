/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The dual walk of a group's tree and each neighbour's tree, which makes the near and far lists. */
#include "photons/tree/walk.h"

#include <string.h>

#include "photons/tree/kernels.h"

enum { NEAR, FAR };

static inline void emit(struct walk_scratch *s, int list, uint32_t target, uint32_t entry) {
  walk_scratch_reserve(s, list, 1);
  uint32_t *pair = s->pair[list] + 2 * s->count[list]++;
  pair[0] = target;
  pair[1] = entry;
}

/** Sort pairs by target; pairs of one target keep the order in which they were found. */
static void build_list(const struct walk_scratch *s, int which, uint32_t targets,
                       struct interaction_list *list) {
  size_t n = s->count[which];
  const uint32_t *pair = s->pair[which];
  interaction_list_reserve(list, targets, n);
  memset(list->offset, 0, ((size_t)targets + 1) * sizeof *list->offset);
  for (size_t i = 0; i < n; i++) list->offset[pair[2 * i] + 1]++;
  for (uint32_t t = 0; t < targets; t++) list->offset[t + 1] += list->offset[t];
  for (size_t i = 0; i < n; i++) list->entry[list->offset[pair[2 * i]]++] = pair[2 * i + 1];
  memmove(list->offset + 1, list->offset, (size_t)targets * sizeof *list->offset);
  list->offset[0] = 0;
  list->entries = (uint32_t)n;
}

static inline float larger_of(float a, float b) { return a > b ? a : b; }

#define PUSH(t, s, t_mass, s_mass)   \
  do {                               \
    stack[top].target = (t);         \
    stack[top].source = (s);         \
    stack[top].targets = (t_mass);   \
    stack[top++].sources = (s_mass); \
  } while (0)

struct walk_result KERNEL(walk)(const struct acceptance *a, uint32_t count, unsigned depth,
                                const uint32_t *first, const struct node *nodes, uint32_t slots,
                                const struct node *const *source_nodes, const uint32_t *slot_count,
                                const float *const *slot_mass, struct walk_scratch *scratch,
                                struct interaction_list *near, struct interaction_list *far) {
  const uint32_t leaves = 1u << depth, source_leaves = 1u << a->depth;
  struct walk_result result = {0};
  struct {
    uint32_t target, source;
    float targets, sources; /* masses of which the pair is a part */
  } stack[4 * 32];          /* each level of either tree leaves at most one sibling waiting */
  scratch->count[NEAR] = scratch->count[FAR] = 0;
  for (uint32_t slot = 0; slot < slots; slot++) {
    const struct node *sources = source_nodes[slot];
    const uint32_t tag = slot << (a->depth + 1), n = slot_count[slot];
    int top = 0;
    PUSH(1, 1, 0.0f, 0.0f);
    while (top > 0) {
      uint32_t t = stack[--top].target, s = stack[top].source;
      uint32_t target_count = tree_node_count(count, depth, first, t),
               source_count = node_end(n, s) - node_first(n, s);
      if (first && target_count == 0) continue;
      result.visits++;
      /* Where the larger node cannot be opened, opening the other one does not lessen the error
       * that the larger one's radius makes: the parts' errors add up to that of the whole. */
      const bool larger = nodes[t].radius >= sources[s].radius;
      /* Packed targets count as equal: only those of their pairs feel a force here. Slot 0 is the
       * group of targets that are not packed. */
      const float target_mass = slot_mass && !first ? slot_mass[0][t] : (float)target_count,
                  source_mass = slot_mass ? slot_mass[slot][s] : (float)source_count,
                  of_targets = a->newton ? larger_of(stack[top].targets, target_mass) : target_mass,
                  of_sources = a->newton ? larger_of(stack[top].sources, source_mass) : source_mass;
      enum verdict verdict = judge(a, &nodes[t], &sources[s], of_targets, of_sources);
      if (verdict == DROP) continue;
      if (verdict == ACCEPT) {
        emit(scratch, FAR, t, tag | s);
      } else if (t >= leaves && s >= source_leaves) {
        emit(scratch, NEAR, t - leaves, tag | s);
        result.pairs += (uint64_t)source_count * target_count;
      } else if (opens_target(depth, t, nodes[t].radius, a->depth, s, sources[s].radius)) {
        const float targets = larger ? 0.0f : of_targets;
        PUSH(2 * t + 1, s, targets, of_sources);
        PUSH(2 * t, s, targets, of_sources);
      } else {
        const float sources_of = larger ? of_sources : 0.0f;
        PUSH(t, 2 * s + 1, of_targets, sources_of);
        PUSH(t, 2 * s, of_targets, sources_of);
      }
    }
  }
  result.interactions = scratch->count[FAR];
  result.entries = scratch->count[NEAR];
  build_list(scratch, NEAR, leaves, near);
  build_list(scratch, FAR, tree_nodes(depth), far);
  return result;
}
