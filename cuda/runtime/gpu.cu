/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A CUDA worker: its stream, its scratch memory, and small uploads. */
#include "gpu.cuh"

#include <stdlib.h>
#include <string.h>

void gpu_check(cudaError_t status, const char *what) {
  if (status != cudaSuccess)
    fail(EXIT_RUN_FAILED, "the GPU stopped: %s (%s)", cudaGetErrorString(status), what);
}

const char *gpu_last_error(void) {
  const cudaError_t error = cudaPeekAtLastError();
  return error == cudaSuccess ? NULL : cudaGetErrorString(error);
}

static cudaMemPool_t default_pool(void) {
  int device;
  cudaMemPool_t pool;
  CHECK_CUDA(cudaGetDevice(&device));
  CHECK_CUDA(cudaDeviceGetDefaultMemPool(&pool, device));
  return pool;
}

/** Other memory for more bytes. If there is none, what the pool keeps in smaller pieces is given back
 * first. */
static void grow_scratch(struct gpu *g, struct scratch *s, size_t bytes) {
  if (s->data) CHECK_CUDA(cudaFreeAsync(s->data, g->stream));
  g->count_bytes((int64_t)bytes - (int64_t)s->bytes);
  s->bytes = bytes;
  if (cudaMallocAsync(&s->data, bytes, g->stream) != cudaErrorMemoryAllocation) {
    gpu_launched("scratch memory");
    return;
  }
  (void)cudaGetLastError();
  CHECK_CUDA(cudaDeviceSynchronize());
  CHECK_CUDA(cudaMemPoolTrimTo(default_pool(), 0));
  CHECK_CUDA(cudaMallocAsync(&s->data, bytes, g->stream));
}

void *gpu_scratch(struct gpu *g, enum scratch_use use, size_t bytes) {
  struct scratch *s = &g->scratch[use];
  if (bytes > s->bytes) grow_scratch(g, s, bytes + bytes / 4 + 4096);
  return s->data;
}

/* Words of kernel arguments: of a small table, and as many as there may be (32764 bytes). All are copied at a
 * launch, however few are used. */
enum { UPLOAD_WORDS = 960, UPLOAD_WORDS_MOST = 8184 };

template <int WORDS> struct upload { uint32_t word[WORDS]; };

template <int WORDS>
static __global__ void store_words(const __grid_constant__ upload<WORDS> u, uint32_t n,
                                   uint32_t *to) {
  for (uint32_t i = threadIdx.x; i < n; i += blockDim.x) to[i] = u.word[i];
}

/** Copy the words of one launch. */
template <int WORDS>
static void upload_words(struct gpu *g, char *to, const char *from, size_t bytes) {
  upload<WORDS> u;
  memcpy(&u, from, bytes);
  store_words<WORDS><<<1, 256, 0, g->stream>>>(u, (uint32_t)((bytes + 3) / 4), (uint32_t *)to);
  gpu_launched("table");
}

void gpu_upload(struct gpu *g, void *to, const void *from, size_t bytes) {
  const size_t small = sizeof(upload<UPLOAD_WORDS>), most = sizeof(upload<UPLOAD_WORDS_MOST>);
  for (size_t done = 0, n; done < bytes; done += n) {
    n = bytes - done < most ? bytes - done : most;
    if (n > small)
      upload_words<UPLOAD_WORDS_MOST>(g, (char *)to + done, (const char *)from + done, n);
    else
      upload_words<UPLOAD_WORDS>(g, (char *)to + done, (const char *)from + done, n);
  }
}

void gpu_upload_pair(struct gpu *g, void *to, const void *first, size_t first_bytes,
                     const void *second, size_t second_bytes) {
  char both[sizeof(upload<UPLOAD_WORDS>)];
  if (first_bytes + second_bytes > sizeof both) {
    gpu_upload(g, to, first, first_bytes);
    gpu_upload(g, (char *)to + first_bytes, second, second_bytes);
    return;
  }
  memcpy(both, first, first_bytes);
  memcpy(both + first_bytes, second, second_bytes);
  gpu_upload(g, to, both, first_bytes + second_bytes);
}

static void count_nothing(int64_t bytes) { (void)bytes; }

struct gpu *gpu_create(cudaStream_t stream, void (*count_bytes)(int64_t bytes)) {
  struct gpu *g = (struct gpu *)allocate(1, sizeof *g, "state of a GPU worker");
  uint64_t keep = UINT64_MAX; /* freed scratch memory stays in the pool */
  g->stream = stream;
  g->count_bytes = count_bytes ? count_bytes : count_nothing;
  CHECK_CUDA(cudaMemPoolSetAttribute(default_pool(), cudaMemPoolAttrReleaseThreshold, &keep));
  CHECK_CUDA(cudaMalloc((void **)&g->counters, COUNTERS * sizeof *g->counters));
  CHECK_CUDA(cudaMemset(g->counters, 0, COUNTERS * sizeof *g->counters));
  CHECK_CUDA(cudaDeviceSynchronize());
  return g;
}

void gpu_free(struct gpu *g) {
  if (!g) return;
  CHECK_CUDA(cudaStreamSynchronize(g->stream));
  for (int i = 0; i < SCRATCH_USES; i++) {
    if (g->scratch[i].data) CHECK_CUDA(cudaFreeAsync(g->scratch[i].data, g->stream));
    g->count_bytes(-(int64_t)g->scratch[i].bytes);
  }
  CHECK_CUDA(cudaFree(g->counters));
  free(g);
}

void gpu_copy(struct gpu *g, void *to, const void *from, size_t bytes) {
  CHECK_CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, g->stream));
}

void gpu_clear(struct gpu *g, void *data, size_t bytes) {
  CHECK_CUDA(cudaMemsetAsync(data, 0, bytes, g->stream));
}

void gpu_copy_rows(struct gpu *g, void *to, size_t to_stride, const void *from, size_t from_stride,
                   size_t width, size_t rows) {
  CHECK_CUDA(cudaMemcpy2DAsync(to, to_stride, from, from_stride, width, rows,
                               cudaMemcpyDeviceToDevice, g->stream));
}
