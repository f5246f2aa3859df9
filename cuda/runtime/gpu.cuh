/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Common to the CUDA files: the worker's state, checked calls, scratch memory, and sums over a
 * warp. */
#ifndef PHOTONS_GPU_CUH
#define PHOTONS_GPU_CUH

#include <cuda_runtime.h>
#include <stdint.h>

#include "photons/base/host_device.h"
#include "photons/runtime/gpu.h"

#define _Noreturn [[noreturn]]
extern "C" {
#include "photons/base/error.h"
}

enum { WARP = 32 };

/** Scratch memory of a worker, by use. Tasks on one stream follow each other, so that they can use
 * the same memory. */
enum scratch_use {
  SCRATCH_LIST,
  SCRATCH_ORDER,
  SCRATCH_TABLE,
  SCRATCH_CELLS,
  SCRATCH_HEAT,
  SCRATCH_SPECTRUM,
  SCRATCH_LINES,
  SCRATCH_SORT,
  SCRATCH_PAIRS,
  SCRATCH_PACK,
  SCRATCH_PARTS,
  SCRATCH_USES
};

struct scratch {
  void *data;
  size_t bytes;
};

/** Counters of a worker: numbers of eight bytes, zero between kernels, for sums and largest values
 * that a kernel finds. Each kernel has its own, from the one given here on. */
enum { COUNTERS_P2P = 0, COUNTERS_KICK = 1, COUNTERS_RUNGS = 4, COUNTERS = 32 };

struct gpu {
  cudaStream_t stream;
  void (*count_bytes)(int64_t bytes);
  uint64_t *counters; /* [COUNTERS] */
  struct scratch scratch[SCRATCH_USES];
  uint32_t walk_turns; /* of the last walk of an isolated system */
};

#define CHECK_CUDA(call) gpu_check((call), #call)
void gpu_check(cudaError_t status, const char *what);
/** Check for errors after a kernel launch. */
inline void gpu_launched(const char *what) { gpu_check(cudaGetLastError(), what); }

/** Scratch memory of at least the given bytes, with undefined contents. Memory grows in the order
 * of the stream, without synchronisation. */
void *gpu_scratch(struct gpu *g, enum scratch_use use, size_t bytes);
/** Copy a small table from pageable host memory. The table travels in kernel arguments, so that the
 * caller may change it at once. */
void gpu_upload(struct gpu *g, void *to, const void *from, size_t bytes);
/** Copy two tables, one after the other; small ones need only one launch. */
void gpu_upload_pair(struct gpu *g, void *to, const void *first, size_t first_bytes,
                     const void *second, size_t second_bytes);

inline uint32_t blocks_for(uint64_t threads, uint32_t block) {
  return (uint32_t)((threads + block - 1) / block);
}

/** Sum over a warp, the same in all lanes and in a fixed order. */
static __device__ inline float warp_sum(float a) {
  for (int step = WARP / 2; step > 0; step /= 2) a += __shfl_xor_sync(~0u, a, step);
  return a;
}
static __device__ inline uint32_t warp_sum(uint32_t a) {
  for (int step = WARP / 2; step > 0; step /= 2) a += __shfl_xor_sync(~0u, a, step);
  return a;
}
static __device__ inline uint32_t warp_min(uint32_t a) {
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 800
  return __reduce_min_sync(~0u, a);
#else
  for (int step = WARP / 2; step > 0; step /= 2) a = min(a, __shfl_xor_sync(~0u, a, step));
  return a;
#endif
}
static __device__ inline uint32_t warp_max(uint32_t a) { return ~warp_min(~a); }
static __device__ inline int warp_min(int a) {
  return (int)(warp_min((uint32_t)a ^ 0x80000000u) ^ 0x80000000u);
}
static __device__ inline int warp_max(int a) { return ~warp_min(~a); }
/* The same for floats that are not below 0, whose order is that of their bits. */
static __device__ inline float warp_min_positive(float a) {
  return __int_as_float(warp_min(__float_as_int(a)));
}
static __device__ inline float warp_max_positive(float a) {
  return __int_as_float(warp_max(__float_as_int(a)));
}

/** Sum over a block of WARPS warps, the same in all threads and in a fixed order. */
template <int WARPS> static __device__ double block_sum(double a) {
  __shared__ double of_warp[WARPS];
  for (int step = WARP / 2; step > 0; step /= 2) a += __shfl_xor_sync(~0u, a, step);
  __syncthreads();
  if (threadIdx.x % WARP == 0) of_warp[threadIdx.x / WARP] = a;
  __syncthreads();
  double sum = 0;
  for (int w = 0; w < WARPS; w++) sum += of_warp[w];
  return sum;
}

/** Copy a number into shared memory while the thread goes on; copies_wait() waits for all of its copies. */
template <typename T> static __device__ inline void copy_ahead(T *shared, const T *from) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "one instruction copies it");
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 800
  asm volatile(
      "cp.async.ca.shared.global [%0], [%1], %2;" ::"r"((unsigned)__cvta_generic_to_shared(shared)),
      "l"(from), "n"(sizeof(T))
      : "memory");
#else
  *shared = *from;
#endif
}
static __device__ inline void copies_wait() {
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

/** A copy in device memory; free it with cudaFree(). */
template <typename T> static T *device_copy(const T *from, size_t n) {
  T *to = NULL;
  CHECK_CUDA(cudaMalloc((void **)&to, n * sizeof *to));
  CHECK_CUDA(cudaMemcpy(to, from, n * sizeof *to, cudaMemcpyHostToDevice));
  return to;
}

#endif
