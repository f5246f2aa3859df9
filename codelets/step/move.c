/* SPDX-License-Identifier: GPL-3.0-or-later */
/* move: drift of a group as the stage drift has it, and refit of its tree as the stage refit has it.
 *
 * reads   momenta, accelerations; masses, if they differ; nbody.moves, which has no data
 * updates positions
 * writes  the tree; group.top; the masses of nodes, if they differ */
#include "codelets/runtime/task.h"
#include "codelets/tree/refit.h"
#include "cuda/step/gpu_step.h"
#include "photons/step/codelets.h"

struct move_argument {
  const struct nbody *n;
  const struct group *g;
  float factor; /* position units per unit of momentum */
};
enum { MOMENTUM, REFITTED }; /* n->moves comes last */

static double move_work(const struct move_argument *a) { return a->g->count; }

/** The drift of a task on a core. */
struct drift {
  const struct move_argument *a;
  const float *momentum;
  uint32_t *x;
};

static void drift_part(const void *context, uint32_t first, uint32_t end) {
  const struct drift *d = context;
  d->a->n->kernels->drift(d->a->g->count, first, end, d->a->factor, d->momentum, d->x);
}

static void move_cpu(void *buffers[], const struct move_argument *a) {
  const struct drift drift = {a, VECTOR(const float, buffers[MOMENTUM]),
                              VECTOR(uint32_t, buffers[REFITTED + REFIT_POSITION])};
  refit_group(&a->n->short_range, a->g, buffers + REFITTED, drift_part, &drift);
}

static void move_gpu(struct gpu *gpu, void *buffers[], const struct move_argument *a) {
  gpu_drift(gpu, a->g->count, a->factor, VECTOR(const float, buffers[MOMENTUM]),
            VECTOR(uint32_t, buffers[REFITTED + REFIT_POSITION]));
  refit_group_on_gpu(gpu, &a->n->short_range, a->g, buffers + REFITTED);
}

STAGE(move, 0xddbb88, NULL);

void move_submit(struct nbody *n, struct group *g, float factor) {
  struct starpu_data_descr data[REFITTED + REFIT_SLOTS + 1] = {
      {g->column[COLUMN_momentum], STARPU_R}};
  size_t count = REFITTED + refit_slots(g, data + REFITTED);
  data[count++] = (struct starpu_data_descr){n->moves, STARPU_R};
  data[REFITTED + REFIT_POSITION].mode = STARPU_RW;
  move_insert((struct move_argument){n, g, drift_units(n, factor)},
              (struct task){
                  .data = data, .count = count, .priority = PRIORITY_HIGHEST, .owner = &g->index});
}
