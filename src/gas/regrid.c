/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The topology follows the flow: groups of a level come and go, and their cells move to new
 * batches. */
#include <stdlib.h>
#include <string.h>

#include "photons/amr/migrate.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/gas/create.h"
#include "photons/gas/evolve.h"
#include "photons/hydro/codelets.h"
#include "photons/hydro/hydro.h"
#include "photons/pm/particles.h"
#include "photons/potential/gravity.h"
#include "photons/runtime/engine.h"
#include "photons/runtime/handle.h"
#include "photons/runtime/loop.h"
#include "photons/runtime/message.h"

LOOP_STAGE(gas_fill, 0x99bb55, .family = "gas");

void gas_find_flags(struct gas *g, int first, int last, double weight) {
  for (int level = first; level <= last; level++) {
    gas_send_cells_around(g, level);
    for (uint32_t k = 0; k < g->level[level].own; k++)
      gas_flag_submit(g, level, g->level[level].turn[k], level == first ? weight : 1.0);
  }
  message_wait();
  if (!engine_gpu()) gas_forget_replaced(g);
  message_begin();
  gas_require_sound(g);
  for (int level = first; level <= last; level++) g->level[level].flagged = true;
}

/** Groups that the host fills. */
struct filling {
  const struct gas *gas;
  int level;
  uint32_t first; /* own group */
  const struct gas_ic *ic;
};

static void fill_group(void *context, uint32_t i) {
  const struct filling *f = context;
  void *cells = gas_cells(f->gas, f->level, f->first + i);
  if (f->gas->scheme.particles_alone)
    memset(cells, 0, gas_group_bytes(f->gas));
  else
    gas_ic_fill(f->ic, f->gas, f->level, f->first + i, cells);
}

/** Take over the cells of a level's own batches, to set all of them, or give them back. */
static void hold_level(struct gas *g, int level, bool hold) {
  const uint32_t end = gas_first_batch(g, level, comm_rank() + 1);
  for (uint32_t i = gas_first_batch(g, level, comm_rank()); i < end; i++) {
    const struct gas_batch *b = gas_batch(g, level, i);
    const starpu_data_handle_t cells = b->handle[g->level[level].now];
    if (hold)
      handle_acquire(cells, STARPU_W);
    else
      starpu_data_release(cells);
    g->counts.host_bytes += hold ? b->cell_bytes : 0;
  }
}

/** Fill all groups of a level from initial conditions, or with nothing where there is no gas. */
static void fill_level(struct gas *g, int level, const struct gas_ic *ic) {
  const uint32_t first = gas_first_group(g, level, comm_rank()),
                 end = gas_first_group(g, level, comm_rank() + 1);
  hold_level(g, level, true);
  loop_run(&gas_fill_stage, end - first, fill_group, &(struct filling){g, level, first, ic});
  hold_level(g, level, false);
}

/** Fill the batches that were made: groups that stay from their old cells, new ones by
 * interpolation. */
static void move_level(struct gas *g, int level, const bool *made, const struct gas_moves *moves) {
  const uint32_t begin = g->level[level].begin;
  gas_send_cells(g, level - 1); /* new groups are interpolated from these */
  for (uint32_t k = 0; k < g->level[level].own; k++) {
    const uint32_t i = g->level[level].turn[k];
    if (made[i - begin]) gas_regrid_submit(g, level, i, &moves[i - begin]);
  }
}

/** Drop what is needed no more of the level that was replaced, and of the one that was replaced before it: that is there
 * with GPUs alone, since on cores gas_find_flags() has dropped it.
 * @param busy  tasks have been submitted that make the new cells. On cores the new data get the memory of the old
 *              ones. GPUs wait for the new groups: StarPU drops data when GPUs have work. */
static void drop_old(struct gas *g, struct gas_level *old, bool busy) {
  if (busy != engine_gpu()) return;
  gas_keep_present_cells(old);
  gas_forget_replaced(g);
}

/** Begin to list the particles that may leave their groups because a level has got new ones. */
static void list_particles(struct gas *g, int level) {
  for (int l = level - 1; g->particles && l <= level; l++) gas_particles_list(g, l, level);
}

/** Give a level new groups. Batches whose groups stay together keep their data. Tasks that move the cells look at the
 * octree and at `moves` after this function's end. They have ended when a level is replaced next: gas_divide_level() has
 * cleared gas_level.flagged, so that gas_find_flags() waits for all tasks first. */
static void replace(struct gas *g, int level, const struct new_groups *new,
                    const struct gas_ic *ic) {
  gas_require_memory(g, level, new->all);
  struct old_level old = old_level_take(g, level);
  topology_replace(&g->topology, level, new->key, new->count);
  gas_divide_level(g, level);
  list_particles(g, level);
  old_level_keep(&old, g, level);
  const uint32_t own = g->level[level].own;
  bool *made = allocate(own, sizeof *made, "batches of groups");
  for (uint32_t i = 0; i < own; i++) made[i] = !g->level[level].batch[i].handle[0];
  gas_reuse_data(g, level, &old.level);
  drop_old(g, &old.level, false);
  gas_make_batches(g, level);
  if (gravity_divide_potentials(g))
    gas_link(g, 0, g->topology.finest);
  else
    gas_link(g, level - 1, level + 1);
  struct gas_moves *moves = old_level_migrate(&old, g, level);
  if (g->scheme.particles_alone || (ic && gas_ic_reaches(ic, level)))
    fill_level(g, level, ic);
  else
    move_level(g, level, made, moves);
  drop_old(g, &old.level, true);
  gas_keep_replaced(g, old, moves, own);
  free(made);
}

bool gas_regrid(struct gas *g, int level, double weight, const struct gas_ic *ic) {
  g->measured = false;
  if (!g->level[level].flagged) gas_find_flags(g, level, level, weight);
  g->level[level].flagged = false;
  const struct new_groups new = topology_refined(&g->topology, level, g->level[level].flags);
  if (new.changed)
    replace(g, level + 1, &new, ic);
  else
    free(new.key);
  return new.changed;
}

void gas_place_particles(struct gas *g, int level) {
  if (!g->particles) return;
  gas_particles_settle(g, level, g->topology.finest);
  gas_particles_deposit(g, level);
}

void gas_begin(struct gas *g, const struct gas_ic *ic) {
  message_begin();
  if (ic) gas_ic_share(ic, g);
  fill_level(g, 0, ic);
  for (int level = 0; level < g->topology.finest && g->topology.level[level].count > 0; level++) {
    gas_place_particles(g, 0);
    gas_regrid(g, level, 1.0, ic);
  }
  gas_place_particles(g, 0);
  hydro_restrict(g, 0);
  message_wait();
  gas_forget_replaced(g);
}
