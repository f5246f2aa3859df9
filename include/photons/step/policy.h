/* SPDX-License-Identifier: GPL-3.0-or-later */
/* When to sort particles within their groups and when to cut the groups anew. Particles move, trees
 * loosen, and walks and direct sums get dearer; a sort costs time too. The choice goes by counted work,
 * never by measured time, so that results do not depend on timing. */
#ifndef PHOTONS_STEP_POLICY_H
#define PHOTONS_STEP_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#include "photons/domain/domain.h"
#include "photons/tree/short_range.h"

struct parameters;

/** What the choice depends on; a checkpoint keeps it. Work in nanoseconds of one core, roughly. */
struct sort_policy {
  int64_t steps_since_sort, steps_since_rebuild;
  double sort_debt;    /**< work lost to loosened trees since the last sort */
  double fresh_work;   /**< of the step after the last sort */
  double loosening;    /**< by how much the work of a step grows each step */
  double spread;       /**< volume that the groups reach, added up, in r_cut^3; now, */
  double fresh_spread; /**< and after the last rebuild */
};

/** What to do in the next step, at its drifted positions. */
struct sort_choice {
  bool rebuild, sort;
};
struct sort_choice sort_policy_choose(const struct sort_policy *s, const struct parameters *p,
                                      size_t particles);
/** Tell the policy what was done. */
void sort_policy_done(struct sort_policy *s, struct sort_choice choice);
/** Account for the forces just computed. */
void sort_policy_account(struct sort_policy *s, const struct domain *d,
                         const struct work_counts *work);

#endif
