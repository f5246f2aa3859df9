/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Totals over the groups of a level: the same bits on any ranks and any workers. */
#ifndef PHOTONS_AMR_TOTALS_H
#define PHOTONS_AMR_TOTALS_H

#include "photons/amr/gas.h"
#include "photons/runtime/exact_sums.h"

enum { LEVEL_SUMS = GAS_VARIABLES_MAX + 1, LEVEL_MOST = 2, LEVEL_COUNTS = 2 };

/** To what groups add; what the numbers mean says the function that adds. */
struct group_totals {
  struct exact_sum *sum;   /**< those that are asked for */
  double most[LEVEL_MOST]; /**< largest of numbers that are not negative */
  uint64_t count[LEVEL_COUNTS];
};

/** The totals of a level. A sum with terms that are not finite is NaN. */
struct level_totals {
  double sum[LEVEL_SUMS], most[LEVEL_MOST];
  uint64_t count[LEVEL_COUNTS];
};

/** Total the groups of a level: own groups on this rank's workers, then those of all ranks. Collective. No task may
 * be at work on what @p add reads.
 * @param sums  how many of LEVEL_SUMS there are
 * @param add   adds a group */
struct level_totals gas_total(const struct gas *g, int level, unsigned sums,
                              void (*add)(const struct gas *g, int level, uint32_t group,
                                          struct group_totals *t));

#endif
