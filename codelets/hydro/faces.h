/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The fluxes that a step of a batch keeps on a GPU, for the stages that solve: gas_advance and gas_solve. */
#ifndef PHOTONS_CODELETS_HYDRO_FACES_H
#define PHOTONS_CODELETS_HYDRO_FACES_H

#include "codelets/amr/batches.h"
#include "cuda/hydro/gpu_hydro.h"

/** gas_fix reads fluxes of batches beside refined patches, and the coarser level gets those through sides of groups. */
static inline enum gpu_faces faces_kept(const struct batch_argument *a) {
  if (batch_of(a)->fine.count > 0) return GPU_FACES_ALL;
  return a->level > 0 ? GPU_FACES_OUTER : GPU_FACES_NONE;
}

#endif
