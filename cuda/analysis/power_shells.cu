/* SPDX-License-Identifier: GPL-3.0-or-later */
/* power_shells: one thread for each mode. Modes of a shell add up to the same bits in any order, because they are
 * rounded to whole numbers: a first kernel finds the largest mode of each shell, a second one adds all of them up
 * in 2^-44 of it. */
#include <cufft.h>

#include "cuda/analysis/gpu_analysis.h"
#include "cuda/runtime/gpu.cuh"

enum { BLOCK = 256, BATCH_MOST = 16 /* planes, or rows, of a transform */ };
#define UNITS 0x1p44 /* of the largest mode of a shell, which has fewer than 2^19 modes */

#define CHECK(call) check((call), #call)
static void check(cufftResult status, const char *what) {
  if (status != CUFFT_SUCCESS)
    fail(EXIT_RUN_FAILED, "cuFFT failed with code %d (%s)", (int)status, what);
}

/** From integers to densities less their mean. The first cells of a row get what was deposited beyond its end. */
static __global__ void __launch_bounds__(BLOCK)
    convert(struct power_layout l, float unit, float mean, float *cells) {
  float *row = cells + blockIdx.y * l.plane + blockIdx.x * l.row;
  for (uint32_t z = threadIdx.x; z < l.n; z += BLOCK) {
    float value = (float)__float_as_int(row[z]) * unit - mean;
    if (z < 3) {
      value += (float)__float_as_int(row[l.n + z]) * unit - mean + mean;
      row[l.n + z] = 0.0f;
    }
    row[z] = value;
  }
}

/** The largest divisor that is not above BATCH_MOST. */
static size_t batch_of(size_t n) {
  size_t batch = n < BATCH_MOST ? n : (size_t)BATCH_MOST;
  while (n % batch) batch--;
  return batch;
}

/** Plans in place, without a work area. */
struct plans {
  size_t batch;              /* of planes, and of rows */
  cufftHandle planes, lines; /* lines: along x, with the padding of rows */
  size_t bytes;              /* of the work area */
};

static struct plans plans_create(struct gpu *gpu, const struct power_layout *l) {
  struct plans p = {batch_of(l->n), 0, 0, 0};
  int n[2] = {(int)l->n, (int)l->n}, reals[2] = {n[0], (int)l->row},
      modes[2] = {n[0], (int)(l->row / 2)};
  size_t bytes[2];
  CHECK(cufftCreate(&p.planes));
  CHECK(cufftCreate(&p.lines));
  CHECK(cufftSetAutoAllocation(p.planes, 0));
  CHECK(cufftSetAutoAllocation(p.lines, 0));
  CHECK(cufftMakePlanMany(p.planes, 2, n, reals, 1, (int)l->plane, modes, 1, (int)(l->plane / 2),
                          CUFFT_R2C, (int)p.batch, &bytes[0]));
  CHECK(cufftMakePlanMany(p.lines, 1, n, n, (int)(l->plane / 2), 1, n, (int)(l->plane / 2), 1,
                          CUFFT_C2C, (int)(p.batch * l->row / 2), &bytes[1]));
  CHECK(cufftSetStream(p.planes, gpu->stream));
  CHECK(cufftSetStream(p.lines, gpu->stream));
  p.bytes = max(bytes[0], bytes[1]);
  return p;
}

static void transform(const struct plans *p, const struct power_layout *l, float *cells) {
  for (size_t x = 0; x < l->n; x += p->batch) {
    float *plane = cells + x * l->plane;
    CHECK(cufftExecR2C(p->planes, plane, (cufftComplex *)plane));
  }
  for (size_t y = 0; y < l->n; y += p->batch) {
    cufftComplex *rows = (cufftComplex *)(cells + y * l->row);
    CHECK(cufftExecC2C(p->lines, rows, rows, CUFFT_FORWARD));
  }
}

/** What the kernels of modes need. */
struct sums {
  struct power_layout layout;
  size_t particles;
  const float *table;    /* phases, 1/W^2 */
  const float2 *mesh[2]; /* modes */
  uint64_t *largest;     /* [shell] bits of the largest mode */
  uint64_t *units;       /* [shell] sum over UNITS of it */
  uint32_t *half_modes;  /* [shell] twice the number of modes */
};

static __device__ inline uint64_t square_of(uint32_t k, uint32_t n) {
  const int64_t wave = k <= n / 2 ? k : (int64_t)k - n;
  return (uint64_t)(wave * wave);
}

static __device__ inline float2 product(float2 a, float2 b) {
  return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x};
}

/** |delta_k|^2 of the mean of both meshes, times the number of its modes. */
static __device__ inline double power_of(const struct sums &s, uint32_t x, uint32_t y, uint32_t z) {
  const struct power_layout &l = s.layout;
  const float2 *phase = (const float2 *)s.table;
  const float *window = s.table + 2 * l.n;
  const size_t at = (x * l.plane + y * l.row) / 2 + z;
  const double mass = (double)s.particles + 0.5 * ((double)s.mesh[0][0].x + (double)s.mesh[1][0].x);
  const float2 shift = product(product(phase[y], phase[z]), phase[x]), a = s.mesh[0][at],
               b = product(shift, s.mesh[1][at]);
  const float re = a.x + b.x, im = a.y + b.y;
  return (z == 0 ? 0.5 : 1.0) * (double)window[y] * (double)window[z] / (4.0 * mass * mass) *
         (double)(window[x] * (re * re + im * im));
}

/** @tparam ADD  false: find the largest mode of each shell, and count; true: add up */
template <bool ADD>
static __global__ void __launch_bounds__(BLOCK) sum_modes(const __grid_constant__ struct sums s) {
  const uint32_t n = (uint32_t)s.layout.n, z = blockIdx.x * BLOCK + threadIdx.x, y = blockIdx.y,
                 x = blockIdx.z;
  const uint64_t shell = square_of(x, n) + square_of(y, n) + (uint64_t)z * z;
  if (4 * shell >= (uint64_t)n * n) return;
  const double power = power_of(s, x, y, z);
  if (ADD) {
    const double largest = __longlong_as_double((long long)s.largest[shell]);
    if (largest > 0.0)
      atomicAdd((unsigned long long *)&s.units[shell],
                (unsigned long long)__double2ll_rn(power / largest * UNITS));
  } else {
    atomicMax((unsigned long long *)&s.largest[shell],
              (unsigned long long)__double_as_longlong(power));
    atomicAdd(&s.half_modes[shell], z == 0 ? 1u : 2u);
  }
}

static __global__ void __launch_bounds__(BLOCK)
    finish(const __grid_constant__ struct sums s, size_t shells, struct power_shell *shell) {
  const size_t i = (size_t)blockIdx.x * BLOCK + threadIdx.x;
  if (i >= shells) return;
  shell[i].power = (double)s.units[i] * __longlong_as_double((long long)s.largest[i]) / UNITS;
  shell[i].modes = 0.5 * s.half_modes[i];
}

void gpu_power_shells(struct gpu *gpu, const struct power_layout *layout, double unit,
                      size_t particles, const float *table, float *plain, float *shifted,
                      struct power_shell *shell) {
  const size_t n = layout->n, shells = power_shells_of(n),
               bytes = shells * (2 * sizeof(uint64_t) + sizeof(uint32_t));
  const double cells = (double)n * (double)n * (double)n;
  const float mean = (float)((double)particles / cells);
  const struct plans plans = plans_create(gpu, layout);
  void *work = gpu_scratch(gpu, SCRATCH_SPECTRUM, plans.bytes);
  CHECK(cufftSetWorkArea(plans.planes, work));
  CHECK(cufftSetWorkArea(plans.lines, work));
  for (float *mesh : {plain, shifted}) {
    convert<<<dim3((uint32_t)n, (uint32_t)n), BLOCK, 0, gpu->stream>>>(*layout, (float)unit, mean,
                                                                       mesh);
    gpu_launched("power_shells");
    transform(&plans, layout, mesh);
  }
  uint64_t *sums = (uint64_t *)gpu_scratch(gpu, SCRATCH_TABLE, bytes);
  gpu_clear(gpu, sums, bytes);
  const struct sums s = {*layout,
                         particles,
                         table,
                         {(float2 *)plain, (float2 *)shifted},
                         sums,
                         sums + shells,
                         (uint32_t *)(sums + 2 * shells)};
  const dim3 all(blocks_for(n / 2 + 1, BLOCK), (uint32_t)n, (uint32_t)n);
  sum_modes<false><<<all, BLOCK, 0, gpu->stream>>>(s);
  gpu_launched("power_shells");
  sum_modes<true><<<all, BLOCK, 0, gpu->stream>>>(s);
  gpu_launched("power_shells");
  finish<<<blocks_for(shells, BLOCK), BLOCK, 0, gpu->stream>>>(s, shells, shell);
  gpu_launched("power_shells");
  CHECK_CUDA(cudaStreamSynchronize(gpu->stream)); /* the plans are in use until now */
  CHECK(cufftDestroy(plans.planes));
  CHECK(cufftDestroy(plans.lines));
}
