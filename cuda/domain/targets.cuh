/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Size of the P2P target block. Tuned by measurement: a larger block uses one source list for more
 * targets, a smaller one computes fewer pairs beyond the cutoff. */
#ifndef PHOTONS_CUDA_TARGETS_CUH
#define PHOTONS_CUDA_TARGETS_CUH

#ifndef P2P_TARGETS_MOST
#define P2P_TARGETS_MOST 64
#endif

/* A warp can have a quarter of a target block: a node so many levels below. The sort ends there. */
enum { QUARTER_LEVELS = 2 };

#endif
