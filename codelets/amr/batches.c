/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "codelets/amr/batches.h"

#include <stdlib.h>
#include <string.h>

#include "photons/base/debug_check.h"
#include "photons/base/error.h"
#include "photons/runtime/engine.h"

static char *make_scratch(const struct gas *g) {
  const size_t bytes = g->scheme.kernels->scratch_bytes + gas_block_bytes(g),
               rounded = (bytes + GAS_ALIGNMENT - 1) / GAS_ALIGNMENT * GAS_ALIGNMENT;
  char *scratch = aligned_alloc(GAS_ALIGNMENT, rounded);
  if (!scratch) fail(EXIT_RUN_FAILED, "not enough memory for scratch of gas (%zu bytes)", rounded);
  return scratch;
}

char *gas_scratch(const struct gas *g) {
  char **scratch = &g->tasks.scratch[worker_number()];
  if (!*scratch) *scratch = make_scratch(g);
  return *scratch;
}

void slots_add(struct slots *s, starpu_data_handle_t handle, enum starpu_data_access_mode mode) {
  if (s->count == s->room)
    s->data = reallocate(s->data, s->room = 2 * s->room + 16, sizeof *s->data, "task data");
  s->data[s->count++] = (struct starpu_data_descr){handle, mode};
}

void slots_require(const struct slots *s, bool fresh, const char *what, int level) {
  const uint32_t group = gas_batch_span(&s->gas->level[s->level], s->batch).first;
  DEBUG_CHECK(fresh,
              "%s of level %d, from group %u on, reads %s of level %d that are not up to date",
              s->stage, s->level, group, what, level);
}

const struct gas_batch *slots_seen(const struct slots *s, int level, uint32_t batch) {
  const uint32_t home = gas_home_of_batch(s->gas, s->level, s->batch);
  const struct gas_batch *b = gas_seen(s->gas, level, home, batch);
  if (!b)
    fail(EXIT_RUN_FAILED, "%s of level %d reads batch %u of level %d, of which home %u has nothing",
         s->stage, s->level, batch, level, home);
  return b;
}

void slots_add_list(struct slots *s, const struct gas *g, int level, const struct batch_list *list,
                    bool now) {
  if (list->count == 0) return; /* the root level has no coarser one */
  const struct gas_level *l = &g->level[level];
  for (uint32_t i = 0; i < list->count; i++)
    slots_add(s, slots_seen(s, level, list->batch[i])->handle[now ? l->now : 1 - l->now], STARPU_R);
}

void slots_add_sources(struct slots *s, const struct gas *g, int level, const struct gas_batch *b,
                       double weight) {
  slots_require(s, b->inner || !g->level[level].stale, "ghost cells", level);
  if (level > 0) slots_require(s, b->inner || !g->level[level - 1].stale, "ghost cells", level - 1);
  slots_add_list(s, g, level, &b->near, true);
  slots_add_list(s, g, level - 1, &b->coarse, true);
  if (weight != 1.0) slots_add_list(s, g, level - 1, &b->coarse, false);
}

void slots_add_links(struct slots *s, const struct gas_batch *b) {
  const int level = s->level;
  slots_require(s, s->gas->level[level].linked == topology_changes(&s->gas->topology, level),
                "links", level);
  if (b->links) slots_add(s, b->links, STARPU_R);
}

struct block_sources block_sources_of(const struct batch_argument *a, const char *const *cells,
                                      double weight) {
  const struct gas_batch *b = batch_of(a);
  return (struct block_sources){.gas = a->gas,
                                .level = a->level,
                                .near = {&b->near, cells},
                                .coarse = {&b->coarse, cells + b->near.count},
                                .before = {&b->coarse, cells + b->near.count + b->coarse.count},
                                .weight = weight};
}

struct gpu_sources gpu_sources_of(const struct batch_argument *a, const char *const *cells,
                                  double weight, const struct gas_links *links) {
  const struct gas_batch *b = batch_of(a);
  struct gpu_sources s = {.cells = cells,
                          .near = b->near.count,
                          .coarse = b->coarse.count,
                          .weight = weight,
                          .links = links};
  memcpy(s.boundary, a->gas->topology.boundary, sizeof s.boundary);
  return s;
}

struct gpu_gas gpu_gas_closing(struct gpu *gpu, const struct batch_argument *a, double least_heat) {
  const struct gas *g = a->gas;
  return (struct gpu_gas){gpu, physics_of(g, least_heat),
                          g->scheme.kernels->real_size == sizeof(double), batch_count(a)};
}

struct gpu_gas gpu_gas_of(struct gpu *gpu, const struct batch_argument *a) {
  return gpu_gas_closing(gpu, a, 0.0);
}

struct task slots_task(const struct slots *s, enum priority priority) {
  return (struct task){.data = s->data,
                       .count = s->count,
                       .priority = priority,
                       .chain = s->gas ? s->gas->tasks.chain : NULL};
}

const char **slots_addresses(void *buffers[], size_t first, size_t count) {
  const char **address = allocate(count, sizeof *address, "task data");
  for (size_t i = 0; i < count; i++) address[i] = VECTOR(const char, buffers[first + i]);
  return address;
}
