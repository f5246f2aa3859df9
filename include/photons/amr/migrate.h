/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A level whose groups are being replaced: its old cells, which go to the ranks that have the
 * groups from now on. */
#ifndef PHOTONS_AMR_MIGRATE_H
#define PHOTONS_AMR_MIGRATE_H

#include "photons/amr/codelets.h"

struct old_level {
  struct gas_level level;
  uint32_t count;                /* groups of all ranks */
  uint64_t *key;                 /* [own group], rising */
  starpu_data_handle_t received; /* cells of groups that other ranks had */
};

/** Take a level out of the mesh. topology_replace() and gas_divide_level() follow. */
struct old_level old_level_take(struct gas *g, int level);
/** Let the new level have those of this rank's old batches whose groups are a batch of it, too:
 * with their data, which stay where they are, on GPUs for example. */
void old_level_keep(struct old_level *old, struct gas *g, int level);
/** Send cells to the new owners of their groups; collective. The host takes over batches with such
 * groups.
 * @return [own batch] from where those groups of this rank's new batches that are not kept get their
 * cells: the data of `old`. gas_keep_replaced() takes it over */
struct gas_moves *old_level_migrate(struct old_level *old, struct gas *g, int level);
/** No task uses the old cells any more. */
void old_level_free(struct old_level *old);

/** Keep an old level and the moves from it, of so many new batches, until gas_forget_replaced(): taken over.
 * There is one at most at a time. */
void gas_keep_replaced(struct gas *g, struct old_level old, struct gas_moves *moves,
                       uint32_t batches);
/** Bytes of all ranks' cells that gas_keep_replaced() has kept, at most. */
double gas_replaced_bytes(const struct gas *g);
/** No task runs any more that reads what gas_keep_replaced() has kept, if anything. */
void gas_forget_replaced(struct gas *g);

#endif
