/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the CUDA files share: the worker's state, checked calls, scratch, and sums over a warp. */
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

/** Scratch of a worker, by what it is for. Tasks of a stream follow each other: they can share it. */
enum scratch_use { SCRATCH_LIST, SCRATCH_ORDER, SCRATCH_TABLE, SCRATCH_CELLS, SCRATCH_SPECTRUM, SCRATCH_LINES, SCRATCH_SORT, SCRATCH_USES };

struct scratch {
  void *data;
  size_t bytes;
};

struct gpu {
  cudaStream_t stream;
  uint64_t *counters; /* four, zero between kernels: sums and largest values that a kernel finds */
  struct scratch scratch[SCRATCH_USES];
};

#define CHECK_CUDA(call) gpu_check((call), #call)
void gpu_check(cudaError_t status, const char *what);
/** After a launch. */
inline void gpu_launched(const char *what) { gpu_check(cudaGetLastError(), what); }

/** At least so many bytes, contents undefined; grows in the order of the stream, nobody waits. */
void *gpu_scratch(struct gpu *g, enum scratch_use use, size_t bytes);
/** Copy a small table from pageable host memory, which may change at once: it travels in the arguments of a kernel. */
void gpu_upload(struct gpu *g, void *to, const void *from, size_t bytes);
/** Two tables, one after the other: one launch less, if they are small. */
void gpu_upload_pair(struct gpu *g, void *to, const void *first, size_t first_bytes, const void *second, size_t second_bytes);

inline uint32_t blocks_for(uint64_t threads, uint32_t block) { return (uint32_t)((threads + block - 1) / block); }

/** Sum over a warp, the same in all lanes and in a fixed order. */
static __device__ inline float warp_sum(float a) {
  for (int step = WARP / 2; step > 0; step /= 2) a += __shfl_xor_sync(~0u, a, step);
  return a;
}
static __device__ inline float warp_max(float a) {
  for (int step = WARP / 2; step > 0; step /= 2) a = fmaxf(a, __shfl_xor_sync(~0u, a, step));
  return a;
}
static __device__ inline int warp_min(int a) {
  for (int step = WARP / 2; step > 0; step /= 2) a = min(a, __shfl_xor_sync(~0u, a, step));
  return a;
}
static __device__ inline int warp_max(int a) {
  for (int step = WARP / 2; step > 0; step /= 2) a = max(a, __shfl_xor_sync(~0u, a, step));
  return a;
}

/** A copy in device memory, for cudaFree(). */
template <typename T>
static T *device_copy(const T *from, size_t n) {
  T *to = NULL;
  CHECK_CUDA(cudaMalloc((void **)&to, n * sizeof *to));
  CHECK_CUDA(cudaMemcpy(to, from, n * sizeof *to, cudaMemcpyHostToDevice));
  return to;
}

#endif
