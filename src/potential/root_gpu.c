/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/potential/root_gpu.h"

#include <stdlib.h>
#include <string.h>

#include "photons/amr/gas.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/runtime/engine.h"
#include "photons/runtime/handle.h"
#include "photons/runtime/owner_computes.h"
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

/** The number of slabs: a home each, where homes can have equally many planes and lines. */
static uint32_t count_parts(const struct gas *g, const uint32_t size[3]) {
  const uint32_t planes = GAS_GROUP_SIDE * g->topology.root[2];
  return g->tasks.homes > 1 && planes % g->tasks.homes == 0 && size[1] % g->tasks.homes == 0
             ? g->tasks.homes
             : 0;
}

/** Data of two pieces of the mesh for each home, and of what these send each other. */
static void make_parts(struct root_gpu *r) {
  const size_t row = r->size.size[0] / 2 + 1, line_bytes = r->size.lines * row * sizeof(double[2]),
               bytes = r->size.planes * line_bytes, handle = sizeof(starpu_data_handle_t);
  const uint32_t parts = r->parts;
  r->slab = allocate(parts, handle, "the root level's mesh");
  r->lines = allocate(parts, handle, "the root level's mesh");
  r->piece = allocate((size_t)parts * parts, handle, "the root level's mesh");
  for (uint32_t i = 0; i < parts; i++) {
    owner_set(r->slab[i] = handle_make(parts * bytes / sizeof(double), sizeof(double)), i, parts);
    owner_set(
        r->lines[i] = handle_make(r->size.size[2] * line_bytes / sizeof(double), sizeof(double)), i,
        parts);
  }
  for (uint32_t i = 0; i < parts * parts; i++)
    r->piece[i] = handle_make(bytes / sizeof(double), sizeof(double));
}

static void free_parts(struct root_gpu *r) {
  for (uint32_t i = 0; i < r->parts; i++) {
    handle_drop(&r->slab[i]);
    handle_drop(&r->lines[i]);
  }
  for (uint32_t i = 0; i < r->parts * r->parts; i++) handle_drop(&r->piece[i]);
  free(r->slab);
  free(r->lines);
  free(r->piece);
}

static size_t sum_bytes(const struct root_gpu *r) { return r->groups * sizeof *r->sum; }

struct root_gpu *root_gpu_make(const struct gas *g, const uint32_t size[3], double *green) {
  if (!engine_gpu() || comm_size() > 1) return NULL;
  struct root_gpu *r = allocate(1, sizeof *r, "the root level's potential");
  const size_t row = size[0] / 2 + 1, mesh = (size_t)size[2] * size[1] * 2 * row;
  memcpy(r->size.size, size, sizeof r->size.size);
  r->worker = allocate(engine_workers(), sizeof(struct gpu_root *), "transforms of GPU workers");
  r->parts = count_parts(g, size);
  if (r->parts > 0) {
    r->size.planes = GAS_GROUP_SIDE * g->topology.root[2] / r->parts;
    r->size.lines = size[1] / r->parts;
    make_parts(r);
  } else {
    r->mesh = handle_make(mesh, sizeof(double));
    r->mesh_bytes = mesh * sizeof(double);
  }
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
  free_parts(r);
  handle_drop(&r->green);
  pinned_give_back(engine_pool(), r->sum, sum_bytes(r));
  free(r->worker);
  free(r);
}
