/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The potential of the root level, src/potential/root_poisson.c: double-precision transforms of cuFFT, in
 * place, over a mesh [z][y][2 (x/2 + 1)]. */
#include <cufft.h>
#include <stdlib.h>

#include "cuda/potential/density.cuh"

enum { GROUP_THREADS = 256, WAVE_THREADS = 256 };

struct gpu_root {
  struct gpu *gpu;
  struct gpu_root_size size;
  cufftHandle forward, backward;
  size_t work_bytes; /* of both plans; they follow each other on the stream */
};

#define CHECK_CUFFT(call) check_fft((call), #call)
static void check_fft(cufftResult status, const char *what) {
  if (status != CUFFT_SUCCESS)
    fail(EXIT_RUN_FAILED, "cuFFT failed with code %d (%s)", (int)status, what);
}

/** Make a plan that has no work area of its own. @return the bytes that it needs */
static size_t make_plan(const struct gpu_root *r, cufftHandle *plan, cufftType type) {
  long long n[3] = {r->size.size[2], r->size.size[1], r->size.size[0]}, row = n[2] / 2 + 1;
  long long real[3] = {n[0], n[1], 2 * row}, waves[3] = {n[0], n[1], row};
  const long long all = n[0] * n[1] * row;
  size_t bytes;
  CHECK_CUFFT(cufftCreate(plan));
  CHECK_CUFFT(cufftSetAutoAllocation(*plan, 0));
  if (type == CUFFT_D2Z)
    CHECK_CUFFT(cufftMakePlanMany64(*plan, 3, n, real, 1, 2 * all, waves, 1, all, type, 1, &bytes));
  else
    CHECK_CUFFT(cufftMakePlanMany64(*plan, 3, n, waves, 1, all, real, 1, 2 * all, type, 1, &bytes));
  CHECK_CUFFT(cufftSetStream(*plan, r->gpu->stream));
  return bytes;
}

struct gpu_root *gpu_root_create(struct gpu *g, const struct gpu_root_size *size) {
  struct gpu_root *r = (struct gpu_root *)allocate(1, sizeof *r, "transforms of a GPU worker");
  r->gpu = g;
  r->size = *size;
  const size_t forward = make_plan(r, &r->forward, CUFFT_D2Z),
               backward = make_plan(r, &r->backward, CUFFT_Z2D);
  r->work_bytes = forward > backward ? forward : backward;
  return r;
}

void gpu_root_free(struct gpu_root *r) {
  if (!r) return;
  CHECK_CUDA(cudaStreamSynchronize(r->gpu->stream));
  CHECK_CUFFT(cufftDestroy(r->forward));
  CHECK_CUFFT(cufftDestroy(r->backward));
  free(r);
}

/** Where cell i of a group, [z][y][x], is in the mesh. */
INLINE size_t place_in_mesh(const struct gpu_root_size &m, const struct gas_links &l, int i) {
  const size_t x = l.place[0] * GAS_GROUP_SIDE + i % GAS_GROUP_SIDE,
               y = l.place[1] * GAS_GROUP_SIDE + i / GAS_GROUP_SIDE % GAS_GROUP_SIDE,
               z = l.place[2] * GAS_GROUP_SIDE + i / (GAS_GROUP_SIDE * GAS_GROUP_SIDE);
  return (z * m.size[1] + y) * (2 * (m.size[0] / 2 + 1)) + x;
}

/** @param sum  of each group: of |density| */
template <typename real>
static __global__ void __launch_bounds__(GROUP_THREADS)
    put_source(const __grid_constant__ density_of_groups<real> d,
               const __grid_constant__ struct gpu_root_size m, const struct gas_links *links,
               double *mesh, double *sum) {
  double mine = 0.0;
  for (int i = (int)threadIdx.x; i < GAS_GROUP_CELLS; i += GROUP_THREADS) {
    const int x = i % GAS_GROUP_SIDE, y = i / GAS_GROUP_SIDE % GAS_GROUP_SIDE,
              z = i / (GAS_GROUP_SIDE * GAS_GROUP_SIDE);
    mesh[place_in_mesh(m, links[blockIdx.x], i)] = source_at(d, x, y, z);
    mine += fabs(density_at(d, x, y, z));
  }
  mine = block_sum<GROUP_THREADS / WARP>(mine);
  if (threadIdx.x == 0) sum[blockIdx.x] = mine;
}

static __global__ void __launch_bounds__(GROUP_THREADS)
    get_potential(const __grid_constant__ struct gpu_root_size m, const struct gas_links *links,
                  const double *mesh, double *potentials) {
  for (int i = (int)threadIdx.x; i < GAS_GROUP_CELLS; i += GROUP_THREADS)
    potentials[(size_t)blockIdx.x * GAS_GROUP_CELLS + i] =
        mesh[place_in_mesh(m, links[blockIdx.x], i)];
}

/** 2 (1 - cos(2 pi k/n)) */
INLINE double eigenvalue(uint32_t k, uint32_t n) {
  const double s = 2.0 * sinpi((double)k / n);
  return s * s;
}

/** Make the waves those of the potential; one thread a wave. @param green  NULL: periodic */
static __global__ void __launch_bounds__(WAVE_THREADS)
    solve_waves(const __grid_constant__ struct gpu_root_size m, uint64_t count, double norm,
                const double *green, double2 *waves) {
  const uint64_t i = (uint64_t)blockIdx.x * WAVE_THREADS + threadIdx.x;
  if (i >= count) return;
  const uint32_t row = m.size[0] / 2 + 1, x = (uint32_t)(i % row),
                 y = (uint32_t)(i / row % m.size[1]), z = (uint32_t)(i / row / m.size[1]);
  double factor;
  if (green) {
    const uint32_t distance = z > m.size[2] / 2 ? m.size[2] - z : z;
    factor = green[((size_t)y * (m.size[2] / 2 + 1) + distance) * row + x];
  } else {
    const double sum = eigenvalue(x, m.size[0]) + eigenvalue(y, m.size[1]) +
                       eigenvalue(z, m.size[2]);
    factor = sum > 0.0 ? -1.0 / sum : 0.0;
  }
  waves[i].x *= norm * factor;
  waves[i].y *= norm * factor;
}

void gpu_root_put(const struct gpu_root *r, const struct gpu_gas *g,
                  const struct gpu_density *density, const struct gas_links *links, double *mesh,
                  double *sum) {
  if (g->double_precision)
    put_source<double><<<g->groups, GROUP_THREADS, 0, g->gpu->stream>>>(
        density_of<double>(g, density), r->size, links, mesh, sum);
  else
    put_source<float><<<g->groups, GROUP_THREADS, 0, g->gpu->stream>>>(
        density_of<float>(g, density), r->size, links, mesh, sum);
  gpu_launched("source of the root level");
}

void gpu_root_solve(const struct gpu_root *r, const double *green, double *mesh) {
  const uint32_t *size = r->size.size;
  const uint64_t count = (uint64_t)size[2] * size[1] * (size[0] / 2 + 1);
  const double norm = 1.0 / ((double)size[0] * size[1] * size[2]);
  void *work = gpu_scratch(r->gpu, SCRATCH_SPECTRUM, r->work_bytes);
  double2 *waves = (double2 *)mesh;
  CHECK_CUFFT(cufftSetWorkArea(r->forward, work));
  CHECK_CUFFT(cufftSetWorkArea(r->backward, work));
  CHECK_CUFFT(cufftExecD2Z(r->forward, mesh, waves));
  solve_waves<<<blocks_for(count, WAVE_THREADS), WAVE_THREADS, 0, r->gpu->stream>>>(
      r->size, count, norm, green, waves);
  gpu_launched("waves of the root level");
  CHECK_CUFFT(cufftExecZ2D(r->backward, waves, mesh));
}

void gpu_root_get(const struct gpu_root *r, const struct gpu_gas *g, const struct gas_links *links,
                  const double *mesh, double *potentials) {
  get_potential<<<g->groups, GROUP_THREADS, 0, g->gpu->stream>>>(r->size, links, mesh, potentials);
  gpu_launched("potential of the root level");
}
