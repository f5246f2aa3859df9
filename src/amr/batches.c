/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The batches of a level: whose they are, and what their groups take up. */
#include <stdlib.h>
#include <string.h>

#include "photons/amr/gas.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/runtime/engine.h"
#include "photons/runtime/handle.h"
#include "photons/runtime/pinned.h"

size_t gas_group_bytes(const struct gas *g) {
  return g->scheme.variables * GAS_GROUP_CELLS * g->scheme.kernels->real_size;
}
size_t gas_block_bytes(const struct gas *g) {
  return g->scheme.variables * GAS_BLOCK_CELLS * g->scheme.kernels->real_size;
}
size_t gas_sides_bytes(const struct gas *g) {
  return g->scheme.variables * GAS_FACES * GAS_FACE_CELLS * g->scheme.kernels->real_size;
}
size_t gas_fluxes_bytes(const struct gas *g) { return GAS_PATCHES * gas_sides_bytes(g); }
size_t gas_mass_bytes(const struct gas *g) {
  return GAS_MASS_FLUXES * g->scheme.kernels->real_size;
}

double gas_cell(const struct gas *g, int level) { return g->cell / (double)(1 << level); }

/* Where each level has its own batches. On GPUs a task of fewer groups than the least takes no less time, a GPU works
 * on some batches at once, and one of as many groups as the most, for each GPU of a rank, takes longer to work
 * than its tasks to submit. A level of more batches has a multiple of those at once: of six the last two would
 * have the GPU for themselves, which they do not fill. Below the root level several homes have batches of the most
 * groups: the messages of a small level take longer than its work, so that it has few homes, and all data of
 * batches have the same size. Steps with self-gravity have so many short tasks that GPUs wait for their submission:
 * there a home has as few batches of a level as their most groups allow. */
enum { BATCH_LEAST = 64, BATCHES_AT_ONCE = 4, BATCH_MOST = 256, BATCH_MOST_OF_GRAVITY = 512 };

static size_t all_homes(const struct gas *g) { return (size_t)comm_size() * g->tasks.homes; }

/** The next number that is a multiple of the power of two below it over `steps`. */
static uint32_t round_up(uint32_t n, uint32_t steps) {
  uint32_t step = 1;
  while (n / step >= 2 * steps) step *= 2;
  return (n + step - 1) / step * step;
}

uint32_t gas_batch_groups_most(const struct gas *g) {
  if (g->tasks.batch > 0) return g->tasks.batch;
  return g->tasks.few ? BATCH_MOST_OF_GRAVITY : BATCH_MOST * g->tasks.homes;
}

static uint32_t within(uint32_t least, uint32_t n, uint32_t most) {
  return n < least ? least : n > most ? most : n;
}

/** Batches of equal sizes, as few of each home as may be. Levels that fill one batch of gas alone have one home. */
static uint32_t few_batches(const struct gas *g, int level, uint32_t groups) {
  const uint32_t homes = level > 0 && groups <= BATCH_MOST ? 1 : (uint32_t)all_homes(g),
                 most = BATCH_MOST_OF_GRAVITY * homes, parts = (groups + most - 1) / most * homes,
                 size = parts > 0 ? (groups + parts - 1) / parts : 1;
  return within(1, level > 0 ? round_up(size, 8) : size, BATCH_MOST_OF_GRAVITY);
}

uint32_t gas_batch_groups(const struct gas *g, int level, uint32_t groups) {
  if (g->tasks.batch > 0) return g->tasks.batch;
  if (g->tasks.few) return few_batches(g, level, groups);
  if (level > 0 && all_homes(g) > 1) return BATCH_MOST;
  const uint32_t homes = (uint32_t)all_homes(g), of_home = (groups + homes - 1) / homes,
                 most = gas_batch_groups_most(g),
                 batches = within(1, of_home / BATCH_LEAST, BATCHES_AT_ONCE),
                 turns = (of_home + BATCHES_AT_ONCE * most - 1) / (BATCHES_AT_ONCE * most),
                 parts = (turns > 1 ? BATCHES_AT_ONCE * turns : batches) * homes,
                 size = (groups + parts - 1) / parts;
  /* sizes recur, but for levels of several turns in finer steps, so that there are no fewer batches */
  return within(1, level > 0 ? round_up(size, turns > 1 ? 8 : 4) : size, most);
}

uint32_t gas_home_batch(const struct gas *g, int level, uint32_t home) {
  return (uint32_t)block_first(g->level[level].batch_count, all_homes(g), home);
}

uint32_t gas_home_group(const struct gas *g, int level, uint32_t home) {
  const uint32_t batch = gas_home_batch(g, level, home), count = g->topology.level[level].count;
  return batch < g->level[level].batch_count ? batch * g->level[level].batch_groups : count;
}

bool gas_home_has(const struct gas *g, int level, uint32_t home) {
  return gas_home_batch(g, level, home) < gas_home_batch(g, level, home + 1);
}

struct group_span gas_share(const void *gas, int level, uint32_t groups, int rank) {
  const struct gas *g = gas;
  const uint32_t size = gas_batch_groups(g, level, groups), batches = (groups + size - 1) / size;
  const size_t homes = g->tasks.homes;
  struct group_span s = {
      size * (uint32_t)block_first(batches, all_homes(g), (size_t)rank * homes),
      size * (uint32_t)block_first(batches, all_homes(g), ((size_t)rank + 1) * homes)};
  if (s.first > groups) s.first = groups;
  if (s.end > groups) s.end = groups;
  return s;
}

uint32_t gas_home_begin(const struct gas *g) { return (uint32_t)comm_rank() * g->tasks.homes; }
uint32_t gas_home_end(const struct gas *g) { return gas_home_begin(g) + g->tasks.homes; }

uint32_t gas_home_of_batch(const struct gas *g, int level, uint32_t batch) {
  return (uint32_t)block_containing(g->level[level].batch_count, all_homes(g), batch);
}

uint32_t gas_home(const struct gas *g, int level, uint32_t group) {
  return gas_home_of_batch(g, level, group / g->level[level].batch_groups);
}

struct gas_batch *gas_batch_with(const struct gas *g, int level, uint32_t group) {
  return gas_batch(g, level, group / g->level[level].batch_groups);
}

void gas_lacks_batch(const struct gas *g, int level, uint32_t batch) {
  const struct gas_level *l = &g->level[level];
  fail(EXIT_RUN_FAILED, "batch %u of level %d is not of this rank, which has %u from %u on", batch,
       level, l->own, l->begin);
}

struct group_span gas_batch_span(const struct gas_level *l, uint32_t batch) {
  const uint32_t first = batch * l->batch_groups, left = l->groups - first;
  return (struct group_span){first, first + (left < l->batch_groups ? left : l->batch_groups)};
}

struct gas_batch gas_batch_without_data(const struct gas *g, int level, uint32_t batch) {
  const struct gas_level *l = &g->level[level];
  const struct group_span groups = gas_batch_span(l, batch);
  const uint32_t count = groups.end - groups.first;
  return (struct gas_batch){.first = groups.first,
                            .count = count,
                            .room = engine_gpu() && level > 0 ? l->batch_groups
                                                              : (uint32_t)handle_room(count)};
}

uint32_t gas_first_batch(const struct gas *g, int level, int rank) {
  return gas_home_batch(g, level, (uint32_t)rank * g->tasks.homes);
}

uint32_t gas_first_group(const struct gas *g, int level, int rank) {
  return gas_home_group(g, level, (uint32_t)rank * g->tasks.homes);
}

bool gas_is_own(const struct gas *g, int level, uint32_t batch) {
  return batch >= gas_first_batch(g, level, comm_rank()) &&
         batch < gas_first_batch(g, level, comm_rank() + 1);
}

int gas_owner(const struct gas *g, int level, uint32_t group) {
  return (int)(gas_home(g, level, group) / g->tasks.homes);
}

void gas_set_turns(struct gas *g, int level) {
  struct gas_level *l = &g->level[level];
  const uint32_t own = gas_own_end(g, level) - gas_own_begin(g, level), first = gas_home_begin(g);
  l->turn = allocate(own, sizeof *l->turn, "batches of groups");
  for (uint32_t round = 0; l->own < own; round++)
    for (uint32_t home = first; home < first + g->tasks.homes; home++) {
      const uint32_t batch = gas_home_batch(g, level, home) + round;
      if (batch < gas_home_batch(g, level, home + 1)) l->turn[l->own++] = batch;
    }
}

uint32_t gas_own_begin(const struct gas *g, int level) {
  return gas_first_batch(g, level, comm_rank());
}
uint32_t gas_own_end(const struct gas *g, int level) {
  return gas_first_batch(g, level, comm_rank() + 1);
}

void *gas_cells(const struct gas *g, int level, uint32_t group) {
  const struct gas_level *l = &g->level[level];
  if (!is_in_span(l->mine, group)) return NULL;
  const struct gas_batch *b = gas_batch_with(g, level, group);
  return (char *)starpu_data_handle_to_pointer(b->handle[l->now], STARPU_MAIN_RAM) +
         (group - b->first) * gas_group_bytes(g);
}

uint64_t gas_leaf_cells(const struct gas *g, int level) {
  const struct topology *t = &g->topology;
  const uint64_t finer = level < t->finest ? t->level[level + 1].count : 0;
  return t->level[level].count * (uint64_t)GAS_GROUP_CELLS - finer * GAS_PATCH_CELLS;
}

void *gas_shared_room(size_t bytes, const char *what) {
  if (!engine_gpu()) return reallocate(NULL, bytes + 1, 1, what);
  return pinned_take(engine_pool(), bytes + 1);
}

void *gas_shared_array(size_t count, size_t size, const char *what) {
  if (!engine_gpu()) return allocate(count, size, what);
  return memset(gas_shared_room(count * size, what), 0, count * size);
}

void gas_free_shared(void *array, size_t bytes) {
  if (!engine_gpu())
    free(array);
  else
    pinned_give_back(engine_pool(), array, bytes + 1);
}
