/* SPDX-License-Identifier: GPL-3.0-or-later */
/* external: accelerations of the targets in the potentials of section [external], after those by
 * particles.
 *
 * reads   positions of the targets, the table of a potential if there is one
 * adds to the targets' accelerations, or writes them where particles do not attract each other */
#include "photons/step/external.h"
#include "codelets/runtime/task.h"
#include "cuda/step/gpu_step.h"
#include "photons/config/parameters.h"
#include "photons/step/codelets.h"

struct external_argument {
  const struct step_kernels *kernels;
  const struct targets *targets;
  struct external_field field;
  double unit; /* of positions, kpc */
  bool adds;
};
enum { ACCELERATION, POSITION, TABLE, SLOTS };

static double external_work(const struct external_argument *a) { return a->targets->count; }

static struct external_arrays unwrap(void *buffers[], const struct external_argument *a) {
  return (struct external_arrays){.count = a->targets->count,
                                  .position = VECTOR(const uint32_t, buffers[POSITION]),
                                  .acceleration = VECTOR(float, buffers[ACCELERATION]),
                                  .unit = a->unit,
                                  .adds = a->adds};
}

static const double *values_of(void *buffers[], const struct external_argument *a) {
  return a->field.table.nodes > 0 ? VECTOR(const double, buffers[TABLE]) : NULL;
}

static void external_cpu(void *buffers[], const struct external_argument *a) {
  const struct external_arrays arrays = unwrap(buffers, a);
  a->kernels->external(&a->field, values_of(buffers, a), &arrays);
}

static void external_gpu(struct gpu *gpu, void *buffers[], const struct external_argument *a) {
  const struct external_arrays arrays = unwrap(buffers, a);
  gpu_external(gpu, &a->field, values_of(buffers, a), &arrays);
}

STAGE(external, 0x99ccdd, NULL);

void external_submit(struct nbody *n, struct group *g) {
  const struct targets *t = &expansions_of(&n->short_range, g)->targets;
  struct external_argument argument = {.kernels = n->kernels,
                                       .targets = t,
                                       .field = n->external->field,
                                       .unit = 1e3 * n->domain.geometry.box / POSITION_TURN,
                                       .adds = n->parameters->external.self_gravity};
  const struct starpu_data_descr data[SLOTS] = {
      [ACCELERATION] = {t->acceleration, argument.adds ? STARPU_RW : STARPU_W},
      [POSITION] = {t->position, STARPU_R},
      [TABLE] = {n->external->table, STARPU_R}};
  external_turn(&argument.field, external_time(n));
  external_insert(argument, (struct task){.data = data,
                                          .count = n->external->values ? SLOTS : TABLE,
                                          .priority = PRIORITY_LOW,
                                          .owner = &g->index});
}
