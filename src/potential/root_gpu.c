/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/potential/root_gpu.h"

#include <stdlib.h>
#include <string.h>

#include "photons/amr/gas.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/runtime/engine.h"
#include "photons/runtime/handle.h"
#include "photons/runtime/pinned.h"

static void create_plans(void *context) {
  struct root_gpu *r = context;
  r->worker[worker_number()] = GPU_CALL(gpu_root_create(worker_gpu(), &r->size));
}

static void free_plans(void *context) {
  const struct root_gpu *r = context;
  (void)r; /* a build without CUDA */
  GPU_CALL(gpu_root_free(r->worker[worker_number()]));
}

static size_t sum_bytes(const struct root_gpu *r) { return r->groups * sizeof *r->sum; }

struct root_gpu *root_gpu_make(const struct gas *g, const uint32_t size[3], double *green) {
  if (!engine_gpu() || comm_size() > 1) return NULL;
  struct root_gpu *r = allocate(1, sizeof *r, "the root level's potential");
  const size_t row = size[0] / 2 + 1, mesh = (size_t)size[2] * size[1] * 2 * row;
  memcpy(r->size.size, size, sizeof r->size.size);
  r->worker = allocate(engine_workers(), sizeof(struct gpu_root *), "transforms of GPU workers");
  r->mesh = handle_make(mesh, sizeof(double));
  r->mesh_bytes = mesh * sizeof(double);
  if (green)
    r->green = handle_register(green, (size_t)size[1] * (size[2] / 2 + 1) * row, sizeof *green);
  r->groups = g->topology.level[0].count;
  r->sum = pinned_take(engine_pool(), sum_bytes(r));
  engine_on_gpu_workers(create_plans, r);
  return r;
}

void root_gpu_free(struct root_gpu *r) {
  if (!r) return;
  engine_on_gpu_workers(free_plans, r);
  handle_drop(&r->mesh);
  handle_drop(&r->green);
  pinned_give_back(engine_pool(), r->sum, sum_bytes(r));
  free(r->worker);
  free(r);
}
