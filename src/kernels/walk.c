/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The dual walk of a group's tree against each neighbour's, which makes the near and the far list. */
#include "photons/walk.h"

#include <math.h>
#include <string.h>

#include "photons/kernels.h"

enum verdict { DROP, ACCEPT, OPEN };
enum { NEAR, FAR };

/** Is the interaction of two nodes nothing (out of reach), one of expansions, or to be opened? The answer is the same with target and
 * source exchanged, and so is the order of opening: what A takes from B by expansion B takes from A, and momentum is conserved. */
static inline enum verdict judge(const struct acceptance *a, const struct node *t, const struct node *s,
                                 uint32_t target_count, uint32_t source_count) {
  float d2 = 0.0f, gap2 = 0.0f;
  for (int c = 0; c < 3; c++) {
    float d = fabsf((float)(int32_t)(s->centre[c] - t->centre[c])) * a->scale;
    float gap = fmaxf(d - (t->half[c] + s->half[c]), 0.0f);
    d2 += d * d;
    gap2 += gap * gap;
  }
  if (gap2 >= 1.0f) return DROP;
  float size = t->radius + s->radius, known = fminf(t->acc_min, s->acc_min);
  /* beyond r_cut the expansion of psi does not hold; nodes as wide as the box meet more than one image */
  if (d2 >= 1.0f || gap2 <= a->separation * a->separation || size + 1.0f > a->half_box) return OPEN;
  float theta = a->kind == MAC_RELATIVE && known <= 0.0f ? a->theta_first : a->theta;
  if (size * size >= theta * theta * d2) return OPEN;
  if (a->kind == MAC_GEOMETRIC || known <= 0.0f) return ACCEPT;
  float power = a->derivative[(int)(sqrtf(d2) * MAC_TABLE)];
  for (int k = 0; k < a->order; k++) power *= size;
  return power * (float)source_count <= a->tolerance * t->acc_min &&
                 power * (float)target_count <= a->tolerance * s->acc_min
             ? ACCEPT
             : OPEN;
}

static inline void emit(struct walk_scratch *s, int list, uint32_t target, uint32_t entry) {
  walk_scratch_reserve(s, list, 1);
  uint32_t *pair = s->pair[list] + 2 * s->count[list]++;
  pair[0] = target;
  pair[1] = entry;
}

/** Sort pairs by target, keeping the order in which they were found. */
static void build_list(const struct walk_scratch *s, int which, uint32_t targets, struct interaction_list *list) {
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

struct walk_result KERNEL(walk)(const struct acceptance *a, uint32_t count, const struct node *nodes, uint32_t slots,
                                const struct node *const *source_nodes, const uint32_t *slot_count,
                                struct walk_scratch *scratch, struct interaction_list *near,
                                struct interaction_list *far) {
  const uint32_t leaves = 1u << a->depth;
  struct walk_result result = {0};
  struct {
    uint32_t target, source;
  } stack[4 * 32]; /* each level of either tree leaves at most one sibling waiting */
  scratch->count[NEAR] = scratch->count[FAR] = 0;
  for (uint32_t slot = 0; slot < slots; slot++) {
    const struct node *sources = source_nodes[slot];
    const uint32_t tag = slot << (a->depth + 1), n = slot_count[slot];
    int top = 0;
    stack[top].target = 1, stack[top++].source = 1;
    while (top > 0) {
      uint32_t t = stack[--top].target, s = stack[top].source;
      uint32_t target_count = node_end(count, t) - node_first(count, t),
               source_count = node_end(n, s) - node_first(n, s);
      result.visits++;
      enum verdict verdict = judge(a, &nodes[t], &sources[s], target_count, source_count);
      if (verdict == DROP) continue;
      if (verdict == ACCEPT) {
        emit(scratch, FAR, t, tag | s);
      } else if (t >= leaves && s >= leaves) {
        emit(scratch, NEAR, t - leaves, tag | s);
        result.pairs += (uint64_t)source_count * target_count;
      } else if (s >= leaves || (t < leaves && nodes[t].radius >= sources[s].radius)) {
        stack[top].target = 2 * t + 1, stack[top++].source = s;
        stack[top].target = 2 * t, stack[top++].source = s;
      } else {
        stack[top].target = t, stack[top++].source = 2 * s + 1;
        stack[top].target = t, stack[top++].source = 2 * s;
      }
    }
  }
  result.interactions = scratch->count[FAR];
  build_list(scratch, NEAR, leaves, near);
  build_list(scratch, FAR, tree_nodes(a->depth), far);
  return result;
}
