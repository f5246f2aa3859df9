/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The work of gravity and the second kick of a step. A file that includes this header defines REAL as float or double
 * first. */
#ifndef PHOTONS_POTENTIAL_KERNELS_WORK_H
#define PHOTONS_POTENTIAL_KERNELS_WORK_H

#include "gravity.h"

/** Potentials of a row of cells at the beginning and at the end of a step. */
struct row_potentials {
  const double *begin, *end;
};

/** What a row of cells of a patch is made of. */
struct row_cells {
  const real *density, *momentum; /**< momentum: along one axis */
};

/** By how much a kick by the potentials p changes a velocity. */
INLINE real kick_change(double factor, const double *p, int step) {
  return (real)(-factor * (p[step] - p[-step]));
}

/** Energy of a kick. @param sign  1: of momenta before the kick, -1: of those after it */
INLINE real kick_energy(real change, real density, real momentum, int sign) {
  return change * (momentum + (real)0.5 * (real)sign * density * change);
}

/** Along one axis: the work of the mass that flowed through the two faces of each cell of a row, less the energy that
 * the two kicks of the step give.
 * @param lower, upper  mass fluxes through the faces
 * @param[out] kick     by how much the second kick changes velocities */
INLINE void work_along(double dt_dh, struct row_potentials p, int step, const real *lower,
                       const real *upper, struct row_cells begin, struct row_cells end,
                       real *restrict kick, real *restrict more) {
  const double quarter = 0.25 * dt_dh;
#pragma omp simd
  for (int x = 0; x < 8; x++) {
    const double *b = p.begin + x, *e = p.end + x;
    const real below = (real)(quarter * (b[0] - b[-step] + e[0] - e[-step])),
               above = (real)(quarter * (b[step] - b[0] + e[step] - e[0]));
    more[x] -= lower[x] * below + upper[x] * above;
    kick[x] = kick_change(quarter, e, step);
    more[x] -= kick_energy(kick_change(quarter, b, step), begin.density[x], begin.momentum[x], -1) +
               kick_energy(kick[x], end.density[x], end.momentum[x], 1);
  }
}

/** What decides whether a cell is cold, of gas_physics. */
struct cold_limits {
  real part;   /**< of the energy */
  real change; /**< times the square of the relative change of the density in the step, per mass */
};

/** Add to the energies of a row of cells that are not cold, and leave each at least half of its thermal energy.
 * @param before  densities at the beginning of the step */
INLINE void add_heat(struct cold_limits cold, const real *more, const real *before, real *u) {
  enum { NEXT = GAS_GROUP_CELLS }; /* variable */
#pragma omp simd
  for (int x = 0; x < 8; x++) {
    const struct cell a = cell_at(u, NEXT, (size_t)x, false);
    const real thermal = thermal_energy(a), change = (a.density - before[x]) / a.density,
               least = largest(cold.part * a.energy, cold.change * a.density * change * change);
    const real heat = largest(more[x], (real)-0.5 * thermal);
    u[GAS_ENERGY * NEXT + x] += thermal > least ? heat : 0;
  }
}

/** Accelerate a row of cells. @param kick  by how much velocities change */
INLINE void kick_row(real kick[restrict 3][8], real *u) {
  enum { NEXT = GAS_GROUP_CELLS }; /* variable */
  for (unsigned a = 0; a < 3; a++) {
    real *momentum = u + (GAS_MOMENTUM_X + a) * NEXT, *energy = u + GAS_ENERGY * NEXT;
#pragma omp simd
    for (int x = 0; x < 8; x++) {
      energy[x] += kick_energy(kick[a][x], u[x], momentum[x], 1);
      momentum[x] += u[x] * kick[a][x];
    }
  }
}

/** Mass fluxes through the x faces of eight rows of a patch, whose x are 256 apart among all: side by side.
 * @param first  of the rows */
INLINE void x_faces(const real *restrict mass, struct patch_row first, real faces[restrict 8][9]) {
  for (unsigned x = 0; x < 9; x++) {
    const real *from = mass + ((first.x + x) * GAS_GROUP_SIDE + first.z) * GAS_GROUP_SIDE + first.y;
    for (unsigned y = 0; y < 8; y++) faces[y][x] = from[y];
  }
}

static void work(const struct gas_physics *physics, double dt_dh, const double *begin,
                 const double *end, const void *mass, const void *before, void *group) {
  static const int step[3] = {1, POISSON_SIDE, POISSON_SIDE * POISSON_SIDE};
  enum { NEXT = GAS_GROUP_CELLS, SIDE = GAS_GROUP_SIDE, PLANE = SIDE * SIDE };
  const struct cold_limits cold = {(real)physics->dual_energy_switch,
                                   (real)(physics->dual_energy_change / (dt_dh * dt_dh))};
  real faces[8][9];
  for (unsigned row = 0; row < GAS_GROUP_CELLS / 8; row++) {
    const struct patch_row r = patch_row(row / 64, row / 8 % 8, row % 8);
    const size_t at = ((r.z + 1) * POISSON_SIDE + r.y + 1) * POISSON_SIDE + r.x + 1,
                 face[3] = {0, (r.y * SIDE + r.z) * SIDE + r.x, (r.z * SIDE + r.y) * SIDE + r.x};
    if (row % 8 == 0) x_faces(mass, r, faces);
    const real *was = (const real *)before + r.in_patch;
    real *u = (real *)group + r.in_patch, more[8] = {0}, kick[3][8];
    for (unsigned a = 0; a < 3; a++) {
      const real *lower = a == 0 ? faces[row % 8]
                                 : (const real *)mass + a * (GAS_MASS_FLUXES / 3) + face[a];
      const size_t momentum = (GAS_MOMENTUM_X + a) * NEXT;
      work_along(dt_dh, (struct row_potentials){begin + at, end + at}, step[a], lower,
                 a == 0 ? lower + 1 : lower + PLANE, (struct row_cells){was, was + momentum},
                 (struct row_cells){u, u + momentum}, kick[a], more);
    }
    add_heat(cold, more, was, u);
    kick_row(kick, u);
  }
}

#endif
