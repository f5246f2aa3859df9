/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the CUDA files share: the worker's state, checked calls, scratch, and sums over a warp. */
#ifndef PHOTONS_GPU_CUH
#define PHOTONS_GPU_CUH

#include <cuda_runtime.h>
#include <cufft.h>
#include <stdint.h>

#include "gpu.h"

#define _Noreturn [[noreturn]]
extern "C" {
#include "photons/base/error.h"
}

enum { WARP = 32 };

/* Targets of a block of p2p, and where sort ends: tuned; more share one list of sources, fewer waste fewer pairs. */
#ifndef P2P_TARGETS_MOST
#define P2P_TARGETS_MOST 64
#endif

/** Scratch of a worker, by what it is for. Tasks of a stream follow each other: they can share it. */
enum scratch_use { SCRATCH_LIST, SCRATCH_ORDER, SCRATCH_TABLE, SCRATCH_CELLS, SCRATCH_SPECTRUM, SCRATCH_LINES, SCRATCH_SORT, SCRATCH_USES };

struct scratch {
  void *data;
  size_t bytes;
};

/** FFT plans for slabs or columns of one width; as widths differ by one at most, there are two of each. */
struct gpu_plans {
  uint32_t width; /* planes of a slab, ky of a column; 0: none */
  cufftHandle forward, backward;
};

/** A mesh as kernels see it: tables in device memory. */
struct gpu_mesh {
  struct mesh m; /* its pointers are to device memory, or NULL */
  uint16_t *slab_of_plane;
};

struct gpu {
  cudaStream_t stream;
  const struct mesh *mesh; /* in host memory */
  struct gpu_mesh device;
  struct gpu_plans slab_plans[2], column_plans[2];
  void *fft_work;
  const struct split *split;
  float *table;            /* of the paper's kernel: [order][entry] */
  double *exact;           /* coefficients of h(t), t = 2u - 1 */
  int exact_degree;
  uint64_t *counters;      /* pairs; largest square of an acceleration and number of blocks done */
  struct scratch scratch[SCRATCH_USES];
};

#define CHECK_CUDA(call) gpu_check((call), #call)
#define CHECK_CUFFT(call) gpu_check_fft((call), #call)
void gpu_check(cudaError_t status, const char *what);
void gpu_check_fft(cufftResult status, const char *what);
/** After a launch. */
inline void gpu_launched(const char *what) { gpu_check(cudaGetLastError(), what); }

/** At least so many bytes, contents undefined; grows in the order of the stream, nobody waits. */
void *gpu_scratch(struct gpu *g, enum scratch_use use, size_t bytes);
/** Copy a small table from pageable host memory, which may change at once: it travels in the arguments of a kernel. */
void gpu_upload(struct gpu *g, void *to, const void *from, size_t bytes);
/** Two tables, one after the other: one launch less, if they are small. */
void gpu_upload_pair(struct gpu *g, void *to, const void *first, size_t first_bytes, const void *second, size_t second_bytes);

/** An interaction list where kernels can read it: where it is, or a copy in SCRATCH_LIST. @param targets  of which it has offsets */
struct device_list {
  const uint32_t *offset, *entry;
};
struct device_list gpu_list(struct gpu *g, const struct interaction_list *list, uint32_t targets);

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

#endif
