/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A CUDA worker: its tables, FFT plans and scratch. */
#include "gpu.cuh"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void gpu_check(cudaError_t status, const char *what) {
  if (status != cudaSuccess) fail(EXIT_RUN_FAILED, "the GPU stopped: %s (%s)", cudaGetErrorString(status), what);
}

void gpu_check_fft(cufftResult status, const char *what) {
  if (status != CUFFT_SUCCESS) fail(EXIT_RUN_FAILED, "cuFFT failed with code %d (%s)", (int)status, what);
}

void *gpu_scratch(struct gpu *g, enum scratch_use use, size_t bytes) {
  struct scratch *s = &g->scratch[use];
  if (bytes > s->bytes) {
    if (s->data) CHECK_CUDA(cudaFreeAsync(s->data, g->stream));
    s->bytes = bytes + bytes / 4 + 4096;
    CHECK_CUDA(cudaMallocAsync(&s->data, s->bytes, g->stream));
  }
  return s->data;
}

enum { UPLOAD_WORDS = 960 }; /* arguments of a kernel may have 4 KB */

struct upload {
  uint32_t word[UPLOAD_WORDS];
};

static __global__ void store_words(const __grid_constant__ struct upload u, uint32_t n, uint32_t *to) {
  for (uint32_t i = threadIdx.x; i < n; i += blockDim.x) to[i] = u.word[i];
}

void gpu_upload(struct gpu *g, void *to, const void *from, size_t bytes) {
  struct upload u;
  for (size_t done = 0; done < bytes; done += sizeof u) {
    size_t n = bytes - done < sizeof u ? bytes - done : sizeof u;
    memcpy(&u, (const char *)from + done, n);
    store_words<<<1, 256, 0, g->stream>>>(u, (uint32_t)((n + 3) / 4), (uint32_t *)((char *)to + done));
    gpu_launched("table");
  }
}

void gpu_upload_pair(struct gpu *g, void *to, const void *first, size_t first_bytes, const void *second, size_t second_bytes) {
  char both[sizeof(struct upload)];
  if (first_bytes + second_bytes > sizeof both) {
    gpu_upload(g, to, first, first_bytes);
    gpu_upload(g, (char *)to + first_bytes, second, second_bytes);
    return;
  }
  memcpy(both, first, first_bytes);
  memcpy(both + first_bytes, second, second_bytes);
  gpu_upload(g, to, both, first_bytes + second_bytes);
}

struct device_list gpu_list(struct gpu *g, const struct interaction_list *list, uint32_t targets) {
  if (list->on_gpu) return {list->offset, list->entry};
  const size_t offset_bytes = ((size_t)targets + 1) * sizeof *list->offset, entry_bytes = list->entries * sizeof *list->entry;
  uint32_t *copy = (uint32_t *)gpu_scratch(g, SCRATCH_LIST, offset_bytes + entry_bytes);
  CHECK_CUDA(cudaMemcpyAsync(copy, list->offset, offset_bytes, cudaMemcpyHostToDevice, g->stream));
  if (entry_bytes) CHECK_CUDA(cudaMemcpyAsync(copy + targets + 1, list->entry, entry_bytes, cudaMemcpyHostToDevice, g->stream));
  return {copy, copy + targets + 1};
}

/** A copy in device memory. */
template <typename T>
static T *device_copy(const T *from, size_t n) {
  T *to = NULL;
  CHECK_CUDA(cudaMalloc((void **)&to, n * sizeof *to));
  CHECK_CUDA(cudaMemcpy(to, from, n * sizeof *to, cudaMemcpyHostToDevice));
  return to;
}

static void create_mesh_tables(struct gpu *g) {
  const struct mesh *m = g->mesh;
  struct mesh *d = &g->device.m;
  const size_t n = m->cells, half = n / 2;
  *d = *m;
  d->split = NULL;
  d->plans = NULL;
  d->green = device_copy(m->green, 3 * half * half + 1);
  d->window = device_copy(m->window, n);
  d->wave = device_copy(m->wave, n);
  d->phase = device_copy(m->phase, 2 * (5 * half + 1));
  uint16_t *slab = (uint16_t *)allocate(n, sizeof *slab, "slab table");
  for (uint32_t s = 0; s < m->slabs; s++)
    for (uint32_t x = slab_first(m, s); x < slab_first(m, s + 1); x++) slab[x] = (uint16_t)s;
  g->device.slab_of_plane = device_copy(slab, n);
  free(slab);
}

/** A plan without work area of its own; returns the bytes it needs. */
static size_t plan_create(struct gpu *g, cufftHandle *plan, int rank, int *n, int *in, int in_step, int in_distance, int *out,
                          int out_step, int out_distance, cufftType type, uint32_t batch) {
  size_t bytes;
  CHECK_CUFFT(cufftCreate(plan));
  CHECK_CUFFT(cufftSetAutoAllocation(*plan, 0));
  CHECK_CUFFT(cufftMakePlanMany(*plan, rank, n, in, in_step, in_distance, out, out_step, out_distance, type, (int)batch, &bytes));
  CHECK_CUFFT(cufftSetStream(*plan, g->stream));
  return bytes;
}

static void create_plans(struct gpu *g) {
  const struct mesh *m = g->mesh;
  int n[2] = {(int)m->cells, (int)m->cells}, real[2] = {n[0], (int)m->row}, half[2] = {n[0], (int)m->kz};
  size_t most = 0;
  for (int longer = 0; longer < 2; longer++) {
    uint32_t planes = m->cells / m->slabs + (uint32_t)longer, width = m->cells / m->columns + (uint32_t)longer;
    if (!longer || m->cells % m->slabs) {
      struct gpu_plans *p = &g->slab_plans[longer];
      p->width = planes;
      size_t forward = plan_create(g, &p->forward, 2, n, real, 1, (int)plane_floats(m), half, 1, n[0] * (int)m->kz, CUFFT_R2C, planes);
      size_t backward = plan_create(g, &p->backward, 2, n, half, 1, n[0] * (int)m->kz, real, 1, (int)plane_floats(m), CUFFT_C2R, planes);
      most = max(most, max(forward, backward));
    }
    if (!longer || m->cells % m->columns) {
      struct gpu_plans *p = &g->column_plans[longer];
      p->width = width;
      int lines = (int)(width * m->kz);
      size_t bytes = plan_create(g, &p->forward, 1, n, n, lines, 1, n, lines, 1, CUFFT_C2C, (uint32_t)lines);
      p->backward = p->forward;
      most = max(most, bytes);
    }
  }
  if (most) CHECK_CUDA(cudaMalloc(&g->fft_work, most));
  for (int i = 0; i < 2; i++) {
    if (g->slab_plans[i].width) {
      CHECK_CUFFT(cufftSetWorkArea(g->slab_plans[i].forward, g->fft_work));
      CHECK_CUFFT(cufftSetWorkArea(g->slab_plans[i].backward, g->fft_work));
    }
    if (g->column_plans[i].width) CHECK_CUFFT(cufftSetWorkArea(g->column_plans[i].forward, g->fft_work));
  }
}

/** h = -2 dH/du about u = 1/2 as a power series in t = 2u - 1, cut where double precision ends. */
static void create_exact_series(struct gpu *g) {
  double c[SPLIT_SERIES], largest = 0.0;
  int degree = SPLIT_SERIES - 2;
  for (int k = 0; k <= degree; k++) {
    c[k] = -4.0 * (k + 1) * g->split->middle[k + 1];
    largest = fmax(largest, fabs(c[k]));
  }
  while (degree > 0 && fabs(c[degree]) < 1e-17 * largest) degree--;
  g->exact_degree = degree;
  g->exact = device_copy(c, (size_t)degree + 1);
}

static void create_paper_table(struct gpu *g) {
  float *rows = (float *)allocate((TABLE_ORDER_MAX + 1) * TABLE_ENTRIES, sizeof *rows, "force table");
  for (int q = 0; q <= TABLE_ORDER_MAX; q++)
    for (int i = 0; i < TABLE_ENTRIES; i++) rows[q * TABLE_ENTRIES + i] = g->split->table[i][q];
  g->table = device_copy(rows, (TABLE_ORDER_MAX + 1) * TABLE_ENTRIES);
  free(rows);
}

struct gpu *gpu_create(cudaStream_t stream, const struct mesh *m, const struct split *split) {
  struct gpu *g = (struct gpu *)allocate(1, sizeof *g, "state of a GPU worker");
  g->stream = stream;
  g->mesh = m;
  g->split = split;
  int device;
  cudaMemPool_t pool;
  uint64_t keep = UINT64_MAX; /* freed scratch goes back to the pool, never to the driver */
  CHECK_CUDA(cudaGetDevice(&device));
  CHECK_CUDA(cudaDeviceGetDefaultMemPool(&pool, device));
  CHECK_CUDA(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
  CHECK_CUDA(cudaMalloc((void **)&g->counters, 4 * sizeof *g->counters));
  CHECK_CUDA(cudaMemset(g->counters, 0, 4 * sizeof *g->counters));
  create_exact_series(g);
  create_paper_table(g);
  if (m) {
    create_mesh_tables(g);
    create_plans(g);
  }
  CHECK_CUDA(cudaDeviceSynchronize());
  return g;
}

void gpu_free(struct gpu *g) {
  if (!g) return;
  CHECK_CUDA(cudaStreamSynchronize(g->stream));
  for (int i = 0; i < SCRATCH_USES; i++)
    if (g->scratch[i].data) CHECK_CUDA(cudaFreeAsync(g->scratch[i].data, g->stream));
  for (int i = 0; i < 2; i++) {
    if (g->slab_plans[i].width) {
      CHECK_CUFFT(cufftDestroy(g->slab_plans[i].forward));
      CHECK_CUFFT(cufftDestroy(g->slab_plans[i].backward));
    }
    if (g->column_plans[i].width) CHECK_CUFFT(cufftDestroy(g->column_plans[i].forward));
  }
  void *const memory[] = {g->fft_work, g->counters, g->table, g->exact, g->device.m.green, g->device.m.window,
                          g->device.m.wave, g->device.m.phase, g->device.slab_of_plane};
  for (size_t i = 0; i < sizeof memory / sizeof *memory; i++) CHECK_CUDA(cudaFree(memory[i]));
  free(g);
}

void gpu_copy(struct gpu *g, void *to, const void *from, size_t bytes) {
  CHECK_CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, g->stream));
}

void gpu_copy_rows(struct gpu *g, void *to, size_t to_stride, const void *from, size_t from_stride, size_t width, size_t rows) {
  CHECK_CUDA(cudaMemcpy2DAsync(to, to_stride, from, from_stride, width, rows, cudaMemcpyDeviceToDevice, g->stream));
}
