/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/potential/root_gpu.h"

#include <stdlib.h>
#include <string.h>

#include "photons/amr/gas.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/runtime/engine.h"
#include "photons/runtime/exact_sums.h"
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

static uint32_t parts_of(uint32_t n, uint32_t parts) { return (n + parts - 1) / parts; }

/** Divide the mesh among all homes. */
static void divide(struct root_gpu *r, const struct gas *g) {
  r->planes = GAS_GROUP_SIDE * g->topology.root[2];
  r->homes = g->tasks.homes;
  r->first = gas_home_begin(g);
  if (comm_size() == 1 && (r->homes == 1 || g->tasks.together)) return;
  r->parts = (uint32_t)comm_size() * r->homes;
  r->size.planes = parts_of(r->planes, r->parts);
  r->size.lines = parts_of(r->size.size[1], r->parts);
}

/** Whether the Green function has the lines of this rank's homes. */
static bool has_lines(const struct root_gpu *r, struct root_green green) {
  const struct gpu_root_planes first = root_lines(r, r->first),
                               last = root_lines(r, r->first + r->homes - 1);
  return r->parts == 0 || !green.value || first.first == last.end ||
         (green.first <= first.first && green.first + green.lines >= last.end);
}

static starpu_data_handle_t *make_handles(size_t count) {
  return allocate(count, sizeof(starpu_data_handle_t), "the root level's mesh");
}

/** Data of two pieces of the mesh for each home, and of what these send each other. */
static void make_parts(struct root_gpu *r) {
  const uint32_t homes = r->homes, parts = r->parts;
  const size_t line = r->size.size[0] / 2 + 1, lines = r->size.lines * line * 2,
               slab = r->size.size[1] * line * 2 * r->size.planes;
  r->slab = make_handles(homes);
  r->lines = make_handles(homes);
  r->sent = make_handles((size_t)homes * parts);
  r->received = make_handles((size_t)homes * parts);
  for (uint32_t i = 0; i < homes; i++) {
    owner_set(r->slab[i] = handle_make(slab, sizeof(double)), i, homes);
    owner_set(r->lines[i] = handle_make(r->size.size[2] * lines, sizeof(double)), i, homes);
    for (uint32_t k = 0; k < parts; k++) {
      r->sent[i * parts + k] = handle_make(r->size.planes * lines, sizeof(double));
      if (!root_is_own(r, k))
        r->received[k * homes + i] = handle_make(r->size.planes * lines, sizeof(double));
    }
  }
}

static void drop_all(starpu_data_handle_t *handle, size_t count) {
  for (size_t i = 0; i < count; i++) handle_drop(&handle[i]);
  free(handle);
}

static void free_parts(struct root_gpu *r) {
  const size_t homes = r->parts > 0 ? r->homes : 0;
  drop_all(r->slab, homes);
  drop_all(r->lines, homes);
  drop_all(r->sent, homes * r->parts);
  drop_all(r->received, homes * r->parts);
  for (uint32_t k = 0; k < r->guests; k++) {
    handle_drop(&r->guest[k].cubes);
    handle_drop(&r->guest[k].links);
    free(r->guest[k].link);
  }
  for (uint32_t k = 0; k < r->aways; k++) handle_drop(&r->away[k].cubes);
  free(r->guest);
  free(r->away);
  free(r->own);
}

static size_t sum_bytes(const struct root_gpu *r) { return r->groups * sizeof *r->sum; }

struct root_gpu *root_gpu_make(const struct gas *g, const uint32_t size[3],
                               struct root_green green) {
  struct root_gpu *r = allocate(1, sizeof *r, "the root level's potential");
  memcpy(r->size.size, size, sizeof r->size.size);
  divide(r, g);
  uint32_t can = engine_gpu() && has_lines(r, green);
  comm_min_u32(&can, 1);
  if (!can) {
    free(r);
    return NULL;
  }
  const size_t row = size[0] / 2 + 1, mesh = (size_t)size[2] * size[1] * 2 * row;
  r->worker = allocate(engine_workers(), sizeof(struct gpu_root *), "transforms of GPU workers");
  if (r->parts > 0) {
    make_parts(r);
  } else {
    r->mesh = handle_make(mesh, sizeof(double));
    r->mesh_bytes = mesh * sizeof(double);
  }
  r->first_green = green.first;
  if (green.value)
    r->green = handle_register(
        green.value, /* a rank without lines has one number that none reads */
        green.lines > 0 ? (size_t)green.lines * (size[2] / 2 + 1) * row : 1, sizeof *green.value);
  r->groups = g->topology.level[0].own.end - g->topology.level[0].own.first;
  r->sum = pinned_take(engine_pool(), sum_bytes(r));
  engine_on_gpu_workers(create_plans, r);
  return r;
}

/** Planes of the mesh from the first one of a batch's groups to the last one. */
static struct gpu_root_planes planes_of(const struct gas *g, struct group_span groups) {
  struct gpu_root_planes planes = {UINT32_MAX, 0};
  for (uint32_t i = groups.first; i < groups.end; i++) {
    uint32_t place[3];
    topology_place(&g->topology, 0, i, place);
    const uint32_t low = GAS_GROUP_SIDE * place[2];
    if (low < planes.first) planes.first = low;
    if (low + GAS_GROUP_SIDE > planes.end) planes.end = low + GAS_GROUP_SIDE;
  }
  return planes;
}

static starpu_data_handle_t make_cubes(struct group_span groups) {
  return handle_make(handle_room(groups.end - groups.first), GAS_GROUP_CELLS * sizeof(double));
}

static struct root_guest make_guest(const struct gas *g, uint32_t batch,
                                    struct gpu_root_planes planes) {
  const struct group_span groups = gas_batch_span(&g->level[0], batch);
  const uint32_t count = groups.end - groups.first;
  struct root_guest guest = {.batch = batch, .planes = planes, .cubes = make_cubes(groups)};
  guest.link = allocate(count, sizeof *guest.link, "places of groups");
  for (uint32_t i = 0; i < count; i++)
    topology_place(&g->topology, 0, groups.first + i, guest.link[i].place);
  guest.links = handle_register(guest.link, count, sizeof *guest.link);
  return guest;
}

/** Find the ranks that have slabs with planes of a batch of this rank, or whether this rank has such slabs.
 * @param planes  of the batch */
static void meet_batch(struct root_gpu *r, const struct gas *g, uint32_t batch,
                       struct gpu_root_planes planes) {
  const int end = root_rank(r, (planes.end - 1) / r->size.planes) + 1;
  for (int rank = root_rank(r, planes.first / r->size.planes); rank < end; rank++) {
    if (gas_is_own(g, 0, batch) && rank != comm_rank()) {
      r->away = reallocate(r->away, r->aways + 1, sizeof *r->away, "batches on other ranks");
      r->away[r->aways++] = (struct root_away){batch, rank,
                                               make_cubes(gas_batch_span(&g->level[0], batch))};
    } else if (!gas_is_own(g, 0, batch) && rank == comm_rank()) {
      r->guest = reallocate(r->guest, r->guests + 1, sizeof *r->guest, "batches of other ranks");
      r->guest[r->guests++] = make_guest(g, batch, planes);
    }
  }
}

void root_gpu_meet(struct root_gpu *r, const struct gas *g) {
  if (r->own || r->parts == 0) return;
  r->first_batch = gas_own_begin(g, 0);
  r->own = allocate(gas_own_end(g, 0) - r->first_batch, sizeof *r->own, "planes of batches");
  for (uint32_t i = 0; i < g->level[0].batch_count; i++) {
    const struct gpu_root_planes planes = planes_of(g, gas_batch_span(&g->level[0], i));
    if (gas_is_own(g, 0, i)) r->own[i - r->first_batch] = planes;
    meet_batch(r, g, i, planes);
  }
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

/* Called in a task: on one rank exact_sums_finish() sends nothing. */
double root_mean_of_own(const struct gas *g, const double *sum) {
  const uint32_t groups = g->topology.level[0].count;
  struct exact_sums all = exact_sums_create(1, 1);
  double total;
  for (uint32_t i = 0; i < groups; i++) exact_add(exact_sums_of(&all, 0), sum[i]);
  exact_sums_finish(&all, &total);
  return total / ((double)groups * GAS_GROUP_CELLS);
}
