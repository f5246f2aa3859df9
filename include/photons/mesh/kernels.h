/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The numeric kernels of the mesh. struct mesh_kernels is a table of them; each instruction set has
 * one. */
#ifndef PHOTONS_MESH_KERNELS_H
#define PHOTONS_MESH_KERNELS_H

#include "photons/mesh/mesh.h"
#include "photons/runtime/isa.h"

/** The table for the instruction set of isa_select(). */
const struct mesh_kernels *mesh_kernels_select(void);

#ifdef KERNEL_ISA
KERNEL_FUNCTION(mesh_kernels, deposit, mesh_deposit);
KERNEL_FUNCTION(mesh_kernels, patch_add, mesh_patch_add);
KERNEL_FUNCTION(mesh_kernels, read, mesh_read);
#endif

#endif
