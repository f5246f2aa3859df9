/* SPDX-License-Identifier: GPL-3.0-or-later */
/* All kernels of one instruction set. KERNEL_NAME comes from the build, like KERNEL_ISA. */
#include "photons/runtime/kernels.h"

extern const struct kernels KERNEL(kernels);

const struct kernels KERNEL(kernels) = {
    .name = KERNEL_NAME,
    .fof = {KERNEL(fof_near_point), KERNEL(fof_near_box)},
    .fmm = {KERNEL(fmm_p2m), KERNEL(fmm_m2m), KERNEL(fmm_m2l), KERNEL(fmm_l2l), KERNEL(fmm_l2p)},
    .mesh = {KERNEL(mesh_deposit), KERNEL(mesh_patch_add), KERNEL(mesh_read)},
    .p2p = {.p2p = KERNEL(p2p)},
    .step = {.kick = KERNEL(kick), .drift = KERNEL(drift)},
    .walk = {.refit = KERNEL(refit), .walk = KERNEL(walk)},
};
