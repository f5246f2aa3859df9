/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What passes between a level and the next finer one: interpolation, means, fluxes. */
#ifndef PHOTONS_HYDRO_KERNELS_LEVELS_H
#define PHOTONS_HYDRO_KERNELS_LEVELS_H

#include "sweep.h"

INLINE real minmod(real a, real b) {
  return a * b > 0 ? copysign(smallest(fabs(a), fabs(b)), a) : 0;
}

/** The children of a row of coarse cells along x: of each cell eight, child = x + 2 y + 4 z. */
enum { ROW = 16 }; /* at least GAS_COARSE_SIDE - 2 */
struct children {
  real u[GAS_VARIABLES_MAX][8][ROW];
};

/* A child lies a quarter of a coarse cell from the middle along each axis. */
INLINE void linear_children(unsigned variables, const real *coarse, int n,
                            struct children *children) {
  enum { Y = GAS_COARSE_SIDE, Z = GAS_COARSE_SIDE * GAS_COARSE_SIDE };
  for (unsigned q = 0; q < variables; q++) {
    const real *u = coarse + q * GAS_COARSE_CELLS;
#pragma omp simd
    for (int i = 0; i < n; i++) {
      const real x = (real)0.25 * minmod(u[i] - u[i - 1], u[i + 1] - u[i]);
      const real y = (real)0.25 * minmod(u[i] - u[i - Y], u[i + Y] - u[i]);
      const real z = (real)0.25 * minmod(u[i] - u[i - Z], u[i + Z] - u[i]);
      for (unsigned k = 0; k < 8; k++)
        children->u[q][k][i] = u[i] + (k & 1 ? x : -x) + (k & 2 ? y : -y) + (k & 4 ? z : -z);
    }
  }
}

INLINE real heat_per_mass(const real *coarse) {
  const struct cell a = cell_at(coarse, GAS_COARSE_CELLS, 0, false);
  return thermal_energy(a) / a.density;
}

/* Whether gas flows together or apart so fast that the thermal energies per mass of a coarse cell and of the six beside
 * it are small beside that of the speed that it gets over the cell: find_cold() in sweep.h. */
INLINE bool is_cold_flow(const struct constants *c, const real *coarse) {
  static const int steps[3] = {1, GAS_COARSE_SIDE, GAS_COARSE_SIDE * GAS_COARSE_SIDE};
  real speed = 0, heat = heat_per_mass(coarse);
  for (int a = 0; a < 3; a++) {
    const real *low = coarse - steps[a], *high = coarse + steps[a];
    const int momentum = (GAS_MOMENTUM_X + a) * GAS_COARSE_CELLS;
    speed += (real)0.5 * (high[momentum] / high[0] - low[momentum] / low[0]);
    heat = largest(heat, largest(heat_per_mass(low), heat_per_mass(high)));
  }
  return heat < c->dual_energy_change * speed * speed;
}

/* With keeps_entropy, where gas is cold the entropy gives the children's thermal energy, which limited slopes of
 * kinetic energy would change. */
INLINE void keep_entropy(const struct constants *c, const real *coarse, int n,
                         struct children *children) {
  for (int i = 0; c->keeps_entropy && i < n; i++) {
    const struct cell parent = cell_at(coarse, GAS_COARSE_CELLS, (size_t)i, c->has_entropy);
    const bool cold = entropy_decides(c, parent, thermal_energy(parent)) ||
                      is_cold_flow(c, coarse + i);
    for (unsigned k = 0; cold && k < 8; k++)
      children->u[GAS_ENERGY][k][i] += lost_energy(
          c, cell_at(children->u[0][k], 8 * ROW, (size_t)i, true));
  }
}

/* Where one of the children of a coarse cell is not physical, all of them get its values. */
INLINE void constant_children(const struct constants *c, unsigned variables, const real *coarse,
                              int n, struct children *children) {
  real_bits bad[ROW] = {0}, any = 0;
  for (unsigned k = 0; k < 8; k++)
#pragma omp simd
    for (int i = 0; i < n; i++)
      bad[i] |= (real_bits)!is_physical(
          c, cell_at(children->u[0][k], 8 * ROW, (size_t)i, c->has_entropy));
  for (int i = 0; i < n; i++) any |= bad[i];
  for (int i = 0; any && i < n; i++)
    for (unsigned q = 0; bad[i] && q < variables; q++)
      for (unsigned k = 0; k < 8; k++)
        children->u[q][k][i] = coarse[q * GAS_COARSE_CELLS + (unsigned)i];
}

/* Fractions of carried variables are linear with MinMod slopes, too. Where a child is less dense than its
 * parent, the slopes are as much smaller: a child's fraction is between those of its parent and the cells beside that.
 * What the children hold together is what the parent holds. */
INLINE void carried_children(unsigned first, unsigned end, const real *coarse, int n,
                             struct children *children) {
  enum { Y = GAS_COARSE_SIDE, Z = GAS_COARSE_SIDE * GAS_COARSE_SIDE };
  for (unsigned q = first; q < end; q++) {
    const real *u = coarse + q * GAS_COARSE_CELLS;
#pragma omp simd
    for (int i = 0; i < n; i++) {
      const real *density = coarse + i, *own = u + i;
      real least = density[0];
      for (unsigned k = 0; k < 8; k++) least = smallest(least, children->u[GAS_DENSITY][k][i]);
      const real here = own[0] / density[0], part = (real)0.25 * least;
      const real x = part * minmod(here - own[-1] / density[-1], own[1] / density[1] - here);
      const real y = part * minmod(here - own[-Y] / density[-Y], own[Y] / density[Y] - here);
      const real z = part * minmod(here - own[-Z] / density[-Z], own[Z] / density[Z] - here);
      for (unsigned k = 0; k < 8; k++)
        children->u[q][k][i] = here * children->u[GAS_DENSITY][k][i] + (k & 1 ? x : -x) +
                               (k & 2 ? y : -y) + (k & 4 ? z : -z);
    }
  }
}

/* Writes those children that are cells low <= i < high of the block. Cell i of the block lies in
 * coarse cell (i + 3) / 2. first: of the row */
INLINE void place_children(unsigned variables, const struct children *children, const int first[3],
                           int n, const int low[3], const int high[3], real *block) {
  for (unsigned yz = 0; yz < 4; yz++) {
    const int y = 2 * first[1] - 3 + (int)(yz & 1), z = 2 * first[2] - 3 + (int)(yz >> 1);
    if (y < low[1] || y >= high[1] || z < low[2] || z >= high[2]) continue;
    for (unsigned q = 0; q < variables; q++) {
      real row[2 * ROW];
      for (int i = 0; i < n; i++)
        for (unsigned x = 0; x < 2; x++) row[2 * i + (int)x] = children->u[q][2 * yz + x][i];
      memcpy(block + q * GAS_BLOCK_CELLS + (z * GAS_BLOCK_SIDE + y) * GAS_BLOCK_SIDE + low[0],
             row + low[0] - (2 * first[0] - 3), (size_t)(high[0] - low[0]) * sizeof *row);
    }
  }
}

static void interpolate(const struct gas_physics *physics, const void *coarse, const int low[3],
                        const int high[3], void *block) {
  const struct constants c = constants_of(physics);
  const unsigned variables = gas_variables(physics), solved = gas_solved(physics);
  int first[3], end[3], p[3];
  for (int a = 0; a < 3; a++) {
    first[a] = (low[a] + 3) / 2;
    end[a] = (high[a] + 4) / 2;
  }
  const int n = end[0] - first[0];
  p[0] = first[0];
  for (p[2] = first[2]; p[2] < end[2]; p[2]++)
    for (p[1] = first[1]; p[1] < end[1]; p[1]++) {
      const real *row = (const real *)coarse + (p[2] * GAS_COARSE_SIDE + p[1]) * GAS_COARSE_SIDE +
                        p[0];
      struct children children;
      linear_children(solved, row, n, &children);
      keep_entropy(&c, row, n, &children);
      constant_children(&c, solved, row, n, &children);
      carried_children(solved, variables, row, n, &children);
      place_children(variables, &children, p, n, low, high, block);
    }
}

static void restrict_group(unsigned variables, const void *fine_group, void *coarse_group,
                           int patch) {
  for (unsigned q = 0; q < variables; q++)
    for (unsigned child = 0; child < GAS_PATCHES; child++) {
      const real *from = (const real *)fine_group + (q * GAS_PATCHES + child) * GAS_PATCH_CELLS;
      real *to = (real *)coarse_group + (q * GAS_PATCHES + (unsigned)patch) * GAS_PATCH_CELLS +
                 (child & 1) * 4 + (child >> 1 & 1) * 32 + (child >> 2) * 256;
      for (unsigned z = 0; z < 4; z++)
        for (unsigned y = 0; y < 4; y++)
          for (unsigned x = 0; x < 4; x++) {
            const real *f = from + 2 * (x + 8 * y + 64 * z);
            to[x + 8 * y + 64 * z] = (((f[0] + f[1]) + (f[8] + f[9])) +
                                      ((f[64] + f[65]) + (f[72] + f[73]))) /
                                     8;
          }
    }
}

/* The axes of a face's two indices, the faster first. */
INLINE void axes_of_face(int face, int *fast, int *slow) {
  *fast = face / 2 == 0 ? 1 : 0;
  *slow = face / 2 == 2 ? 1 : 2;
}

static void flux_add(unsigned variables, const void *fluxes, double weight, void *sides) {
  const real part = (real)(0.25 * weight);
  for (int face = 0; face < GAS_FACES; face++)
    for (unsigned patch = 0; patch < GAS_PATCHES; patch++) {
      if ((patch >> face / 2 & 1) != ((unsigned)face & 1)) continue;
      int fast, slow;
      axes_of_face(face, &fast, &slow);
      const real *from = (const real *)fluxes + fluxes_at(variables, patch, (unsigned)face);
      real *to = (real *)sides + (size_t)face * variables * GAS_FACE_CELLS +
                 (patch >> fast & 1) * 4 + (patch >> slow & 1) * 32;
      for (unsigned q = 0; q < variables; q++, from += GAS_FACE_CELLS, to += GAS_FACE_CELLS)
        for (unsigned j = 0; j < 4; j++)
          for (unsigned i = 0; i < 4; i++) {
            const real *f = from + 2 * (i + 8 * j);
            to[i + 8 * j] += part * ((f[0] + f[1]) + (f[8] + f[9]));
          }
    }
}

/* Corrects one cell, unless that leaves no positive pressure: a strong shock that runs into cold
 * coarser cells would do so. With keeps_entropy, where the entropy decides before or after, the energy
 * follows it: the correction of the energy is mostly that of the kinetic energy's error. An energy below
 * the kinetic one would be negative after a kick against the flow. Elsewhere the entropy follows the
 * energy: corrected by itself it can be negative, and decides after the next kick. Gas below least_heat
 * is warmed. u: of the cell, group and fluxes: from one variable to the next */
static void fix_cell(const struct constants *c, unsigned variables, real factor, const real *was,
                     const real *is, real *u) {
  real fixed[GAS_VARIABLES_MAX] = {0};
  for (unsigned q = 0; q < variables; q++)
    fixed[q] = u[q * GAS_GROUP_CELLS] + factor * (was[q * GAS_FACE_CELLS] - is[q * GAS_FACE_CELLS]);
  const struct cell before = cell_at(u, GAS_GROUP_CELLS, 0, c->has_entropy),
                    after = cell_at(fixed, 1, 0, c->has_entropy);
  const real thermal = thermal_energy(after);
  const bool cold = entropy_decides(c, after, thermal);
  if (c->keeps_entropy && (cold || entropy_decides(c, before, thermal_energy(before))))
    fixed[GAS_ENERGY] += lost_energy(c, after);
  else if (c->has_entropy && !cold)
    fixed[GAS_ENTROPY] = c->thermal * thermal / pow(after.density, c->thermal);
  if (!is_physical(c, cell_at(fixed, 1, 0, c->has_entropy))) return;
  if (c->least_heat > 0) {
    const struct cell warm = warmed(c, cell_at(fixed, 1, 0, c->has_entropy));
    fixed[GAS_ENERGY] = warm.energy;
    if (c->has_entropy) fixed[GAS_ENTROPY] = warm.entropy;
  }
  for (unsigned q = 0; q < variables; q++) u[q * GAS_GROUP_CELLS] = fixed[q];
}

static void flux_fix(const struct gas_physics *physics, double dt_dh, int face,
                     const void *old_flux, const void *fine_flux, void *group, int patch) {
  const struct constants c = constants_of(physics);
  const unsigned variables = gas_variables(physics);
  static const size_t step[3] = {1, GAS_PATCH_SIDE, GAS_PATCH_SIDE * GAS_PATCH_SIDE};
  int fast, slow;
  axes_of_face(face, &fast, &slow);
  const bool upper = face & 1;
  const real factor = (real)(upper ? dt_dh : -dt_dh);
  const size_t first = upper ? (GAS_PATCH_SIDE - 1) * step[face / 2] : 0;
  real *u = (real *)group + (unsigned)patch * GAS_PATCH_CELLS + first;
  for (unsigned j = 0; j < GAS_PATCH_SIDE; j++)
    for (unsigned i = 0; i < GAS_PATCH_SIDE; i++)
      fix_cell(&c, variables, factor, (const real *)old_flux + i + 8 * j,
               (const real *)fine_flux + i + 8 * j, u + i * step[fast] + j * step[slow]);
}

#endif
