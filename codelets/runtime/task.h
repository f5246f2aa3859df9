/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Definition of stages and submission of their tasks, for the files under codelets/.
 *
 * The file of a stage NAME defines
 *   struct NAME_argument                                   the argument of its tasks
 *   void NAME_cpu(void *buffers[], const struct NAME_argument *a)
 *   void NAME_gpu(struct gpu *gpu, void *buffers[], const struct NAME_argument *a)
 *   double NAME_work(const struct NAME_argument *a)        amount of work, for performance models
 * and then STAGE(NAME, colour, family), or STAGE_ON_CPU if there is no CUDA version, or STAGE_ON_GPU
 * if there is no other; members of struct stage may follow the family. The macro defines
 *   void NAME_insert(struct NAME_argument a, struct task task)
 * which submits a task. An enum in the file names the slots of `buffers`. */
#ifndef PHOTONS_CODELETS_TASK_H
#define PHOTONS_CODELETS_TASK_H

#include <starpu.h>
#include <stddef.h>

#include "photons/runtime/engine.h"
#include "photons/runtime/gpu.h"
#include "photons/runtime/stage.h"

/** A task, without its argument. */
struct task {
  const struct starpu_data_descr *data; /**< [slot] */
  size_t count;                         /**< number of slots */
  enum priority priority;
  bool lasting; /**< it takes longer than to copy its data from another GPU (owner_computes.h) */
  const uint32_t *owner;        /**< index of the group that the task works on; NULL: none */
  void (*ended)(void *context); /**< called after the task has ended, on a worker's thread; may be
                                 *   NULL */
  void *context;
  struct task_chain *
      chain; /**< it becomes a task of this chain (chain.h), without what follows the slots; NULL: it is
                                 *   submitted */
};

/**
 * Submit a task, or add it to its chain; ends the program if no worker can run it.
 * @param argument  `bytes` bytes, which are copied
 */
void task_submit(const struct stage *stage, const struct task *task, const void *argument,
                 size_t bytes);
/** The argument of the task whose cl_arg this is. */
const void *task_argument(const void *cl_arg);
/** The stage of the task that the calling worker runs; NULL: none of task_submit().
 * @param[out] owner  as in struct task_record */
const struct stage *task_stage(uint32_t *owner);
/** Footprint for StarPU's history-based performance models: the amount of work in steps of 15 %,
 * and engine_variant(). */
uint32_t task_footprint(double work);

#define VECTOR(type, buffer) ((type *)STARPU_VECTOR_GET_PTR(buffer))

#define STAGE_ON_CPU(kind, stage_colour, ...) \
  STAGE_CPU_FUNCTION(kind)                    \
  STAGE_WITH(CPU_CODELET(kind##_on_cpu, #kind "_on_cpu"), kind, stage_colour, __VA_ARGS__)
#define STAGE_ON_GPU(kind, stage_colour, ...) \
  STAGE_GPU_FUNCTION(kind)                    \
  STAGE_WITH(GPU_CODELET(kind##_on_gpu), kind, stage_colour, __VA_ARGS__)
#define STAGE(kind, stage_colour, ...)                                                     \
  STAGE_CPU_FUNCTION(kind)                                                                 \
  STAGE_GPU_FUNCTION(kind)                                                                 \
  STAGE_WITH(CPU_CODELET(kind##_on_cpu, #kind "_on_cpu") GPU_CODELET(kind##_on_gpu), kind, \
             stage_colour, __VA_ARGS__)
#define STAGE_CPU_FUNCTION(kind)                             \
  static void kind##_on_cpu(void *buffers[], void *cl_arg) { \
    kind##_cpu(buffers, task_argument(cl_arg));              \
  }
#define STAGE_GPU_FUNCTION(kind)                                                     \
  static __attribute__((unused)) void kind##_on_gpu(void *buffers[], void *cl_arg) { \
    kind##_gpu(worker_gpu(), buffers, task_argument(cl_arg));                        \
  }
#define CPU_CODELET(function, name) .cpu_funcs = {function}, .cpu_funcs_name = {name},
#define STAGE_WITH(functions, kind, stage_colour, ...)                                          \
  static uint32_t kind##_footprint(struct starpu_task *task) {                                  \
    return task_footprint(kind##_work(task_argument(task->cl_arg)));                            \
  }                                                                                             \
  static struct starpu_perfmodel kind##_model = {                                               \
      .type = STARPU_HISTORY_BASED, .symbol = "photons_" #kind, .footprint = kind##_footprint}; \
  static struct starpu_codelet kind##_codelet = {.name = #kind,                                 \
                                                 .color = stage_colour,                         \
                                                 functions.nbuffers = STARPU_VARIABLE_NBUFFERS, \
                                                 .model = &kind##_model};                       \
  static struct stage kind##_stage = {.codelet = &kind##_codelet, .family = __VA_ARGS__};       \
  static void kind##_insert(struct kind##_argument argument, struct task task) {                \
    task_submit(&kind##_stage, &task, &argument, sizeof argument);                              \
  }                                                                                             \
  STAGE_REGISTER(kind##_stage)

#endif
