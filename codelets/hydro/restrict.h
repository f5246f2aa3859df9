/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The means of finer cells, for the stages that give them to refined patches: gas_restrict and gas_fix. */
#ifndef PHOTONS_CODELETS_HYDRO_RESTRICT_H
#define PHOTONS_CODELETS_HYDRO_RESTRICT_H

#include <stdlib.h>

#include "codelets/amr/batches.h"
#include "cuda/hydro/gpu_hydro.h"

/** Let refined patches of a batch have the means of the finer cells that its home has.
 * @param cells  buffer of the batch's cells
 * @param fine  buffers of the finer cells, in the order of gas_batch.sons */
void restrict_batch_cpu(const struct batch_argument *a, void *cells, void *fine[]);

/** The same on a GPU; inline, since programs without CUDA use no function of a GPU.
 * @param links  buffer of the batch's links */
static inline void restrict_batch_gpu(struct gpu *gpu, const struct batch_argument *a, void *cells,
                                      void *fine[], void *links) {
  const uint32_t sons = batch_of(a)->sons.count;
  const char **finer = slots_addresses(fine, 0, sons);
  const struct gpu_gas g = gpu_gas_of(gpu, a);
  gpu_gas_restrict(&g, VECTOR(const struct gas_links, links), finer, sons, VECTOR(void, cells));
  free(finer);
}

#endif
