/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The choice of the tree kernels for the processor's instruction set. */
#include "build_config.h"
#include "photons/tree/kernels.h"

KERNEL_TABLES(struct tree_kernels, tree_kernels)
