/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What homes have of batches of other homes (gas_level.seen). */
#ifndef PHOTONS_SEEN_BATCHES_H
#define PHOTONS_SEEN_BATCHES_H

#include "photons/amr/gas.h"

/** Let homes have of batches of a level what they had of those of the same numbers of the level that was taken out. */
void seen_reuse(struct gas *g, int level, struct gas_level *old);
/** Let homes have what a level's messages bring. What is there already stays. */
void seen_make(const struct gas *g, int level);
void seen_free(struct seen_batches *s);

#endif
