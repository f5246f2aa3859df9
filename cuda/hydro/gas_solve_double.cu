/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The solvers in double precision. */
#include "cuda/hydro/sweep.cuh"

void gpu_gas_solve_double(const struct gpu_gas *g, double dt_dh, bool reversed, const void *blocks,
                          const struct heat_range *heat, void *cells, void *fluxes,
                          enum gpu_faces faces, void *mass, struct gas_fault *fault) {
  solve_in<double>(g, dt_dh, reversed, blocks, heat, cells, fluxes, faces, mass, fault);
}
