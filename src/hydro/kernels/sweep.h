/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One time step of a group: sweeps along three axes. Each sweep takes the ghost cells of its axis
 * away: 22^3 cells become 16 x 22 x 22, then 16 x 16 x 22, then 16^3. */
#ifndef PHOTONS_HYDRO_KERNELS_SWEEP_H
#define PHOTONS_HYDRO_KERNELS_SWEEP_H

#include "carried.h"
#include "ppm.h"
#include "rtvd.h"
#include "shocks.h"

/** An array of cells, [variable][z][y][x], with n cells along x, y, z. */
struct cells {
  real *u;
  unsigned n[3];
};

INLINE size_t cells_count(const struct cells *a) { return (size_t)a->n[0] * a->n[1] * a->n[2]; }

/** How a sweep's columns lie in an array: `outer` sets of `inner` columns. */
struct columns {
  unsigned outer, inner;
  size_t outer_step; /**< from one set to the next */
  size_t inner_step; /**< from one column to the next */
  size_t along;      /**< from one cell of a column to the next */
};

INLINE struct columns columns_of(const struct cells *a, int axis) {
  const size_t row = a->n[0], plane = row * a->n[1];
  if (axis == 0) return (struct columns){1, a->n[1] * a->n[2], 0, row, 1};
  if (axis == 1) return (struct columns){a->n[2], a->n[0], plane, 1, row};
  return (struct columns){1, (unsigned)plane, 0, 1, plane};
}

/* The variable that is number q in a column: the momentum along the sweep comes first. */
INLINE unsigned variable_of(int axis, unsigned q) {
  return q >= 1 && q <= 3 ? 1 + ((unsigned)axis + q - 1) % 3 : q;
}

/* Reads a variable of LANES columns. Those that are `ahead` of them come next: the loads of 22 places far
 * from each other would wait for memory. step: values from a cell in u to the next */
INLINE void load_column(const real *restrict from, size_t ahead, size_t along, size_t across,
                        real *restrict u, size_t step) {
  if (across == 1)
    for (unsigned i = 0; i < GAS_BLOCK_SIDE; i++) {
      __builtin_prefetch(from + i * along + ahead, 0, 2);
      copy_lanes(from + i * along, u + i * step);
    }
  else
    for (unsigned l = 0; l < LANES; l += 4)
      for (unsigned i = 0; i < GAS_BLOCK_SIDE; i += 4) { /* the last 4 begin at 18 */
        const unsigned first = i + 4 <= GAS_BLOCK_SIDE ? i : GAS_BLOCK_SIDE - 4;
        transpose4(from + l * across + first, across, u + first * step + l, step);
      }
}

INLINE void store_column(const real *restrict u, size_t step, real *restrict to, size_t along,
                         size_t across) {
  if (across == 1)
    for (unsigned i = 0; i < GAS_GROUP_SIDE; i++) copy_lanes(u + i * step, to + i * along);
  else
    for (unsigned l = 0; l < LANES; l += 4)
      for (unsigned i = 0; i < GAS_GROUP_SIDE; i += 4)
        transpose4(u + i * step + l, step, to + l * across + i, across);
}

INLINE void load_columns(unsigned variables, int axis, const real *restrict from, size_t ahead,
                         size_t stride, size_t along, size_t across, column_cell *restrict u) {
  for (unsigned q = 0; q < variables; q++)
    load_column(from + variable_of(axis, q) * stride, ahead, along, across, u[0][q], COLUMN_STEP);
}

INLINE void store_columns(unsigned variables, int axis, const column_cell *restrict u,
                          real *restrict to, size_t stride, size_t along, size_t across) {
  for (unsigned q = 0; q < variables; q++)
    store_column(u[0][q], COLUMN_STEP, to + variable_of(axis, q) * stride, along, across);
}

INLINE void update_columns(unsigned variables, real dt_dh, const column_cell *restrict u,
                           const column_cell *restrict flux, column_cell *restrict after) {
  for (unsigned i = 0; i < GAS_GROUP_SIDE; i++)
    for (unsigned q = 0; q < variables; q++)
#pragma omp simd
      for (int l = 0; l < LANES; l++)
        after[i][q][l] = after_step(u[i + GAS_GHOSTS][q][l], dt_dh, flux[i][q][l],
                                    flux[i + 1][q][l]);
}

/* The fluxes at faces 0, 8 and 16 of the columns: the faces of patches. */
INLINE void store_faces(unsigned variables, int axis, const column_cell *restrict flux,
                        real *restrict faces, size_t plane) {
  for (unsigned f = 0; f < 3; f++)
    for (unsigned q = 0; q < variables; q++)
      copy_lanes(flux[f * GAS_PATCH_SIDE][q], faces + (3 * variable_of(axis, q) + f) * plane);
}

/* The mass fluxes of the columns. */
INLINE void store_mass(const column_cell *restrict flux, real *restrict mass, size_t plane) {
  for (unsigned f = 0; f <= GAS_GROUP_SIDE; f++) copy_lanes(flux[f][GAS_DENSITY], mass + f * plane);
}

/* A run of columns of a carried variable, after the solver has moved the mass: `from`, `to` and `faces` are where
 * its values begin. Apart, so that sweeps of gas without scalars stay small. */
static __attribute__((noinline)) void sweep_carried(real dt_dh, const column_cell *restrict u,
                                                    const column_cell *restrict flux,
                                                    const real *from, const struct columns *before,
                                                    real *to, const struct columns *after,
                                                    real *faces, size_t plane) {
  carried_cell carried[GAS_BLOCK_SIDE], own[GAS_GROUP_SIDE + 1], later[GAS_GROUP_SIDE];
  load_column(from, 0, before->along, before->inner_step, carried[0], LANES);
  carried_flux(dt_dh, u, flux, carried, own);
  for (unsigned i = 0; i < GAS_GROUP_SIDE; i++)
#pragma omp simd
    for (int l = 0; l < LANES; l++)
      later[i][l] = after_step(carried[i + GAS_GHOSTS][l], dt_dh, own[i][l], own[i + 1][l]);
  store_column(later[0], LANES, to, after->along, after->inner_step);
  for (unsigned f = 0; f < 3; f++) copy_lanes(own[f * GAS_PATCH_SIDE], faces + f * plane);
}

/* Columns are taken LANES at a time, in runs; the last run of a set overlaps with the one before,
 * and gives the same values again. */
INLINE unsigned runs_of(const struct columns *columns) {
  return (columns->inner + LANES - 1) / LANES;
}

/* The first column of a run, counted within its set. */
INLINE unsigned first_column(const struct columns *columns, unsigned run) {
  const unsigned first = run % runs_of(columns) * LANES;
  return first + LANES <= columns->inner ? first : columns->inner - LANES;
}

/* Where the first cell of a run is. */
INLINE size_t run_at(const struct columns *columns, unsigned run) {
  return run / runs_of(columns) * columns->outer_step +
         first_column(columns, run) * columns->inner_step;
}

/* The marks of the cells that a sweep has, [z][y][x] as its cells, from those of the block.
 * @param axes  those whose shocks the sweep looks at */
static void trim_marks(const uint8_t *restrict shocks, uint8_t axes, const struct cells *before,
                       uint8_t *restrict marks) {
  const unsigned *n = before->n;
  const unsigned x = (GAS_BLOCK_SIDE - n[0]) / 2, y = (GAS_BLOCK_SIDE - n[1]) / 2,
                 z = (GAS_BLOCK_SIDE - n[2]) / 2;
  for (unsigned k = 0; k < n[2]; k++)
    for (unsigned j = 0; j < n[1]; j++) {
      const uint8_t *from = shocks + ((k + z) * GAS_BLOCK_SIDE + j + y) * GAS_BLOCK_SIDE + x;
      for (unsigned i = 0; i < n[0]; i++) marks[(k * n[1] + j) * n[0] + i] = from[i] & axes;
    }
}

/* What the cells of a run know of strong shocks along other axes. @return whether there are any */
static bool load_sides(const uint8_t *restrict marks, size_t along, size_t across,
                       column_sides sides[restrict GAS_BLOCK_SIDE]) {
  uint8_t any = 0;
  if (along == 1)
    for (unsigned l = 0; l < LANES; l++)
      for (unsigned i = 0; i < GAS_BLOCK_SIDE; i++) any |= marks[l * across + i];
  else
    for (unsigned i = 0; i < GAS_BLOCK_SIDE; i++)
      for (unsigned l = 0; l < LANES; l++) any |= marks[i * along + l];
  if (any == 0) return false;
  for (unsigned i = 0; i < GAS_BLOCK_SIDE; i++)
    for (unsigned l = 0; l < LANES; l++) sides[i][l] = marks[i * along + l * across];
  return true;
}

/* Faces of cells of the group that got fluxes of first order in a run: not those of ghost cells, nor of
 * columns that the run before had, too. */
static uint32_t count_first_order(const struct cells *before, int axis, unsigned column,
                                  unsigned repeated, const uint32_t first_order[LANES]) {
  const unsigned fast = before->n[axis == 0 ? 1 : 0], slow = before->n[axis == 2 ? 1 : 2];
  const unsigned ghosts_fast = (fast - GAS_GROUP_SIDE) / 2,
                 ghosts_slow = (slow - GAS_GROUP_SIDE) / 2;
  uint32_t count = 0;
  for (unsigned l = repeated; l < LANES; l++) {
    const unsigned i = (column + l) % fast - ghosts_fast, j = (column + l) / fast - ghosts_slow;
    if (i < GAS_GROUP_SIDE && j < GAS_GROUP_SIDE) count += first_order[l];
  }
  return count;
}

/** One sweep.
 * faces: [variable][face 3][columns]
 * @param carried  number of variables that the gas carries, which follow those of the solver
 * mass: [face 17][columns], or NULL
 * @return the number of faces that got fluxes of first order */
static uint32_t sweep(column_solver *solver, const struct constants *c, unsigned variables,
                      unsigned carried, real dt_dh, int axis, const uint8_t *marks,
                      const struct cells *before, struct cells *after, real *faces, real *mass) {
  const struct columns from = columns_of(before, axis);
  for (int a = 0; a < 3; a++) after->n[a] = a == axis ? GAS_GROUP_SIDE : before->n[a];
  const struct columns to = columns_of(after, axis);
  const size_t plane = (size_t)from.outer * from.inner;
  const unsigned runs = from.outer * runs_of(&from);
  uint32_t count = 0, first_order[LANES];
  for (unsigned run = 0; run < runs; run++) {
    const size_t here = run_at(&from, run), next = run_at(&from, run + 1 < runs ? run + 1 : run);
    const unsigned column = run / runs_of(&from) * from.inner + first_column(&from, run);
    column_cell u[GAS_BLOCK_SIDE], flux[GAS_GROUP_SIDE + 1], later[GAS_GROUP_SIDE];
    load_columns(variables, axis, before->u + here, next - here, cells_count(before), from.along,
                 from.inner_step, u);
    column_sides sides[GAS_BLOCK_SIDE];
    const bool beside = marks && load_sides(marks + here, from.along, from.inner_step, sides);
    if (solver(c, dt_dh, u, beside ? sides : NULL, flux, first_order))
      count += count_first_order(before, axis, column,
                                 run % runs_of(&from) * LANES - first_column(&from, run),
                                 first_order);
    update_columns(variables, dt_dh, u, flux, later);
    store_columns(variables, axis, later, after->u + run_at(&to, run), cells_count(after), to.along,
                  to.inner_step);
    store_faces(variables, axis, flux, faces + column, plane);
    if (mass) store_mass(flux, mass + column, plane);
    for (unsigned q = variables; q < variables + carried; q++)
      sweep_carried(dt_dh, u, flux, before->u + q * cells_count(before) + here, &from,
                    after->u + q * cells_count(after) + run_at(&to, run), &to,
                    faces + 3 * q * plane + column, plane);
  }
  return count;
}

/* Where fluxes [patch][face][variable][8][8] begin. */
INLINE size_t fluxes_at(unsigned variables, unsigned patch, unsigned face) {
  return (size_t)(patch * GAS_FACES + face) * variables * GAS_FACE_CELLS;
}

/* The fluxes of a sweep go to the faces of the patches. `before` has the shape of the sweep's
 * input, whose columns may include ghost cells of the other axes. */
static void share_faces(unsigned variables, int axis, const struct cells *before, const real *faces,
                        real *fluxes) {
  const int fast = axis == 0 ? 1 : 0, slow = axis == 2 ? 1 : 2;
  const unsigned columns = before->n[fast], rows = before->n[slow];
  const unsigned column = (columns - GAS_GROUP_SIDE) / 2, row = (rows - GAS_GROUP_SIDE) / 2;
  for (unsigned patch = 0; patch < GAS_PATCHES; patch++)
    for (unsigned upper = 0; upper < 2; upper++)
      for (unsigned q = 0; q < variables; q++) {
        const unsigned f = (patch >> axis & 1) + upper;
        const real *from = faces + (size_t)(3 * q + f) * rows * columns +
                           (row + (patch >> slow & 1) * GAS_PATCH_SIDE) * columns + column +
                           (patch >> fast & 1) * GAS_PATCH_SIDE;
        real *to = fluxes + fluxes_at(variables, patch, 2 * (unsigned)axis + upper) +
                   q * GAS_FACE_CELLS;
        for (unsigned j = 0; j < GAS_PATCH_SIDE; j++)
          memcpy(to + j * GAS_PATCH_SIDE, from + j * columns, GAS_PATCH_SIDE * sizeof *to);
      }
}

/* The mass fluxes of a sweep through the faces of the group's own cells. */
static void share_mass(int axis, const struct cells *before, const real *mass, real *to) {
  const unsigned columns = before->n[axis == 0 ? 1 : 0], rows = before->n[axis == 2 ? 1 : 2];
  const unsigned column = (columns - GAS_GROUP_SIDE) / 2, row = (rows - GAS_GROUP_SIDE) / 2;
  for (unsigned f = 0; f <= GAS_GROUP_SIDE; f++)
    for (unsigned j = 0; j < GAS_GROUP_SIDE; j++)
      memcpy(to + (f * GAS_GROUP_SIDE + j) * GAS_GROUP_SIDE,
             mass + (size_t)f * rows * columns + (row + j) * columns + column,
             GAS_GROUP_SIDE * sizeof *to);
}

/* Cell i of a group in a block. */
INLINE size_t in_block(int i) {
  const int x = i % GAS_GROUP_SIDE, y = i / GAS_GROUP_SIDE % GAS_GROUP_SIDE,
            z = i / (GAS_GROUP_SIDE * GAS_GROUP_SIDE),
            cell = ((z + GAS_GHOSTS) * GAS_BLOCK_SIDE + y + GAS_GHOSTS) * GAS_BLOCK_SIDE + x +
                   GAS_GHOSTS;
  return (size_t)cell;
}

/* Thermal energy per mass of the hottest of the six cells beside a cell of a block. */
static real heat_beside(const real *cell) {
  static const size_t steps[3] = {1, GAS_BLOCK_SIDE, GAS_BLOCK_SIDE * GAS_BLOCK_SIDE};
  real heat = 0;
  for (int axis = 0; axis < 3; axis++)
    for (int upper = 0; upper < 2; upper++) {
      const real *beside = upper ? cell + steps[axis] : cell - steps[axis];
      const struct cell a = cell_at(beside, GAS_BLOCK_CELLS, 0, false);
      heat = largest(heat, thermal_energy(a) / a.density);
    }
  return heat;
}

/* The energy per mass of the speed that gas gets over a cell, by what its density has changed, times
 * physics->dual_energy_change. scale: physics->dual_energy_change/(dt/dh)^2 */
INLINE real energy_of_change(real scale, real before, real after) {
  const real change = (after - before) / after;
  return scale * change * change;
}

/* Which cells of a row of 16 have a thermal energy that is mostly the scheme's error: where it is a small part of
 * the energy, or where gas that is cold flows together or apart so fast that the speed it gets over a cell has much more
 * energy than the heat of the cell and of those beside it. A shock's heat is as large as that energy, and is in
 * a cell beside the one that it comes to. (Bryan et al. 1995, Comput. Phys. Commun. 89, 149, look at cells beside, too.)
 * block, u: the first cell before and after the step */
INLINE void find_cold(const struct constants *c, real scale, const real *restrict block,
                      const real *restrict u, real_bits cold[restrict GAS_GROUP_SIDE]) {
  real_bits flows[GAS_GROUP_SIDE], any = 0;
#pragma omp simd reduction(| : any)
  for (int i = 0; i < GAS_GROUP_SIDE; i++) {
    const struct cell a = cell_at(u, GAS_GROUP_CELLS, (size_t)i, true);
    const real thermal = thermal_energy(a);
    cold[i] = entropy_decides(c, a, thermal) ? 1 : 0;
    flows[i] = thermal < a.density * energy_of_change(scale, block[i], a.density) ? 1 : 0;
    any |= flows[i];
  }
  for (int i = 0; any && i < GAS_GROUP_SIDE; i++)
    if (flows[i] && heat_beside(block + i) < energy_of_change(scale, block[i], u[i])) cold[i] = 1;
}

/* Energy and entropy made to agree: the one that is less exact follows the other. */
INLINE void reconcile_entropy(const struct constants *c, real scale, const real *restrict block,
                              real *restrict u) {
  for (int row = 0; row < GAS_GROUP_CELLS; row += GAS_GROUP_SIDE) {
    real_bits cold[GAS_GROUP_SIDE];
    real *energy = u + GAS_ENERGY * GAS_GROUP_CELLS + row,
         *entropy = u + GAS_ENTROPY * GAS_GROUP_CELLS + row;
    find_cold(c, scale, block + in_block(row), u + row, cold);
#pragma omp simd
    for (int i = 0; i < GAS_GROUP_SIDE; i++) {
      const struct cell a = cell_at(u + row, GAS_GROUP_CELLS, (size_t)i, true);
      const real thermal = thermal_energy(a), power = pow(a.density, c->thermal);
      energy[i] = cold[i] ? a.energy - thermal + a.entropy * power / c->thermal : a.energy;
      entropy[i] = cold[i] ? a.entropy : c->thermal * thermal / power;
    }
  }
}

INLINE void keep_warm(const struct constants *c, real *restrict u) {
#pragma omp simd
  for (int i = 0; i < GAS_GROUP_CELLS; i++) {
    const struct cell a = warmed(c, cell_at(u, GAS_GROUP_CELLS, (size_t)i, c->has_entropy));
    u[GAS_ENERGY * GAS_GROUP_CELLS + i] = a.energy;
    if (c->has_entropy) u[GAS_ENTROPY * GAS_GROUP_CELLS + i] = a.entropy;
  }
}

/* Without an entropy a thermal energy within the rounding of the energy can come out negative: it becomes
 * that of the rounding. */
static void raise_lost_pressures(const struct constants *c, real *u) {
  const real rounding = 16 * REAL_EPSILON;
  for (int i = 0; i < GAS_GROUP_CELLS; i++) {
    const struct cell a = cell_at(u, GAS_GROUP_CELLS, (size_t)i, false);
    const real lost = thermal_energy(a) + rounding * a.energy;
    if (!is_physical(c, a) && is_positive(a.density) && is_positive(a.energy) && is_positive(lost))
      u[GAS_ENERGY * GAS_GROUP_CELLS + i] = a.energy - thermal_energy(a) + rounding * a.energy;
  }
}

/* Cells [variable][16][16][16] in the order of patches. */
static void split_patches(unsigned variables, const real *restrict u, real *restrict group) {
  for (unsigned q = 0; q < variables; q++)
    for (unsigned row = 0; row < GAS_GROUP_SIDE * GAS_GROUP_SIDE; row++)
      for (unsigned half = 0; half < 2; half++) {
        const unsigned y = row % GAS_GROUP_SIDE, z = row / GAS_GROUP_SIDE;
        const unsigned patch = half + 2 * (y / GAS_PATCH_SIDE) + 4 * (z / GAS_PATCH_SIDE);
        const unsigned place = (z % GAS_PATCH_SIDE * GAS_PATCH_SIDE + y % GAS_PATCH_SIDE) * 8;
        memcpy(group + (size_t)q * GAS_GROUP_CELLS + patch * GAS_PATCH_CELLS + place,
               u + (size_t)q * GAS_GROUP_CELLS + row * GAS_GROUP_SIDE + half * GAS_PATCH_SIDE,
               GAS_PATCH_SIDE * sizeof *u);
      }
}

/* Whether all cells [variable][4096], in any order, are physical. Compilers make vectors of loops
 * that have no choices between loads, and counters of the size of `real`. */
INLINE bool no_fault(const struct constants *c, const real *u, bool has_entropy) {
  real_bits faults = 0;
#pragma omp simd reduction(| : faults)
  for (int i = 0; i < GAS_GROUP_CELLS; i++)
    faults |= is_physical(c, cell_at(u, GAS_GROUP_CELLS, (size_t)i, has_entropy)) ? 0u : 1u;
  return faults == 0;
}

/* Whether all carried variables of cell i [variable][4096] are finite. */
INLINE bool carried_finite(const struct constants *c, const real *u, int i) {
  const unsigned first = c->has_entropy ? GAS_ENTROPY + 1 : GAS_ENTROPY;
  bool finite = true;
  for (unsigned q = first; q < first + c->carried; q++)
    finite &= is_finite(u[q * GAS_GROUP_CELLS + (unsigned)i]);
  return finite;
}

static bool all_physical(const struct constants *c, const real *u) {
  bool good = c->has_entropy ? no_fault(c, u, true) : no_fault(c, u, false);
  for (int i = 0; c->carried > 0 && i < GAS_GROUP_CELLS; i++) good &= carried_finite(c, u, i);
  return good;
}

/* The first fault of a group in the order of patches. */
static struct gas_fault first_fault(const struct constants *c, const real *group) {
  for (int i = 0; i < GAS_GROUP_CELLS; i++) {
    const struct cell a = cell_at(group, GAS_GROUP_CELLS, (size_t)i, c->has_entropy);
    if (!is_physical(c, a) || !carried_finite(c, group, i))
      return (struct gas_fault){i / GAS_PATCH_CELLS, i % GAS_PATCH_CELLS, (double)a.density,
                                (double)pressure_of(c, a), 0};
  }
  return (struct gas_fault){.patch = -1};
}

static column_solver *solver_of(const struct gas_physics *physics) {
  if (physics->solver == GAS_RTVD) return rtvd_column;
  if (physics->solver == GAS_PPM) return ppm_column;
  return physics->limiter == GAS_LIMITER_VAN_LEER ? muscl_van_leer : muscl_minmod;
}

/* The axes whose shocks a sweep along `axis` looks at. The outermost cells of a block are marked without their
 * neighbours beyond. The columns of such cells end in fluxes of the group where parabolas take all three ghost
 * cells: there only those axes count whose ghost cells have been swept away. */
static uint8_t looked_at(const struct gas_physics *physics, int axis, uint8_t swept) {
  return physics->solver == GAS_PPM ? swept : (uint8_t)(7 & ~(1 << axis));
}

/* Scratch: the cells after the first and the second sweep, those after the third, fluxes. */
enum {
  FIRST_CELLS = GAS_GROUP_SIDE * GAS_BLOCK_SIDE * GAS_BLOCK_SIDE,
  SECOND_CELLS = GAS_GROUP_SIDE * GAS_GROUP_SIDE * GAS_BLOCK_SIDE,
  PLANE_CELLS = GAS_BLOCK_SIDE * GAS_BLOCK_SIDE,
  SCRATCH_REALS = GAS_VARIABLES_MAX *
                      (FIRST_CELLS + SECOND_CELLS + GAS_GROUP_CELLS + 3 * PLANE_CELLS) +
                  (GAS_GROUP_SIDE + 1) * PLANE_CELLS + GAS_BLOCK_CELLS +
                  GAS_BLOCK_CELLS / 2 /* thermal energies, two bytes a cell */
};

static void solve(const struct gas_physics *physics, double dt_dh, bool reversed, const void *block,
                  void *group, void *fluxes, void *mass, void *scratch, struct gas_fault *fault) {
  const struct constants c = constants_of(physics);
  const unsigned variables = gas_variables(physics), solved = gas_solved(physics);
  real *first = scratch, *second = first + GAS_VARIABLES_MAX * FIRST_CELLS;
  real *third = second + GAS_VARIABLES_MAX * SECOND_CELLS;
  real *faces = third + GAS_VARIABLES_MAX * GAS_GROUP_CELLS;
  struct cells stage[4] = {{(real *)block, {GAS_BLOCK_SIDE, GAS_BLOCK_SIDE, GAS_BLOCK_SIDE}},
                           {first, {0}},
                           {second, {0}},
                           {third, {0}}};
  real *moved = faces + GAS_VARIABLES_MAX * 3 * PLANE_CELLS;
  real *thermal = moved + (GAS_GROUP_SIDE + 1) * PLANE_CELLS;
  uint8_t *shocks = (uint8_t *)(thermal + GAS_BLOCK_CELLS), *between = shocks + GAS_BLOCK_CELLS;
  const bool has_shocks = physics->solver != GAS_RTVD &&
                          find_shocks(block, thermal, between, shocks);
  uint32_t first_order = 0;
  uint8_t swept = 0;
  for (int s = 0; s < 3; s++) {
    const int axis = reversed ? 2 - s : s;
    if (has_shocks) trim_marks(shocks, looked_at(physics, axis, swept), &stage[s], between);
    first_order += sweep(solver_of(physics), &c, solved, variables - solved, (real)dt_dh, axis,
                         has_shocks ? between : NULL, &stage[s], &stage[s + 1], faces,
                         mass ? moved : NULL);
    share_faces(variables, axis, &stage[s], faces, fluxes);
    if (mass) share_mass(axis, &stage[s], moved, (real *)mass + axis * (GAS_MASS_FLUXES / 3));
    swept |= (uint8_t)(1 << axis);
  }
  const real change = (real)(physics->dual_energy_change / (dt_dh * dt_dh));
  if (c.has_entropy) reconcile_entropy(&c, change, block, third);
  if (physics->least_heat > 0.0) keep_warm(&c, third);
  bool good = all_physical(&c, third); /* here, since `third` is in the cache */
  if (!good && !c.has_entropy) {
    raise_lost_pressures(&c, third);
    good = all_physical(&c, third);
  }
  split_patches(variables, third, group);
  *fault = good ? (struct gas_fault){.patch = -1} : first_fault(&c, group);
  fault->first_order = first_order;
}

/* Of the cells that are physical. */
static double largest_speed(const struct gas_physics *physics, const void *group,
                            struct gas_fault *fault) {
  const struct constants c = constants_of(physics);
  *fault = all_physical(&c, group) ? (struct gas_fault){.patch = -1} : first_fault(&c, group);
  real speed = 0;
#pragma omp simd reduction(max : speed)
  for (int i = 0; i < GAS_GROUP_CELLS; i++) {
    const struct cell a = cell_at(group, GAS_GROUP_CELLS, (size_t)i, c.has_entropy);
    const real m = largest(largest(fabs(a.momentum[0]), fabs(a.momentum[1])), fabs(a.momentum[2]));
    const real own = m / a.density + sqrt(c.gamma * pressure_of(&c, a) / a.density);
    speed = largest(speed, is_physical(&c, a) ? own : 0);
  }
  return (double)speed;
}

#endif
