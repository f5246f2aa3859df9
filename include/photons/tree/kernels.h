/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The CPU kernels of trees and short-range forces, one table for each instruction set. */
#ifndef PHOTONS_TREE_KERNELS_H
#define PHOTONS_TREE_KERNELS_H

#include "photons/runtime/isa.h"
#include "photons/tree/fmm.h"
#include "photons/tree/p2p.h"
#include "photons/tree/walk.h"

struct tree_kernels {
  struct fmm_operators fmm;
  struct p2p_kernels p2p;
  struct walk_kernels walk;
};

/** The kernels for isa_select(). */
const struct tree_kernels *tree_kernels_select(void);

#ifdef KERNEL_ISA
KERNEL_FUNCTION(fmm_operators, p2m, fmm_p2m);
KERNEL_FUNCTION(fmm_operators, m2m, fmm_m2m);
KERNEL_FUNCTION(fmm_operators, m2l, fmm_m2l);
KERNEL_FUNCTION(fmm_operators, l2l, fmm_l2l);
KERNEL_FUNCTION(fmm_operators, l2p, fmm_l2p);
KERNEL_FUNCTION(fmm_operators, m2l_potential, fmm_m2l_potential);
KERNEL_FUNCTION(fmm_operators, l2p_potential, fmm_l2p_potential);
KERNEL_FUNCTION(p2p_kernels, p2p, p2p);
KERNEL_FUNCTION(p2p_kernels, potential, p2p_potential);
KERNEL_FUNCTION(p2p_kernels, pair_rates, pair_rates);
KERNEL_FUNCTION(walk_kernels, pack, pack);
KERNEL_FUNCTION(walk_kernels, refit, refit);
KERNEL_FUNCTION(walk_kernels, join, join);
KERNEL_FUNCTION(walk_kernels, walk, walk);
#endif

#endif
