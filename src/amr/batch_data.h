/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The data of a batch, as StarPU has them. */
#ifndef PHOTONS_BATCH_DATA_H
#define PHOTONS_BATCH_DATA_H

#include "photons/amr/gas.h"

/** Both cells; those that are there already stay. */
void batch_make_cells(const struct gas *g, struct gas_batch *b);
/* The batch has none of these yet. */
void batch_make_sides(const struct gas *g, struct gas_batch *b);
void batch_make_potentials(const struct gas *g, struct gas_batch *b);
void batch_make_shares(const struct gas *g, struct gas_batch *b);
void batch_make_matter(const struct gas *g, struct gas_batch *b);
/** All data of an own batch. Some may be there: gas_reuse_data(). */
void batch_make(const struct gas *g, struct gas_batch *b);

/** @param i  which of the two cells */
void batch_drop_cells(struct gas_batch *b, int i);
void batch_drop_all_but_cells(struct gas_batch *b);
void batch_drop(struct gas_batch *b);

#endif
