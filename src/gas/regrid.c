/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The topology follows the flow: groups of a level come and go, and their cells move to new
 * batches. */
#include <stdlib.h>
#include <string.h>

#include "photons/base/error.h"
#include "photons/gas/blocks.h"
#include "photons/gas/codelets.h"
#include "photons/gas/evolve.h"
#include "photons/runtime/loop.h"
#include "photons/runtime/message.h"

LOOP_STAGE(gas_regrid, 0x999933, .family = "gas");

/** The flags of a level. */
static void find_flags(struct gas *g, int level, double weight) {
  for (uint32_t i = 0; i < g->level[level].batch_count; i++)
    gas_flag_submit(g, level, i, gas_prepare_submit(g, level, i, weight));
  message_wait();
  gas_require_sound(g);
}

/** Cells of a level on their way into new batches. */
struct move {
  struct gas *gas;
  int level;
  const struct gas_level *old;
  const uint64_t *old_key; /* [old_count], rising */
  uint32_t old_count;
  const struct gas_ic *ic;
};

static int compare_keys(const void *a, const void *b) {
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

/** Interpolate a new group from the next coarser level. */
static void refine_group(const struct gas *g, int level, uint32_t group, void *cells) {
  const struct gas_level *coarse = &g->level[level - 1];
  const struct batch_list *list = &g->level[level].batch[group / g->batch].coarse;
  const char **address = allocate(list->count, sizeof *address, "coarser batches");
  for (uint32_t i = 0; i < list->count; i++)
    address[i] = coarse->batch[list->batch[i]].cells[coarse->now];
  const struct block_sources sources = {
      .gas = g, .level = level, .coarse = {list, address}, .weight = 1.0};
  const struct gas_tree_level *l = &g->topology.level[level];
  void *block = allocate(gas_block_bytes(g), 1, "a block of gas");
  block_refine(&sources, l->group[group].father, (int)(l->key[group] & 7), block, cells);
  free(block);
  free(address);
}

/** Fill group i of the level: from its old cells, or anew. */
static void fill_group(void *context, uint32_t i) {
  const struct move *m = context;
  const struct gas *g = m->gas;
  void *cells = gas_cells(g, m->level, i);
  const uint64_t *found = m->old_count ? bsearch(&g->topology.level[m->level].key[i], m->old_key,
                                                 m->old_count, sizeof *m->old_key, compare_keys)
                                       : NULL;
  if (found) {
    const uint32_t k = (uint32_t)(found - m->old_key);
    const struct gas_batch *b = &m->old->batch[k / g->batch];
    memcpy(cells, (const char *)b->cells[m->old->now] + (k - b->first) * gas_group_bytes(g),
           gas_group_bytes(g));
  } else if (m->ic) {
    gas_ic_fill(m->ic, g, m->level, i, cells);
  } else {
    refine_group(g, m->level, i, cells);
  }
}

/** Give a level new groups. */
static void replace(struct gas *g, int level, uint64_t *keys, uint32_t count,
                    const struct gas_ic *ic) {
  struct gas_tree_level *tree = &g->topology.level[level];
  const size_t bytes = tree->count * sizeof *tree->key;
  uint64_t *old_key = memcpy(allocate(tree->count, sizeof *old_key, "patch groups"), tree->key,
                             bytes);
  gas_require_memory(g, level, count);
  struct gas_level old = gas_take_level(g, level);
  struct move move = {g, level, &old, old_key, tree->count, ic};
  topology_replace(&g->topology, level, keys, count);
  gas_make_level(g, level);
  gas_link(g);
  gas_acquire(g);
  loop_run(&gas_regrid_stage, count, fill_group, &move);
  gas_release(g);
  gas_free_level(&old);
  free(old_key);
}

static bool same_keys(const struct gas_tree_level *l, const uint64_t *keys, uint32_t count) {
  return l->count == count && memcmp(l->key, keys, count * sizeof *keys) == 0;
}

void gas_regrid(struct gas *g, int level, double weight, const struct gas_ic *ic) {
  uint32_t count;
  find_flags(g, level, weight);
  uint64_t *keys = topology_refined(&g->topology, level, g->level[level].flags, &count);
  if (count == 0 && !g->topology.level[level + 1].count)
    free(keys);
  else if (same_keys(&g->topology.level[level + 1], keys, count))
    free(keys);
  else
    replace(g, level + 1, keys, count, ic);
}

void gas_begin(struct gas *g, const struct gas_ic *ic) {
  struct move root = {.gas = g, .level = 0, .ic = ic};
  gas_acquire(g);
  loop_run(&gas_regrid_stage, g->topology.level[0].count, fill_group, &root);
  gas_release(g);
  for (int level = 0; level < g->topology.finest && g->topology.level[level].count > 0; level++)
    gas_regrid(g, level, 1.0, ic);
  for (int level = topology_levels(&g->topology) - 2; level >= 0; level--)
    for (uint32_t i = 0; i < g->level[level].batch_count; i++)
      if (g->level[level].batch[i].fine.count > 0) gas_restrict_submit(g, level, i);
  message_wait();
}
