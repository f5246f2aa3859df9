/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The arithmetic of gas on patches of cells: the solvers, time steps, flags, interpolation and
 * averages between levels. The functions know one patch group at a time and nothing of the mesh.
 *
 * A patch has 8^3 cells. A patch group is 2^3 patches, 16^3 cells. A block is a group with three
 * ghost cells a side, 22^3 cells. Cells are densities per volume of the conserved variables of
 * enum gas_variable, as float or double. They are passed as void: the table says which one. Arrays
 * have these shapes, the last index fastest:
 *
 *   group    [variable][patch 8][z 8][y 8][x 8]              patch = x + 2 y + 4 z
 *   block    [variable][z 22][y 22][x 22]                    the group's first cell is 3, 3, 3
 *   coarse   [variable][z 14][y 14][x 14]                    one level coarser: 8^3 and 3 a side
 *   fluxes   [patch 8][face 6][variable][8][8]               faces -x +x -y +y -z +z
 *   sides    [face 6][variable][8][8]                        faces of the patch that a group refines
 *   mass     [axis 3][face 17][16][16]                       mass fluxes through the faces of all cells
 *
 * The two indices of a face are the axes other than its normal, the later axis slower: [z][y],
 * [z][x], [y][x]. Results for a cell depend on the values of cells near it alone and not on its
 * place in the block: groups that see the same values compute the same bits. */
#ifndef PHOTONS_AMR_KERNELS_H
#define PHOTONS_AMR_KERNELS_H

#include <stdbool.h>
#include <stddef.h>

#include "photons/amr/cells.h"
#include "photons/config/choices.h"
#include "photons/runtime/isa.h"

enum gas_limiter { GAS_LIMITER_VAN_LEER, GAS_LIMITER_MINMOD };

/** The equations and the scheme that solves them. */
struct gas_physics {
  enum gas_solver solver;
  enum gas_limiter limiter; /**< of muscl; rtvd always has van Leer's, ppm its own */
  double minmod;            /**< theta of the generalised MinMod limiter, 1 to 2 */
  double gamma;             /**< ratio of specific heats */
  /** muscl and ppm take the pressure from the entropy where the thermal energy is less than this part of
   * the energy; there the difference of energy and kinetic energy is mostly error. 0: never. */
  double dual_energy_switch;
  /** The entropy also decides, after a step, where the thermal energies per mass of a cell and of the six beside it
   * are less than this times (change of ln(density) in the time in which a cell is crossed at speed 1)^2: the
   * scheme's error where the flow is at rest for a moment, but converges or diverges. Interpolation from such cells
   * keeps the entropy and not the energy, with the divergence of their velocity for the change of ln(density). Where the
   * entropy decides by dual_energy_switch, interpolation and flux_fix keep it, too. 0: no to all of this. */
  double dual_energy_change;
  /** After solve and flux_fix pressure over density is at least this: gas with less is warmed.
   * 0: it may have any. */
  double least_heat;
  unsigned scalars; /**< number of passive scalars, mass fractions that the gas carries */
};

#define GAS_COUNT_SOLVED(number, name, label, unit, most, there, motion) \
  +(GAS_##motion == GAS_SOLVED ? (unsigned)(there) : 0u)
#define GAS_COUNT_CARRIED(number, name, label, unit, most, there, motion) \
  +(GAS_##motion == GAS_CARRIED ? (unsigned)(there) : 0u)
/** Variables of a cell: those of the solver, 5 for rtvd and 6 for muscl and ppm; those that move with the mass, which
 * follow them; and all. */
static inline unsigned gas_solved(const struct gas_physics *physics) {
  return GAS_VARIABLES(GAS_COUNT_SOLVED);
}
static inline unsigned gas_carried(const struct gas_physics *physics) {
  return GAS_VARIABLES(GAS_COUNT_CARRIED);
}
static inline unsigned gas_variables(const struct gas_physics *physics) {
  return gas_solved(physics) + gas_carried(physics);
}

/** Criteria of refinement; those that are 0 are not used. */
struct gas_flags {
  double density;           /**< flag where the density is larger */
  double particles;         /**< flag where that of particles alone is larger */
  double gradient_density;  /**< flag where |change of the density over a cell| / density, along
                                 any axis, is at least this */
  double gradient_pressure; /**< the same of the pressure */
  double loehner;           /**< flag where Loehner's estimate (1987, CMAME 61, 323, equation 4) of
                                 the density or the pressure is at least this; 0 to 1 */
  double loehner_filter;    /**< the estimate's filter against ripples: 0.01 is usual */
};

/** The functions for one precision and one instruction set. No pointer may be NULL. Nothing is
 * allocated. */
struct gas_kernels {
  size_t real_size;     /**< bytes of a value: 4 or 8 */
  size_t scratch_bytes; /**< what solve needs at most */

  /** One time step of a group. Faces of cells that would not stay physical get fluxes of first order, which
   * fault->first_order counts. All solvers sweep along one axis after the other, each sweep with
   * the whole time step: x y z, or z y x if `reversed`. Two steps of equal length, one of each, are
   * of second order. At a Courant number (dt/dh times largest_speed) above 0.5 rtvd may and above 1
   * muscl and ppm will be unstable.
   * fluxes: mean over the step of the flux through the faces of the patches; over the three axes
   * new = old - dt/dh * sum(flux of the upper face - flux of the lower face).
   * Where dual_energy_switch is in use, the energy itself is exempt: it is set to the kinetic
   * energy and the thermal energy that the entropy says.
   * mass: of these fluxes those of mass, through the faces of all cells; or NULL
   * `scratch` (scratch_bytes, 64-byte aligned) belongs to the caller. */
  void (*solve)(const struct gas_physics *physics, double dt_dh, bool reversed, const void *block,
                void *group, void *fluxes, void *mass, void *scratch, struct gas_fault *fault);

  /** The largest c_s + max(|v_x|, |v_y|, |v_z|) of the cells of a group that are physical. */
  double (*largest_speed)(const struct gas_physics *physics, const void *group,
                          struct gas_fault *fault);

  /** Which patches of a group, and which neighbours of them, are to be refined. Bit 13 + dx + 3 dy
   * + 9 dz of masks[patch] is set if a flagged cell of the patch is at most `buffer` (0 to 8) cells
   * from the patch's neighbour in direction (dx, dy, dz), -1 to 1 each. Bit 13: any cell.
   * @param more  [z 16][y 16][x 16]: density of particles, added to that of the gas where this is
   *              compared; or NULL */
  void (*flag)(const struct gas_physics *physics, const struct gas_flags *flags, const void *block,
               const double *more, int buffer, uint32_t masks[8]);

  /** Fills the cells low[axis] <= i < high[axis] (x, y, z) of a block from cells of the next
   * coarser level: linear with MinMod slopes, and constant in a coarse cell where the pressure of
   * one of its children would not be positive. The mean of the children of a coarse cell is the
   * coarse cell's value. Slopes of a coarse cell are made from its six neighbours. */
  void (*interpolate)(const struct gas_physics *physics, const void *coarse, const int low[3],
                      const int high[3], void *block);

  /** The means of 2^3 cells of a group go to patch `patch` of the coarser group. */
  void (*restrict_group)(unsigned variables, const void *fine_group, void *coarse_group, int patch);

  /** sides += weight * (mean of the 2^2 finer faces), on the six sides of the group whose `fluxes`
   * solve gave. */
  void (*flux_add)(unsigned variables, const void *fluxes, double weight, void *sides);

  /** Replaces the flux through one face of a patch, after the step: the cells of patch `patch` of a
   * group at `face` change by dt/dh * (old flux - fine flux), with the sign of the face. Both
   * fluxes are [variable][8][8]. A cell that would lose its positive pressure stays as it is. */
  void (*flux_fix)(const struct gas_physics *physics, double dt_dh, int face, const void *old_flux,
                   const void *fine_flux, void *group, int patch);

  /** Change the velocity of all cells of a group, and with it their energy. The pressure stays. */
  void (*accelerate)(const double change[3], void *group);
};

/** The kernels for isa_select() in single or double precision. */
const struct gas_kernels *gas_kernels_select(bool double_precision);

#endif
