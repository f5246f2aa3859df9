/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "build_config.h"
#include "photons/analysis/kernels.h"

KERNEL_TABLES(struct fof_kernels, fof_kernels)
