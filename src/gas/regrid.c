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
  uint32_t count, *group; /* [count] groups to fill */
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

/** Whether a group is to be interpolated. */
static bool is_refined(const struct move *m, uint32_t group) {
  return !m->gas->empty && !(m->old && m->old[group - m->first]) &&
         !(m->ic && gas_ic_reaches(m->ic, m->level));
}

static void fill_group(void *context, uint32_t i) {
  const struct move *m = context;
  const struct gas *g = m->gas;
  const uint32_t group = m->group[i];
  void *cells = gas_cells(g, m->level, group);
  if (g->empty)
    memset(cells, 0, gas_group_bytes(g));
  else if (is_refined(m, group))
    refine_group(g, m->level, group, cells);
  else if (m->old && m->old[group - m->first])
    memcpy(cells, m->old[group - m->first], gas_group_bytes(g));
  else
    gas_ic_fill(m->ic, g, m->level, group, cells);
}

/** Take over the cells of those batches of a level that are marked, or give them back; all others
 * may stay on GPUs. */
static void hold_level(struct gas *g, int level, enum starpu_data_access_mode mode,
                       const bool *marked, bool hold) {
  for (uint32_t i = 0; level >= 0 && i < g->level[level].batch_count; i++) {
    const struct gas_batch *b = &g->level[level].batch[i];
    const starpu_data_handle_t cells = b->handle[g->level[level].now];
    if (!cells || !marked[i]) continue;
    if (hold) {
      handle_acquire(cells, mode);
      g->host_bytes += b->cell_bytes;
    } else {
      starpu_data_release(cells);
    }
  }
}

static bool *marks_of(const struct gas *g, int level) {
  return allocate(level < 0 ? 0 : g->level[level].batch_count, sizeof(bool), "batches of groups");
}

/** Mark the coarser batches from which a group is interpolated. */
static void mark_coarse(const struct gas *g, int level, uint32_t group, bool *marked) {
  const struct gas_tree_level *l = &g->topology.level[level];
  for (int n = 0; n < NEIGHBOURS; n++) {
    const uint32_t coarse = topology_patch_neighbour(&g->topology, level - 1,
                                                     l->group[group].father,
                                                     (int)(l->key[group] & 7), n)
                                .group;
    if (coarse != NO_GROUP) marked[coarse / g->batch] = true;
  }
}

/** Fill the groups of the batches that are marked: from their old cells, or anew. */
static void fill_batches(struct gas *g, struct move *m, const bool *marked) {
  const uint32_t end = gas_first_group(g, m->level, comm_rank() + 1);
  bool *coarse = marks_of(g, m->level - 1);
  m->first = gas_first_group(g, m->level, comm_rank());
  m->group = allocate(end - m->first, sizeof *m->group, "patch groups");
  for (uint32_t i = m->first; i < end; i++) {
    if (!marked[i / g->batch]) continue;
    m->group[m->count++] = i;
    if (is_refined(m, i)) mark_coarse(g, m->level, i, coarse);
  }
  hold_level(g, m->level - 1, STARPU_R, coarse, true);
  hold_level(g, m->level, STARPU_W, marked, true);
  loop_run(&gas_regrid_stage, m->count, fill_group, m);
  hold_level(g, m->level, STARPU_W, marked, false);
  hold_level(g, m->level - 1, STARPU_R, coarse, false);
  free(m->group);
  free(coarse);
}

/** Give a level new groups. Batches whose groups stay together keep their data. */
static void replace(struct gas *g, int level, uint64_t *keys, uint32_t count,
                    const struct gas_ic *ic) {
  gas_require_memory(g, level, count);
  struct old_level old = old_level_take(g, level);
  topology_replace(&g->topology, level, keys, count);
  gas_divide_level(g, level);
  old_level_keep(&old, g, level);
  bool *made = marks_of(g, level);
  for (uint32_t i = 0; i < g->level[level].batch_count; i++)
    made[i] = !g->level[level].batch[i].cells[0];
  gas_make_batches(g, level);
  gas_link(g, level - 1, level + 1);
  const char **cells = old_level_migrate(&old, g, level);
  gas_send_cells(g, level - 1); /* new groups are interpolated from these */
  message_wait();
  fill_batches(g, &(struct move){.gas = g, .level = level, .old = cells, .ic = ic}, made);
  free(made);
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
  bool *root = marks_of(g, 0);
  memset(root, true, g->level[0].batch_count * sizeof *root);
  message_begin();
  fill_batches(g, &(struct move){.gas = g, .level = 0, .ic = ic}, root);
  free(root);
  for (int level = 0; level < g->topology.finest && g->topology.level[level].count > 0; level++) {
    place_particles(g);
    gas_regrid(g, level, 1.0, ic);
  }
  place_particles(g);
  for (int level = topology_levels(&g->topology) - 2; level >= 0 && !g->empty; level--)
    gas_restrict_level(g, level);
  message_wait();
}
