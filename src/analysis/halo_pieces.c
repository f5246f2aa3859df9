/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "halo_pieces.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "halo_home.h"
#include "photons/base/error.h"
#include "photons/runtime/engine.h"
#include "photons/runtime/handle.h"
#include "photons/runtime/loop.h"
#include "photons/runtime/pinned.h"
#include "photons/runtime/scheduler.h"

enum {
  ROUND = 8,    /* tasks at a time; a tree that needs more is a round by itself */
  NAP = 300000, /* ns */
  ALIGNED = 64  /* bytes */
};
#define SHARE (1.0 / 32) /* of a GPU's memory that a halo may take: steps use the rest */

/** Trees that are packed together: those of one task, or one tree of several. */
struct piece {
  const struct piece_kind *kind;
  const void *context;
  size_t first_tree;
  struct halo_part part; /* of all rows */
  struct part_tree *tree;
  char *rows, *nodes, *found, *found_too;
  char *memory; /* page-locked, of all of these */
  size_t bytes;
  uint32_t tasks;
  struct piece_handles all;         /* the data of all tasks, and no results */
  struct piece_handles task[ROUND]; /* those at a time */
};

enum {
  SMALL_LEAF = 8
}; /* more particles than this are in any leaf of a large tree, which has two nodes for each leaf */

/** Bytes of a particle of a large tree on a GPU, where densities are found: coordinates, nodes, and results. */
static double particle_bytes(void) {
  return (double)(sizeof(double[HALO_PHASE_AXES]) + sizeof(double) +
                  sizeof(uint32_t[HALO_LINKED])) +
         2.0 / SMALL_LEAF * (double)sizeof(struct density_box);
}

double pieces_gpu_particles(void) {
  int device[STARPU_NMAXWORKERS];
  if (!starpu_is_initialized() || !engine_gpu()) return 0.0;
  const uint32_t gpus = scheduler_gpus(device);
  return gpus > 0 ? SHARE * scheduler_gpu_memory() / gpus / particle_bytes() : 0.0;
}

static uint32_t aligned(const struct piece_kind *kind, uint32_t rows) {
  return (rows + kind->aligned - 1) / kind->aligned * kind->aligned;
}

/** A piece without memory of the next trees. */
static struct piece piece_from(const struct piece_kind *kind, const void *context, uint32_t task,
                               size_t first, size_t count) {
  struct piece p = {.kind = kind, .context = context, .first_tree = first};
  for (size_t i = first; i < count; i++) {
    const struct part_tree t = kind->size(context, i);
    const uint32_t rows = aligned(kind, t.count);
    if (i > first && p.part.rows + (size_t)rows > task) break;
    p.part.trees++;
    p.part.rows += rows;
    p.part.nodes += t.node;
  }
  p.part.count = p.part.rows;
  p.tasks = (p.part.rows - 1) / task + 1;
  return p;
}

/** The next bytes of the memory of a piece, or nothing where there is no memory yet. */
static void *take(const struct piece *p, size_t *used, size_t bytes) {
  void *const place = p->memory ? p->memory + *used : NULL;
  *used += (bytes + ALIGNED - 1) / ALIGNED * ALIGNED;
  return place;
}

/** A task has all of its handles, also where no tree has nodes. */
static size_t nodes_of(const struct piece *p) { return p->part.nodes > 0 ? p->part.nodes : 1; }

/** Divide the memory of a piece. @return the bytes that it takes */
static size_t divide(struct piece *p) {
  const struct piece_kind *kind = p->kind;
  size_t used = 0;
  p->tree = take(p, &used, p->part.trees * sizeof *p->tree);
  p->rows = take(p, &used, p->part.rows * kind->row);
  p->nodes = take(p, &used, nodes_of(p) * kind->node);
  p->found = take(p, &used, p->part.rows * kind->found);
  p->found_too = take(p, &used, p->part.rows * kind->found_too);
  p->part.tree = p->tree;
  return used;
}

/** A piece of several tasks, which may be of any size, has memory of its own: the pool keeps what it has until the run ends. */
static bool has_own_memory(const struct piece *p) { return p->tasks > 1; }

static void take_memory(struct piece *p) {
  p->bytes = divide(p);
  if (has_own_memory(p)) {
    p->memory = allocate_uncleared(p->bytes, 1, "a large halo for GPUs");
    pin_memory(p->memory, p->bytes);
  } else {
    p->memory = pinned_take(engine_pool(), p->bytes);
  }
  (void)divide(p);
}

static void free_memory(const struct piece *p) {
  if (has_own_memory(p)) {
    unpin_memory(p->memory, p->bytes);
    free(p->memory);
  } else {
    pinned_give_back(engine_pool(), p->memory, p->bytes);
  }
}

static void pack(void *context, uint32_t i) {
  struct piece *p = (struct piece *)context + i;
  uint32_t row = 0, node = 0;
  take_memory(p);
  for (uint32_t k = 0; k < p->part.trees; k++) {
    const struct part_tree t = p->kind->size(p->context, p->first_tree + k);
    p->tree[k] = (struct part_tree){row, t.count, node, t.depth};
    p->kind->pack(p->context, p->first_tree + k, p->rows + row * p->kind->row,
                  p->nodes + node * p->kind->node);
    row += aligned(p->kind, t.count);
    node += t.node;
  }
}

static void unpack(void *context, uint32_t i) {
  const struct piece *p = (struct piece *)context + i;
  for (uint32_t k = 0; k < p->part.trees; k++) {
    const size_t row = p->tree[k].first;
    p->kind->unpack(p->context, p->first_tree + k, p->found + row * p->kind->found,
                    p->found_too + row * p->kind->found_too);
  }
  free_memory(p);
}

static uint32_t task_first(const struct piece *p, uint32_t task) {
  if (task == 0) return 0;
  return task == p->tasks ? p->part.rows : p->kind->cut(p->tree, task, p->tasks);
}

static struct piece_handles submit_task(const struct piece *p, uint32_t task) {
  const struct piece_kind *kind = p->kind;
  struct halo_part part = p->part;
  struct piece_handles h = p->all;
  const size_t first = part.first = task_first(p, task);
  part.count = task_first(p, task + 1) - part.first;
  h.found = handle_register(p->found + first * kind->found, part.count, kind->found);
  if (kind->found_too > 0)
    h.found_too = handle_register(p->found_too + first * kind->found_too, part.count,
                                  kind->found_too);
  kind->submit(p->context, &part, &h);
  return h;
}

static void register_data(struct piece *p) {
  p->all = (struct piece_handles){.tree = handle_register(p->tree, p->part.trees, sizeof *p->tree),
                                  .rows = handle_register(p->rows, p->part.rows, p->kind->row),
                                  .nodes = handle_register(p->nodes, nodes_of(p), p->kind->node)};
}

static void drop_data(struct piece *p) {
  handle_drop(&p->all.tree);
  handle_drop(&p->all.rows);
  handle_drop(&p->all.nodes);
}

/** How many tasks there are at a time from one of them on. */
static uint32_t tasks_from(const struct piece *p, uint32_t first) {
  if (first >= p->tasks) return 0;
  return p->tasks - first < ROUND ? p->tasks - first : ROUND;
}

static void submit(struct piece *p, uint32_t first) {
  for (uint32_t k = 0; k < tasks_from(p, first); k++) p->task[k] = submit_task(p, first + k);
}

/** Wait for tasks, and for what they have found. */
static void collect(struct piece *p, uint32_t first) {
  for (uint32_t k = 0; k < tasks_from(p, first); k++) {
    handle_unregister(&p->task[k].found);
    handle_unregister(&p->task[k].found_too);
  }
}

/** Submit no task for a while: a step that waits for all tasks, those of outputs beside it included, finds that there are none. */
static void let_steps_go_on(void) { nanosleep(&(struct timespec){.tv_nsec = NAP}, NULL); }

static void run_tasks(struct piece *piece, uint32_t pieces) {
  uint32_t tasks = 0; /* of the piece that has most */
  for (uint32_t i = 0; i < pieces; i++) {
    register_data(&piece[i]);
    if (piece[i].tasks > tasks) tasks = piece[i].tasks;
  }
  for (uint32_t first = 0; first < tasks; first += ROUND) {
    if (first > 0) let_steps_go_on();
    for (uint32_t i = 0; i < pieces; i++) submit(&piece[i], first);
    for (uint32_t i = 0; i < pieces; i++) collect(&piece[i], first);
  }
  for (uint32_t i = 0; i < pieces; i++) drop_data(&piece[i]);
}

static void run_round(struct piece *piece, uint32_t pieces) {
  loop_run(&halos_stage, pieces, pack, piece);
  run_tasks(piece, pieces);
  loop_run(&halos_stage, pieces, unpack, piece);
}

void pieces_run(const struct piece_kind *kind, const void *context, uint32_t task, size_t count) {
  struct piece piece[ROUND];
  uint32_t pieces = 0, tasks = 0;
  for (size_t first = 0; first < count;) {
    const struct piece next = piece_from(kind, context, task, first, count);
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
