/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The targets of a group: those of its particles whose short-range force is computed. With global
 * steps these are all particles, and the targets' data are the group's own. With block time steps
 * they are the active ones, whose own step ends now: they are packed into arrays of their own, in
 * the order of the group, so that no kernel meets passive targets. Their tree has the upper levels
 * of the group's tree, with boxes around the active particles alone: its leaves hold any number of
 * them (tree.h). The sources are always all particles. */
#ifndef PHOTONS_TREE_TARGETS_H
#define PHOTONS_TREE_TARGETS_H

#include <starpu.h>
#include <stdbool.h>
#include <stdint.h>

struct short_range;
struct group;

struct targets {
  uint32_t count;
  unsigned depth;                                    /**< of their tree */
  starpu_data_handle_t position, acceleration, tree; /**< as those of a group */
  bool tide;   /**< the accelerations are followed by the tides (p2p.h), for block time steps */
  bool rates;  /**< the accelerations are followed by the rates of pairs (pair_rates.h) */
  bool packed; /**< otherwise they are all particles of the group */
  /** Packed: where each stands in its group, and the table of leaves (tree.h). */
  starpu_data_handle_t index, first;
};
/** The slot of the table of leaves in a task's data; and the table inside the task, NULL if targets
 * are not packed. Such targets have another handle in the slot. */
static inline struct starpu_data_descr targets_slot(const struct targets *t) {
  return (struct starpu_data_descr){t->packed ? t->first : t->tree, STARPU_R};
}
static inline const uint32_t *targets_first(const struct targets *t, void *buffer) {
  return t->packed ? (const uint32_t *)STARPU_VECTOR_GET_PTR(buffer) : NULL;
}
/** Depth of the tree of n packed targets, of which a leaf has at most so many in the mean.
 * @param depth  of the group's tree */
unsigned targets_depth(uint32_t n, unsigned depth, uint32_t leaf);
/** The same where they are targets of a group of this short-range force. */
unsigned targets_packed_depth(const struct short_range *s, uint32_t n);

/** Make all particles of a group its targets.
 * @param apart  their forces, and in periodic boxes their tides, do not overwrite the accelerations of
 *         the group */
void targets_all(struct short_range *s, const struct group *g, bool apart);
/**
 * Make the active particles of a group its targets, and submit the task that packs them and fits
 * their tree.
 * @param top    particles of this rung and deeper ones are active
 * @param count  their number, at least 1
 */
void targets_pack(struct short_range *s, struct group *g, uint8_t top, uint32_t count);
/** Free the memory of a group's targets that is not the group's, after their last task was
 * submitted. */
void targets_release(struct short_range *s, const struct group *g);

#endif
