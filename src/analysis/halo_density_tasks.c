/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Densities in halos by tasks. Trees are packed into pieces of page-locked memory, whose tasks find the densities of so many
 * particles each. Rounds of pieces bound the memory, and the tasks that steps beside an output may wait for. */
#include <stdlib.h>
#include <string.h>

#include "halo_density.h"
#include "halo_home.h"
#include "photons/analysis/codelets.h"
#include "photons/base/error.h"
#include "photons/domain/tree.h"
#include "photons/runtime/engine.h"
#include "photons/runtime/handle.h"
#include "photons/runtime/loop.h"
#include "photons/runtime/pinned.h"
#include "photons/runtime/scheduler.h"

enum {
  ROUND = 8,   /* tasks at a time; a tree that needs more is a round by itself */
  ALIGNED = 64 /* bytes */
};
#define SHARE (1.0 / 32) /* of a GPU's memory that a halo may take: steps use the rest */

/** Trees that are packed together. */
struct piece {
  struct halo_tree *const *tree; /* [part.trees] */
  struct densities *const *densities;
  struct density_part part; /* of all rows */
  struct density_tree *packed;
  void *memory; /* page-locked, of everything */
  size_t bytes;
  uint32_t tasks;
  starpu_data_handle_t trees, rows, nodes;
  struct results {
    uint32_t first;
    starpu_data_handle_t density, neighbour;
  } * result; /* [tasks] */
};

/** Bytes of a particle of a large tree on a GPU: coordinates, nodes, and what is found. */
#define PARTICLE_BYTES                                                                 \
  (sizeof(double[HALO_PHASE_AXES]) + sizeof(struct density_box) / 4 + sizeof(double) + \
   sizeof(uint32_t[HALO_LINKED]))

bool densities_gpu_possible(size_t particles) {
  int device[STARPU_NMAXWORKERS];
  if (!starpu_is_initialized() || !engine_gpu()) return false;
  const uint32_t gpus = scheduler_gpus(device);
  return gpus > 0 &&
         (double)(PARTICLE_BYTES * particles) <= SHARE * scheduler_gpu_memory() / (double)gpus;
}

/** The next bytes of the memory of a piece, or their place where there is no memory yet. */
static void *take(const struct piece *p, size_t *used, size_t bytes) {
  void *const place = p->memory ? (char *)p->memory + *used : NULL;
  *used += (bytes + ALIGNED - 1) / ALIGNED * ALIGNED;
  return place;
}

/** Divide the memory of a piece. @return the bytes that it takes */
static size_t divide(struct piece *p) {
  struct density_part *part = &p->part;
  size_t used = 0;
  p->packed = take(p, &used, part->trees * sizeof *part->tree);
  part->tree = p->packed;
  part->x = take(p, &used, part->rows * sizeof *part->x);
  part->box = take(p, &used, part->nodes * sizeof *part->box);
  part->density = take(p, &used, part->rows * sizeof *part->density);
  part->neighbour = take(p, &used, part->rows * sizeof *part->neighbour);
  return used;
}

/** A piece of the first trees of a list, without memory: those of one task, or one tree of several. */
static struct piece piece_of(uint32_t task, size_t count, struct halo_tree *const *tree,
                             struct densities *const *densities) {
  struct piece p = {.tree = tree, .densities = densities};
  struct density_part *part = &p.part;
  while (part->trees < count) {
    const struct halo_tree *t = tree[part->trees];
    if (part->trees > 0 && part->rows + (size_t)t->count > task) break;
    part->trees++;
    part->rows += t->count;
    part->nodes += tree_nodes(t->depth);
  }
  part->count = part->rows;
  p.tasks = (part->rows - 1) / task + 1;
  return p;
}

/** Fill the memory of a piece with its trees, which lose what is packed. */
static void pack(void *context, uint32_t i) {
  struct piece *p = (struct piece *)context + i;
  uint32_t row = 0, node = 0;
  p->bytes = divide(p);
  p->memory = pinned_take(engine_pool(), p->bytes);
  (void)divide(p);
  for (uint32_t k = 0; k < p->part.trees; k++) {
    struct halo_tree *t = p->tree[k];
    const uint32_t nodes = tree_nodes(t->depth);
    p->packed[k] = (struct density_tree){row, t->count, node, t->depth};
    memcpy(p->part.x + row, t->x, t->count * sizeof *t->x);
    memcpy(p->part.box + node + 1, t->node + 1, (nodes - 1) * sizeof *t->node);
    memset(p->part.box + node, 0, sizeof *p->part.box);
    halo_tree_free_nodes(t);
    row += t->count;
    node += nodes;
  }
}

/** The first row of a task, where a leaf begins. */
static uint32_t task_first(const struct piece *p, uint32_t task) {
  const struct density_tree *t = p->packed;
  if (p->tasks == 1) return task == 0 ? 0 : p->part.rows;
  const uint64_t leaves = (uint64_t)1 << t->depth;
  return level_first(t->count, t->depth, (uint32_t)(leaves * task / p->tasks));
}

static void submit_task(struct piece *p, uint32_t task) {
  struct density_part part = p->part;
  struct results *r = &p->result[task];
  part.first = r->first = task_first(p, task);
  part.count = task_first(p, task + 1) - part.first;
  r->density = handle_register(part.density + part.first, part.count, sizeof *part.density);
  r->neighbour = handle_register(part.neighbour + part.first, part.count, sizeof *part.neighbour);
  halo_density_submit(&part, p->trees, p->rows, p->nodes, r->density, r->neighbour);
}

static void submit(struct piece *p) {
  const struct density_part *part = &p->part;
  p->trees = handle_register(p->packed, part->trees, sizeof *part->tree);
  p->rows = handle_register(part->x, part->rows, sizeof *part->x);
  p->nodes = handle_register(part->box, part->nodes, sizeof *part->box);
  p->result = allocate(p->tasks, sizeof *p->result, "densities in halos");
  for (uint32_t task = 0; task < p->tasks; task++) submit_task(p, task);
}

static void collect(struct piece *p) {
  for (uint32_t task = 0; task < p->tasks; task++) {
    handle_unregister(&p->result[task].density);
    handle_unregister(&p->result[task].neighbour);
  }
  handle_drop(&p->trees);
  handle_drop(&p->rows);
  handle_drop(&p->nodes);
  free(p->result);
}

/** Bring the densities of a tree into the order of its bodies. */
static void unpack_tree(const struct piece *p, uint32_t k) {
  const struct density_tree *packed = &p->packed[k];
  const uint32_t *body = p->tree[k]->body;
  const double *density = p->part.density + packed->first;
  const uint32_t(*neighbour)[HALO_LINKED] = (void *)(p->part.neighbour + packed->first);
  const struct densities d = *p->densities[k] = densities_create(packed->count);
  for (uint32_t i = 0; i < packed->count; i++) {
    d.density[body[i]] = density[i];
    for (size_t j = 0; j < d.linked; j++)
      d.neighbour[body[i] * d.linked + j] = body[neighbour[i][j]];
  }
}

static void unpack(void *context, uint32_t i) {
  const struct piece *p = (struct piece *)context + i;
  for (uint32_t k = 0; k < p->part.trees; k++) unpack_tree(p, k);
  pinned_give_back(engine_pool(), p->memory, p->bytes);
}

static void run_round(struct piece *piece, uint32_t pieces) {
  loop_run(&halos_stage, pieces, pack, piece);
  for (uint32_t i = 0; i < pieces; i++) submit(&piece[i]);
  for (uint32_t i = 0; i < pieces; i++) collect(&piece[i]);
  loop_run(&halos_stage, pieces, unpack, piece);
}

void densities_by_tasks(uint32_t task, size_t count, struct halo_tree *const *tree,
                        struct densities *const *densities) {
  struct piece piece[ROUND];
  uint32_t pieces = 0, tasks = 0;
  for (size_t first = 0; first < count;) {
    const struct piece next = piece_of(task, count - first, tree + first, densities + first);
    if (pieces > 0 && tasks + next.tasks > ROUND) {
      run_round(piece, pieces);
      pieces = tasks = 0;
    }
    piece[pieces++] = next;
    tasks += next.tasks;
    first += next.part.trees;
  }
  if (pieces > 0) run_round(piece, pieces);
}
