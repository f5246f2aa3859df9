/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of tree kernels of one instruction set. */
#include "photons/tree/kernels.h"

extern const struct tree_kernels KERNEL(tree_kernels);
const struct tree_kernels KERNEL(tree_kernels) = {
    .fmm = {KERNEL(fmm_p2m), KERNEL(fmm_m2m), KERNEL(fmm_m2l), KERNEL(fmm_l2l), KERNEL(fmm_l2p),
            KERNEL(fmm_m2l_potential), KERNEL(fmm_l2p_potential)},
    .p2p = {.p2p = KERNEL(p2p),
            .potential = KERNEL(p2p_potential),
            .pair_rates = KERNEL(pair_rates)},
    .walk = {.pack = KERNEL(pack),
             .refit = KERNEL(refit),
             .join = KERNEL(join),
             .walk = KERNEL(walk)},
};
