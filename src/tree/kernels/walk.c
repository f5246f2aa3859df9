/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The dual walk of a group's tree and each neighbour's tree, which makes the near and far lists. */
#include "photons/tree/walk.h"

#include <math.h>
#include <string.h>

#include "photons/runtime/parts.h"
#include "photons/tree/kernels.h"

enum { NEAR, FAR };

/** Sort pairs by target; pairs of one target keep the order in which they were found. */
static void build_list(const struct walk_pairs *parts, uint32_t part_count, int which, size_t n,
                       uint32_t targets, struct interaction_list *list) {
  interaction_list_reserve(list, targets, n);
  memset(list->offset, 0, ((size_t)targets + 1) * sizeof *list->offset);
  for (const struct walk_pairs *p = parts; p < parts + part_count; p++)
    for (size_t i = 0; i < p->count[which]; i++) list->offset[p->pair[which][2 * i] + 1]++;
  for (uint32_t t = 0; t < targets; t++) list->offset[t + 1] += list->offset[t];
  for (const struct walk_pairs *p = parts; p < parts + part_count; p++) {
    const uint32_t *pair = p->pair[which];
    for (size_t i = 0; i < p->count[which]; i++)
      list->entry[list->offset[pair[2 * i]]++] = pair[2 * i + 1];
  }
  memmove(list->offset + 1, list->offset, (size_t)targets * sizeof *list->offset);
  list->offset[0] = 0;
  list->entries = (uint32_t)n;
}

static inline float larger_of(float a, float b) { return a > b ? a : b; }

/** Pairs of nodes are judged together: the verdicts of single pairs are so irregular that processors
 * guess half of them wrongly. */
enum { BATCH = 16 };

/** Pairs that are left, the next ones on top; and the masses of the pairs of which each is a part.
 * Children are put on top and taken first, so that at most 2 BATCH pairs of each level wait. */
struct stack {
  uint32_t target[2 * BATCH * 2 * 32], source[2 * BATCH * 2 * 32];
  float targets[2 * BATCH * 2 * 32], sources[2 * BATCH * 2 * 32];
  uint32_t top;
};

/** A batch: pairs, what the criterion asks of their nodes, and its verdicts. */
struct pair_batch {
  uint32_t target[BATCH], source[BATCH], target_count[BATCH], source_count[BATCH];
  float distance[3][BATCH], half[3][BATCH]; /* of the centres; sum of both nodes */
  float target_radius[BATCH], source_radius[BATCH], target_acc[BATCH], source_acc[BATCH];
  float targets[BATCH], sources[BATCH]; /* masses */
  float leaves[BATCH];                  /* of the smaller node: see shared_leaves() */
  int32_t drop[BATCH], open[BATCH];
};

/** Open pairs in which the errors of the larger node's expansion may add up to too much. That node has
 * nearly the same error, in the same direction, from all small nodes of a part of space as wide as
 * itself, as particles at the far end of a long leaf beside a galaxy have: each error is small, not
 * their sum. Such a part has the mass of the small node times the cube of the ratio of their radii, where
 * it is as dense everywhere, and all of them attract the larger node by about its acceleration at most. */
static void open_where_errors_add_up(const struct acceptance *a, const float *d,
                                     struct pair_batch *restrict b) {
  const float most = a->sum_tolerance, unit = a->factor;
  float acc[BATCH], error[BATCH], share[BATCH];
#pragma omp simd
  for (int i = 0; i < BATCH; i++) {
    const float rt = b->target_radius[i], rs = b->source_radius[i];
    const int32_t target = rt > rs;
    const float large = target ? rt : rs, ratio = large / (target ? rs : rt),
                mass = target ? b->sources[i] : b->targets[i];
    const float beside = mass * (ratio * ratio * ratio) / (d[i] * d[i]);
    acc[i] = target ? b->target_acc[i] : b->source_acc[i];
    error[i] = rt == rs ? 0.0f : b->leaves[i] * unit * (beside < acc[i] ? beside : acc[i]);
    share[i] = large / d[i];
  }
  for (int k = 0; k < a->exponent; k++) {
#pragma omp simd
    for (int i = 0; i < BATCH; i++) error[i] *= share[i];
  }
#pragma omp simd
  for (int i = 0; i < BATCH; i++) {
    const int32_t known = (b->target_acc[i] > 0.0f) & (b->source_acc[i] > 0.0f),
                  much = error[i] > most * acc[i];
    b->open[i] |= known & much;
  }
}

/** judge() for a batch, up to rounding, and open_where_errors_add_up(). */
static void judge_batch(const struct acceptance *a, struct pair_batch *restrict b) {
  const float scale = a->scale, separation2 = a->separation * a->separation,
              theta2 = a->theta * a->theta, half_box = a->half_box, newton = a->factor,
              tolerance = a->tolerance,
              first2 = a->kind == MAC_GEOMETRIC ? theta2 : a->theta_first * a->theta_first;
  float d[BATCH], distance2[BATCH], size[BATCH], power[BATCH], factor[BATCH];
#pragma omp simd
  for (int i = 0; i < BATCH; i++) {
    float d2 = 0.0f, gap2 = 0.0f;
    for (int c = 0; c < 3; c++) {
      const float distance = fabsf(b->distance[c][i]) * scale, rest = distance - b->half[c][i],
                  gap = rest > 0.0f ? rest : 0.0f;
      d2 += distance * distance;
      gap2 += gap * gap;
    }
    size[i] = b->target_radius[i] + b->source_radius[i];
    const float t = b->target_acc[i], s = b->source_acc[i], weakest = t < s ? t : s,
                most2 = weakest > 0.0f ? theta2 : first2;
    const int32_t far = d2 >= R_CUT_SQUARED, touch = gap2 <= separation2,
                  round = size[i] + R_CUT > half_box, wide = size[i] * size[i] >= most2 * d2;
    b->drop[i] = gap2 >= R_CUT_SQUARED;
    b->open[i] = far | touch | round | wide;
    d[i] = sqrtf(d2);
    distance2[i] = d2;
  }
  if (a->kind == MAC_GEOMETRIC) return;
  if (a->newton) {
#pragma omp simd
    for (int i = 0; i < BATCH; i++) {
      factor[i] = size[i] / d[i];
      power[i] = b->leaves[i] * (newton / distance2[i]);
    }
  } else {
    for (int i = 0; i < BATCH; i++) {
      factor[i] = size[i];
      power[i] = a->derivative[b->open[i] ? 0 : (int)(d[i] * MAC_TABLE)];
    }
  }
  for (int k = 0; k < a->exponent; k++) {
#pragma omp simd
    for (int i = 0; i < BATCH; i++) power[i] *= factor[i];
  }
#pragma omp simd
  for (int i = 0; i < BATCH; i++) {
    const float t = b->target_acc[i], s = b->source_acc[i];
    const int32_t known = t < s ? t > 0.0f : s > 0.0f,
                  to_target = power[i] * b->sources[i] > tolerance * t,
                  to_source = power[i] * b->targets[i] > tolerance * s;
    b->open[i] |= known & (to_target | to_source);
  }
  if (a->sum_tolerance < INFINITY) open_where_errors_add_up(a, d, b);
}

/** What a walk reads: the tree of the targets, and that of one source. */
struct walk_trees {
  const struct acceptance *a;
  uint32_t count, source_particles;
  unsigned depth;
  const uint32_t *first;
  const struct node *nodes, *sources;
  const float *target_mass, *source_mass; /* of nodes; NULL: their numbers of particles */
  float weight;                           /* of targets if they are packed: see packed_weight() */
  const struct tree_part *part;           /* that is here of the source; NULL: all of it */
};

/** The mass of a node of targets. */
static inline float mass_of_targets(const struct walk_trees *w, uint32_t target, uint32_t count) {
  if (w->first) return w->weight * (float)count;
  return w->target_mass ? w->target_mass[target] : (float)count;
}

static inline void read_pair(const struct walk_trees *w, struct pair_batch *b, int i, float targets,
                             float sources) {
  const uint32_t t = b->target[i], s = b->source[i];
  b->target_count[i] = tree_node_count(w->count, w->depth, w->first, t);
  b->source_count[i] = node_end(w->source_particles, s) - node_first(w->source_particles, s);
  /* the boxes of nodes without targets are not known */
  const struct node *target = &w->nodes[b->target_count[i] > 0 ? t : 1], *source = &w->sources[s];
  for (int c = 0; c < 3; c++) {
    b->distance[c][i] = (float)position_difference(source->centre[c], target->centre[c]);
    b->half[c][i] = target->half[c] + source->half[c];
  }
  b->target_radius[i] = target->radius;
  b->source_radius[i] = source->radius;
  b->target_acc[i] = target->acc_min;
  b->source_acc[i] = source->acc_min;
  const float target_mass = mass_of_targets(w, t, b->target_count[i]),
              source_mass = w->source_mass ? w->source_mass[s] : (float)b->source_count[i];
  b->leaves[i] = shared_leaves(w->a, t, s);
  b->targets[i] = w->a->newton ? larger_of(targets, target_mass) : target_mass;
  b->sources[i] = w->a->newton ? larger_of(sources, source_mass) : source_mass;
}

/** Take the topmost pairs. The rest of the batch is filled up. @return their number */
static int take_batch(const struct walk_trees *w, struct stack *stack, struct pair_batch *b) {
  const int n = stack->top < BATCH ? (int)stack->top : BATCH;
  stack->top -= (uint32_t)n;
  for (int i = 0; i < BATCH; i++) {
    const uint32_t at = stack->top + (uint32_t)(i < n ? i : 0);
    b->target[i] = stack->target[at];
    b->source[i] = stack->source[at];
    read_pair(w, b, i, stack->targets[at], stack->sources[at]);
  }
  return n;
}

static inline void emit(struct walk_pairs *s, int list, uint32_t target, uint32_t entry) {
  uint32_t *pair = s->pair[list] + 2 * s->count[list]++;
  pair[0] = target;
  pair[1] = entry;
}

/** What becomes of the pairs of a batch: bits. */
struct fates {
  uint32_t here, far, near, opened;
  uint32_t split, larger; /* as in push_children() */
};

/** @param n  pairs of the batch */
static inline struct fates fates_of(const struct walk_trees *w, const struct pair_batch *b, int n) {
  const uint32_t leaves = 1u << w->depth, source_leaves = 1u << w->a->depth;
  uint32_t here = 0, meets = 0, open = 0, target_ends = 0, source_ends = 0, larger = 0;
#pragma omp simd reduction(| : here, meets, open, target_ends, source_ends, larger)
  for (int i = 0; i < BATCH; i++) {
    const uint32_t bit = 1u << i;
    here |= b->target_count[i] > 0 ? bit : 0;
    meets |= b->drop[i] ? 0 : bit;
    open |= b->open[i] ? bit : 0;
    target_ends |= b->target[i] >= leaves ? bit : 0;
    source_ends |= b->source[i] >= source_leaves ? bit : 0;
    larger |= b->target_radius[i] >= b->source_radius[i] ? bit : 0;
  }
  here &= (1u << n) - 1;
  meets &= here;
  const uint32_t ends = target_ends & source_ends;
  /* see opens_target() */
  const uint32_t split = source_ends | (~target_ends & larger);
  return (struct fates){here,  meets & ~open, meets & open & ends, meets & open & ~ends,
                        split, larger};
}

/* For each bit that is set. */
#define FOR_BITS(i, bits) \
  for (uint32_t rest = (bits), i; rest && (i = (uint32_t)__builtin_ctz(rest), 1); rest &= rest - 1)

/** Put both children of a pair on the stack.
 * @param split   whether the target is opened, and not the source
 * @param larger  whether the target is the larger node, or as large */
static inline void push_children(struct stack *stack, const struct pair_batch *b, uint32_t i,
                                 uint32_t split, uint32_t larger) {
  /* Where the larger node cannot be opened, opening the other one does not lessen the error
   * that the larger one's radius makes: the parts' errors add up to that of the whole. */
  const uint32_t other = 1 - split, t = b->target[i] << split, s = b->source[i] << other;
  for (uint32_t k = 0; k < 2; k++) {
    const uint32_t at = stack->top++;
    stack->target[at] = t + (k & split);
    stack->source[at] = s + (k & other);
    stack->targets[at] = split && larger ? 0.0f : b->targets[i];
    stack->sources[at] = split || larger ? b->sources[i] : 0.0f;
  }
}

/** Leave out pairs for which what is below the source is needed, but not here: those whose source is opened, or is a
 * leaf whose particles are needed. */
static void leave_out_lacking(const struct tree_part *part, const struct pair_batch *b,
                              struct fates *f, struct walk_result *result) {
  FOR_BITS(i, f->near | (f->opened & ~f->split)) {
    if (part_has_below(part, b->source[i])) continue;
    result->lacks = b->source[i];
    f->near &= ~(1u << i);
    f->opened &= ~(1u << i);
  }
}

static inline void begin_at_roots(struct stack *stack) {
  stack->target[0] = stack->source[0] = 1;
  stack->targets[0] = stack->sources[0] = 0.0f;
  stack->top = 1;
}

/** Take a batch of pairs, and put the children of those that are opened on the stack. */
static void walk_batch(const struct walk_trees *w, uint32_t tag, struct stack *stack,
                       struct walk_pairs *found, struct walk_result *result) {
  const uint32_t leaves = 1u << w->depth;
  struct pair_batch b;
  const int n = take_batch(w, stack, &b);
  judge_batch(w->a, &b);
  for (int list = 0; list < 2; list++) walk_pairs_reserve(found, list, BATCH);
  struct fates f = fates_of(w, &b, n);
  result->visits += (uint64_t)__builtin_popcount(f.here);
  if (w->part) leave_out_lacking(w->part, &b, &f, result);
  FOR_BITS(i, f.far) emit(found, FAR, b.target[i], tag | b.source[i]);
  FOR_BITS(i, f.near) {
    emit(found, NEAR, b.target[i] - leaves, tag | b.source[i]);
    result->pairs += (uint64_t)b.source_count[i] * b.target_count[i];
  }
  FOR_BITS(i, f.opened) push_children(stack, &b, i, f.split >> i & 1, f.larger >> i & 1);
}

/** A walk in parts. */
struct walk_work {
  struct walk_trees common; /* of all sources */
  struct stack own;         /* pairs of the group itself that its parts begin with */
  const struct node *const *source_nodes;
  const uint32_t *slot_count;
  const float *const *slot_mass;
  const struct tree_part *const *slot_part;
  uint32_t slots; /* 0: the group itself */
  struct walk_pairs *found;
  struct walk_result result[WALK_PARTS];
};

static struct walk_trees trees_of_slot(const struct walk_work *work, uint32_t slot) {
  struct walk_trees w = work->common;
  w.source_particles = work->slot_count[slot];
  w.sources = work->source_nodes[slot];
  w.source_mass = work->slot_mass ? work->slot_mass[slot] : NULL;
  w.part = work->slot_part ? work->slot_part[slot] : NULL;
  return w;
}

/** Open the pair of the group with itself until there are pairs for all parts. */
static void open_own(struct walk_work *work) {
  const struct walk_trees w = trees_of_slot(work, 0);
  begin_at_roots(&work->own);
  while (work->own.top > 0 && work->own.top < 2 * WALK_PARTS_OWN)
    walk_batch(&w, 0, &work->own, work->found, &work->result[0]);
}

/** Walk on with a share of the pairs of the group with itself. */
static void walk_own(struct walk_work *work, uint32_t i) {
  const struct walk_trees w = trees_of_slot(work, 0);
  const uint32_t first = work->own.top * i / WALK_PARTS_OWN;
  struct stack stack;
  stack.top = work->own.top * (i + 1) / WALK_PARTS_OWN - first;
  for (uint32_t k = 0; k < stack.top; k++) {
    stack.target[k] = work->own.target[first + k];
    stack.source[k] = work->own.source[first + k];
    stack.targets[k] = work->own.targets[first + k];
    stack.sources[k] = work->own.sources[first + k];
  }
  while (stack.top > 0) walk_batch(&w, 0, &stack, &work->found[i], &work->result[i]);
}

/** Walk with a share of the other sources. */
static void walk_others(struct walk_work *work, uint32_t i) {
  const uint32_t others = work->slots - 1, first = 1 + others * i / WALK_PARTS_OTHERS,
                 end = 1 + others * (i + 1) / WALK_PARTS_OTHERS, part = WALK_PARTS_OWN + i;
  struct stack stack;
  for (uint32_t slot = first; slot < end; slot++) {
    const struct walk_trees w = trees_of_slot(work, slot);
    begin_at_roots(&stack);
    while (stack.top > 0)
      walk_batch(&w, slot << (w.a->depth + 1), &stack, &work->found[part], &work->result[part]);
  }
}

static void walk_part(void *context, uint32_t i) {
  if (i < WALK_PARTS_OWN)
    walk_own(context, i);
  else
    walk_others(context, i - WALK_PARTS_OWN);
}

struct walk_result KERNEL(walk)(const struct acceptance *a, uint32_t count, unsigned depth,
                                const uint32_t *first, const struct node *nodes, uint32_t slots,
                                const struct node *const *source_nodes, const uint32_t *slot_count,
                                const float *const *slot_mass,
                                const struct tree_part *const *slot_part,
                                struct walk_scratch *scratch, struct interaction_list *near,
                                struct interaction_list *far) {
  /* slot 0 is the group of the targets */
  struct acceptance used = *a;
  if (!walk_bounds_sums(a, count, slot_count[0])) used.sum_tolerance = INFINITY;
  struct walk_work work = {.common = {.a = &used,
                                      .count = count,
                                      .depth = depth,
                                      .first = first,
                                      .nodes = nodes,
                                      .weight = packed_weight(a, count, slot_count[0]),
                                      .target_mass = slot_mass ? slot_mass[0] : NULL},
                           .source_nodes = source_nodes,
                           .slot_count = slot_count,
                           .slot_mass = slot_mass,
                           .slot_part = slot_part,
                           .slots = slots,
                           .found = scratch->part};
  struct walk_result all = {0};
  for (int i = 0; i < WALK_PARTS; i++)
    scratch->part[i].count[NEAR] = scratch->part[i].count[FAR] = 0;
  open_own(&work);
  parts_run(WALK_PARTS, walk_part, &work);
  for (uint32_t i = 0; i < WALK_PARTS; i++) {
    all.visits += work.result[i].visits;
    all.pairs += work.result[i].pairs;
    if (work.result[i].lacks != 0) all.lacks = work.result[i].lacks;
    all.interactions += scratch->part[i].count[FAR];
    all.entries += scratch->part[i].count[NEAR];
  }
  build_list(scratch->part, WALK_PARTS, NEAR, all.entries, 1u << depth, near);
  build_list(scratch->part, WALK_PARTS, FAR, all.interactions, tree_nodes(depth), far);
  return all;
}
