/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pack: the active particles of a group, and the tree over them.
 *
 * reads  rungs, positions, accelerations (those of the last force, for the acceptance criterion)
 * writes index, positions, accelerations, tree and table of leaves of the targets */
#include "codelets/runtime/task.h"
#include "cuda/tree/gpu_tree.h"
#include "photons/base/error.h"
#include "photons/runtime/handle.h"
#include "photons/runtime/owner_computes.h"
#include "photons/tree/codelets.h"
#include "photons/tree/targets.h"

struct pack_argument {
  const struct short_range *s;
  uint32_t count, active;
  unsigned depth; /* of the targets' tree */
  uint8_t top;
};
enum {
  RUNG,
  POSITION,
  ACCELERATION,
  INDEX,
  FIRST,
  PACKED_POSITION,
  PACKED_ACCELERATION,
  TREE,
  SLOTS
};

/* Mean number of targets of a leaf. Sources are gathered once for a leaf: with fewer targets this
 * would cost more than the forces. */
enum { TARGETS_A_LEAF = 32 };
/* In isolated systems wide targets have few far nodes. The active particles are where the system is
 * dense, so that a tree of few levels would have nearly all of them in a few wide leaves. It has
 * leaves for so many times their number, the most of them empty. */
enum { LEAVES_ISOLATED_LOG2 = 3 };

static double pack_work(const struct pack_argument *a) { return a->count; }

static void pack_cpu(void *buffers[], const struct pack_argument *a) {
  const struct walk_kernels *kernels = &a->s->kernels->walk;
  uint32_t *x = VECTOR(uint32_t, buffers[PACKED_POSITION]);
  float *acceleration = VECTOR(float, buffers[PACKED_ACCELERATION]);
  const uint32_t found = kernels->pack(a->count, VECTOR(const uint8_t, buffers[RUNG]), a->top,
                                       VECTOR(const uint32_t, buffers[POSITION]),
                                       VECTOR(const float, buffers[ACCELERATION]), a->active,
                                       a->depth, VECTOR(uint32_t, buffers[INDEX]),
                                       VECTOR(uint32_t, buffers[FIRST]), x, acceleration);
  if (found != a->active)
    fail(EXIT_RUN_FAILED, "internal error: %u active particles in a group that has %u", found,
         a->active);
  kernels->refit(a->active, a->depth, VECTOR(const uint32_t, buffers[FIRST]), 1,
                 a->s->domain->geometry.scale, 1.0f / a->s->factor, a->s->acceptance.newton, x,
                 acceleration, VECTOR(struct node, buffers[TREE]));
}

static void pack_gpu(struct gpu *gpu, void *buffers[], const struct pack_argument *a) {
  uint32_t *x = VECTOR(uint32_t, buffers[PACKED_POSITION]);
  float *acceleration = VECTOR(float, buffers[PACKED_ACCELERATION]);
  gpu_pack(gpu, a->count, VECTOR(const uint8_t, buffers[RUNG]), a->top,
           VECTOR(const uint32_t, buffers[POSITION]), VECTOR(const float, buffers[ACCELERATION]),
           a->active, a->depth, VECTOR(uint32_t, buffers[INDEX]), VECTOR(uint32_t, buffers[FIRST]),
           x, acceleration);
  gpu_refit(gpu, a->active, a->depth, VECTOR(const uint32_t, buffers[FIRST]),
            a->s->domain->geometry.scale, 1.0f / a->s->factor, a->s->acceptance.newton, x,
            acceleration, VECTOR(struct node, buffers[TREE]), 0, NULL);
}

STAGE(pack, 0xccbb77, NULL);

unsigned targets_depth(uint32_t n, unsigned depth, uint32_t leaf) {
  unsigned d = 0;
  while (d < depth && (n - 1) >> d >= leaf) d++;
  return d;
}

/** A handle for n numbers of four bytes, of a rounded size: StarPU reuses freed memory for data of
 * the same size. */
static starpu_data_handle_t room_for(size_t n) { return handle_make(handle_room(n), 4); }

/** Whether the direct sums are the whole short-range force, so that they can bound its change. */
static bool has_tide(const struct short_range *s) { return s->split.kind != SPLIT_NEWTON; }

static starpu_data_handle_t room_for_forces(const struct short_range *s, uint32_t n) {
  return room_for((has_tide(s) || s->eta_pair > 0.0f ? P2P_SUMS : 3) * (size_t)n);
}

void targets_all(struct short_range *s, const struct group *g, bool apart) {
  expansions_of(s, g)->targets = (struct targets){
      .count = g->count,
      .depth = s->domain->depth,
      .position = g->column[COLUMN_position],
      .acceleration = apart ? room_for_forces(s, g->count) : g->column[COLUMN_acceleration],
      .tide = apart && has_tide(s),
      .rates = apart && s->eta_pair > 0.0f,
      .tree = g->tree};
}

unsigned targets_packed_depth(const struct short_range *s, uint32_t count) {
  const unsigned depth = s->domain->depth;
  if (s->split.kind != SPLIT_NEWTON) return targets_depth(count, depth, TARGETS_A_LEAF);
  const unsigned levels = targets_depth(count, depth, 1) + LEAVES_ISOLATED_LOG2;
  return levels < depth ? levels : depth;
}

void targets_pack(struct short_range *s, struct group *g, uint8_t top, uint32_t count) {
  const unsigned depth = targets_packed_depth(s, count);
  struct targets *t = &expansions_of(s, g)->targets;
  *t = (struct targets){.count = count,
                        .depth = depth,
                        .tide = has_tide(s),
                        .rates = s->eta_pair > 0.0f,
                        .packed = true,
                        .position = room_for(3 * (size_t)count),
                        .acceleration = room_for_forces(s, count),
                        .tree = room_for(tree_nodes(depth) * sizeof(struct node) / 4),
                        .index = room_for(count),
                        .first = room_for((1u << depth) + 1)};
  const starpu_data_handle_t made[] = {t->position, t->acceleration, t->tree, t->index, t->first};
  for (size_t i = 0; i < sizeof made / sizeof *made; i++)
    owner_set(made[i], g->index - s->first, s->count);
  const struct starpu_data_descr data[SLOTS] = {
      [RUNG] = {g->column[COLUMN_rung], STARPU_R},
      [POSITION] = {g->column[COLUMN_position], STARPU_R},
      [ACCELERATION] = {g->column[COLUMN_acceleration], STARPU_R},
      [INDEX] = {t->index, STARPU_W},
      [FIRST] = {t->first, STARPU_W},
      [PACKED_POSITION] = {t->position, STARPU_W},
      [PACKED_ACCELERATION] = {t->acceleration, STARPU_W},
      [TREE] = {t->tree, STARPU_W}};
  pack_insert((struct pack_argument){s, g->count, count, depth, top},
              (struct task){
                  .data = data, .count = SLOTS, .priority = PRIORITY_HIGHEST, .owner = &g->index});
}

void targets_release(struct short_range *s, const struct group *g) {
  struct targets *t = &expansions_of(s, g)->targets;
  if (t->acceleration != g->column[COLUMN_acceleration]) handle_release(&t->acceleration);
  if (!t->packed) return;
  handle_release(&t->position);
  handle_release(&t->tree);
  handle_release(&t->index);
  handle_release(&t->first);
}
