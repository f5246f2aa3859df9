/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sorts by the places of particles. */
#ifndef PHOTONS_TESTS_GPU_DOMAIN_SORT_H
#define PHOTONS_TESTS_GPU_DOMAIN_SORT_H

#include "tests/gpu/bench.h"

/** Sort a group on both. The GPU's cuts may miss the median by 2^-16 of a side, in small nodes 2^-14. Its
 * leaves must be as compact as the CPU's, except for a little more than that on each level.
 * @param[in,out] extent  sums of half widths of leaves: before, on the CPU, on the GPU */
void check_sort(const struct bench *b, const struct group *g, double extent[3]);
/* Cuts go through particles at the same place, which keep their order. There may be more leaves than
 * particles. Each node of the last level must have as many particles of each place as on cores. */
void check_sort_of_places(const struct bench *b);
/** Print how much the leaves have shrunk. */
void report_sort(const double extent[3]);

#endif
