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
  cufftHandle forward, backward, along_z; /* along_z: of lines, where there are any */
  size_t work_bytes;                      /* of all plans; they follow each other on the stream */
};

#define CHECK_CUFFT(call) check_fft((call), #call)
static void check_fft(cufftResult status, const char *what) {
  if (status != CUFFT_SUCCESS)
    fail(EXIT_RUN_FAILED, "cuFFT failed with code %d (%s)", (int)status, what);
}

/** A plan that has no work area of its own. */
static cufftHandle begin_plan(void) {
  cufftHandle plan;
  CHECK_CUFFT(cufftCreate(&plan));
  CHECK_CUFFT(cufftSetAutoAllocation(plan, 0));
  return plan;
}

/** The plan may need so many bytes. */
static void end_plan(struct gpu_root *r, cufftHandle plan, size_t bytes) {
  CHECK_CUFFT(cufftSetStream(plan, r->gpu->stream));
  if (bytes > r->work_bytes) r->work_bytes = bytes;
}

/** Transforms of the whole mesh, or along x and y of the planes of a slab. */
static cufftHandle plan_rows(struct gpu_root *r, cufftType type) {
  const bool slab = r->size.planes > 0;
  long long n[3] = {r->size.size[2], r->size.size[1], r->size.size[0]}, row = n[2] / 2 + 1;
  long long real[3] = {n[0], n[1], 2 * row}, waves[3] = {n[0], n[1], row};
  const long long batch = slab ? r->size.planes : 1, all = (slab ? 1 : n[0]) * n[1] * row;
  const int from = slab, rank = 3 - from;
  const cufftHandle plan = begin_plan();
  size_t bytes;
  if (type == CUFFT_D2Z)
    CHECK_CUFFT(cufftMakePlanMany64(plan, rank, n + from, real + from, 1, 2 * all, waves + from, 1,
                                    all, type, batch, &bytes));
  else
    CHECK_CUFFT(cufftMakePlanMany64(plan, rank, n + from, waves + from, 1, all, real + from, 1,
                                    2 * all, type, batch, &bytes));
  end_plan(r, plan, bytes);
  return plan;
}

/** Complex numbers of a plane of lines. */
static size_t across_lines(const struct gpu_root *r) {
  return r->size.lines * (size_t)(r->size.size[0] / 2 + 1);
}

/** Transforms along z of lines. */
static cufftHandle plan_lines(struct gpu_root *r) {
  long long n = r->size.size[2];
  const long long across = (long long)across_lines(r);
  const cufftHandle plan = begin_plan();
  size_t bytes;
  CHECK_CUFFT(
      cufftMakePlanMany64(plan, 1, &n, &n, across, 1, &n, across, 1, CUFFT_Z2Z, across, &bytes));
  end_plan(r, plan, bytes);
  return plan;
}

struct gpu_root *gpu_root_create(struct gpu *g, const struct gpu_root_size *size) {
  struct gpu_root *r = (struct gpu_root *)allocate(1, sizeof *r, "transforms of a GPU worker");
  r->gpu = g;
  r->size = *size;
  r->forward = plan_rows(r, CUFFT_D2Z);
  r->backward = plan_rows(r, CUFFT_Z2D);
  if (r->size.lines > 0) r->along_z = plan_lines(r);
  return r;
}

void gpu_root_free(struct gpu_root *r) {
  if (!r) return;
  CHECK_CUDA(cudaStreamSynchronize(r->gpu->stream));
  CHECK_CUFFT(cufftDestroy(r->forward));
  CHECK_CUFFT(cufftDestroy(r->backward));
  if (r->size.lines > 0) CHECK_CUFFT(cufftDestroy(r->along_z));
  free(r);
}

/** The plane of the mesh that has cell i of a group, [z][y][x]. */
INLINE uint32_t plane_of(const struct gas_links &l, int i) {
  return l.place[2] * GAS_GROUP_SIDE + (uint32_t)i / (GAS_GROUP_SIDE * GAS_GROUP_SIDE);
}

INLINE size_t place_of_plane(const struct gpu_root_size &m, size_t z) {
  return z * m.size[1] * (2 * (m.size[0] / 2 + 1));
}

/** Where it is in the mesh. */
INLINE size_t place_in_mesh(const struct gpu_root_size &m, const struct gas_links &l, int i) {
  const size_t x = l.place[0] * GAS_GROUP_SIDE + i % GAS_GROUP_SIDE,
               y = l.place[1] * GAS_GROUP_SIDE + i / GAS_GROUP_SIDE % GAS_GROUP_SIDE,
               z = plane_of(l, i);
  return (z * m.size[1] + y) * (2 * (m.size[0] / 2 + 1)) + x;
}

/** @param links  NULL: `mesh` has one group after the other
 * @param sum    of each group: of |density| */
template <typename real>
static __global__ void __launch_bounds__(GROUP_THREADS)
    put_source(const __grid_constant__ density_of_groups<real> d,
               const __grid_constant__ struct gpu_root_size m, const struct gas_links *links,
               double *mesh, double *sum) {
  double mine = 0.0;
  for (int i = (int)threadIdx.x; i < GAS_GROUP_CELLS; i += GROUP_THREADS) {
    const int x = i % GAS_GROUP_SIDE, y = i / GAS_GROUP_SIDE % GAS_GROUP_SIDE,
              z = i / (GAS_GROUP_SIDE * GAS_GROUP_SIDE);
    mesh[links ? place_in_mesh(m, links[blockIdx.x], i)
               : (size_t)blockIdx.x * GAS_GROUP_CELLS + i] = source_at(d, x, y, z);
    mine += fabs(density_at(d, x, y, z));
  }
  mine = block_sum<GROUP_THREADS / WARP>(mine);
  if (threadIdx.x == 0) sum[blockIdx.x] = mine;
}

/** Copy cells of groups, of [group][z][y][x], to planes of the mesh, or from there. */
static __global__ void __launch_bounds__(GROUP_THREADS)
    copy_planes(const __grid_constant__ struct gpu_root_size m, struct gpu_root_planes planes,
                const struct gas_links *links, bool put, double *cubes, double *slab) {
  const size_t before = place_of_plane(m, planes.first);
  for (int i = (int)threadIdx.x; i < GAS_GROUP_CELLS; i += GROUP_THREADS) {
    const uint32_t plane = plane_of(links[blockIdx.x], i);
    if (plane < planes.first || plane >= planes.end) continue;
    double *cell = cubes + (size_t)blockIdx.x * GAS_GROUP_CELLS + i,
           *place = slab + (place_in_mesh(m, links[blockIdx.x], i) - before);
    if (put)
      *place = *cell;
    else
      *cell = *place;
  }
}

/** 2 (1 - cos(2 pi k/n)) */
INLINE double eigenvalue(uint32_t k, uint32_t n) {
  const double s = 2.0 * sinpi((double)k / n);
  return s * s;
}

/** Make the waves those of the potential; one thread a wave. @param green  of lines from first_green on; NULL:
 * periodic
 * @param first, lines  of y that there are */
static __global__ void __launch_bounds__(WAVE_THREADS)
    solve_waves(const __grid_constant__ struct gpu_root_size m, uint32_t first, uint32_t lines,
                uint64_t count, double norm, uint32_t first_green, const double *green,
                double2 *waves) {
  const uint64_t i = (uint64_t)blockIdx.x * WAVE_THREADS + threadIdx.x;
  if (i >= count) return;
  const uint32_t row = m.size[0] / 2 + 1, x = (uint32_t)(i % row),
                 y = first + (uint32_t)(i / row % lines), z = (uint32_t)(i / row / lines);
  double factor;
  if (y >= m.size[1]) return;
  if (green) {
    const uint32_t distance = z > m.size[2] / 2 ? m.size[2] - z : z;
    factor = green[((size_t)(y - first_green) * (m.size[2] / 2 + 1) + distance) * row + x];
  } else {
    const double sum = eigenvalue(x, m.size[0]) + eigenvalue(y, m.size[1]) +
                       eigenvalue(z, m.size[2]);
    factor = sum > 0.0 ? -1.0 / sum : 0.0;
  }
  waves[i].x *= norm * factor;
  waves[i].y *= norm * factor;
}

/** Copy cells of groups, of [group][z][y][x], that are in some planes of the mesh. */
static __global__ void __launch_bounds__(GROUP_THREADS)
    take_planes(struct gpu_root_planes planes, const struct gas_links *links, const double *from,
                double *cubes) {
  for (int i = (int)threadIdx.x; i < GAS_GROUP_CELLS; i += GROUP_THREADS) {
    const uint32_t plane = plane_of(links[blockIdx.x], i);
    const size_t cell = (size_t)blockIdx.x * GAS_GROUP_CELLS + i;
    if (plane >= planes.first && plane < planes.end) cubes[cell] = from[cell];
  }
}

static void put(const struct gpu_gas *g, const struct gpu_density *density,
                struct gpu_root_size size, const struct gas_links *links, double *mesh,
                double *sum) {
  if (g->double_precision)
    put_source<double><<<g->groups, GROUP_THREADS, 0, g->gpu->stream>>>(
        density_of<double>(g, density), size, links, mesh, sum);
  else
    put_source<float><<<g->groups, GROUP_THREADS, 0, g->gpu->stream>>>(
        density_of<float>(g, density), size, links, mesh, sum);
  gpu_launched("source of the root level");
}

void gpu_root_put(const struct gpu_root *r, const struct gpu_gas *g,
                  const struct gpu_density *density, const struct gas_links *links, double *mesh,
                  double *sum) {
  put(g, density, r->size, links, mesh, sum);
}

void gpu_root_wait(const struct gpu_root *r) { CHECK_CUDA(cudaStreamSynchronize(r->gpu->stream)); }

void gpu_root_source(const struct gpu_gas *g, const struct gpu_density *density, double *sources,
                     double *sum) {
  put(g, density, {}, NULL, sources, sum);
}

void gpu_root_put_source(const struct gpu_root *r, const struct gpu_gas *g,
                         struct gpu_root_planes planes, const struct gas_links *links,
                         const double *sources, double *slab) {
  copy_planes<<<g->groups, GROUP_THREADS, 0, g->gpu->stream>>>(r->size, planes, links, true,
                                                               (double *)sources, slab);
  gpu_launched("source of the root level");
}

/** Give a plan its work area. */
static void set_work(const struct gpu_root *r, cufftHandle plan) {
  CHECK_CUFFT(cufftSetWorkArea(plan, gpu_scratch(r->gpu, SCRATCH_SPECTRUM, r->work_bytes)));
}

/** Make the waves of lines those of the potential. */
static void solve(const struct gpu_root *r, uint32_t first, uint32_t lines, uint32_t first_green,
                  const double *green, double *waves) {
  const uint32_t *size = r->size.size;
  const uint64_t count = (uint64_t)size[2] * lines * (size[0] / 2 + 1);
  const double norm = 1.0 / ((double)size[0] * size[1] * size[2]);
  solve_waves<<<blocks_for(count, WAVE_THREADS), WAVE_THREADS, 0, r->gpu->stream>>>(
      r->size, first, lines, count, norm, first_green, green, (double2 *)waves);
  gpu_launched("waves of the root level");
}

void gpu_root_rows(const struct gpu_root *r, bool forward, double *slab) {
  set_work(r, forward ? r->forward : r->backward);
  if (forward)
    CHECK_CUFFT(cufftExecD2Z(r->forward, slab, (double2 *)slab));
  else
    CHECK_CUFFT(cufftExecZ2D(r->backward, (double2 *)slab, slab));
}

void gpu_root_lines(const struct gpu_root *r, uint32_t first, uint32_t first_green,
                    const double *green, double *lines) {
  double2 *waves = (double2 *)lines;
  set_work(r, r->along_z);
  CHECK_CUFFT(cufftExecZ2Z(r->along_z, waves, waves, CUFFT_FORWARD));
  solve(r, first, r->size.lines, first_green, green, lines);
  CHECK_CUFFT(cufftExecZ2Z(r->along_z, waves, waves, CUFFT_INVERSE));
}

void gpu_root_solve(const struct gpu_root *r, const double *green, double *mesh) {
  gpu_root_rows(r, true, mesh);
  solve(r, 0, r->size.size[1], 0, green, mesh);
  gpu_root_rows(r, false, mesh);
}

void gpu_root_get(const struct gpu_root *r, const struct gpu_gas *g, struct gpu_root_planes planes,
                  const struct gas_links *links, const double *slab, double *potentials) {
  copy_planes<<<g->groups, GROUP_THREADS, 0, g->gpu->stream>>>(r->size, planes, links, false,
                                                               potentials, (double *)slab);
  gpu_launched("potential of the root level");
}

void gpu_root_take(const struct gpu_gas *g, struct gpu_root_planes planes,
                   const struct gas_links *links, const double *from, double *potentials) {
  take_planes<<<g->groups, GROUP_THREADS, 0, g->gpu->stream>>>(planes, links, from, potentials);
  gpu_launched("potential of the root level");
}
