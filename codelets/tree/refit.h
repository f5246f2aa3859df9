/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The refit of a group, for the stages that have it: refit, and move, which drifts before. */
#ifndef PHOTONS_CODELETS_REFIT_H
#define PHOTONS_CODELETS_REFIT_H

#include <starpu.h>

#include "photons/runtime/gpu.h"
#include "photons/tree/short_range.h"

enum { REFIT_POSITION, REFIT_ACCELERATION, REFIT_TREE, REFIT_MASS, REFIT_NODE_MASS, REFIT_SLOTS };

/** The data of a refit. @param[out] data  [REFIT_SLOTS]. @return how many these are */
size_t refit_slots(const struct group *g, struct starpu_data_descr *data);
/** Fit the boxes of all nodes of a group to its particles, and sum their masses, if these differ: in parts, which are subtrees.
 * @param buffers  of refit_slots()
 * @param before   what a part does first with its particles first .. end - 1; NULL: nothing
 * @param context  of before() */
void refit_group(const struct short_range *s, const struct group *g, void *buffers[],
                 void (*before)(const void *context, uint32_t first, uint32_t end),
                 const void *context);
/** The same on a GPU, in its stream; in builds with CUDA alone. */
void refit_group_on_gpu(struct gpu *gpu, const struct short_range *s, const struct group *g,
                        void *buffers[]);

#endif
