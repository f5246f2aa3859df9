/* SPDX-License-Identifier: GPL-3.0-or-later */
/* moments: sums over positions and momenta of a group by type of particles, in double precision; on a
 * core one particle after the other.
 *
 * reads  positions, momenta; masses and types, if they differ
 * writes the memory of the host that the argument names */
#include "codelets/runtime/task.h"
#include "cuda/step/gpu_step.h"
#include "photons/step/codelets.h"

struct moments_argument {
  uint32_t count;
  bool masses, types; /* they differ */
  double unit;        /* of length, a position unit */
  struct moments *sum;
};
enum { POSITION, MOMENTUM, DIFFERENT, SLOTS = DIFFERENT + 2 }; /* masses, then types */

static double moments_work(const struct moments_argument *a) { return a->count; }

static struct moment_arrays unwrap(void *buffers[], const struct moments_argument *a) {
  return (struct moment_arrays){
      .count = a->count,
      .unit = a->unit,
      .x = VECTOR(const uint32_t, buffers[POSITION]),
      .momentum = VECTOR(const float, buffers[MOMENTUM]),
      .mass = a->masses ? VECTOR(const float, buffers[DIFFERENT]) : NULL,
      .type = a->types ? VECTOR(const uint8_t, buffers[DIFFERENT + a->masses]) : NULL};
}

static void moments_cpu(void *buffers[], const struct moments_argument *a) {
  const uint32_t middle = (uint32_t)(POSITION_TURN / 2.0);
  const struct moment_arrays p = unwrap(buffers, a);
  const size_t n = p.count;
  for (int t = 0; t < PARTICLE_TYPES; t++) a->sum[t] = (struct moments){0};
  for (size_t i = 0; i < n; i++) {
    struct moments *s = &a->sum[p.type ? p.type[i] : PARTICLE_HALO];
    const double m = p.mass ? (double)p.mass[i] : 1.0;
    double r[3], v[3];
    s->mass += m;
    for (size_t c = 0; c < 3; c++) {
      r[c] = p.unit * position_difference(p.x[c * n + i], middle);
      v[c] = (double)p.momentum[c * n + i];
      s->square += m * v[c] * v[c];
      s->position[c] += m * r[c];
    }
    for (size_t c = 0; c < 3; c++)
      s->angular[c] += m * (r[(c + 1) % 3] * v[(c + 2) % 3] - r[(c + 2) % 3] * v[(c + 1) % 3]);
  }
}

static void moments_gpu(struct gpu *gpu, void *buffers[], const struct moments_argument *a) {
  const struct moment_arrays p = unwrap(buffers, a);
  gpu_moments(gpu, &p, a->sum);
}

STAGE(moments, 0xccddbb, NULL);

void moments_submit(const struct domain *d, struct group *g, struct moments *sum) {
  const bool masses = particles_have(&d->particles, COLUMN_relative_mass),
             types = particles_have(&d->particles, COLUMN_type);
  struct starpu_data_descr data[SLOTS] = {[POSITION] = {g->column[COLUMN_position], STARPU_R},
                                          [MOMENTUM] = {g->column[COLUMN_momentum], STARPU_R}};
  size_t count = DIFFERENT;
  if (masses) data[count++] = (struct starpu_data_descr){g->column[COLUMN_relative_mass], STARPU_R};
  if (types) data[count++] = (struct starpu_data_descr){g->column[COLUMN_type], STARPU_R};
  moments_insert(
      (struct moments_argument){g->count, masses, types, d->geometry.box / POSITION_TURN, sum},
      (struct task){.data = data, .count = count, .priority = PRIORITY_LOW, .owner = &g->index});
}
