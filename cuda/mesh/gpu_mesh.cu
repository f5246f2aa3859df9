/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The mesh's tables and FFT plans of a CUDA worker. */
#include "cuda/mesh/gpu_mesh.cuh"

#include <stdlib.h>

void gpu_check_fft(cufftResult status, const char *what) {
  if (status != CUFFT_SUCCESS)
    fail(EXIT_RUN_FAILED, "cuFFT failed with code %d (%s)", (int)status, what);
}

static void create_mesh_tables(struct gpu_mesh *g) {
  const struct mesh *m = g->mesh;
  struct mesh *d = &g->device.m;
  const size_t n = m->cells, half = n / 2;
  *d = *m;
  d->split = NULL;
  d->plans = NULL;
  d->green = device_copy(m->green, m->squares);
  d->window = device_copy(m->window, n);
  d->wave = device_copy(m->wave, n);
  d->phase = device_copy(m->phase, 2 * (5 * half + 1));
  uint16_t *slab = (uint16_t *)allocate(n, sizeof *slab, "slab table");
  for (uint32_t s = 0; s < m->slabs; s++)
    for (uint32_t x = slab_first(m, s); x < slab_first(m, s + 1); x++) slab[x] = (uint16_t)s;
  g->device.slab_of_plane = device_copy(slab, n);
  free(slab);
}

/** Make a plan that has no work area of its own. Returns the bytes of work area that the plan
 * needs. */
static size_t plan_create(struct gpu_mesh *g, cufftHandle *plan, int rank, int *n, int *in,
                          int in_step, int in_distance, int *out, int out_step, int out_distance,
                          cufftType type, uint32_t batch) {
  size_t bytes;
  CHECK_CUFFT(cufftCreate(plan));
  CHECK_CUFFT(cufftSetAutoAllocation(*plan, 0));
  CHECK_CUFFT(cufftMakePlanMany(*plan, rank, n, in, in_step, in_distance, out, out_step,
                                out_distance, type, (int)batch, &bytes));
  CHECK_CUFFT(cufftSetStream(*plan, g->gpu->stream));
  return bytes;
}

/** The plans of pencils. @return the bytes of work area that they need */
static size_t create_pencil_plans(struct gpu_mesh *g) {
  const struct mesh *m = g->mesh;
  int n = (int)m->cells, row = (int)m->row, kz = (int)m->kz, kzs = (int)m->kzs;
  size_t most = plan_create(g, &g->pencil_plans.z_forward, 1, &n, &n, 1, row, &n, 1, kz, CUFFT_R2C,
                            m->ys);
  most = max(most, plan_create(g, &g->pencil_plans.z_backward, 1, &n, &n, 1, kz, &n, 1, row,
                               CUFFT_C2R, m->ys));
  return max(most,
             plan_create(g, &g->pencil_plans.y, 1, &n, &n, kzs, 1, &n, kzs, 1, CUFFT_C2C, m->kzs));
}

static void share_work(struct gpu_mesh *g) {
  for (int i = 0; i < 2; i++) {
    if (g->slab_plans[i].width) {
      CHECK_CUFFT(cufftSetWorkArea(g->slab_plans[i].forward, g->fft_work));
      CHECK_CUFFT(cufftSetWorkArea(g->slab_plans[i].backward, g->fft_work));
    }
    if (g->column_plans[i].width)
      CHECK_CUFFT(cufftSetWorkArea(g->column_plans[i].forward, g->fft_work));
  }
  if (g->mesh->parts == 1) return;
  CHECK_CUFFT(cufftSetWorkArea(g->pencil_plans.z_forward, g->fft_work));
  CHECK_CUFFT(cufftSetWorkArea(g->pencil_plans.z_backward, g->fft_work));
  CHECK_CUFFT(cufftSetWorkArea(g->pencil_plans.y, g->fft_work));
}

static void create_plans(struct gpu_mesh *g) {
  const struct mesh *m = g->mesh;
  int n[2] = {(int)m->cells, (int)m->cells}, real[2] = {n[0], (int)m->row},
      half[2] = {n[0], (int)m->kz};
  size_t most = m->parts > 1 ? create_pencil_plans(g) : 0;
  for (int longer = 0; longer < 2; longer++) {
    uint32_t planes = m->cells / m->slabs + (uint32_t)longer,
             width = m->cells / m->columns + (uint32_t)longer;
    if (m->parts == 1 && (!longer || m->cells % m->slabs)) {
      struct gpu_plans *p = &g->slab_plans[longer];
      p->width = planes;
      size_t forward = plan_create(g, &p->forward, 2, n, real, 1, (int)plane_floats(m), half, 1,
                                   n[0] * (int)m->kz, CUFFT_R2C, planes);
      size_t backward = plan_create(g, &p->backward, 2, n, half, 1, n[0] * (int)m->kz, real, 1,
                                    (int)plane_floats(m), CUFFT_C2R, planes);
      most = max(most, max(forward, backward));
    }
    if (!longer || m->cells % m->columns) {
      struct gpu_plans *p = &g->column_plans[longer];
      p->width = width;
      int lines = (int)(width * m->kzs);
      size_t bytes = plan_create(g, &p->forward, 1, n, n, lines, 1, n, lines, 1, CUFFT_C2C,
                                 (uint32_t)lines);
      p->backward = p->forward;
      most = max(most, bytes);
    }
  }
  if (most) CHECK_CUDA(cudaMalloc(&g->fft_work, most));
  share_work(g);
}

struct gpu_mesh *gpu_mesh_create(struct gpu *gpu, const struct mesh *m) {
  struct gpu_mesh *g = (struct gpu_mesh *)allocate(1, sizeof *g, "mesh tables of a GPU worker");
  g->gpu = gpu;
  g->mesh = m;
  create_mesh_tables(g);
  create_plans(g);
  CHECK_CUDA(cudaDeviceSynchronize());
  return g;
}

void gpu_mesh_copy_green(struct gpu_mesh *g) {
  CHECK_CUDA(cudaMemcpy(g->device.m.green, g->mesh->green, g->mesh->squares * sizeof(float),
                        cudaMemcpyHostToDevice));
}

void gpu_mesh_free(struct gpu_mesh *g) {
  if (!g) return;
  CHECK_CUDA(cudaStreamSynchronize(g->gpu->stream));
  for (int i = 0; i < 2; i++) {
    if (g->slab_plans[i].width) {
      CHECK_CUFFT(cufftDestroy(g->slab_plans[i].forward));
      CHECK_CUFFT(cufftDestroy(g->slab_plans[i].backward));
    }
    if (g->column_plans[i].width) CHECK_CUFFT(cufftDestroy(g->column_plans[i].forward));
  }
  if (g->mesh->parts > 1) {
    CHECK_CUFFT(cufftDestroy(g->pencil_plans.z_forward));
    CHECK_CUFFT(cufftDestroy(g->pencil_plans.z_backward));
    CHECK_CUFFT(cufftDestroy(g->pencil_plans.y));
  }
  void *const memory[] = {g->fft_work,      g->device.m.green, g->device.m.window,
                          g->device.m.wave, g->device.m.phase, g->device.slab_of_plane};
  for (size_t i = 0; i < sizeof memory / sizeof *memory; i++) CHECK_CUDA(cudaFree(memory[i]));
  free(g);
}
