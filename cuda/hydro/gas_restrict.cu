/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Means of finer cells: restrict_group() of src/hydro/kernels/levels.h. */
#include "cuda/amr/real.cuh"
#include "cuda/amr/tables.cuh"
#include "cuda/hydro/gpu_hydro.h"

enum { RESTRICT_THREADS = 128 };

/** One thread a cell of a refined patch. */
template <typename real>
static __global__ void restrict_cells(uint32_t groups, uint32_t variables,
                                      const struct gas_links *links, const real *const *fine,
                                      real *cells) {
  const uint32_t thread = blockIdx.x * RESTRICT_THREADS + threadIdx.x;
  const uint32_t group = thread / GAS_GROUP_CELLS, cell = thread % GAS_GROUP_CELLS;
  if (group >= groups) return;
  const gas_link_t son = links[group].son[cell / GAS_PATCH_CELLS];
  if (son == NO_GROUP) return;
  const real *from = fine[son >> GAS_LINK_SHIFT] +
                     (size_t)(son & GAS_LINK_MASK) * variables * GAS_GROUP_CELLS;
  real *to = cells + (size_t)group * variables * GAS_GROUP_CELLS + cell;
  for (uint32_t q = 0; q < variables; q++)
    to[(size_t)q * GAS_GROUP_CELLS] = finer_mean(from + (size_t)q * GAS_GROUP_CELLS,
                                                 cell % GAS_PATCH_CELLS);
}

template <typename real>
static void restrict_in(const struct gpu_gas *g, const struct gas_links *links,
                        const char *const *fine, uint32_t batches, void *cells) {
  restrict_cells<<<blocks_for((uint64_t)g->groups * GAS_GROUP_CELLS, RESTRICT_THREADS),
                   RESTRICT_THREADS, 0, g->gpu->stream>>>(
      g->groups, gas_variables(&g->physics), links, upload_batches<real>(g, fine, batches),
      (real *)cells);
  gpu_launched("restrict");
}

void gpu_gas_restrict(const struct gpu_gas *g, const struct gas_links *links,
                      const char *const *fine, uint32_t batches, void *cells) {
  if (g->double_precision)
    restrict_in<double>(g, links, fine, batches, cells);
  else
    restrict_in<float>(g, links, fine, batches, cells);
}
