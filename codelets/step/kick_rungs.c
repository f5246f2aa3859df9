/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kick_rungs: kicks the targets of a group by rungs (rungs.h), and finds the same largest numbers
 * as kick.
 *
 * reads   mesh_accelerations; the targets' own accelerations, tides and index, if they have any
 * updates momenta, accelerations, rungs
 * writes  group.largest, nbody.rungs */
#include "codelets/runtime/task.h"
#include "cuda/step/gpu_step.h"
#include "photons/step/codelets.h"

struct kick_rungs_argument {
  const struct step_kernels *kernels;
  struct group *g;
  struct group_rungs *rungs;
  uint32_t active;
  bool packed, own, tide; /* the targets have an index, accelerations of their own, tides */
  struct rung_kick kick;
};
enum { MOMENTUM, ACCELERATION, RUNG, MESH, GIVEN, INDEX, SLOTS };

static double kick_rungs_work(const struct kick_rungs_argument *a) { return a->active; }

static struct rung_arrays unwrap(void *buffers[], const struct kick_rungs_argument *a) {
  return (struct rung_arrays){
      .count = a->g->count,
      .active = a->active,
      .index = a->packed ? VECTOR(const uint32_t, buffers[INDEX]) : NULL,
      .given = a->own ? VECTOR(const float, buffers[GIVEN]) : NULL,
      .tide = a->tide ? VECTOR(const float, buffers[GIVEN]) + 3 * (size_t)a->active : NULL,
      .mesh = VECTOR(const float, buffers[MESH]),
      .acceleration = VECTOR(float, buffers[ACCELERATION]),
      .momentum = VECTOR(float, buffers[MOMENTUM]),
      .rung = VECTOR(uint8_t, buffers[RUNG]),
  };
}

static void kick_rungs_cpu(void *buffers[], const struct kick_rungs_argument *a) {
  const struct rung_arrays arrays = unwrap(buffers, a);
  uint32_t rungs[RUNGS];
  a->g->largest = a->kernels->kick_rungs(&a->kick, &arrays, rungs);
  for (int k = a->kick.top; k < RUNGS; k++) a->rungs->particles[k] = rungs[k];
}

static void kick_rungs_gpu(struct gpu *gpu, void *buffers[], const struct kick_rungs_argument *a) {
  const struct rung_arrays arrays = unwrap(buffers, a);
  gpu_kick_rungs(gpu, &a->kick, &arrays, a->rungs->particles, &a->g->largest);
}

STAGE(kick_rungs, 0xeebbaa, NULL);

void kick_rungs_submit(struct nbody *n, struct group *g, const struct rung_kick *kick) {
  const struct targets *t = &expansions_of(&n->short_range, g)->targets;
  const struct starpu_data_descr data[SLOTS] = {
      [MOMENTUM] = {g->column[COLUMN_momentum], STARPU_RW},
      [ACCELERATION] = {g->column[COLUMN_acceleration], STARPU_RW},
      [RUNG] = {g->column[COLUMN_rung], STARPU_RW},
      [MESH] = {g->column[COLUMN_mesh_acceleration], STARPU_R},
      [GIVEN] = {t->acceleration, STARPU_R},
      [INDEX] = {t->index, STARPU_R}};
  const bool packed = t->index, own = t->acceleration != g->column[COLUMN_acceleration];
  kick_rungs_insert((struct kick_rungs_argument){n->kernels, g, &n->rungs[g->index], t->count,
                                                 packed, own, t->tide, *kick},
                    (struct task){.data = data,
                                  .count = packed ? SLOTS
                                           : own  ? INDEX
                                                  : GIVEN,
                                  .priority = PRIORITY_LOW,
                                  .owner = &g->index});
}
