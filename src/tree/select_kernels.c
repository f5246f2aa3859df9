/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "build_config.h"
#include "photons/tree/kernels.h"

KERNEL_TABLES(struct tree_kernels, tree_kernels)
