/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Targets of a block of p2p, and where sort ends. Tuned: more share one list of sources, fewer waste
 * fewer pairs. */
#ifndef PHOTONS_CUDA_TARGETS_CUH
#define PHOTONS_CUDA_TARGETS_CUH

#ifndef P2P_TARGETS_MOST
#define P2P_TARGETS_MOST 64
#endif

#endif
