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
#include "photons/step/rungs.h"
#include "photons/tree/short_range.h"

struct cosmology;
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

/** What isolated systems with block time steps renew, also within a base step: the trees, by a
 * sort; or groups and trees, by a rebuild. */
enum renewal { RENEW_TREES, RENEW_GROUPS, RENEWALS, RENEW_NOTHING = RENEWALS };
/** The policy of these renewals. The centre of a galaxy turns many times within a base step, so that
 * the policy decides before the forces of every step, by the rule of GOTHIC (Miki & Umemura 2017,
 * New Astron. 52, 65): what is renewed is what the extra work since the last renewal pays for. The
 * extra work of old groups is that of sorted trees over that of new groups. Which particles are
 * active differs from step to step. Work is therefore compared between steps in which particles of
 * the same rungs are active. Checkpoints contain the state. */
struct renewal_policy {
  struct renewal_state {
    double debt;       /**< extra work since the last renewal */
    double fresh_work; /**< of forces on all particles after a renewal; 0: not known */
    double looseness;  /**< work over that after a renewal, minus 1, of the last forces */
  } of[RENEWALS];
};
/** Work of an active particle after a renewal, by the coarsest active rung; 0: not known. It belongs
 * to one base step, at whose beginning it is 0. */
struct fresh_work {
  double of[RENEWALS][RUNGS];
};
/** What to renew before the next forces, on `active` particles of rung `top` and deeper. */
enum renewal renewal_policy_choose(const struct renewal_policy *s, const struct fresh_work *fresh,
                                   int top, uint64_t active, size_t particles);
/** Record a renewal. */
void renewal_policy_done(struct renewal_policy *s, struct fresh_work *fresh, enum renewal renewed);
/** Record the work of forces on `active` particles of rung `top` and deeper. */
void renewal_policy_account(struct renewal_policy *s, struct fresh_work *fresh, int top,
                            const struct work_counts *work, uint64_t active, size_t particles);

/**
 * Forces of the mesh in a base step of block time steps, a power of 2, which is 1 for the first mesh. A finer one acts at
 * least as often as it is finer, and so often that matter in halos crosses at most time.mesh_crossing of its cells from
 * kick to kick in a base step of time.max_dlna, but no more than four times as often as it is finer. The force of the mesh
 * changes where matter crosses the split radius, which is part of a cell: a halo with the density r^-2 has the same
 * speed V everywhere, and turns at V/r. Kicks of a leapfrog err by the square of their distance over this time. A mesh
 * becomes finer where particles in halos make it pay, so that the first mesh does without.
 * @param a      the scale factor
 * @param cells  a side; 0: there is no mesh, and the number is 1
 */
uint32_t mesh_policy_forces(const struct parameters *p, const struct cosmology *c, double a,
                            size_t particles, uint32_t cells);
/**
 * The cells a side of the mesh for the next steps: more of them where a finer mesh pays for itself.
 * Its short-range force has a shorter reach r_cut, and pairs fall about as r_cut where most of them
 * are, in halos with densities of r^-2.
 * @param p      gravity.pm_grid_most; 0: the mesh stays
 * @param a      the scale factor
 * @param cells  a side, now
 * @param pairs  that the last step computed
 */
uint32_t mesh_policy_choose(const struct parameters *p, const struct cosmology *c, double a,
                            size_t particles, uint32_t cells, double pairs);

/** What to do in the next step, at the drifted positions. */
struct sort_choice {
  bool rebuild, sort;
};
/** Choose what to do in the next step; `particles` is N of the run. */
struct sort_choice sort_policy_choose(const struct sort_policy *s, const struct parameters *p,
                                      size_t particles);
/** Record what was done. */
void sort_policy_done(struct sort_policy *s, struct sort_choice choice);
/** Express the spread in a new r_cut, after the boxes of the groups. */
void sort_policy_rescale(struct sort_policy *s, const struct domain *d);
/** Record the work of the last forces on all particles, and the boxes of the groups.
 * @param forces  how often the step did this work: 1, or more with block time steps */
void sort_policy_account(struct sort_policy *s, const struct domain *d,
                         const struct work_counts *work, double forces);

#endif
