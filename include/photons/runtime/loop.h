/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A loop over independent parts as StarPU tasks on all CPU workers, and on the thread that waits for it. */
#ifndef PHOTONS_RUNTIME_LOOP_H
#define PHOTONS_RUNTIME_LOOP_H

#include <stdbool.h>
#include <stdint.h>

#include "photons/runtime/stage.h"

/** CPU function of every loop's codelet. LOOP_STAGE(name, colour, ...) defines the stage of a
 * loop. */
void loop_on_cpu(void *buffers[], void *arguments);
#define LOOP_STAGE(stage_name, stage_colour, ...)                                    \
  static struct starpu_codelet stage_name##_codelet = {.name = #stage_name,          \
                                                       .color = stage_colour,        \
                                                       .cpu_funcs = {loop_on_cpu},   \
                                                       .cpu_funcs_name = {"loop"},   \
                                                       .nbuffers = 0};               \
  struct stage stage_name##_stage = {.codelet = &stage_name##_codelet, __VA_ARGS__}; \
  STAGE_REGISTER(stage_name##_stage)

/**
 * Run function(context, i) for i < n as tasks of a stage, and wait for these tasks, not for others.
 * The tasks have no data and the lowest priority; each takes one i after the other until none is
 * left, and so does the calling thread. A loop of one i has no tasks. If StarPU does not run, the calling thread runs the loop. On the thread of background.h they are no tasks.
 */
void loop_run(struct stage *stage, uint32_t n, void (*function)(void *context, uint32_t i),
              void *context);

/**
 * Within a function that loop_run() runs, for what takes long in one i: run function(context, j) for all j < n, and return
 * when all have ended. The calling thread takes one j after the other. CPU workers that have no task take some, too, each
 * of them one before it looks for a task again. A j should take 50 us or more. Within a j this function may be called again.
 * In the task log helpers have the time that they help for as time of the stage.
 */
void loop_parts(const struct stage *stage, uint32_t n, void (*function)(void *context, uint32_t j),
                void *context);

/** Within a function that loop_run() runs, for a thread that waits for others: take parts of loop_parts().
 * @return whether there was one left */
bool loop_help(void);

#endif
