/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What sweeps of all variables have in common. */
#ifndef PHOTONS_CUDA_HYDRO_SWEEP_OF_CUH
#define PHOTONS_CUDA_HYDRO_SWEEP_OF_CUH

#include "cuda/amr/real.cuh"

enum {
  SWEEP_THREADS = 128,
  ROW_THREADS = 64,
  ROW_ROOM = GAS_BLOCK_SIDE + 1,
  FACES_OF_COLUMN = GAS_GROUP_SIDE + 1
};

/** Which mass fluxes sweeps keep: none; those through faces of the groups' own cells, for gravity's work; or
 * those of all columns, for variables that the gas carries. */
enum mass_kept { MASS_NONE, MASS_OWN, MASS_ALL };

/** One sweep. Cells are [group][variable][z][y][x]; the last sweep writes groups. */
template <typename real> struct sweep {
  constants<real> c;
  real dt_dh;
  uint32_t groups;
  int n[3]; /* cells along x, y, z before the sweep */
  bool last;
  const real *from;
  real *to, *fluxes;
  uint32_t faces; /* bits: of face 0, 1 and 2 of store_face() the fluxes are kept */
  uint32_t
      *fault; /* [group] the first cell that is not physical after the last sweep, inverted; or 0 */
  uint32_t *first_order; /* [group] faces of its cells that got fluxes of first order */
  const real *blocks;    /* cells before the first sweep */
  real change;           /* of is_cold_flow() */
  uint32_t variables;    /* of a cell; the first ones are the solver's */
  real *mass; /* MASS_ALL: [group][FACES_OF_COLUMN][column]; MASS_OWN: of the first group's faces of the axis
                 among [group][GAS_MASS_FLUXES] */
  const uint32_t *shocks, *any_shocks; /* of gpu_gas_mark_shocks() */
};

/** The variable that is number q in a column: the momentum along the sweep comes first. */
template <int AXIS> INLINE constexpr int variable_of(int q) {
  return q >= 1 && q <= 3 ? 1 + (AXIS + q - 1) % 3 : q;
}

/** Where a column is in its group: group cells at 0 to 15 along the two other axes. */
struct across {
  int fast, slow;
};

INLINE bool in_group(struct across at) {
  return at.fast >= 0 && at.fast < GAS_GROUP_SIDE && at.slow >= 0 && at.slow < GAS_GROUP_SIDE;
}

/** Store V variables of face 0, 1 or 2 (the lower, middle and upper faces of patches) of a column.
 * @param variables  in `fluxes` */
template <int AXIS, int V, typename real>
INLINE void store_face(real *fluxes, uint32_t variables, struct across at, int face,
                       const real *flux) {
  const int fast = AXIS == 0 ? 1 : 0, slow = AXIS == 2 ? 1 : 2;
  if (!in_group(at)) return;
  const int sides = (at.fast / GAS_PATCH_SIDE) << fast | (at.slow / GAS_PATCH_SIDE) << slow;
  const int cell = at.fast % GAS_PATCH_SIDE + at.slow % GAS_PATCH_SIDE * GAS_PATCH_SIDE;
  for (int upper = 0; upper < 2; upper++) {
    if (face - upper < 0 || face - upper > 1) continue;
    const int patch = sides | (face - upper) << AXIS;
    real *to = fluxes +
               (size_t)((patch * GAS_FACES + 2 * AXIS + upper) * variables) * GAS_FACE_CELLS + cell;
#pragma unroll
    for (int q = 0; q < V; q++) to[variable_of<AXIS>(q) * GAS_FACE_CELLS] = flux[q];
  }
}

template <typename real> INLINE real *fluxes_of(const sweep<real> &s, uint32_t group) {
  return s.fluxes + (size_t)group * GAS_PATCHES * GAS_FACES * s.variables * GAS_FACE_CELLS;
}

#endif
