/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Kicks and drifts. */
#include "tests/gpu/step/motion.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/step/gpu_step.h"
#include "photons/base/error.h"

/** The sums of a group's momenta, in double precision. */
static void check_momentum_sum(const struct bench *b, const struct group *g,
                               const float *momentum) {
  const struct particle_block p = particles_block(&b->s->domain.particles, g->index);
  struct momentum_sum gpu, cpu = {0};
  gpu_momentum_sum(b->gpu, g->count, momentum, b->mass ? b->mass + p.first : NULL, &gpu);
  CUDA(cudaDeviceSynchronize());
  for (uint32_t i = 0; i < g->count; i++) {
    const double m = b->mass ? (double)p.relative_mass[i] : 1.0;
    double square = 0.0;
    for (int c = 0; c < 3; c++) {
      const double v = (double)p.p[c][i];
      cpu.vector[c] += m * v;
      square += v * v;
    }
    cpu.magnitude += m * sqrt(square);
    cpu.square += m * square;
  }
  const double limit = 1e-12 * cpu.magnitude;
  bool good = fabs(gpu.magnitude - cpu.magnitude) <= limit &&
              fabs(gpu.square - cpu.square) <= 1e-12 * cpu.square;
  for (int c = 0; c < 3; c++) good = good && fabs(gpu.vector[c] - cpu.vector[c]) <= limit;
  if (!good) printf("  group %u: the sums of its momenta DIFFER\n", g->index);
  failures += !good;
}

void check_motion(const struct bench *b, struct group *g, struct difference *kick,
                  struct difference *drift) {
  const struct nbody *s = b->s;
  const struct particle_block p = particles_block(&s->domain.particles, g->index);
  const size_t n = 3 * (size_t)g->count;
  float *momentum = allocate(n, sizeof *momentum, "momenta"),
        *back = allocate(n, sizeof *back, "momenta");
  struct kick_largest largest[2] = {{0}};
  uint32_t *x = allocate(n, sizeof *x, "positions"),
           *x_back = allocate(n, sizeof *x_back, "positions");
  memcpy(momentum, p.p[0], n * sizeof *momentum);
  memcpy(x, p.x[0], n * sizeof *x);
  float *momentum_out = to_device(momentum, n * sizeof *momentum);
  check_momentum_sum(b, g, momentum_out);
  uint32_t *x_out = to_device(x, n * sizeof *x);
  const float half = 1e-3f;
  largest[0] = s->kernels->kick(g->count, half, p.acc[0], momentum);
  const float factor = 0x1p26f /
                       largest[0].momentum; /* at most a 64th of the box: farther than half
                                                         of it is not defined */
  gpu_kick(b->gpu, g->count, half, b->acceleration + 3 * first_of(b, g->index), momentum_out,
           &largest[1]);
  to_host(b, back, momentum_out, n * sizeof *back);
  compare(kick, momentum, back, n);
  compare(kick, &largest[0].acceleration, &largest[1].acceleration, 1);
  compare(kick, &largest[0].momentum, &largest[1].momentum, 1);
  s->kernels->drift(g->count, factor, back, x);
  gpu_drift(b->gpu, g->count, factor, momentum_out, x_out);
  to_host(b, x_back, x_out, n * sizeof *x_back);
  for (size_t i = 0; i < n; i++) {
    const float moved = (float)(int32_t)(x[i] - p.x[0][i]),
                moved_gpu = (float)(int32_t)(x_back[i] - p.x[0][i]);
    compare(drift, &moved, &moved_gpu, 1);
  }
  free(momentum);
  free(back);
  free(x);
  free(x_back);
  CUDA(cudaFree(momentum_out));
  CUDA(cudaFree(x_out));
}
