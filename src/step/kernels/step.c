/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Kick and drift of one group, and sums over its momenta. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "photons/step/kernels.h"

struct kick_largest KERNEL(kick)(uint32_t count, struct kick kick, const float *acceleration,
                                 float *momentum) {
  const size_t n = count;
  int32_t acceleration2 = 0, momentum2 = 0;
  for (size_t i = 0; i < n; i++) {
    float ax = acceleration[i], ay = acceleration[n + i], az = acceleration[2 * n + i];
    float px = after_kick(kick, momentum[i], ax), py = after_kick(kick, momentum[n + i], ay),
          pz = after_kick(kick, momentum[2 * n + i], az);
    int32_t a2 = magnitude_bits(ax * ax + ay * ay + az * az),
            p2 = magnitude_bits(px * px + py * py + pz * pz);
    acceleration2 = a2 > acceleration2 ? a2 : acceleration2;
    momentum2 = p2 > momentum2 ? p2 : momentum2;
    momentum[i] = px;
    momentum[n + i] = py;
    momentum[2 * n + i] = pz;
  }
  return (struct kick_largest){.acceleration = sqrtf(magnitude_from_bits(acceleration2)),
                               .momentum = sqrtf(magnitude_from_bits(momentum2))};
}

struct kick_largest KERNEL(kick_rungs)(const struct rung_kick *k, const struct rung_arrays *a,
                                       uint32_t *rungs) {
  int32_t acceleration2 = 0, momentum2 = 0;
  memset(rungs, 0, RUNGS * sizeof *rungs);
  for (uint32_t j = 0; j < a->active; j++) {
    const struct kicked found = kick_by_rung(k, a, j);
    acceleration2 = found.acceleration2 > acceleration2 ? found.acceleration2 : acceleration2;
    momentum2 = found.momentum2 > momentum2 ? found.momentum2 : momentum2;
    rungs[found.rung]++;
  }
  return (struct kick_largest){.acceleration = sqrtf(magnitude_from_bits(acceleration2)),
                               .momentum = sqrtf(magnitude_from_bits(momentum2))};
}

void KERNEL(drift)(uint32_t count, uint32_t first, uint32_t end, float factor,
                   const float *momentum, uint32_t *x) {
  for (size_t c = 0; c < 3; c++)
    for (size_t i = c * count + first; i < c * count + end; i++)
      x[i] += (uint32_t)(int32_t)rintf(factor * momentum[i]);
}

struct momentum_sum KERNEL(momentum_sum)(uint32_t count, const float *momentum, const float *mass) {
  const float *px = momentum, *py = px + count, *pz = py + count;
  double x = 0.0, y = 0.0, z = 0.0, magnitude = 0.0, sum = 0.0;
#pragma omp simd reduction(+ : x, y, z, magnitude, sum)
  for (uint32_t i = 0; i < count; i++) {
    const double p[3] = {(double)px[i], (double)py[i], (double)pz[i]},
                 square = p[0] * p[0] + p[1] * p[1] + p[2] * p[2], m = mass ? (double)mass[i] : 1.0;
    x += m * p[0];
    y += m * p[1];
    z += m * p[2];
    magnitude += m * sqrt(square);
    sum += m * square;
  }
  return (struct momentum_sum){.vector = {x, y, z}, .magnitude = magnitude, .square = sum};
}

void KERNEL(external)(const struct external_field *field, const double *values,
                      const struct external_arrays *arrays) {
  for (uint32_t i = 0; i < arrays->count; i++) external_pull_particle(field, values, arrays, i);
}

extern const struct step_kernels KERNEL(step_kernels);
const struct step_kernels KERNEL(step_kernels) = {.kick = KERNEL(kick),
                                                  .kick_rungs = KERNEL(kick_rungs),
                                                  .drift = KERNEL(drift),
                                                  .cone_cross = KERNEL(cone_cross),
                                                  .external = KERNEL(external),
                                                  .momentum_sum = KERNEL(momentum_sum)};
