/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Kick and drift of one group. */
#include <math.h>
#include <stddef.h>

#include "photons/step/kernels.h"

float KERNEL(kick)(uint32_t count, float factor, const float *acceleration, float *momentum) {
  const size_t n = count;
  float largest = 0.0f;
  for (size_t i = 0; i < n; i++) {
    float ax = acceleration[i], ay = acceleration[n + i], az = acceleration[2 * n + i];
    float a2 = ax * ax + ay * ay + az * az;
    largest = a2 > largest ? a2 : largest;
    momentum[i] += factor * ax;
    momentum[n + i] += factor * ay;
    momentum[2 * n + i] += factor * az;
  }
  return sqrtf(largest);
}

void KERNEL(drift)(uint32_t count, float factor, const float *momentum, uint32_t *x) {
  /* A step's displacement is far shorter than half the box and fits a signed integer. */
  for (size_t i = 0; i < 3 * (size_t)count; i++) x[i] += (uint32_t)(int32_t)rintf(factor * momentum[i]);
}

extern const struct step_kernels KERNEL(step_kernels);
const struct step_kernels KERNEL(step_kernels) = {.kick = KERNEL(kick), .drift = KERNEL(drift)};
