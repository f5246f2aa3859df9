/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The arithmetic of self-gravity on one patch group: relaxation of the potential, interpolation
 * between levels, and accelerations (Schive, Tsai & Chiueh 2010, section 2.3). The potential is in
 * double precision, whatever the precision of the gas is: accelerations are small differences of
 * large numbers.
 *
 * Arrays have these shapes, the last index fastest:
 *
 *   cube     [z 16][y 16][x 16]          the cells of a group
 *   block    [z 18][y 18][x 18]          the same with one ghost cell a side
 *   wide     [z 20][y 20][x 20]          the same with two ghost cells a side
 *   coarse   [z 12][y 12][x 12]          one level coarser: the 8^3 cells below, and 2 a side
 *   group    [variable][patch 8][8][8][8] float or double, kernels.h
 *
 * The discrete equation is: sum of the six neighbours - 6 potential = source. */
#ifndef PHOTONS_POTENTIAL_POISSON_H
#define PHOTONS_POTENTIAL_POISSON_H

#include "photons/amr/kernels.h"

enum {
  POISSON_SIDE = 18,
  POISSON_CELLS = 5832,
  POISSON_COARSE_GHOSTS = 2,
  POISSON_COARSE_SIDE = 12,
  POISSON_COARSE_CELLS = 1728,
  WIDE_GHOSTS = 2,
  WIDE_SIDE = 20,
  WIDE_CELLS = 8000,
  POISSON_SWEEPS_MAX = 200,
  POISSON_HALF_WAVES = 8
};

/** Constants of the direct solution: sine waves of 16 cells between two ghost cells that are 0.
 * Symmetric waves are numbers 1, 3, 5 .., antisymmetric ones 2, 4, 6 .. */
struct poisson_waves {
  double symmetric[POISSON_HALF_WAVES][POISSON_HALF_WAVES]; /**< [cell][wave], of unit norm */
  double antisymmetric[POISSON_HALF_WAVES][POISSON_HALF_WAVES];
  double symmetric_back[POISSON_HALF_WAVES][POISSON_HALF_WAVES]; /**< [wave][cell] */
  double antisymmetric_back[POISSON_HALF_WAVES][POISSON_HALF_WAVES];
  double pivot[GAS_GROUP_CELLS]; /**< [z][wave along y][along x]: inverse pivots of the elimination
                                      along z; symmetric waves come first */
};
void poisson_waves_make(struct poisson_waves *w);

/** What a relaxation came to. */
struct poisson_result {
  int sweeps;
  double residual; /**< sum over the cells of |sum of neighbours - 6 potential - source| */
};

struct stress_kick;

struct poisson_kernels {
  /** Fills a block from the coarse potential: through three cells along each axis, exact for
   * parabolas. */
  void (*interpolate)(const double *coarse, double *block);

  /** The same of the ghost cells beyond some faces alone, not beyond their edges.
   * @param faces  bit for each: 1 << face */
  void (*interpolate_ghosts)(const double *coarse, unsigned faces, double *block);

  /** The inner cells of a block from its ghost cells beyond faces, exact but for rounding. Inner
   * cells are not read. */
  void (*solve_directly)(const struct poisson_waves *waves, const double *source,
                         const double *block, double *cube);

  /** Red-black successive over-relaxation of the inner cells of a block, until the residual is at
   * most `target`, or rounding stops it from falling, or after `sweeps` sweeps over all cells. The
   * relaxation parameter follows Chebyshev's polynomials. */
  struct poisson_result (*solve)(const double *source, double target, int sweeps, double *block);

  /** The residual of a block. */
  double (*residual)(const double *source, const double *block);

  /** What the next coarser level needs of a group whose ghost cells are set. */
  void (*share)(const double *block, const double *source, struct poisson_share *share);

  /** The stress on the sides of a group. @param background  of gravity_stress() */
  void (*stress)(const double *wide, double background, struct poisson_share *share);
  /** stress_add() on all sides of a group. */
  void (*sum_stress)(struct stress_kick kick, struct poisson_share *share, struct stress_sum *sums);

  /** The pseudo-mass of the cells of a patch that is not refined, beside a refined one: with it the
   * flux through the face between them is the finer one.
   * cube -= factor (ghost cell's difference of the block - 2 slope).
   * @param block   of the coarse group, with finer means in refined patches
   * @param face    of the patch
   * @param slope   [8][8] of the refined neighbour's face there
   * @param factor  1/(4 pi G cell^2) */
  void (*sheet)(const double *block, int patch, int face, const double *slope, double factor,
                double *cube);

  /** The pseudo-mass of the cells of a refined patch: with it the coarse equation has the solution
   * that the finer level has, but for what the finer one's defect says is wrong with it.
   * @param source  without pseudo-mass */
  void (*cover)(const double *block, const double *source, const struct poisson_share *share,
                int patch, double factor, double *cube);

  /** As `interpolate`, with two ghost cells a side. */
  void (*interpolate_wide)(const double *coarse, double *wide);
};

/** A kick at the edge of a level. */
struct border_kick {
  double factor;     /**< time / (2 cell) */
  double source;     /**< 4 pi G cell^2 */
  double background; /**< of gravity_stress() */
  bool closing;      /**< the second of a step, by poisson_share.closing */
};

/** What gravity does with cells of one precision. */
struct gravity_kernels {
  /** source = factor (density - mean + pseudo-mass). `mass` may be NULL.
   * @return factor times the sum of |density| */
  double (*source)(const void *group, double factor, double mean, const double *mass,
                   double *source);
  /** Accelerate a group by -gradient of the potential, three-point differences, for a time.
   * @param factor  time / (2 cell) */
  void (*kick)(const double *block, double factor, void *group);
  /** Accelerate the cells of a patch that is not refined, beside one that is, so that the stress of gravity on the face
   * between them is the finer one, besides `kick`. @param finer  of the neighbour */
  void (*border)(const double *wide, int patch, int face, const struct poisson_share *finer,
                 struct border_kick kick, void *group);
  /** Add to the energy of a group at the end of a step, before the second kick, what makes that which gravity gives
   * in the step the work of the mass that flowed through faces: half the sum over a cell's faces of mass times the
   * difference of the potential across the face, the mean of that at the beginning and at the end of the step. The
   * sum over all cells is then what the potential energy has lost (Springel 2010, MNRAS 401, 791, section 5.3). The
   * two kicks give what they do to the kinetic energy: the thermal energy takes the difference, but keeps at
   * least half of itself. Cells whose thermal energy is below dual_energy_switch or
   * dual_energy_change of the physics do not get it: the difference is larger than their heat. Then kick the group
   * by `end` for half the step.
   * @param begin, end  blocks
   * @param mass    mass fluxes of gas_kernels.solve
   * @param before  the group after the first kick */
  void (*work)(const struct gas_physics *physics, double dt_dh, const double *begin,
               const double *end, const void *mass, const void *before, void *group);
  /** Of a patch of a group: the largest |potential of the next cell - of the one before| along any
   * axis. @param[out] sum  of density * potential */
  double (*measure)(const double *block, const void *group, unsigned patch, double *sum);
};

/** The kernels for isa_select(). */
const struct poisson_kernels *poisson_kernels_select(void);
const struct gravity_kernels *gravity_kernels_select(bool double_precision);

#endif
