/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Analysis: loops over parts of the particles, of a mesh or of a catalogue as tasks without data, run while the host holds
 * the particles. */
#include "photons/analysis_tasks.h"

#include <starpu.h>

#include "photons/error.h"

struct part {
  void (*function)(void *context, uint32_t i);
  void *context;
  uint32_t i;
};

static void analysis_cpu(void *buffers[], void *arguments) {
  (void)buffers;
  const struct part *part = arguments;
  part->function(part->context, part->i);
}

#define ANALYSIS_CODELET(stage, code_colour)                                                              \
  {                                                                                                       \
    .name = stage, .color = code_colour, .cpu_funcs = {analysis_cpu}, .cpu_funcs_name = {"analysis_cpu"}, \
    .nbuffers = 0                                                                                         \
  }

void analysis_for(enum analysis_stage stage, uint32_t n, void (*function)(void *context, uint32_t i), void *context) {
  static struct starpu_codelet codelets[] = {[ANALYSIS_FOF] = ANALYSIS_CODELET("fof", 0x332288),
                                             [ANALYSIS_HALOS] = ANALYSIS_CODELET("halos", 0x661100),
                                             [ANALYSIS_POWER] = ANALYSIS_CODELET("power_spectrum", 0x6699cc),
                                             [ANALYSIS_IMAGE] = ANALYSIS_CODELET("image", 0xaa4466)};
  if (!starpu_is_initialized() || starpu_cpu_worker_get_count() == 0) {
    for (uint32_t i = 0; i < n; i++) function(context, i);
    return;
  }
  for (uint32_t i = 0; i < n; i++) {
    struct part *part = allocate(1, sizeof *part, "the arguments of an analysis task"); /* StarPU frees it */
    *part = (struct part){function, context, i};
    if (starpu_task_insert(&codelets[stage], STARPU_CL_ARGS, part, sizeof *part, 0) != 0)
      fail(EXIT_RUN_FAILED, "StarPU could not take a task: no CPU worker");
  }
  starpu_task_wait_for_all();
}
