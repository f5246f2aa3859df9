/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the stages of gas have in common: the argument of their tasks, and slots for lists of
 * batches. */
#ifndef PHOTONS_CODELETS_AMR_BATCHES_H
#define PHOTONS_CODELETS_AMR_BATCHES_H

#include "codelets/runtime/task.h"
#include "cuda/amr/gpu_amr.h"
#include "photons/amr/blocks.h"

/** A batch of a level. The argument of a stage's tasks is this, or has it as its first member. */
struct batch_argument {
  struct gas *gas;
  int level;
  uint32_t batch;
};

/** What the CPU versions of stages that close a step compute with.
 * @param least_heat  of gas_physics, at the end of the step */
static inline struct gas_physics physics_of(const struct gas *g, double least_heat) {
  struct gas_physics physics = g->scheme.physics;
  physics.least_heat = least_heat;
  return physics;
}

/** What the CUDA versions know of a batch, and those of stages that close a step. */
struct gpu_gas gpu_gas_of(struct gpu *gpu, const struct batch_argument *a);
struct gpu_gas gpu_gas_closing(struct gpu *gpu, const struct batch_argument *a, double least_heat);

static inline struct gas_batch *batch_of(const struct batch_argument *a) {
  return gas_batch(a->gas, a->level, a->batch);
}
/** The number of its first group among this rank's groups. */
static inline uint32_t own_of(const struct batch_argument *a) {
  return gas_own_number(&a->gas->level[a->level], batch_of(a)->first);
}
/** Number of the groups of a batch, of this rank or of another one; work is counted in groups. */
static inline uint32_t batch_count(const struct batch_argument *a) {
  const struct group_span s = gas_batch_span(&a->gas->level[a->level], a->batch);
  return s.end - s.first;
}
static inline double batch_work(const struct batch_argument *a) { return batch_count(a); }

/** Group i of a batch in memory where a group takes up so many bytes. */
static inline void *nth(void *buffer, size_t bytes, uint32_t i) {
  return VECTOR(char, buffer) + bytes * i;
}

/** Keep a fault of group i of a batch, if there is one, and if it is the first. Count its fluxes of first
 * order. */
static inline void note_fault(const struct batch_argument *a, uint32_t i,
                              const struct gas_fault *fault) {
  struct gas_fault *first = &a->gas->level[a->level].fault[own_of(a) + i];
  const uint64_t first_order = first->first_order + fault->first_order;
  if (first->patch < 0) *first = *fault;
  first->first_order = first_order;
}

/** Memory of the calling worker: what gas_kernels.solve needs, aligned, and after it room for a block. */
char *gas_scratch(const struct gas *g);

/** Slots of a task. What the task works on is for messages of builds with --enable-debug-checks. */
struct slots {
  const char *stage;
  const struct gas *gas;
  int level;
  uint32_t batch;
  struct starpu_data_descr *data;
  size_t count, room;
};

/** No slots yet, of a task of a stage that works on a batch. */
static inline struct slots slots_of(const char *stage, const struct gas *g, int level,
                                    uint32_t batch) {
  return (struct slots){.stage = stage, .gas = g, .level = level, .batch = batch};
}
/** What the home of the task's batch has of a batch. */
const struct gas_batch *slots_seen(const struct slots *s, int level, uint32_t batch);
/** In builds with --enable-debug-checks: end the run, and name the stage and the first group of its
 * batch, unless what a task is to read of a level is up to date. */
void slots_require(const struct slots *s, bool fresh, const char *what, int level);

void slots_add(struct slots *s, starpu_data_handle_t handle, enum starpu_data_access_mode mode);
/** Slots for the cells of a list's batches of a level, which are read.
 * @param now  present cells, not those of the beginning of the last step */
void slots_add_list(struct slots *s, const struct gas *g, int level, const struct batch_list *list,
                    bool now);
/** The task with these slots, in gas_tasks.chain if there is one; free() slots.data after it is submitted. */
struct task slots_task(const struct slots *s, enum priority priority);
/** The buffers from `first` on as plain addresses; free() it. */
const char **slots_addresses(void *buffers[], size_t first, size_t count);

/** Slots for what blocks are made from: cells of the level, of the next coarser one, and of that at
 * the beginning of its last step unless `weight` is 1.
 * @param weight  time of the level within the last step of the next coarser one */
void slots_add_sources(struct slots *s, const struct gas *g, int level, const struct gas_batch *b,
                       double weight);
/** Number of these slots. */
static inline size_t source_slots(const struct gas_batch *b, double weight) {
  return b->near.count + (weight == 1.0 ? 1 : 2) * (size_t)b->coarse.count;
}
/** The same in a task. @param cells  addresses of these slots */
struct block_sources block_sources_of(const struct batch_argument *a, const char *const *cells,
                                      double weight);
struct gpu_sources gpu_sources_of(const struct batch_argument *a, const char *const *cells,
                                  double weight, const struct gas_links *links);

/** A slot for the batch's links (links.h), where there are any: where this rank uses a GPU. */
void slots_add_links(struct slots *s, const struct gas_batch *b);

#endif
