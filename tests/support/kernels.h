/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The kernel tables of all rooms, for the instruction set of isa_select(). */
#ifndef PHOTONS_TESTS_KERNELS_H
#define PHOTONS_TESTS_KERNELS_H

#include "photons/mesh/kernels.h"
#include "photons/runtime/isa.h"
#include "photons/tree/kernels.h"

struct kernels {
  const char *name;
  struct fmm_operators fmm;
  struct p2p_kernels p2p;
  struct walk_kernels walk;
  struct mesh_kernels mesh;
};

static inline struct kernels kernels_select(void) {
  const struct tree_kernels *tree = tree_kernels_select();
  return (struct kernels){isa_name(isa_select()), tree->fmm, tree->p2p, tree->walk,
                          *mesh_kernels_select()};
}

#endif
