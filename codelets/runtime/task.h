/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What all codelets share: their argument, submission and the footprint of their work. */
#ifndef PHOTONS_TASK_H
#define PHOTONS_TASK_H

#include <starpu.h>

#include "photons/runtime/codelets.h"
#include "photons/domain/simulation.h"

/** Argument of every task: which part of the simulation it works on. */
struct task_argument {
  struct simulation *simulation;
  struct group *group; /**< NULL for mesh stages */
  uint32_t slab, column, set, field;
  enum stage stage;                        /**< set by task_submit() from the codelet's name */
  int process;                             /**< put, get: whose shared memory */
  size_t place;                            /**< put: where in it */
  float factor;                            /**< kick and drift: the integral over the step */
  struct interaction_list *last_reader_of; /**< freed when the task has ended; may be NULL */
};

/* Priorities follow the critical path where several stages are ready: the mesh first (its transforms end in a chain), then
 * what neighbours wait for, p2p before the next walk, so that few interaction lists exist at a time. */
enum priority { PRIORITY_WALK, PRIORITY_LOCAL, PRIORITY_UPWARD, PRIORITY_MESH, PRIORITY_REFIT };

/**
 * Submit one task.
 * @param data  handles and access modes, in the order in which the codelet's functions unpack them
 */
void task_submit(struct starpu_codelet *codelet, struct task_argument argument, const struct starpu_data_descr *data,
                 size_t count, enum priority priority);

/** This worker's scratch. */
struct worker *task_worker(const struct task_argument *argument);

/** A group's near or far list as a task's data, if a GPU made it: add offsets and entries (returns how many data these are), and forget
 * the entries when their last reader is submitted. */
size_t list_add(const struct group *g, starpu_data_handle_t entries, struct starpu_data_descr *data);
void list_drop(starpu_data_handle_t *entries);
/** The list in a task. @param buffers  from where list_add() added it  @param on_gpu  the task runs there */
struct interaction_list list_unwrap(const struct group *g, bool far, void *buffers[], bool on_gpu);

/* A stage's CUDA function NAME_cuda queues work on the worker's stream: see cuda/gpu.h. */
#ifdef PHOTONS_CUDA
#include "cuda/runtime/gpu.h"
#define CUDA_FUNCTION(name) .cuda_funcs = {name}, .cuda_flags = {STARPU_CUDA_ASYNC},
#else
#define CUDA_FUNCTION(name)
#endif

/** Footprint of an amount of work, in steps of 15 %, for history-based performance models; below 2^12. */
uint32_t work_footprint(double work);

/** A codelet with stage_cpu() and stage_cuda(), and a performance model whose footprint is work(argument). */
#define PHOTONS_CODELET(stage_name, stage_color, work_expression) \
  CODELET_WITH(CUDA_FUNCTION(stage_name##_cuda), stage_name, stage_color, work_expression)
/** One with stage_cpu() only. */
#define PHOTONS_HOST_CODELET(stage_name, stage_color, work_expression) \
  CODELET_WITH(, stage_name, stage_color, work_expression)
#define CODELET_WITH(cuda_function, stage_name, stage_color, work_expression)                               \
  static uint32_t stage_name##_footprint(struct starpu_task *task) {                                        \
    const struct task_argument *a = task->cl_arg;                                                           \
    return work_footprint((double)(work_expression)) + (a->simulation->variant << 12);                      \
  }                                                                                                         \
  static struct starpu_perfmodel stage_name##_model = {                                                     \
      .type = STARPU_HISTORY_BASED, .symbol = "photons_" #stage_name, .footprint = stage_name##_footprint}; \
  static struct starpu_codelet stage_name##_codelet = {.name = #stage_name,                                 \
                                                       .color = stage_color,                                \
                                                       .cpu_funcs = {stage_name##_cpu},                     \
                                                       .cpu_funcs_name = {#stage_name "_cpu"},              \
                                                       cuda_function.nbuffers = STARPU_VARIABLE_NBUFFERS,   \
                                                       .model = &stage_name##_model}

#define VECTOR(type, buffer) ((type *)STARPU_VECTOR_GET_PTR(buffer))

#endif
