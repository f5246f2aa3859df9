/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stages on active particles, which may be all. */
#ifndef PHOTONS_TESTS_GPU_RATES_ACTIVE_H
#define PHOTONS_TESTS_GPU_RATES_ACTIVE_H

#include "tests/gpu/tree/pack.h"

/** A group with active particles. */
struct active_group {
  const struct group *g;
  struct packed_set p;
  uint32_t *offset; /* on the GPU */
  struct interaction_list near, far;
  struct walk_result *result;
  uint64_t *pairs;
};

/** Queue a pass of the walk.
 * @param fill  the second pass */
void walk_active(const struct bench *b, struct gpu *gpu, struct active_group *a, bool fill);
/** Memory for the lists that the first pass of the walk has measured. */
void make_lists(struct active_group *a);
/** Queue the direct sums. */
void p2p_active(const struct bench *b, struct gpu *gpu, struct active_group *a);
/** Seconds since starpu_timing_now() gave `begin`, after all work of the GPU. */
double since(double begin);

#endif
