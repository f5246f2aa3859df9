/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A loop over independent parts as StarPU tasks on all CPU workers, and on the thread that waits for it. */
#ifndef PHOTONS_RUNTIME_LOOP_H
#define PHOTONS_RUNTIME_LOOP_H

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

#endif
