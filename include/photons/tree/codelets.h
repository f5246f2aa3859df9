/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stages of trees and of the short-range force. Each function submits the task of one group; the
 * file of the same name under codelets/tree/ describes the task. */
#ifndef PHOTONS_TREE_CODELETS_H
#define PHOTONS_TREE_CODELETS_H

#include "photons/domain/domain.h"
#include "photons/tree/short_range.h"

void refit_submit(struct short_range *s, struct group *g);
void p2m_submit(struct short_range *s, struct group *g);
/** The multipoles of nodes above groups (upper.h).
 * @param own  of those with groups of this rank alone; else of the others, after multipoles_transfer() */
void m2m_upper_submit(struct short_range *s, bool own);
void p2p_submit(struct short_range *s, struct group *g);
void m2l_submit(struct short_range *s, struct group *g);
void l2l_submit(struct short_range *s, struct group *g);
void l2p_submit(struct short_range *s, struct group *g);
/** After p2p, while short_range.keep_near. */
void pair_rates_submit(struct short_range *s, struct group *g);
/* lists.h submits the stages walk and walk_fill. */

/* The potential of all particles of a group: potential_submit(), with expansions m2l_potential, l2l
 * and l2p_potential, at last potential_sum_submit(). */
void potential_submit(struct short_range *s, struct group *g);
void m2l_potential_submit(struct short_range *s, struct group *g);
void l2p_potential_submit(struct short_range *s, struct group *g);
/** @param[out] of_particles  [count] the potential of each particle, written when the task has
 *                            ended; NULL: not wanted */
void potential_sum_submit(struct short_range *s, struct group *g, float *of_particles);

/** Send and receive the multipoles of ghosts. Collective. */
void multipoles_transfer(struct short_range *s);
/** Kinds of messages, see message_transfer(). */
enum { MESSAGE_MULTIPOLE = 2 };

#endif
