/* SPDX-License-Identifier: GPL-3.0-or-later */
/* external_sum: the energy of a group's particles in the potentials of section [external], in double
 * precision, one particle after the other.
 *
 * reads  positions; masses, if they differ; the table of a potential, if there is one
 * writes the memory of the host that the argument names */
#include "codelets/runtime/task.h"
#include "photons/step/codelets.h"
#include "photons/step/external.h"

struct external_sum_argument {
  struct external_field field;
  uint32_t count;
  bool masses; /* they differ */
  double unit; /* of positions, kpc */
  struct external_sums *sum;
  float *potential; /* NULL: not wanted */
};
enum { POSITION, DIFFERENT, SLOTS = DIFFERENT + 2 }; /* masses, then the table */

static double external_sum_work(const struct external_sum_argument *a) { return a->count; }

static void external_sum_cpu(void *buffers[], const struct external_sum_argument *a) {
  const uint32_t *position = VECTOR(const uint32_t, buffers[POSITION]);
  const float *mass = a->masses ? VECTOR(const float, buffers[DIFFERENT]) : NULL;
  const double *values = a->field.table.nodes > 0
                             ? VECTOR(const double, buffers[DIFFERENT + a->masses])
                             : NULL;
  struct external_sums sum = {0};
  for (uint32_t i = 0; i < a->count; i++) {
    double x[3];
    external_position(position, a->count, i, a->unit, x);
    const struct external_pull pull = external_at(&a->field, values, x);
    const double m = mass ? (double)mass[i] : 1.0;
    sum.energy += m * pull.potential;
    for (int c = 0; c < 3; c++) sum.clausius += m * x[c] * pull.acceleration[c];
    if (a->potential) a->potential[i] += (float)pull.potential;
  }
  *a->sum = sum;
}

STAGE_ON_CPU(external_sum, 0xbbdddd, NULL);

void external_sum_submit(struct nbody *n, struct group *g, struct external_sums *sum,
                         float *potential) { /* NOLINT(readability-non-const-parameter) */
  const struct domain *d = &n->domain;
  struct external_sum_argument argument = {
      .field = n->external->field,
      .count = g->count,
      .masses = particles_have(&d->particles, COLUMN_relative_mass),
      .unit = 1e3 * d->geometry.box / POSITION_TURN,
      .sum = sum,
      .potential = potential};
  struct starpu_data_descr data[SLOTS] = {[POSITION] = {g->column[COLUMN_position], STARPU_R}};
  size_t count = DIFFERENT;
  if (argument.masses)
    data[count++] = (struct starpu_data_descr){g->column[COLUMN_relative_mass], STARPU_R};
  if (n->external->values) data[count++] = (struct starpu_data_descr){n->external->table, STARPU_R};
  external_turn(&argument.field, external_time(n));
  external_sum_insert(
      argument,
      (struct task){.data = data, .count = count, .priority = PRIORITY_LOW, .owner = &g->index});
}
