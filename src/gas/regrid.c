/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The topology follows the flow: groups of a level come and go, and their cells move to new
 * batches. */
#include <stdlib.h>
#include <string.h>

#include "migrate.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/gas/blocks.h"
#include "photons/gas/codelets.h"
#include "photons/gas/evolve.h"
#include "photons/gas/particles.h"
#include "photons/runtime/handle.h"
#include "photons/runtime/loop.h"
#include "photons/runtime/message.h"

LOOP_STAGE(gas_regrid, 0x999933, .family = "gas");

/** The flags of a level. */
static void find_flags(struct gas *g, int level, double weight) {
  const uint32_t end = gas_first_batch(g, level, comm_rank() + 1);
  gas_send_cells_around(g, level);
  for (uint32_t i = gas_first_batch(g, level, comm_rank()); i < end; i++)
    gas_flag_submit(g, level, i, gas_prepare_submit(g, level, i, weight));
  message_wait();
  message_begin();
  gas_require_sound(g);
  gas_gather(g, level, g->level[level].flags, sizeof *g->level[level].flags);
}

/** Cells of a level on their way into new batches. */
struct move {
  const struct gas *gas;
  int level;
  uint32_t first;         /* own group */
  const char *const *old; /* [own group] where its cells are; NULL, or NULL of a group: it is new */
  const struct gas_ic *ic;
};

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

/** Fill own group i of the level: from its old cells, or anew. */
static void fill_group(void *context, uint32_t i) {
  const struct move *m = context;
  const struct gas *g = m->gas;
  const uint32_t group = m->first + i;
  void *cells = gas_cells(g, m->level, group);
  if (g->empty)
    memset(cells, 0, gas_group_bytes(g));
  else if (m->old && m->old[i])
    memcpy(cells, m->old[i], gas_group_bytes(g));
  else if (m->ic && gas_ic_reaches(m->ic, m->level))
    gas_ic_fill(m->ic, g, m->level, group, cells);
  else
    refine_group(g, m->level, group, cells);
}

/** Take over the cells of a level, or give them back; the other levels' may stay on GPUs. */
static void hold_level(const struct gas *g, int level, enum starpu_data_access_mode mode,
                       bool hold) {
  for (uint32_t i = 0; level >= 0 && i < g->level[level].batch_count; i++) {
    const starpu_data_handle_t cells = g->level[level].batch[i].handle[g->level[level].now];
    if (cells && hold)
      handle_acquire(cells, mode);
    else if (cells)
      starpu_data_release(cells);
  }
}

/** Fill all groups of a level; new ones from the next coarser level. */
static void fill_level(struct gas *g, struct move *m) {
  const uint32_t end = gas_first_group(g, m->level, comm_rank() + 1);
  m->first = gas_first_group(g, m->level, comm_rank());
  hold_level(g, m->level - 1, STARPU_R, true);
  hold_level(g, m->level, STARPU_W, true);
  loop_run(&gas_regrid_stage, end - m->first, fill_group, m);
  hold_level(g, m->level, STARPU_W, false);
  hold_level(g, m->level - 1, STARPU_R, false);
}

/** Give a level new groups. */
static void replace(struct gas *g, int level, uint64_t *keys, uint32_t count,
                    const struct gas_ic *ic) {
  gas_require_memory(g, level, count);
  struct old_level old = old_level_take(g, level);
  topology_replace(&g->topology, level, keys, count);
  gas_make_level(g, level);
  gas_link(g, level - 1, level + 1);
  const char **cells = old_level_migrate(&old, g, level);
  gas_send_cells(g, level - 1); /* new groups are interpolated from these */
  message_wait();
  fill_level(g, &(struct move){.gas = g, .level = level, .old = cells, .ic = ic});
  free(cells);
  old_level_free(&old);
}

static bool same_keys(const struct gas_tree_level *l, const uint64_t *keys, uint32_t count) {
  return l->count == count && (count == 0 || memcmp(l->key, keys, count * sizeof *keys) == 0);
}

bool gas_regrid(struct gas *g, int level, double weight, const struct gas_ic *ic) {
  uint32_t count;
  find_flags(g, level, weight);
  uint64_t *keys = topology_refined(&g->topology, level, g->level[level].flags, &count);
  const bool same = same_keys(&g->topology.level[level + 1], keys, count);
  if (same)
    free(keys);
  else
    replace(g, level + 1, keys, count, ic);
  return !same;
}

/** Give all particles their groups, and these the densities that flags compare. */
static void place_particles(struct gas *g) {
  if (!g->particles) return;
  gas_particles_settle(g, 0, g->topology.finest);
  gas_particles_deposit(g, 0);
}

void gas_begin(struct gas *g, const struct gas_ic *ic) {
  message_begin();
  fill_level(g, &(struct move){.gas = g, .level = 0, .ic = ic});
  for (int level = 0; level < g->topology.finest && g->topology.level[level].count > 0; level++) {
    place_particles(g);
    gas_regrid(g, level, 1.0, ic);
  }
  place_particles(g);
  for (int level = topology_levels(&g->topology) - 2; level >= 0 && !g->empty; level--)
    gas_restrict_level(g, level);
  message_wait();
}
