/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kick: p += acceleration int dt/a (kick.h); also finds the group's largest acceleration, which limits the
 * next step, and its largest momentum. motion_check.c ends the run where one of them is not finite
 * or too large.
 *
 * reads   accelerations
 * updates momenta
 * writes  group.largest */
#include "codelets/runtime/task.h"
#include "cuda/step/gpu_step.h"
#include "photons/step/codelets.h"

struct kick_argument {
  const struct step_kernels *kernels;
  struct group *g;
  struct kick kick;
};
enum { ACCELERATION, MOMENTUM, SLOTS };

static double kick_work(const struct kick_argument *a) { return a->g->count; }

static void kick_cpu(void *buffers[], const struct kick_argument *a) {
  a->g->largest = a->kernels->kick(a->g->count, a->kick, VECTOR(const float, buffers[ACCELERATION]),
                                   VECTOR(float, buffers[MOMENTUM]));
}

static void kick_gpu(struct gpu *gpu, void *buffers[], const struct kick_argument *a) {
  gpu_kick(gpu, a->g->count, a->kick, VECTOR(const float, buffers[ACCELERATION]),
           VECTOR(float, buffers[MOMENTUM]), &a->g->largest);
}

STAGE(kick, 0xeeaa99, NULL);

void kick_submit(struct nbody *n, struct group *g, struct kick kick) {
  const struct starpu_data_descr data[SLOTS] = {
      [ACCELERATION] = {g->column[COLUMN_acceleration], STARPU_R},
      [MOMENTUM] = {g->column[COLUMN_momentum], STARPU_RW}};
  kick_insert(
      (struct kick_argument){n->kernels, g, kick},
      (struct task){.data = data, .count = SLOTS, .priority = PRIORITY_LOW, .owner = &g->index});
}
