/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sources of the potential, and what the potential does to cells. A file that includes this header
 * defines REAL as float or double first. */
#ifndef PHOTONS_POTENTIAL_KERNELS_GRAVITY_H
#define PHOTONS_POTENTIAL_KERNELS_GRAVITY_H

#include "photons/potential/poisson.h"
#include "photons/potential/stress.h"
#include "src/hydro/kernels/real.h"

/* A row of eight cells of a patch, and where it is in the group's cube. */
struct patch_row {
  size_t in_patch, z, y, x;
};

INLINE struct patch_row patch_row(unsigned patch, unsigned z, unsigned y) {
  return (struct patch_row){patch * GAS_PATCH_CELLS + (z * 8 + y) * 8, z + (patch >> 2) * 8,
                            y + (patch >> 1 & 1) * 8, (patch & 1) * 8};
}

static double source(const void *group, double factor, double mean, const double *mass,
                     double *source) {
  double sum = 0.0;
  for (unsigned row = 0; row < GAS_GROUP_CELLS / 8; row++) {
    const struct patch_row r = patch_row(row / 64, row / 8 % 8, row % 8);
    const real *density = (const real *)group + r.in_patch;
    const size_t at = (r.z * GAS_GROUP_SIDE + r.y) * GAS_GROUP_SIDE + r.x;
    for (unsigned x = 0; x < 8; x++) {
      const double more = mass ? mass[at + x] : 0.0;
      source[at + x] = factor * ((double)density[x] - mean + more);
      sum += fabs((double)density[x]);
    }
  }
  return factor * sum;
}

static void kick(const double *block, double factor, void *group) {
  static const int step[3] = {1, POISSON_SIDE, POISSON_SIDE * POISSON_SIDE};
  enum { NEXT = GAS_GROUP_CELLS }; /* variable */
  for (unsigned row = 0; row < GAS_GROUP_CELLS / 8; row++) {
    const struct patch_row r = patch_row(row / 64, row / 8 % 8, row % 8);
    const double *p = block + ((r.z + 1) * POISSON_SIDE + r.y + 1) * POISSON_SIDE + r.x + 1;
    real *u = (real *)group + r.in_patch;
    for (unsigned a = 0; a < 3; a++) {
      real *momentum = u + (GAS_MOMENTUM_X + a) * NEXT, *energy = u + GAS_ENERGY * NEXT;
#pragma omp simd
      for (int x = 0; x < 8; x++) {
        const real change = (real)(-factor * (p[x + step[a]] - p[x - step[a]]));
        energy[x] += change * (momentum[x] + (real)0.5 * u[x] * change);
        momentum[x] += u[x] * change;
      }
    }
  }
}

/* Accelerate cell `at` of a group along an axis. */
INLINE void kick_cell(double velocity, int axis, real *at) {
  enum { NEXT = GAS_GROUP_CELLS }; /* variable */
  const real change = (real)velocity;
  real *momentum = at + (GAS_MOMENTUM_X + (unsigned)axis) * NEXT;
  at[GAS_ENERGY * NEXT] += change * (*momentum + (real)0.5 * *at * change);
  *momentum += *at * change;
}

static void border(const double *wide, int patch, int face, const struct poisson_share *finer,
                   struct border_kick kick, void *group) {
  const struct stress_face f = stress_face_of(face);
  const int side = face ^ 1;
  const double(*stress)[GAS_FACE_CELLS] = kick.closing ? finer->closing[side] : finer->stress[side];
  for (int i = 0; i < GAS_FACE_CELLS; i++) {
    int in_patch[3], cell[3];
    in_patch[f.axis] = f.upper ? GAS_PATCH_SIDE - 1 : 0;
    in_patch[f.along[0]] = i % GAS_PATCH_SIDE;
    in_patch[f.along[1]] = i / GAS_PATCH_SIDE;
    for (int c = 0; c < 3; c++) cell[c] = GAS_PATCH_SIDE * (patch >> c & 1) + in_patch[c];
    const struct finer_face of_finer = {finer->slope[side][i],
                                        {stress[0][i], stress[1][i], stress[2][i]}};
    real *u = (real *)group + patch * GAS_PATCH_CELLS + (in_patch[2] * 8 + in_patch[1]) * 8 +
              in_patch[0];
    double pull[3];
    border_pull(wide + stress_place(cell), &f, &of_finer, kick.background, kick.source * (double)*u,
                pull);
    kick_cell(kick.factor * pull[0], f.axis, u);
    kick_cell(kick.factor * pull[1], f.along[0], u);
    kick_cell(kick.factor * pull[2], f.along[1], u);
  }
}

static double measure(const double *block, const void *group, unsigned patch, double *sum) {
  static const int step[3] = {1, POISSON_SIDE, POISSON_SIDE * POISSON_SIDE};
  double most[8] = {0}, sums[8] = {0}, all = 0.0, largest_of_all = 0.0;
  for (unsigned row = 0; row < GAS_PATCH_CELLS / 8; row++) {
    const struct patch_row r = patch_row(patch, row / 8, row % 8);
    const double *p = block + ((r.z + 1) * POISSON_SIDE + r.y + 1) * POISSON_SIDE + r.x + 1;
    const real *density = (const real *)group + r.in_patch;
#pragma omp simd
    for (int x = 0; x < 8; x++) {
      sums[x] += p[x] * (double)density[x];
      for (int a = 0; a < 3; a++) {
        const double difference = fabs(p[x + step[a]] - p[x - step[a]]);
        most[x] = difference > most[x] ? difference : most[x];
      }
    }
  }
  for (int x = 0; x < 8; x++) {
    all += sums[x];
    largest_of_all = most[x] > largest_of_all ? most[x] : largest_of_all;
  }
  *sum = all;
  return largest_of_all;
}

#endif
