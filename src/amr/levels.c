/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The levels of the mesh: their batches, the data of these, and what they read of each other. */
#include <stdlib.h>

#include "batch_data.h"
#include "photons/amr/gas.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/base/kept.h"
#include "photons/runtime/engine.h"
#include "photons/runtime/handle.h"
#include "photons/runtime/loop.h"
#include "photons/runtime/owner_computes.h"
#include "seen_batches.h"

LOOP_STAGE(gas_links, 0x887799, .family = "gas");

static size_t own_groups(const struct gas_level *l) { return l->mine.end - l->mine.first; }

static void count_kept(const struct gas *g) {
  size_t bytes = 0;
  for (int k = 0; k <= g->topology.finest; k++) {
    const struct gas_level *l = &g->level[k];
    bytes += l->own * sizeof *l->batch +
             own_groups(l) * (sizeof *l->speed + sizeof *l->sum + sizeof *l->flags +
                              sizeof *l->fault + sizeof *l->field);
    for (uint32_t h = 0; h < l->homes; h++) bytes += l->seen[h].room * sizeof *l->batch;
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
      .homes = g->tasks.homes,
      .steps = l->steps,
      .ghosts = l->ghosts,
      .speed = gas_shared_array(own, sizeof *l->speed, "speeds of groups"),
      .sum = gas_shared_array(own, sizeof *l->sum, "sums of groups"),
      .flags = gas_shared_array(own, sizeof *l->flags, "flags of groups"),
      .fault = gas_shared_array(own, sizeof *l->fault, "faults of groups"),
      .field = gas_shared_array(own, sizeof *l->field, "fields of groups"),
      .potential = {POTENTIAL_BEGIN, POTENTIAL_END, POTENTIAL_NEXT, POTENTIAL_OLD},
  };
  l->begin = gas_own_begin(g, level);
  gas_set_turns(g, level);
  l->batch = allocate(l->own, sizeof *l->batch, "batches of groups");
  for (uint32_t i = 0; i < l->own; i++)
    l->batch[i] = gas_batch_without_data(g, level, l->begin + i);
  l->seen = allocate(l->homes, sizeof *l->seen, "batches of groups");
  l->density = allocate(l->homes, sizeof *l->density, "batches of groups");
  for (uint32_t i = 0; i < own; i++) l->fault[i].patch = -1;
}

static bool has_cells(const struct gas_batch *b) { return b->handle[0] && b->handle[1]; }

void gas_make_batches(struct gas *g, int level) {
  const struct gas_level *l = &g->level[level];
  for (uint32_t i = 0; i < l->own; i++)
    if (!has_cells(&l->batch[i])) batch_make(g, &l->batch[i]);
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
  for (int i = 0; i < POTENTIALS; i++) take(&b->potential[i], &old->potential[i]);
  take(&b->sheets, &old->sheets);
  take(&b->shares, &old->shares);
  take(&b->stresses, &old->stresses);
  take(&b->matter, &old->matter);
}

void gas_reuse_data(struct gas *g, int level, struct gas_level *old) {
  struct gas_level *l = &g->level[level];
  for (uint32_t i = l->begin; i < l->begin + l->own; i++) {
    if (i < old->begin || i >= old->begin + old->own) continue;
    struct gas_batch *b = &l->batch[i - l->begin], *o = &old->batch[i - old->begin];
    if (b->room != o->room) continue;
    const uint32_t old_home = (uint32_t)block_containing(old->batch_count,
                                                         (size_t)comm_size() * g->tasks.homes, i);
    if (gas_home_of_batch(g, level, i) == old_home && !b->handle[0] && o->handle[0])
      reuse_own(b, l->now, o, old->now);
  }
  seen_reuse(g, level, old);
  for (uint32_t h = 0; l->groups > 0 && h < l->homes && h < old->homes; h++)
    take(&l->density[h], &old->density[h]);
}

void gas_keep_present_cells(struct gas_level *l) {
  for (uint32_t i = 0; i < l->own; i++) {
    batch_drop_cells(&l->batch[i], 1 - l->now);
    batch_drop_all_but_cells(&l->batch[i]);
  }
  for (uint32_t h = 0; h < l->homes; h++) {
    seen_free(&l->seen[h]);
    handle_drop(&l->density[h]);
  }
}

static void free_batch(struct gas_batch *b) {
  batch_drop(b);
  gas_links_free(b);
}

void gas_free_level(struct gas_level *l) {
  for (uint32_t i = 0; i < l->own; i++) free_batch(&l->batch[i]);
  free(l->batch);
  free(l->turn);
  for (uint32_t h = 0; h < l->homes; h++) {
    seen_free(&l->seen[h]);
    handle_drop(&l->density[h]);
  }
  free(l->seen);
  free(l->density);
  gas_free_shared(l->speed, own_groups(l) * sizeof *l->speed);
  gas_free_shared(l->sum, own_groups(l) * sizeof *l->sum);
  gas_free_shared(l->flags, own_groups(l) * sizeof *l->flags);
  gas_free_shared(l->fault, own_groups(l) * sizeof *l->fault);
  gas_free_shared(l->field, own_groups(l) * sizeof *l->field);
  *l = (struct gas_level){0};
}

void gas_restore_level(struct gas *g, int level, uint64_t *key, uint32_t count, int64_t steps) {
  struct gas_level old = gas_take_level(g, level);
  gas_free_level(&old);
  topology_replace(&g->topology, level, key, count);
  gas_make_level(g, level);
  g->level[level].steps = steps;
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
  for (uint32_t i = 0; i < l->own; i++)
    bring_home(g, &l->batch[i], gas_home_of_batch(g, level, l->begin + i) - gas_home_begin(g));
  for (uint32_t h = 0; h < l->homes; h++)
    for (uint32_t i = 0; i < l->seen[h].count; i++) bring_home(g, &l->seen[h].batch[i], h);
}

static void use_ghosts(struct gas *g, int level) {
  struct gas_level *l = &g->level[level];
  l->linked = topology_changes(&g->topology, level);
  l->stale = true;
  for (int k = 0; k < POTENTIALS; k++) l->stale_potential[k] = true;
  seen_make(g, level);
}

/* Links and messages of so many groups at least are found in a loop: fewer take less time than a worker needs to begin. */
enum { LOOP_GROUPS = 128 };

/** What is found of levels: messages and links, in one loop, since GPUs wait. */
struct finding {
  struct ghost_search *ghosts;
  struct link_search *links;
  uint32_t of_ghosts, of_links; /* parts */
};

/** Messages take longer to find than links, and come first. */
static void find_part(void *context, uint32_t i) {
  const struct finding *f = context;
  if (i < f->of_ghosts)
    ghosts_find_part(f->ghosts, i);
  else
    gas_links_part(f->links, i - f->of_ghosts);
}

/** Find messages and links of levels, `first` to `end` - 1. */
static void find(struct gas *g, int first, int end) {
  struct finding f;
  f.ghosts = ghosts_find_begin(g, first, end, &f.of_ghosts);
  f.links = gas_links_begin(g, first, end - 1, &f.of_links);
  const uint32_t parts = f.of_ghosts + f.of_links;
  uint32_t groups = 0;
  for (int level = first; level < end; level++) groups += g->topology.level[level].count;
  if (groups < LOOP_GROUPS)
    for (uint32_t i = 0; i < parts; i++) find_part(&f, i);
  else
    loop_run(&gas_links_stage, parts, find_part, &f);
  ghosts_find_end(f.ghosts);
  gas_links_end(f.links);
}

void gas_link(struct gas *g, int first, int last) {
  const int levels = topology_levels(&g->topology), end = last < levels ? last + 1 : levels;
  find(g, first, end);
  for (int level = first; level < end; level++) use_ghosts(g, level);
  for (int level = first; level < end; level++) bring_all_home(g, level);
  for (int level = end; level <= last && level <= g->topology.finest; level++)
    ghosts_free(&g->level[level].ghosts);
  count_kept(g);
}
