/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The targets of a group: those of its particles whose short-range force is computed. With global
 * steps these are all particles, and the targets' data are the group's own. With block time steps
 * they are the active ones, whose own step ends now: they are packed into arrays of their own, in the
 * order of the group, under a tree of their own, so that no kernel meets passive targets. The sources
 * are always all particles. */
#ifndef PHOTONS_TREE_TARGETS_H
#define PHOTONS_TREE_TARGETS_H

#include <starpu.h>
#include <stdbool.h>
#include <stdint.h>

struct short_range;
struct group;

struct targets {
  uint32_t count;
  unsigned depth; /**< of their tree */
  bool packed;    /**< they have data of their own */
  starpu_data_handle_t position, acceleration, tree; /**< as those of a group */
  starpu_data_handle_t index; /**< packed: where each stands in its group; NULL otherwise */
};

/** Make all particles of a group its targets. */
void targets_all(struct short_range *s, const struct group *g);
/**
 * Make the active particles of a group its targets, and submit the task that packs them and fits
 * their tree.
 * @param top    particles of this rung and deeper ones are active
 * @param count  their number, at least 1
 */
void targets_pack(struct short_range *s, struct group *g, uint8_t top, uint32_t count);
/** Free the memory of packed targets, after their last task was submitted. */
void targets_release(struct targets *t);

#endif
