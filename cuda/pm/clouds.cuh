/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Clouds of particles on the adaptive mesh: src/pm/particle_mesh.c. */
#ifndef PHOTONS_CUDA_PM_CLOUDS_CUH
#define PHOTONS_CUDA_PM_CLOUDS_CUH

#include "cuda/amr/real.cuh"
#include "cuda/pm/gpu_pm.h"

enum { CLOUD_THREADS = 256, SIDE = GAS_GROUP_SIDE };

/** The eight cells of a cloud, of which the lowest is counted from that of a group. */
struct cloud {
  int cell[3];
  double weight[3]; /* of the upper cells along each axis */
};

/** @param place  of the particle's group */
INLINE struct cloud cloud_at(const struct gpu_particle_box &box, const int place[3],
                             const double position[3]) {
  struct cloud cloud;
#pragma unroll
  for (int c = 0; c < 3; c++) {
    const long long side = (long long)SIDE * box.groups[c];
    const double at = position[c] / box.cell - 0.5, low = floor(at);
    long long i = (long long)low - (long long)SIDE * place[c];
    if (side > SIDE && i > SIDE + SIDE / 2) i -= side;
    if (side > SIDE && i < -SIDE / 2) i += side;
    cloud.cell[c] = (int)i;
    cloud.weight[c] = at - low;
  }
  return cloud;
}

/** The share of a cell of the cloud, 0 .. 7. */
INLINE double share_of(const struct cloud &cloud, int k) {
  double share = 1.0;
#pragma unroll
  for (int c = 0; c < 3; c++) share *= k >> c & 1 ? cloud.weight[c] : 1.0 - cloud.weight[c];
  return share;
}

#endif
