/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Trees that have objects in one halo in any output become one tree, as in Gadget-4 (Springel et al. 2021,
 * MNRAS 506, 2871, section 7.3): what points from subhalo to subhalo of a halo stays in a tree. */
#ifndef PHOTONS_TREE_JOIN_H
#define PHOTONS_TREE_JOIN_H

#include "photons/analysis/tree.h"

/** Two trees that are to be one. */
struct tree_bond {
  uint64_t a, b;
};

/** Bonds that this rank knows. */
struct tree_bonds {
  size_t count;
  struct tree_bond *bond;
};

/** Add the bonds between neighbours in the halos of an output. Collective.
 * @param tree  [o->count] of each object */
void tree_bonds_add(struct tree_bonds *b, const struct tree_objects *o, const uint64_t *tree);

/** Number the trees that remain when bonds join trees, by the lowest number among the trees of each.
 * Trees are dealt out evenly. Frees the bonds. Collective.
 * @param[in,out] trees  of the run
 * @return for each tree of this rank its new number; free() it */
uint64_t *tree_join(struct tree_bonds *b, uint64_t *trees);

#endif
