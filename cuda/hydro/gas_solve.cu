/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The choice of the solver's precision. */
#include "cuda/hydro/gpu_hydro.h"

void gpu_gas_solve(const struct gpu_gas *g, double dt_dh, bool reversed, const void *blocks,
                   const struct heat_range *heat, void *cells, void *fluxes, enum gpu_faces faces,
                   void *mass, struct gas_fault *fault) {
  if (g->double_precision)
    gpu_gas_solve_double(g, dt_dh, reversed, blocks, heat, cells, fluxes, faces, mass, fault);
  else
    gpu_gas_solve_single(g, dt_dh, reversed, blocks, heat, cells, fluxes, faces, mass, fault);
}
