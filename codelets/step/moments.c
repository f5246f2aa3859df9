/* SPDX-License-Identifier: GPL-3.0-or-later */
/* moments: sums over positions and momenta of a group in double precision, one particle after the
 * other.
 *
 * reads  positions, momenta; masses, if they differ
 * writes the memory of the host that the argument names */
#include "codelets/runtime/task.h"
#include "photons/step/codelets.h"

struct moments_argument {
  uint32_t count;
  bool masses; /* they differ */
  double unit; /* of length, a position unit */
  struct moments *sum;
};
enum { POSITION, MOMENTUM, MASS, SLOTS };

static double moments_work(const struct moments_argument *a) { return a->count; }

static void moments_cpu(void *buffers[], const struct moments_argument *a) {
  const uint32_t middle = (uint32_t)(POSITION_TURN / 2.0),
                 *x = VECTOR(const uint32_t, buffers[POSITION]);
  const float *p = VECTOR(const float, buffers[MOMENTUM]);
  const float *mass = a->masses ? VECTOR(const float, buffers[MASS]) : NULL;
  const size_t n = a->count;
  struct moments s = {0};
  for (size_t i = 0; i < n; i++) {
    const double m = mass ? (double)mass[i] : 1.0;
    double r[3], v[3];
    s.mass += m;
    for (size_t c = 0; c < 3; c++) {
      r[c] = a->unit * position_difference(x[c * n + i], middle);
      v[c] = (double)p[c * n + i];
      s.position[c] += m * r[c];
    }
    for (size_t c = 0; c < 3; c++)
      s.angular[c] += m * (r[(c + 1) % 3] * v[(c + 2) % 3] - r[(c + 2) % 3] * v[(c + 1) % 3]);
  }
  *a->sum = s;
}

STAGE_ON_CPU(moments, 0xccddbb, NULL);

void moments_submit(const struct domain *d, struct group *g, struct moments *sum) {
  const struct starpu_data_descr data[SLOTS] = {
      [POSITION] = {g->column[COLUMN_position], STARPU_R},
      [MOMENTUM] = {g->column[COLUMN_momentum], STARPU_R},
      [MASS] = {g->column[COLUMN_relative_mass], STARPU_R}};
  const bool masses = g->node_mass != NULL;
  moments_insert((struct moments_argument){g->count, masses, d->geometry.box / POSITION_TURN, sum},
                 (struct task){.data = data,
                               .count = masses ? SLOTS : MASS,
                               .priority = PRIORITY_LOW,
                               .owner = &g->index});
}
