/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The stages that move cells: to other ranks, and to new groups. What order tasks have to each other
 * follows from the batches that they read and write. */
#ifndef PHOTONS_AMR_CODELETS_H
#define PHOTONS_AMR_CODELETS_H

#include "photons/amr/gas.h"

/** Where the groups of a new batch get their cells. */
struct gas_moves {
  struct gas_move *move; /**< [group of the batch] its place in `data`; see links.h */
  uint32_t count;
  starpu_data_handle_t *data; /**< [count] cells of other groups */
};

/** Fill a new batch: copy the groups that stay, interpolate the others from the end of the next
 * coarser level's step. @param moves  must stay until the task has ended */
void gas_regrid_submit(struct gas *g, int level, uint32_t batch, const struct gas_moves *moves);

/** With GPUs, let the tasks that are submitted until gas_chain_end() be one, unless they are part of a chain already. They are
 * of one home, and no message is between them. @return whether a chain was begun, for gas_chain_end() */
bool gas_chain_begin(struct gas *g);
/** The same for tasks of all batches of levels: where one home has all of them. */
bool gas_chain_begin_levels(struct gas *g);
/** @param begun  what one of these has returned */
void gas_chain_end(struct gas *g, bool begun);

/** Kinds of messages, see MESSAGE_KINDS: MESSAGE_GAS + enum ghost_kind. */
enum { MESSAGE_GAS = 16 };
/** Send and receive all ghosts of a kind and level; for means, those of the level's groups. */
void gas_ghosts_submit(struct gas *g, int level, enum ghost_kind kind);
/** The same of GHOST_POTENTIALS, of one of the potentials of a level. */
void gas_potential_ghosts_submit(struct gas *g, int level, enum gas_potential which);

/** Send the present cells of a level to the ranks that need them as ghosts, if they have changed
 * since they were last sent; and those of the next coarser level, too. To be called before tasks
 * that fill blocks. */
void gas_send_cells(struct gas *g, int level);
void gas_send_cells_around(struct gas *g, int level);

#endif
