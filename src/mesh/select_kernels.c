/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Chooses the mesh kernels of an instruction set. */
#include "build_config.h"
#include "photons/mesh/kernels.h"

KERNEL_TABLES(struct mesh_kernels, mesh_kernels)
