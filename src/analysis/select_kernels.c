/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Chooses the friends-of-friends kernels of an instruction set. */
#include "build_config.h"
#include "photons/analysis/kernels.h"

KERNEL_TABLES(struct fof_kernels, fof_kernels)
