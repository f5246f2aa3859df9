/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Acceleration beside refined patches, border() of src/potential/kernels/gravity.h. */
#include "cuda/amr/tables.cuh"
#include "cuda/potential/laplacian.cuh"
#include "photons/potential/stress.h"

template <typename real> INLINE void kick_cell(double velocity, int axis, real *u) {
  const real change = (real)velocity;
  real *momentum = u + (GAS_MOMENTUM_X + axis) * GAS_GROUP_CELLS;
  u[GAS_ENERGY * GAS_GROUP_CELLS] += change * (*momentum + (real)0.5 * *u * change);
  *momentum += *u * change;
}

/** One block a patch, one thread a cell of a face; faces follow each other, because cells at the edges of a patch
 * are beside two or three of them. */
template <typename real>
static __global__ void __launch_bounds__(GAS_FACE_CELLS)
    border(uint32_t variables, struct border_kick kick, const struct gas_links *links,
           const struct poisson_share *const *finer, const double *wide, real *cells) {
  const int patch = (int)(blockIdx.x % GAS_PATCHES), i = (int)threadIdx.x;
  const size_t group = blockIdx.x / GAS_PATCHES;
  for (int face = 0; face < GAS_FACES; face++) {
    const gas_link_t link = links[group].finer[patch][face];
    if (link == NO_GROUP) continue; /* the same for all threads of the block */
    const struct poisson_share *share = finer[link >> GAS_LINK_SHIFT] + (link & GAS_LINK_MASK);
    const struct stress_face f = stress_face_of(face);
    const int side = face ^ 1;
    int cell[3], at[3];
    at[f.axis] = f.upper ? GAS_PATCH_SIDE - 1 : 0;
    at[f.along[0]] = i % GAS_PATCH_SIDE;
    at[f.along[1]] = i / GAS_PATCH_SIDE;
    for (int c = 0; c < 3; c++) cell[c] = GAS_PATCH_SIDE * (patch >> c & 1) + at[c];
    const double(*stress)[GAS_FACE_CELLS] = kick.closing ? share->closing[side]
                                                         : share->stress[side];
    const struct finer_face of_finer = {share->slope[side][i],
                                        {stress[0][i], stress[1][i], stress[2][i]}};
    real *u = cells + (group * variables * GAS_PATCHES + patch) * GAS_PATCH_CELLS +
              (at[2] * 8 + at[1]) * 8 + at[0];
    double pull[3];
    border_pull(wide + group * WIDE_CELLS + stress_place(cell), &f, &of_finer, kick.background,
                kick.source * (double)*u, pull);
    kick_cell(kick.factor * pull[0], f.axis, u);
    kick_cell(kick.factor * pull[1], f.along[0], u);
    kick_cell(kick.factor * pull[2], f.along[1], u);
    __syncthreads();
  }
}

template <typename real>
static void border_in(const struct gpu_gas *g, const struct border_kick *kick,
                      const struct gas_links *links, const char *const *shares, uint32_t batches,
                      const double *wide, void *cells) {
  border<<<g->groups * GAS_PATCHES, GAS_FACE_CELLS, 0, g->gpu->stream>>>(
      gas_variables(&g->physics), *kick, links,
      upload_batches<struct poisson_share>(g, shares, batches), wide, (real *)cells);
  gpu_launched("border");
}

void gpu_gas_border(const struct gpu_gas *g, const struct border_kick *kick,
                    const struct gas_links *links, const char *const *shares, uint32_t batches,
                    const double *wide, void *cells) {
  if (g->double_precision)
    border_in<double>(g, kick, links, shares, batches, wide, cells);
  else
    border_in<float>(g, kick, links, shares, batches, wide, cells);
}
