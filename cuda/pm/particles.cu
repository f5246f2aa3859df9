/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Particles on the adaptive mesh: src/pm/particle_mesh.c, codelets/pm/gas_deposit.c and
 * gas_collect.c. One block of threads a group.
 *
 * Densities are added up as integers, whose sums do not depend on the order. The unit is 2^-60
 * or less of the density that all particles would have in one cell: no sum overflows, and what a
 * particle has in a cell is rounded by less than 2^-61 of the mass of all particles. */
#include "cuda/amr/real.cuh"
#include "cuda/pm/gpu_pm.h"
#include "cuda/potential/gpu_potential.h"

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

/** The clouds of particles in a neighbour of the block's group, or in the group. */
INLINE void add_clouds_of(const clouds &s, int n, unsigned long long *sums) {
  const struct gas_links &l = s.links[blockIdx.x];
  const gas_link_t near = l.near[n];
  if (near == NO_GROUP) return;
  const int direction[3] = {n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1};
  int place[3], offset[3];
#pragma unroll
  for (int c = 0; c < 3; c++) {
    const int groups = (int)s.box.groups[c];
    place[c] = ((int)l.place[c] + direction[c] + groups) % groups;
    offset[c] = SIDE * direction[c];
  }
  const uint32_t group = (near >> GAS_LINK_SHIFT) * (s.group + 1) + (near & GAS_LINK_MASK);
  for (uint32_t r = s.first[group]; r < s.first[group + 1]; r++) {
    const struct gpu_particle_range range = s.range[r];
    const struct gas_particle *particle = s.batch[range.batch] + range.first;
    for (uint32_t i = threadIdx.x; i < range.count; i += CLOUD_THREADS) {
      const struct gas_particle &p = particle[i];
      const double density = p.mass / s.unit;
      const struct cloud now = cloud_at(s.box, place, p.position);
      add_cloud(now, s.moving ? -density : density, offset, sums);
      if (!s.moving) continue;
      double later[3];
#pragma unroll
      for (int c = 0; c < 3; c++) later[c] = p.position[c] + s.time * p.velocity[c];
      const struct cloud after = cloud_at(s.box, place, later);
      add_cloud(after, density, offset, sums);
    }
  }
}

/** Where a cell of a group is in the patch that the group refines, [z 16][y 16][x 16] of the father. */
INLINE int place_in_father(uint32_t patch, int i) {
  int at = 0;
#pragma unroll
  for (int c = 2; c >= 0; c--)
    at = SIDE * at + GAS_PATCH_SIDE * (int)(patch >> c & 1) + (i >> 4 * c & 15) / 2;
  return at;
}

/** The sums of all clouds in the block's group, in shared memory. */
static __device__ const unsigned long long *sum_clouds(const clouds &s) {
  __shared__ unsigned long long sums[GAS_GROUP_CELLS];
  for (int i = (int)threadIdx.x; i < GAS_GROUP_CELLS; i += CLOUD_THREADS) sums[i] = 0;
  __syncthreads();
  for (int n = 0; n < NEIGHBOURS; n++) add_clouds_of(s, n, sums);
  __syncthreads();
  return sums;
}

/** The density of a sum. */
INLINE double density_of_sum(const clouds &s, unsigned long long sum) {
  return (double)(long long)sum * (s.unit / (s.box.cell * s.box.cell * s.box.cell));
}

/** @param coarse  densities of the next coarser level; NULL: there is none
 * @param ahead   densities of finer levels stay, else they become 0 */
static __global__ void __launch_bounds__(CLOUD_THREADS)
    deposit(const __grid_constant__ clouds s, const struct gas_matter *const *coarse, bool ahead,
            struct gas_matter *matter) {
  const struct gas_links &l = s.links[blockIdx.x];
  const unsigned long long *sums = sum_clouds(s);
  struct gas_matter *mine = matter + blockIdx.x;
  const struct gas_matter *father = NULL;
  if (coarse) {
    const gas_link_t link = l.coarse[MYSELF];
    father = coarse[link >> GAS_LINK_SHIFT] + (link & GAS_LINK_MASK);
  }
  for (int i = (int)threadIdx.x; i < GAS_GROUP_CELLS; i += CLOUD_THREADS) {
    const double density = density_of_sum(s, sums[i]);
    mine->own[i] = density;
    mine->coarse[i] = density + (father ? father->coarse[place_in_father(l.patch, i)] : 0.0);
    if (!ahead) mine->fine[i] = 0.0;
  }
}

static __global__ void __launch_bounds__(CLOUD_THREADS)
    move_on(const __grid_constant__ clouds s, struct gas_matter *matter) {
  const unsigned long long *sums = sum_clouds(s);
  for (int i = (int)threadIdx.x; i < GAS_GROUP_CELLS; i += CLOUD_THREADS)
    matter[blockIdx.x].fine[i] += density_of_sum(s, sums[i]);
}

/** Means of finer densities in refined patches. */
static __global__ void __launch_bounds__(CLOUD_THREADS)
    collect(const struct gas_links *links, const struct gas_matter *const *finer,
            struct gas_matter *matter) {
  for (int i = (int)threadIdx.x; i < GAS_GROUP_CELLS; i += CLOUD_THREADS) {
    const int x = i % SIDE, y = i / SIDE % SIDE, z = i / (SIDE * SIDE);
    const gas_link_t son = links[blockIdx.x].son[x / 8 + 2 * (y / 8) + 4 * (z / 8)];
    if (son == NO_GROUP) continue;
    const struct gas_matter *from = finer[son >> GAS_LINK_SHIFT] + (son & GAS_LINK_MASK);
    matter[blockIdx.x].fine[i] = matter_mean(*from, x % 8, y % 8, z % 8);
  }
}

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

/** Kick and drift, or with dt < 0 find sums. @param first  [group + 1] */
static __global__ void __launch_bounds__(CLOUD_THREADS)
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
static clouds upload(const struct gpu_gas *g, const struct gpu_clouds *c,
                     const struct gas_links *links, const char *const *coarse, uint32_t batches,
                     const struct gas_matter *const **coarse_out) {
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

void gpu_gas_deposit(const struct gpu_gas *g, const struct gpu_clouds *c,
                     const struct gas_links *links, const char *const *coarse, uint32_t batches,
                     bool ahead, struct gas_matter *matter) {
  const struct gas_matter *const *table;
  const clouds s = upload(g, c, links, coarse, batches, &table);
  deposit<<<g->groups, CLOUD_THREADS, 0, g->gpu->stream>>>(s, batches > 0 ? table : NULL, ahead,
                                                           matter);
  gpu_launched("deposit");
}

void gpu_gas_move_on(const struct gpu_gas *g, const struct gpu_clouds *c,
                     const struct gas_links *links, double time, struct gas_matter *matter) {
  const struct gas_matter *const *table;
  clouds s = upload(g, c, links, NULL, 0, &table);
  s.moving = true;
  s.time = time;
  move_on<<<g->groups, CLOUD_THREADS, 0, g->gpu->stream>>>(s, matter);
  gpu_launched("move on");
}

void gpu_gas_collect(const struct gpu_gas *g, const struct gas_links *links,
                     const char *const *finer, uint32_t batches, struct gas_matter *matter) {
  const struct gas_matter **table = (const struct gas_matter **)gpu_scratch(
      g->gpu, SCRATCH_TABLE, batches * sizeof *table);
  gpu_upload(g->gpu, table, finer, batches * sizeof *table);
  collect<<<g->groups, CLOUD_THREADS, 0, g->gpu->stream>>>(links, table, matter);
  gpu_launched("collect");
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
