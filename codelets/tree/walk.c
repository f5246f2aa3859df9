/* SPDX-License-Identifier: GPL-3.0-or-later */
/* walk, walk_fill: the interaction lists of a group with its neighbours. On a CPU, walk writes the
 * lists into host memory. On a GPU, walk counts the entries and writes their offsets; the host
 * waits for the counts. If the group has had about as many targets before, handles for
 * somewhat more entries than they had were made beforehand, and walk has written the lists there
 * if they fit. Otherwise the host makes handles of the right size, and walk_fill writes the entries.
 *
 * walk      reads the trees of the targets and of all neighbours, and if masses differ those of
 *           their nodes; writes counts, and on a GPU offsets and, if there are handles, entries
 * walk_fill reads these trees and the offsets; writes the entries of both lists */
#include <math.h>
#include <stdlib.h>

#include "codelets/runtime/task.h"
#include "cuda/tree/gpu_tree.h"
#include "photons/base/debug_check.h"
#include "photons/base/error.h"
#include "photons/runtime/handle.h"
#include "photons/runtime/scheduler.h"
#include "photons/runtime/task_graph.h"
#include "photons/tree/codelets.h"

struct walk_argument {
  struct short_range *s;
  const struct group *g;
  struct lists *lists;
  const struct targets *targets;
};
#define walk_fill_argument walk_argument /* same argument */
/* The tree of the targets and its table of leaves come before the trees of the neighbours, offsets
 * follow them. */
enum { WALK_LISTS, WALK_TREES };
enum { FILL_NEAR, FILL_FAR, FILL_OFFSET, FILL_TREES };

static double walk_work(const struct walk_argument *a) {
  return (double)(a->lists->walked.visits + a->g->count);
}
#define walk_fill_work walk_work

enum { TARGET_TREE, TARGET_FIRST, SOURCE_TREES }; /* from WALK_TREES or FILL_TREES on */
/* Where masses differ, those of the nodes of n neighbours follow their trees. */
static uint32_t masses_slot(uint32_t n) { return SOURCE_TREES + n; }
static bool masses_differ(const struct walk_argument *a) {
  return particles_have(&a->s->domain->particles, COLUMN_relative_mass);
}
/** Number of all these trees and masses. */
static size_t tree_slots(const struct short_range *s, uint32_t n) {
  return masses_slot(n) +
         (particles_have(&s->domain->particles, COLUMN_relative_mass) ? (size_t)n : 0);
}

/** The targets' tree. */
struct target_tree {
  const struct node *nodes;
  const uint32_t *first;
};

/** The trees from buffers[0] on: that of the targets, which is returned, and those of the
 * neighbours with the numbers of their particles, and if masses differ the masses of nodes. */
static struct target_tree unwrap(void *buffers[], const struct walk_argument *a,
                                 const struct node **trees, uint32_t *count, const float **mass) {
  const uint32_t n = a->g->near.count;
  for (uint32_t i = 0; i < n; i++) {
    trees[i] = VECTOR(const struct node, buffers[SOURCE_TREES + i]);
    count[i] = a->g->near.group[i]->count;
    if (masses_differ(a)) mass[i] = VECTOR(const float, buffers[masses_slot(n) + i]);
  }
  return (struct target_tree){VECTOR(const struct node, buffers[TARGET_TREE]),
                              targets_first(a->targets, buffers[TARGET_FIRST])};
}

/** Whether all of a neighbour is here: nodes above groups and groups of other ranks may lack what is below their roots. */
static bool is_whole(const struct walk_argument *a, uint32_t slot) {
  return a->g->near.group[slot]->owner == a->g->owner;
}

/** What is here of the neighbours. @return whether that is all of all */
static bool unwrap_parts(const struct walk_argument *a, struct tree_part *part) {
  bool whole = true;
  for (uint32_t i = 0; i < a->g->near.count; i++) {
    part[i] = a->g->near.group[i]->part;
    whole &= is_whole(a, i);
  }
  return whole;
}

/** Leaves below a node. */
static void leaves_below(uint32_t node, unsigned depth, uint32_t *first, uint32_t *end) {
  const unsigned levels = depth - node_level(node), leaves = 1u << depth;
  *first = (node << levels) - leaves;
  *end = ((node + 1) << levels) - leaves;
}

/** Count one meeting of all leaves below a target with all leaves below the source of an entry. */
static void count_meeting(uint8_t *met, unsigned target_depth, unsigned depth, uint32_t target,
                          uint32_t entry) {
  const uint32_t slot = entry >> (depth + 1), source = entry & ((2u << depth) - 1);
  uint32_t t, t_end, first, end;
  leaves_below(target, target_depth, &t, &t_end);
  leaves_below(source, depth, &first, &end);
  for (; t < t_end; t++)
    for (uint32_t s = first; s < end; s++)
      met[((((size_t)slot << depth) + s) << target_depth) + t]++;
}

/** Whether leaves are out of each other's reach. In isolated systems none are, and trees may lack their lower
 * levels. */
static bool out_of_reach(const struct walk_argument *a, const struct node *target,
                         const struct node *source) {
  return !a->s->acceptance.newton &&
         box_gap_squared(&a->s->domain->geometry, target, source) >= R_CUT_SQUARED * (1.0f - 1e-4f);
}

/** A leaf of a source, or the lowest node above it that is on this rank. */
static const struct node *lowest_here(const struct walk_argument *a, uint32_t slot,
                                      const struct node *tree, uint32_t leaf) {
  while (leaf > 1 && !part_has_below(&a->g->near.group[slot]->part, leaf / 2)) leaf /= 2;
  return &tree[leaf];
}

/** Every pair of leaves in reach is on the lists exactly once, directly or through nodes above; and
 * the positions in all leaves of the near list are here. */
static void check_lists(const struct walk_argument *a, const struct target_tree *tree,
                        const struct node *const *trees) {
  const unsigned depth = a->s->domain->depth, target_depth = a->targets->depth;
  const uint32_t leaves = 1u << depth, targets = 1u << target_depth;
  const struct interaction_list *near = &a->lists->host[LIST_NEAR];
  const struct interaction_list *far = &a->lists->host[LIST_FAR];
  uint8_t *met = allocate((size_t)a->g->near.count << (target_depth + depth), 1,
                          "meetings of leaves");
  for (uint32_t t = 0; t < targets; t++)
    for (uint32_t e = near->offset[t]; e < near->offset[t + 1]; e++) {
      const struct group *group = a->g->near.group[near->entry[e] >> (depth + 1)];
      const uint32_t leaf = near->entry[e] & (leaves - 1);
      DEBUG_CHECK(part_has_below(&group->part, leaves + leaf),
                  "leaf %u of group %u is near group %u, but was not received", leaf, group->index,
                  a->g->index);
      count_meeting(met, target_depth, depth, targets + t, near->entry[e]);
    }
  for (uint32_t t = 1; t < tree_nodes(target_depth); t++)
    for (uint32_t e = far->offset[t]; e < far->offset[t + 1]; e++)
      count_meeting(met, target_depth, depth, t, far->entry[e]);
  size_t pair = 0;
  for (uint32_t slot = 0; slot < a->g->near.count; slot++)
    for (uint32_t s = leaves; s < 2 * leaves; s++)
      for (uint32_t t = targets; t < 2 * targets; t++, pair++) {
        const struct node *source = lowest_here(a, slot, trees[slot], s);
        if (tree_node_count(a->targets->count, target_depth, tree->first, t) == 0) continue;
        DEBUG_CHECK(met[pair] == 1 || (met[pair] == 0 && out_of_reach(a, &tree->nodes[t], source)),
                    "leaf %u of group %u meets leaf %u of group %u %u times", t, a->g->index, s,
                    a->g->near.group[slot]->index, met[pair]);
      }
  free(met);
}

static void walk_on_core(void *buffers[], const struct walk_argument *a, uint32_t first) {
  const uint32_t n = a->g->near.count;
  const struct node *trees[n];
  uint32_t count[n];
  const float *mass[n];
  struct tree_part part[n];
  const struct tree_part *of_slot[n];
  const struct target_tree tree = unwrap(buffers + first, a, trees, count, mass);
  unwrap_parts(a, part);
  for (uint32_t i = 0; i < n; i++) of_slot[i] = is_whole(a, i) ? NULL : &part[i];
  a->lists->walked = a->s->kernels->walk.walk(
      &a->s->acceptance, a->targets->count, a->targets->depth, tree.first, tree.nodes, n, trees,
      count, masses_differ(a) ? mass : NULL, of_slot, &tree_scratch(a->s)->walk,
      &a->lists->host[LIST_NEAR], &a->lists->host[LIST_FAR]);
  walk_check(&a->lists->walked);
  a->lists->on_gpu = false;
  if (DEBUG_CHECKS) check_lists(a, &tree, trees);
}

static void walk_cpu(void *buffers[], const struct walk_argument *a) {
  walk_on_core(buffers, a, WALK_TREES);
}
/** Repeats the whole walk: a CPU and a GPU may judge a pair at the limit of the criterion
 * differently, so the CPU's lists need not have the lengths that the GPU counted. */
static void walk_fill_cpu(void *buffers[], const struct walk_fill_argument *a) {
  walk_on_core(buffers, a, FILL_TREES);
}

static void walk_gpu(struct gpu *gpu, void *buffers[], const struct walk_argument *a) {
  const uint32_t n = a->g->near.count;
  const struct node *trees[n];
  uint32_t count[n];
  const float *mass[n];
  const struct target_tree tree = unwrap(buffers + WALK_TREES, a, trees, count, mass);
  const size_t offset = WALK_TREES + tree_slots(a->s, n), near = offset + 1, far = offset + 2;
  struct list_room room = {0};
  if (a->lists->entry[LIST_NEAR])
    room = (struct list_room){.near = STARPU_VECTOR_GET_NX(buffers[near]),
                              .far = STARPU_VECTOR_GET_NX(buffers[far]),
                              .near_entry = VECTOR(uint32_t, buffers[near]),
                              .far_entry = VECTOR(uint32_t, buffers[far])};
  struct tree_part part[n];
  const bool whole = unwrap_parts(a, part);
  gpu_walk(gpu, &a->s->acceptance, a->targets->count, a->targets->depth, tree.first, tree.nodes, n,
           trees, count, masses_differ(a) ? mass : NULL, whole ? NULL : part,
           VECTOR(uint32_t, buffers[offset]), &room, &a->lists->walked);
  a->lists->on_gpu = true;
}

static void walk_fill_gpu(struct gpu *gpu, void *buffers[], const struct walk_fill_argument *a) {
  const uint32_t n = a->g->near.count;
  const struct node *trees[n];
  uint32_t count[n];
  const float *mass[n];
  const struct target_tree tree = unwrap(buffers + FILL_TREES, a, trees, count, mass);
  struct tree_part part[n];
  const bool whole = unwrap_parts(a, part);
  gpu_walk_fill(gpu, &a->s->acceptance, a->targets->count, a->targets->depth, tree.first,
                tree.nodes, n, trees, count, masses_differ(a) ? mass : NULL, whole ? NULL : part,
                VECTOR(const uint32_t, buffers[FILL_OFFSET]), &a->lists->walked,
                VECTOR(uint32_t, buffers[FILL_NEAR]), VECTOR(uint32_t, buffers[FILL_FAR]));
}

STAGE(walk, 0xddcc77, NULL);
STAGE(walk_fill, 0xeedd99, NULL);

static void add_trees(struct short_range *s, const struct group *g,
                      struct starpu_data_descr *data) {
  const struct targets *t = &expansions_of(s, g)->targets;
  data[TARGET_TREE] = (struct starpu_data_descr){t->tree, STARPU_R};
  data[TARGET_FIRST] = targets_slot(t);
  const uint32_t n = g->near.count;
  for (uint32_t i = 0; i < n; i++) {
    const struct group *source = g->near.group[i];
    data[SOURCE_TREES + i] = (struct starpu_data_descr){source->tree, STARPU_R};
    if (particles_have(&s->domain->particles, COLUMN_relative_mass))
      data[masses_slot(n) + i] = (struct starpu_data_descr){source->node_mass, STARPU_R};
  }
}

static void walk_submit(struct short_range *s, struct group *g) {
  struct lists *l = &expansions_of(s, g)->lists;
  size_t count = WALK_TREES + tree_slots(s, g->near.count);
  struct starpu_data_descr *data = allocate(count + 1 + LISTS, sizeof *data, "task data");
  data[WALK_LISTS] = (struct starpu_data_descr){l->walk, STARPU_W};
  add_trees(s, g, data + WALK_TREES);
  if (l->offset) data[count++] = (struct starpu_data_descr){l->offset, STARPU_W};
  for (int kind = 0; kind < LISTS; kind++)
    if (l->entry[kind]) data[count++] = (struct starpu_data_descr){l->entry[kind], STARPU_W};
  walk_insert((struct walk_argument){s, g, l, &expansions_of(s, g)->targets},
              (struct task){.data = data,
                            .count = count,
                            /* with GPUs the host waits for walks */
                            .priority = lists_wait() ? PRIORITY_HIGHEST : PRIORITY_LOWEST,
                            .owner = &g->index});
  free(data);
}

static void fill_submit(struct short_range *s, struct group *g) {
  struct lists *l = &expansions_of(s, g)->lists;
  const size_t count = FILL_TREES + tree_slots(s, g->near.count);
  struct starpu_data_descr *data = allocate(count, sizeof *data, "task data");
  data[FILL_NEAR] = (struct starpu_data_descr){l->entry[LIST_NEAR], STARPU_W};
  data[FILL_FAR] = (struct starpu_data_descr){l->entry[LIST_FAR], STARPU_W};
  data[FILL_OFFSET] = (struct starpu_data_descr){l->offset, STARPU_R};
  add_trees(s, g, data + FILL_TREES);
  walk_fill_insert(
      (struct walk_fill_argument){s, g, l, &expansions_of(s, g)->targets},
      (struct task){.data = data, .count = count, .priority = PRIORITY_LOWEST, .owner = &g->index});
  free(data);
}

bool lists_wait(void) { return engine_gpu(); }

/** Entries for which there is room where so many are wanted. The size is rounded: StarPU reuses freed
 * memory for data of the same size. */
static uint32_t room_for(uint64_t entries) {
  const size_t room = entries == 0 ? 1 : handle_room(entries);
  return room > UINT32_MAX ? UINT32_MAX : (uint32_t)room;
}

static void make_handles(struct lists *l, uint64_t near, uint64_t far) {
  l->entry[LIST_NEAR] = handle_make(room_for(near), sizeof(uint32_t));
  l->entry[LIST_FAR] = handle_make(room_for(far), sizeof(uint32_t));
}

/** Lengths of the longest of the last lists of about as many targets: at most half as many more. */
static struct list_lengths *last_lengths(struct short_range *s, const struct group *g) {
  struct group_expansions *e = expansions_of(s, g);
  const uint64_t targets = e->targets.count;
  unsigned bits = 0;
  while (bits < 32 && (targets - 1) >> bits > 0) bits++;
  const bool few = 4 * targets <= 3ull << bits; /* at most 3/4 of 2^bits */
  return &e->lists.last[2 * bits + 1 - few];
}

/** The same where there are none of as many targets: those of the nearest number of targets. */
static const struct list_lengths *nearest_lengths(struct short_range *s, const struct group *g) {
  const struct list_lengths *all = expansions_of(s, g)->lists.last;
  const int size = (int)(last_lengths(s, g) - all);
  for (int far = 0; far < LIST_SIZES; far++)
    for (int side = -1; side <= 1; side += 2) {
      const int at = size - side * far; /* more targets first */
      if (at >= 0 && at < LIST_SIZES && all[at].targets > 0) return &all[at];
    }
  return NULL;
}

static void keep_lengths(struct list_lengths *l, uint32_t targets,
                         const struct walk_result *walked) {
  *l = (struct list_lengths){kept_length(l->targets, targets),
                             kept_length(l->near, walked->entries),
                             kept_length(l->far, walked->interactions)};
}

static uint64_t smaller_of(uint64_t a, uint64_t b) { return a < b ? a : b; }

/** Entries to be expected: an eighth more than before, and more for more targets. Fewer targets have
 * fewer entries where they are in fewer leaves; each leaf may then have twice as many.
 * @param leaves  of the group */
static uint64_t expected(uint64_t last, uint32_t last_targets, uint32_t targets, uint32_t leaves) {
  const uint64_t more = targets > last_targets ? targets - last_targets : 0,
                 fewer = 2 * last * smaller_of(targets, leaves) / smaller_of(last_targets, leaves),
                 same = smaller_of(last, fewer);
  return same + same / 8 + last * more / last_targets;
}

void lists_begin(struct short_range *s, struct group *g) {
  if (!lists_wait()) return;
  struct group_expansions *e = expansions_of(s, g);
  const struct list_lengths *last = nearest_lengths(s, g);
  if (last) {
    const uint32_t leaves = 1u << s->domain->depth;
    const uint64_t near = expected(last->near, last->targets, e->targets.count, leaves),
                   far = expected(last->far, last->targets, e->targets.count, leaves);
    if (near + far < UINT32_MAX / 2) make_handles(&e->lists, near, far);
  }
  walk_submit(s, g);
}

void lists_make(struct short_range *s, struct group *g) {
  struct lists *l = &expansions_of(s, g)->lists;
  if (!lists_wait()) {
    walk_submit(s, g);
    return;
  }
  handle_wait_written(l->walk);
  if (l->on_gpu) {
    walk_check(&l->walked);
    interactions_check(l->walked.entries);
    interactions_check(l->walked.interactions);
    keep_lengths(last_lengths(s, g), expansions_of(s, g)->targets.count, &l->walked);
    if (l->walked.written) return;
  }
  for (int kind = 0; kind < LISTS; kind++) handle_release(&l->entry[kind]);
  if (!l->on_gpu) return;
  make_handles(l, l->walked.entries, l->walked.interactions);
  fill_submit(s, g);
}

bool lists_known_no_far(const struct lists *l) {
  /* Schedulers other than heteroprio may run walk_fill on a CPU, whose lists may differ. */
  return l->on_gpu && engine_gpu() && scheduler_is_heteroprio() && l->walked.interactions == 0;
}

size_t list_slots(const struct lists *l, enum list_kind kind, struct starpu_data_descr *data) {
  data[0] = (struct starpu_data_descr){l->walk, STARPU_R};
  if (!l->entry[kind]) return 1;
  data[1] = (struct starpu_data_descr){l->offset, STARPU_R};
  data[2] = (struct starpu_data_descr){l->entry[kind], STARPU_R};
  return 3;
}

struct interaction_list list_unwrap(const struct lists *l, enum list_kind kind, unsigned depth,
                                    void *buffers[], bool on_gpu) {
  if (!l->on_gpu) return l->host[kind];
  const uint32_t leaves = 1u << depth;
  const uint64_t entries = kind == LIST_FAR ? l->walked.interactions : l->walked.entries;
  return (struct interaction_list){.offset = VECTOR(uint32_t, buffers[1]) +
                                             (kind == LIST_FAR ? leaves + 1 : 0),
                                   .entry = VECTOR(uint32_t, buffers[2]),
                                   .entries = (uint32_t)entries,
                                   .on_gpu = on_gpu};
}

void list_ended(void *interaction_list) { interaction_list_free(interaction_list); }

void list_release(struct lists *l, enum list_kind kind) { handle_release(&l->entry[kind]); }

void lists_register(struct lists *l, unsigned depth) {
  starpu_void_data_register(&l->walk);
  if (lists_wait())
    l->offset = handle_make(tree_nodes(depth) + (1u << depth) + 2, sizeof(uint32_t));
}

void lists_unregister(struct lists *l) {
  handle_drop(&l->walk);
  handle_drop(&l->offset);
}

void lists_free(struct lists *l) {
  for (int k = 0; k < LISTS; k++) interaction_list_free(&l->host[k]);
}
