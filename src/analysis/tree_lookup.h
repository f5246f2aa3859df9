/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Questions to other ranks: which object has a particle, and what is known of an object. All
 * functions are collective; the arrays that they return are free()d. */
#ifndef PHOTONS_TREE_LOOKUP_H
#define PHOTONS_TREE_LOOKUP_H

#include "photons/analysis/tree.h"

/** @param id  [count] of particles; freed, or returned
 * @return [count] the object that each of these particles is a member of, or TREE_NONE */
uint64_t *tree_lookup(const struct tree_objects *o, size_t count, uint64_t *id);

/** Values of things that are dealt out evenly.
 * @param all    things of the run
 * @param mine   value of each thing of this rank
 * @param index  [count] things, or TREE_NONE
 * @return [count] the values of these things, TREE_NONE for TREE_NONE */
uint64_t *tree_fetch(size_t all, const uint64_t *mine, size_t count, const uint64_t *index);

#endif
