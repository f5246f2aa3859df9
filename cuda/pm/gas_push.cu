/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Kick and drift, and sums of particles: codelets/pm/gas_push.c. One block of threads a group. */
#include "cuda/pm/clouds.cuh"
#include "cuda/potential/gpu_potential.h"

/** The acceleration of a cloud; see src/pm/particle_mesh.c. */
INLINE void accelerate(struct cloud cloud, const double *potential, double cell,
                       double acceleration[3]) {
  const int step[3] = {1, WIDE_SIDE, WIDE_SIDE * WIDE_SIDE};
  const double *low = potential;
#pragma unroll
  for (int c = 0; c < 3; c++) {
    acceleration[c] = 0.0;
    if (cloud.cell[c] < -1 || cloud.cell[c] >= SIDE) {
      cloud.weight[c] = cloud.cell[c] < -1 ? 0.0 : 1.0;
      cloud.cell[c] = cloud.cell[c] < -1 ? -1 : SIDE - 1;
    }
    low += (cloud.cell[c] + WIDE_GHOSTS) * step[c];
  }
#pragma unroll
  for (int k = 0; k < 8; k++) {
    const double *p = low + (k & 1) * step[0] + (k >> 1 & 1) * step[1] + (k >> 2) * step[2];
    const double share = share_of(cloud, k);
#pragma unroll
    for (int c = 0; c < 3; c++)
      acceleration[c] -= share * (p[step[c]] - p[-step[c]]) / (2.0 * cell);
  }
}

/** Drift along an axis; a periodic box ends where it begins. */
INLINE void drift(const struct gpu_particle_box &box, int c, double way, double *position) {
  const double side = box.side[c];
  double x = *position + way;
  if (box.periodic[c]) {
    x -= side * floor(x / side);
    if (x >= side) x = 0.0; /* rounding */
  }
  *position = x;
}

/** What a thread finds of its particles: mass, momentum, kinetic energy; largest ones. */
struct found {
  double sum[5], speed, acceleration;
};

INLINE void look_at(const struct gas_particle &p, const double acceleration[3],
                    struct found &found) {
  found.sum[0] += p.mass;
#pragma unroll
  for (int c = 0; c < 3; c++) {
    found.sum[1 + c] += p.mass * p.velocity[c];
    found.sum[4] += 0.5 * p.mass * p.velocity[c] * p.velocity[c];
    found.speed = larger(found.speed, fabs(p.velocity[c]));
    found.acceleration = larger(found.acceleration, fabs(acceleration[c]));
  }
}

/** What all threads have found, in a fixed order of sums. */
static __device__ void report(struct found found, struct particle_sums *sums) {
  __shared__ unsigned long long most[2]; /* bits of positive numbers, which sort as these do */
  if (threadIdx.x < 2) most[threadIdx.x] = 0;
  for (int k = 0; k < 5; k++)
    found.sum[k] = block_sum<CLOUD_THREADS / WARP>(found.sum[k]); /* waits for all threads */
  atomicMax(&most[0], (unsigned long long)__double_as_longlong(found.speed));
  atomicMax(&most[1], (unsigned long long)__double_as_longlong(found.acceleration));
  __syncthreads();
  if (threadIdx.x > 0) return;
  sums->mass = found.sum[0];
  for (int c = 0; c < 3; c++) sums->momentum[c] = found.sum[1 + c];
  sums->kinetic_energy = found.sum[4];
  sums->speed = __longlong_as_double((long long)most[0]);
  sums->acceleration = __longlong_as_double((long long)most[1]);
}

/* Blocks of threads on a multiprocessor: registers of a thread decide. */
enum { PUSH_BLOCKS = 3 };

/** Kick and drift, or with dt < 0 find sums. @param first  [group + 1] */
static __global__ void __launch_bounds__(CLOUD_THREADS, PUSH_BLOCKS)
    push(const __grid_constant__ struct gpu_particle_box box, double dt,
         const struct gas_links *links, const uint32_t *first, const double *wide,
         struct gas_particle *particle, struct particle_sums *sums) {
  const double *potential = wide + (size_t)blockIdx.x * WIDE_CELLS;
  const uint32_t begin = first[blockIdx.x], end = first[blockIdx.x + 1];
  struct found found = {};
  int place[3];
  if (begin == end) return; /* all threads of the block */
  for (int c = 0; c < 3; c++) place[c] = (int)links[blockIdx.x].place[c];
  for (uint32_t i = begin + threadIdx.x; i < end; i += CLOUD_THREADS) {
    struct gas_particle *p = particle + i;
    const struct cloud cloud = cloud_at(box, place, p->position);
    double acceleration[3];
    accelerate(cloud, potential, box.cell, acceleration);
    if (dt < 0.0) {
      look_at(*p, acceleration, found);
      continue;
    }
    const double kick = dt > 0.0 ? 0.5 * dt : p->owed;
    for (int c = 0; c < 3; c++) {
      p->velocity[c] += kick * acceleration[c];
      drift(box, c, dt * p->velocity[c], &p->position[c]);
    }
    p->owed = 0.5 * dt;
  }
  if (dt < 0.0) report(found, sums + blockIdx.x);
}

void gpu_gas_push(const struct gpu_gas *g, const struct gpu_particle_box *box, double dt,
                  const struct gas_links *links, const uint32_t *first, const double *wide,
                  struct gas_particle *particle, struct particle_sums *sums) {
  const size_t bytes = (g->groups + 1) * sizeof *first;
  uint32_t *table = (uint32_t *)gpu_scratch(g->gpu, SCRATCH_TABLE, bytes);
  gpu_upload(g->gpu, table, first, bytes);
  push<<<g->groups, CLOUD_THREADS, 0, g->gpu->stream>>>(*box, dt, links, table, wide, particle,
                                                        sums);
  gpu_launched("push");
}
