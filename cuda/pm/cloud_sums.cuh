/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the clouds of particles have in the cells of a group. One block of threads a group.
 *
 * Densities are added up as integers, whose sums do not depend on the order. The unit is 2^-60
 * or less of the density that all particles would have in one cell: no sum overflows, and what a
 * particle has in a cell is rounded by less than 2^-61 of the mass of all particles. */
#ifndef PHOTONS_CUDA_PM_CLOUD_SUMS_CUH
#define PHOTONS_CUDA_PM_CLOUD_SUMS_CUH

#include "cuda/pm/clouds.cuh"
#include "photons/pm/cloud_reach.h"

/** Add what a cloud has in a group. @param density  in units of the sums */
INLINE void add_cloud(const struct cloud &cloud, double density, const int offset[3],
                      unsigned long long *sums) {
  int low[3];
  bool near = true;
#pragma unroll
  for (int c = 0; c < 3; c++) {
    low[c] = cloud.cell[c] + offset[c];
    near = near && low[c] >= -1 && low[c] < SIDE;
  }
  if (!near) return;
#pragma unroll
  for (int k = 0; k < 8; k++) {
    const int x = low[0] + (k & 1), y = low[1] + (k >> 1 & 1), z = low[2] + (k >> 2);
    if (x < 0 || y < 0 || z < 0 || x >= SIDE || y >= SIDE || z >= SIDE) continue;
    atomicAdd(&sums[(z * SIDE + y) * SIDE + x],
              (unsigned long long)__double2ll_rn(density * share_of(cloud, k)));
  }
}

/** struct gpu_clouds for kernels. @var unit  mass of a sum of 1 */
struct clouds {
  struct gpu_particle_box box;
  const struct gpu_particle_range *range; /* in device memory, as all that follows */
  const uint32_t *first;
  uint32_t group;
  const struct gas_particle *const *batch;
  double unit, time;
  bool moving;
  const struct gas_links *links;
};

/** A neighbour of the block's group, or the group. */
struct neighbour {
  struct cloud_reach reach;
  int place[3], offset[3]; /* its place, and from the block's group, in cells */
  uint32_t first_range, ranges;
};

INLINE struct neighbour neighbour_of(const clouds &s, int n) {
  const struct gas_links &l = s.links[blockIdx.x];
  const int direction[3] = {n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1};
  struct neighbour to = {};
  if (l.near[n] == NO_GROUP) return to;
#pragma unroll
  for (int c = 0; c < 3; c++) {
    const int groups = (int)s.box.groups[c];
    to.place[c] = ((int)l.place[c] + direction[c] + groups) % groups;
    to.offset[c] = SIDE * direction[c];
  }
  to.reach = cloud_reach_of(s.box.cell, to.place, direction);
  const uint32_t group = (l.near[n] >> GAS_LINK_SHIFT) * (s.group + 1) +
                         (l.near[n] & GAS_LINK_MASK);
  to.first_range = s.first[group];
  to.ranges = s.first[group + 1] - to.first_range;
  return to;
}

/** The cloud of a particle of a neighbour; of one that moves on what this changes. */
INLINE void add_particle(const clouds &s, const struct neighbour &n, const struct gas_particle &p,
                         unsigned long long *sums) {
  if (!cloud_is_away(&n.reach, p.position)) {
    const double density = p.mass / s.unit;
    add_cloud(cloud_at(s.box, n.place, p.position), s.moving ? -density : density, n.offset, sums);
  }
  if (!s.moving) return;
  double later[3];
#pragma unroll
  for (int c = 0; c < 3; c++) later[c] = p.position[c] + s.time * p.velocity[c];
  if (cloud_is_away(&n.reach, later)) return;
  add_cloud(cloud_at(s.box, n.place, later), p.mass / s.unit, n.offset, sums);
}

/** The sums of all clouds in the block's group, in shared memory. First all neighbours are looked up at the same time,
 * then the first particles of each: one neighbour after the other would have the block wait for each of them in turn.
 * Neighbours have one range of particles each, or with levels below some more. */
static __device__ const unsigned long long *sum_clouds(const clouds &s) {
  __shared__ unsigned long long sums[GAS_GROUP_CELLS];
  __shared__ struct neighbour near[NEIGHBOURS];
  __shared__ const struct gas_particle
      *first[NEIGHBOURS];              /* of the first range, as all that follows */
  __shared__ uint32_t end[NEIGHBOURS]; /* counted through all neighbours */
  const int me = (int)threadIdx.x;
  for (int i = me; i < GAS_GROUP_CELLS; i += CLOUD_THREADS) sums[i] = 0;
  if (me < NEIGHBOURS) {
    near[me] = neighbour_of(s, me);
    end[me] = 0;
    if (near[me].ranges > 0) {
      const struct gpu_particle_range range = s.range[near[me].first_range];
      first[me] = s.batch[range.batch] + range.first;
      end[me] = range.count;
    }
  }
  __syncthreads();
  for (int n = 1; n < NEIGHBOURS && me == 0; n++) end[n] += end[n - 1];
  __syncthreads();
  uint32_t begin = 0;
  for (uint32_t i = (uint32_t)me, n = 0; i < end[NEIGHBOURS - 1]; i += CLOUD_THREADS) {
    while (i >= end[n]) begin = end[n++];
    add_particle(s, near[n], first[n][i - begin], sums);
  }
  for (int n = 0; n < NEIGHBOURS; n++)
    for (uint32_t r = 1; r < near[n].ranges; r++) {
      const struct gpu_particle_range range = s.range[near[n].first_range + r];
      for (uint32_t i = (uint32_t)me; i < range.count; i += CLOUD_THREADS)
        add_particle(s, near[n], s.batch[range.batch][range.first + i], sums);
    }
  __syncthreads();
  return sums;
}

/** The density of a sum. */
INLINE double density_of_sum(const clouds &s, unsigned long long sum) {
  return (double)(long long)sum * (s.unit / (s.box.cell * s.box.cell * s.box.cell));
}

/** Put tables one after the other into scratch memory. */
struct table_writer {
  struct gpu *gpu;
  char *next;
};

template <typename T> static const T *write_table(struct table_writer *w, const T *from, size_t n) {
  T *to = (T *)w->next;
  gpu_upload(w->gpu, to, from, n * sizeof *from);
  w->next += (n * sizeof *from + 15) / 16 * 16;
  return to;
}

/** @param coarse, batches  as of gpu_gas_deposit() */
static clouds upload_clouds(const struct gpu_gas *g, const struct gpu_clouds *c,
                            const struct gas_links *links, const char *const *coarse,
                            uint32_t batches, const struct gas_matter *const **coarse_out) {
  const size_t groups = (size_t)c->near * (c->group + 1) + 1;
  const size_t bytes = c->ranges * sizeof *c->range + groups * sizeof *c->first +
                       (c->batches + (size_t)batches) * sizeof *c->batch + 64;
  struct table_writer w = {g->gpu, (char *)gpu_scratch(g->gpu, SCRATCH_TABLE, bytes)};
  clouds s = {};
  s.box = c->box;
  s.range = write_table(&w, c->range, c->ranges);
  s.first = write_table(&w, c->first, groups);
  s.group = c->group;
  s.batch = (const struct gas_particle *const *)write_table(&w, c->batch, c->batches);
  s.unit = ldexp(1.0, ilogb(c->mass) + 1 - 61);
  s.links = links;
  *coarse_out = (const struct gas_matter *const *)write_table(&w, coarse, batches);
  return s;
}

#endif
