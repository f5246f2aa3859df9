/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "photons/potential/poisson.h"

#define PI 3.14159265358979323846

enum { HALF = POISSON_HALF_WAVES };

/** The eigenvalue of waves along one axis, in the order of arrays. */
static double eigenvalue(int k) {
  const int number = k < HALF ? 2 * k + 1 : 2 * (k - HALF) + 2;
  const double s = 2.0 * sin(0.5 * PI * number / (GAS_GROUP_SIDE + 1));
  return -s * s;
}

static double sine(int i, int number) {
  return sqrt(2.0 / (GAS_GROUP_SIDE + 1)) * sin(PI * (i + 1) * number / (GAS_GROUP_SIDE + 1));
}

void poisson_waves_make(struct poisson_waves *w) {
  for (int i = 0; i < HALF; i++)
    for (int k = 0; k < HALF; k++) {
      w->symmetric[i][k] = w->symmetric_back[k][i] = sine(i, 2 * k + 1);
      w->antisymmetric[i][k] = w->antisymmetric_back[k][i] = sine(i, 2 * k + 2);
    }
  for (int y = 0; y < GAS_GROUP_SIDE; y++)
    for (int x = 0; x < GAS_GROUP_SIDE; x++) {
      double before = 0.0;
      for (int z = 0; z < GAS_GROUP_SIDE; z++) {
        before = 1.0 / (eigenvalue(x) + eigenvalue(y) - 2.0 - before);
        w->pivot[(z * GAS_GROUP_SIDE + y) * GAS_GROUP_SIDE + x] = before;
      }
    }
}
