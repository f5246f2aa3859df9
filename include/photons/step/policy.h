/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The policy when to sort particles within their groups and when to rebuild the domain. As
 * particles move, the boxes of tree nodes grow and walks and direct sums become more expensive; but
 * a sort costs time, too. The policy depends on counted work, never on measured time, so that
 * results do not depend on timing. */
#ifndef PHOTONS_STEP_POLICY_H
#define PHOTONS_STEP_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#include "photons/domain/domain.h"
#include "photons/tree/short_range.h"

struct parameters;

/** The state of the policy, which checkpoints contain. Work is in nanoseconds of one core,
 * roughly. */
struct sort_policy {
  int64_t steps_since_sort, steps_since_rebuild;
  double sort_debt;    /**< extra work, since the last sort, of trees that are not freshly sorted */
  double fresh_work;   /**< work of the step after the last sort */
  double loosening;    /**< growth of a step's work from step to step */
  double spread;       /**< volume within reach of the groups, summed, r_cut^3: now, */
  double fresh_spread; /**< and after the last rebuild */
};

/** What to do in the next step, at the drifted positions. */
struct sort_choice {
  bool rebuild, sort;
};
/** Choose what to do in the next step; `particles` is N of the run. */
struct sort_choice sort_policy_choose(const struct sort_policy *s, const struct parameters *p,
                                      size_t particles);
/** Record what was done. */
void sort_policy_done(struct sort_policy *s, struct sort_choice choice);
/** Record the work of the last forces on all particles, and the boxes of the groups.
 * @param forces  how often the step did this work: 1, or more with block time steps */
void sort_policy_account(struct sort_policy *s, const struct domain *d,
                         const struct work_counts *work, double forces);

#endif
