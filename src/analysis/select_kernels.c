/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Chooses the kernels of friends of friends, halos and power spectra of an instruction set. */
#include "build_config.h"
#include "photons/analysis/kernels.h"

KERNEL_TABLES(struct fof_kernels, fof_kernels)
KERNEL_TABLES(struct halo_kernels, halo_kernels)
KERNEL_TABLES(struct power_kernels, power_kernels)
