/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stages of trees and of the short-range force as tasks, one task a group. */
#ifndef PHOTONS_TREE_CODELETS_H
#define PHOTONS_TREE_CODELETS_H

#include "photons/domain/domain.h"
#include "photons/tree/short_range.h"

void refit_submit(struct short_range *s, struct group *g);
void p2m_submit(struct short_range *s, struct group *g);
void m2m_submit(struct short_range *s, struct group *g);
void p2p_submit(struct short_range *s, struct group *g);
void m2l_submit(struct short_range *s, struct group *g);
void l2l_submit(struct short_range *s, struct group *g);
void l2p_submit(struct short_range *s, struct group *g);
/* walk and walk_fill are submitted by lists.h. */

/** Send and receive the multipoles of groups with neighbours on other ranks. Collective. */
void multipoles_transfer(struct short_range *s);
/** Kinds of messages, see MESSAGE_KINDS. */
enum { MESSAGE_MULTIPOLE = 2 };

#endif
