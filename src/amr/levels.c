/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The levels of the mesh: their batches, the data of these, and what they read of each other. */
#include <stdlib.h>

#include "photons/amr/gas.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/base/kept.h"
#include "photons/runtime/engine.h"
#include "photons/runtime/handle.h"
#include "photons/runtime/owner_computes.h"

enum { CUBE_BYTES = GAS_GROUP_CELLS * sizeof(double) };

/** Cells of a batch; not cleared. */
static void *take_cells(size_t bytes) {
  void *cells = aligned_alloc(GAS_ALIGNMENT,
                              (bytes + GAS_ALIGNMENT - 1) / GAS_ALIGNMENT * GAS_ALIGNMENT);
  if (!cells)
    fail(EXIT_RUN_FAILED,
         "not enough memory for %zu bytes of gas: use fewer gas.levels, larger thresholds of "
         "gas.flag_*, or more machines",
         bytes);
  return cells;
}

static void drop_cells(struct gas_batch *b, int i) {
  handle_drop(&b->handle[i]);
  free(b->cells[i]);
  b->cells[i] = NULL;
}

static void make_cells(const struct gas *g, struct gas_batch *b) {
  b->cell_bytes = b->room * gas_group_bytes(g);
  for (int i = 0; i < 2; i++) {
    if (b->handle[i]) continue;
    if (engine_gpu()) {
      b->handle[i] = handle_make(b->cell_bytes, 1);
    } else {
      b->cells[i] = take_cells(b->cell_bytes);
      b->handle[i] = handle_register(b->cells[i], b->cell_bytes, 1);
    }
  }
}

static void make_sides(const struct gas *g, struct gas_batch *b) {
  b->sides = handle_make(b->room * gas_sides_bytes(g), 1);
}

static void make_potentials(const struct gas *g, struct gas_batch *b) {
  (void)g;
  for (int i = 0; i < POTENTIALS; i++) b->potential[i] = handle_make(b->room, CUBE_BYTES);
}

static void make_shares(const struct gas *g, struct gas_batch *b) {
  (void)g;
  b->shares = handle_make(b->room, sizeof(struct poisson_share));
}

static void make_matter(const struct gas *g, struct gas_batch *b) {
  (void)g;
  b->matter = handle_make(b->count, sizeof(struct gas_matter));
}

/** Make the data of a batch. Some may be there: gas_reuse_data(). */
static void make_batch(const struct gas *g, struct gas_batch *b) {
  make_cells(g, b);
  if (!b->fluxes) b->fluxes = handle_make(b->room * gas_fluxes_bytes(g), 1);
  if (!b->sides) make_sides(g, b);
  if (g->gravity) {
    if (!b->mass) b->mass = handle_make(b->room * gas_mass_bytes(g), 1);
    make_potentials(g, b);
    b->sheets = handle_make(b->room, CUBE_BYTES);
    make_shares(g, b);
    b->stresses = handle_make(b->room, sizeof(struct stress_sum));
  }
  if (g->particles) make_matter(g, b);
}

/** A level's batches without data. Below the root level groups come and go: with room sizes recur, and StarPU
 * finds memory of GPUs that it has already. There all batches of a level have the same room. */
static struct gas_batch *make_batches(const struct gas_level *l, bool root) {
  struct gas_batch *batch = allocate(l->batch_count, sizeof *batch, "batches of groups");
  for (uint32_t i = 0; i < l->batch_count; i++) {
    const uint32_t first = i * l->batch_groups, left = l->groups - first;
    const uint32_t count = left < l->batch_groups ? left : l->batch_groups;
    batch[i] = (struct gas_batch){.first = first,
                                  .count = count,
                                  .room = engine_gpu() && !root ? l->batch_groups
                                                                : (uint32_t)handle_room(count)};
  }
  return batch;
}

static size_t own_groups(const struct gas_level *l) { return l->mine.end - l->mine.first; }

static void count_kept(const struct gas *g) {
  size_t bytes = 0;
  for (int k = 0; k <= g->topology.finest; k++) {
    const struct gas_level *l = &g->level[k];
    bytes += (1 + (size_t)l->homes) * l->batch_count * sizeof *l->batch +
             own_groups(l) * (sizeof *l->speed + sizeof *l->sum + sizeof *l->flags +
                              sizeof *l->fault + sizeof *l->field);
  }
  kept_set(KEPT_LEVELS, bytes);
}

void gas_divide_level(struct gas *g, int level) {
  struct gas_level *l = &g->level[level];
  const uint32_t groups = g->topology.level[level].count;
  const uint32_t of_batch = gas_batch_groups(g, level, groups);
  const struct group_span mine = gas_share(g, level, groups, comm_rank());
  const size_t own = mine.end - mine.first;
  *l = (struct gas_level){
      .groups = groups,
      .mine = mine,
      .batch_groups = of_batch,
      .batch_count = (groups + of_batch - 1) / of_batch,
      .homes = g->tasks.homes > 1 ? g->tasks.homes : 0,
      .steps = l->steps,
      .ghosts = l->ghosts,
      .speed = gas_shared_array(own, sizeof *l->speed, "speeds of groups"),
      .sum = gas_shared_array(own, sizeof *l->sum, "sums of groups"),
      .flags = gas_shared_array(own, sizeof *l->flags, "flags of groups"),
      .fault = gas_shared_array(own, sizeof *l->fault, "faults of groups"),
      .field = gas_shared_array(own, sizeof *l->field, "fields of groups"),
      .potential = {POTENTIAL_BEGIN, POTENTIAL_END, POTENTIAL_NEXT, POTENTIAL_OLD},
  };
  l->batch = make_batches(l, level == 0);
  if (l->homes > 0) l->ghost = allocate(l->homes, sizeof *l->ghost, "batches of groups");
  for (uint32_t h = 0; h < l->homes; h++) l->ghost[h] = make_batches(l, level == 0);
  gas_set_turns(g, level);
  for (uint32_t i = 0; i < own; i++) l->fault[i].patch = -1;
  count_kept(g);
}

static bool has_cells(const struct gas_batch *b) { return b->handle[0] && b->handle[1]; }

void gas_make_batches(struct gas *g, int level) {
  const uint32_t end = gas_first_batch(g, level, comm_rank() + 1);
  for (uint32_t i = gas_first_batch(g, level, comm_rank()); i < end; i++)
    if (!has_cells(&g->level[level].batch[i])) make_batch(g, &g->level[level].batch[i]);
}

void gas_make_level(struct gas *g, int level) {
  gas_divide_level(g, level);
  gas_make_batches(g, level);
}

struct gas_level gas_take_level(struct gas *g, int level) {
  struct gas_level taken = g->level[level];
  for (uint32_t i = 0; i < own_groups(&taken); i++)
    g->counts.first_order += taken.fault[i].first_order;
  g->level[level] = (struct gas_level){.steps = taken.steps, .ghosts = taken.ghosts};
  taken.ghosts = (struct gas_ghosts){0};
  return taken;
}

/** Drop all data of a batch but its cells. */
static void drop_all_but_cells(struct gas_batch *b) {
  handle_drop(&b->fluxes);
  handle_drop(&b->sides);
  handle_drop(&b->mass);
  for (int i = 0; i < POTENTIALS; i++) handle_drop(&b->potential[i]);
  handle_drop(&b->sheets);
  handle_drop(&b->shares);
  handle_drop(&b->stresses);
  handle_drop(&b->matter);
  b->particles = NULL;
}

static void drop_data(struct gas_batch *b) {
  for (int i = 0; i < 2; i++) drop_cells(b, i);
  drop_all_but_cells(b);
}

static void take(starpu_data_handle_t *to, starpu_data_handle_t *from) {
  *to = *from;
  *from = NULL;
}

/** Let a new batch that the rank makes have the memory of an old one. */
static void reuse_own(struct gas_batch *b, int now, struct gas_batch *old, int old_now) {
  take(&b->handle[now], &old->handle[1 - old_now]);
  b->cells[now] = old->cells[1 - old_now];
  old->cells[1 - old_now] = NULL;
  take(&b->fluxes, &old->fluxes);
  take(&b->sides, &old->sides);
  take(&b->mass, &old->mass);
}

/** The same of what a home had of a batch of another home: all of it. */
static void reuse_ghost(struct gas_batch *b, struct gas_batch *old) {
  const struct gas_batch none = {.first = old->first, .count = old->count, .room = old->room},
                         place = *b;
  *b = *old;
  b->first = place.first;
  b->count = place.count;
  *old = none;
}

void gas_reuse_data(struct gas *g, int level, struct gas_level *old) {
  struct gas_level *l = &g->level[level];
  const size_t homes = (size_t)comm_size() * g->tasks.homes;
  const uint32_t mine = (uint32_t)comm_rank();
  for (uint32_t i = 0; i < l->batch_count && i < old->batch_count; i++) {
    struct gas_batch *b = &l->batch[i], *o = &old->batch[i];
    if (b->room != o->room || (g->particles && b->count != o->count)) continue;
    const uint32_t home = gas_home_of_batch(g, level, i),
                   old_home = (uint32_t)block_containing(old->batch_count, homes, i);
    const bool own = home / g->tasks.homes == mine, had = old_home / g->tasks.homes == mine;
    if (own && home == old_home && !b->handle[0] && o->handle[0]) reuse_own(b, l->now, o, old->now);
    if (!own && !had) reuse_ghost(b, o);
    for (uint32_t h = 0; h < l->homes; h++)
      if (gas_home_begin(g) + h != home) reuse_ghost(&l->ghost[h][i], &old->ghost[h][i]);
  }
}

void gas_keep_present_cells(struct gas_level *l) {
  for (uint32_t i = 0; i < l->batch_count; i++) {
    drop_cells(&l->batch[i], 1 - l->now);
    drop_all_but_cells(&l->batch[i]);
  }
}

static void free_batch(struct gas_batch *b) {
  drop_data(b);
  gas_links_free(b);
}

void gas_free_level(struct gas_level *l) {
  for (uint32_t i = 0; i < l->batch_count; i++) free_batch(&l->batch[i]);
  free(l->batch);
  free(l->turn);
  for (uint32_t h = 0; h < l->homes; h++) {
    for (uint32_t i = 0; i < l->batch_count; i++) drop_data(&l->ghost[h][i]);
    free(l->ghost[h]);
  }
  free(l->ghost);
  gas_free_shared(l->speed, own_groups(l) * sizeof *l->speed);
  gas_free_shared(l->sum, own_groups(l) * sizeof *l->sum);
  gas_free_shared(l->flags, own_groups(l) * sizeof *l->flags);
  gas_free_shared(l->fault, own_groups(l) * sizeof *l->fault);
  gas_free_shared(l->field, own_groups(l) * sizeof *l->field);
  *l = (struct gas_level){0};
}

void gas_restore_level(struct gas *g, int level, uint64_t *keys, uint32_t groups, int64_t steps) {
  struct gas_level old = gas_take_level(g, level);
  gas_free_level(&old);
  topology_replace(&g->topology, level, keys, groups);
  gas_make_level(g, level);
  g->level[level].steps = steps;
}

/** Note which kinds of messages bring parts of batches of other homes. Means go to batches of this rank. */
static void find_kinds(const struct gas *g, int level) {
  for (int kind = 0; kind < GHOST_KINDS; kind++) {
    const struct ghost_messages *all = &g->level[level].ghosts.received[kind];
    for (uint32_t i = 0; i < all->count && !ghost_for_fathers((enum ghost_kind)kind); i++)
      for (uint32_t k = 0; k < all->message[i].batches.count; k++)
        gas_seen(g, level, all->message[i].to, all->message[i].batches.batch[k])->kinds |= 1u
                                                                                           << kind;
  }
}

static bool gets(const struct gas_batch *b, enum ghost_kind kind) { return b->kinds >> kind & 1; }

/** Let what a home has of a batch of another home be what messages bring. Data that are there stay: what they hold is
 * old until a message comes. */
static void fit_ghost(const struct gas *g, struct gas_batch *b) {
  if (!gets(b, GHOST_CELLS))
    for (int i = 0; i < 2; i++) drop_cells(b, i);
  else if (!b->handle[0])
    make_cells(g, b);
  if (!gets(b, GHOST_SIDES))
    handle_drop(&b->sides);
  else if (!b->sides)
    make_sides(g, b);
  if (!gets(b, GHOST_POTENTIALS))
    for (int i = 0; i < POTENTIALS; i++) handle_drop(&b->potential[i]);
  else if (!b->potential[0])
    make_potentials(g, b);
  if (!gets(b, GHOST_SHARES))
    handle_drop(&b->shares);
  else if (!b->shares)
    make_shares(g, b);
  if (!gets(b, GHOST_MATTER))
    handle_drop(&b->matter);
  else if (!b->matter)
    make_matter(g, b);
  b->kinds = 0;
}

/** Make room for what messages bring from batches of other homes. */
static void make_ghosts(const struct gas *g, int level) {
  const struct gas_level *l = &g->level[level];
  find_kinds(g, level);
  for (uint32_t i = 0; i < l->batch_count; i++) {
    if (!gas_is_own(g, level, i)) fit_ghost(g, &l->batch[i]);
    for (uint32_t h = 0; h < l->homes; h++) fit_ghost(g, &l->ghost[h][i]);
  }
}

/** Let a batch's data belong to the GPU of a home of this rank. */
static void bring_home(const struct gas *g, const struct gas_batch *b, uint32_t home) {
  const starpu_data_handle_t data[] = {b->handle[0], b->handle[1], b->fluxes, b->sides, b->sheets,
                                       b->shares,    b->stresses,  b->matter, b->links, b->mass};
  for (size_t k = 0; k < sizeof data / sizeof *data; k++) owner_set(data[k], home, g->tasks.homes);
  for (int k = 0; k < POTENTIALS; k++) owner_set(b->potential[k], home, g->tasks.homes);
}

static void bring_all_home(const struct gas *g, int level) {
  const struct gas_level *l = &g->level[level];
  const uint32_t begin = gas_home_begin(g);
  for (uint32_t i = gas_own_begin(g, level); i < gas_own_end(g, level); i++)
    bring_home(g, &l->batch[i], gas_home_of_batch(g, level, i) - begin);
  for (uint32_t h = 0; h < l->homes; h++)
    for (uint32_t i = 0; i < l->batch_count; i++) bring_home(g, &l->ghost[h][i], h);
}

static void use_ghosts(struct gas *g, int level) {
  struct gas_level *l = &g->level[level];
  l->linked = topology_changes(&g->topology, level);
  l->stale = true;
  for (int k = 0; k < POTENTIALS; k++) l->stale_potential[k] = true;
  make_ghosts(g, level);
}

void gas_link(struct gas *g, int first, int last) {
  const int levels = topology_levels(&g->topology), end = last < levels ? last + 1 : levels;
  ghosts_find(g, first, end);
  for (int level = first; level < end; level++) use_ghosts(g, level);
  gas_links_make(g, first, end - 1);
  for (int level = first; level < end; level++) bring_all_home(g, level);
  for (int level = end; level <= last && level <= g->topology.finest; level++)
    ghosts_free(&g->level[level].ghosts);
}
