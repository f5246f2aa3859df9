/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Self-gravity of gas on the adaptive mesh, after Schive, Tsai & Chiueh (2010), ApJS 186, 457,
 * section 2.3.
 *
 * The root level's potential is found by Fourier transforms. On finer levels every other patch
 * group is solved with values around it that are interpolated from the next coarser level, then
 * those between with the values of their neighbours, and so on (Schwarz' alternating method). The
 * slopes of the potential on the two sides of the edge of a refined patch differ, as if there were
 * a sheet of mass. A correction gives the coarser level pseudo-mass: beside refined patches that of
 * the sheets, so that fluxes are those of the finer level; in refined patches what makes the finer
 * level's means its solution, with the finer level's defect added (the full approximation scheme:
 * Martin & Cartwright 1996; Brandt 1977, Math. Comp. 31, 333). With it the coarser level is solved
 * again, before it tells the next coarser one; then the finer levels are, and take over the change
 * of the coarser ones.
 *
 * The flow is kicked for half a step before and after each step of its level. All levels that are
 * at the same time are solved together. At the end of a step of the root level the solution begins anew and
 * depends on the present cells alone, for restarts. Before that a level begins with its latest potential and
 * with what has changed of the coarser one since then (POTENTIAL_FOLLOW). Within the step of a coarser level its potential is interpolated in time between the
 * solution at the beginning and one from the coarser level's own density at the end. */
#ifndef PHOTONS_POTENTIAL_GRAVITY_H
#define PHOTONS_POTENTIAL_GRAVITY_H

#include "photons/amr/gas.h"
#include "photons/potential/poisson.h"

struct parameters;
struct root_poisson;

struct self_gravity {
  const struct poisson_kernels *poisson;
  const struct gravity_kernels *kernels;
  bool direct;            /**< groups are solved directly, not by relaxation */
  bool gpus;              /**< every rank uses a GPU */
  uint32_t together_most; /**< groups of a level that one task solves */
  double gpu_memory;      /**< bytes of data that one GPU of this rank has room for; 0 without */
  struct poisson_waves waves;
  starpu_data_handle_t pivots; /**< waves.pivot, where this rank uses a GPU, else NULL */
  starpu_data_handle_t order;  /**< handle_make_empty(), of gas_gravity; of the last home */
  double newton_constant;
  double tolerance; /**< of the residual, over the sum of 4 pi G density cell^2 */
  int relaxations; /**< after the first solution of a level, with the values of neighbours, where no
                            coarser level is solved with it */
  int corrections; /**< by sheets; 0: none, for tests */
  double mean_density; /**< of the box; it does not attract where this is periodic */
  bool periodic;
  struct root_poisson *root;
};

/** NULL: the parameters say that there is no gravity. Sets gas_tasks.together. Collective. */
struct self_gravity *gravity_make(struct gas *g, const struct parameters *p);
/** After levels have got other groups, before their tasks: where a level has too many groups for one task, each home
 * finds the potentials of its own groups from then on. Clears gas_tasks.together for good.
 * @return whether this has happened: then gas_link() follows for all levels */
bool gravity_divide_potentials(struct gas *g);
/** The same before levels have batches, where the memory of one GPU does not suffice. */
void gravity_divide_at_start(struct gas *g);
/** @param s  may be NULL */
void gravity_free(struct self_gravity *s);
/** Bytes of memory that a group's potentials take up. */
double gravity_bytes_per_group(const struct parameters *p);

/** 4 pi G times the square of a cell's side, in comoving coordinates times gas.scale. Tasks get it
 * when they are submitted, since the scale factor goes on. */
double gravity_factor(const struct gas *g, int level);
/** The density that does not attract. */
double gravity_background(const struct gas *g);

/** Solve a level and all finer ones, which are at the same time. Batches have the densities of
 * particles, if there are any.
 * @param weight  of this time in the step of the next coarser level, 0 .. 1 */
void gravity_solve(struct gas *g, int level, double weight);
/** Accelerate the cells of a level for a time. Batches with particles are left to gas_particles_open(), which follows. */
void gravity_kick(struct gas *g, int level, double dt, double weight);
/** A step of a level, and where it begins and ends in that of the next coarser level, 0 .. 1. */
struct gravity_step {
  double dt, begin, end;
};
/** Before levels that have come to the same time close their steps: what the stress of finer levels has done in each
 * coarser level's step. @param level  the coarsest. @param weight  of the end of its step, as above */
void gravity_close_stresses(struct gas *g, int level, double weight);
/** Make the energy that gravity gives in a step of a level that which the gas loses in the potential,
 * gravity_kernels.work, and accelerate the cells for the second half of the step. Batches with particles are left to
 * gas_particles_close(), which follows. */
void gravity_close_step(struct gas *g, int level, struct gravity_step step);
/** The potential of a level is now that at the beginning of its step. One at the end is to come. */
void gravity_begin_step(struct gas *g, int level);
/** Find the potential at the end of a level's step from the level's own densities, while finer levels
 * are still at the beginning. @param weight  of the end, as above */
void gravity_predict(struct gas *g, int level, double weight);

/** Copy the present potential of an own group, [patch][z][y][x] in the precision of the cells. No
 * task writes it. */
void gravity_copy_potential(const struct gas *g, int level, uint32_t group, void *cells);

/** Send the potentials of a level and of the next coarser one to the ranks that need them as ghosts,
 * so far as they have changed since they were last sent. To be called before tasks that read the
 * present potential with ghost cells. @param weight  of potential_task */
void gravity_send_around(struct gas *g, int level, double weight);

/** The root level's solver (root_poisson.c), and the bytes of its meshes on all ranks.
 * @param root  groups of the level along x, y, z */
struct root_poisson *root_poisson_make(const struct gas *g);
void root_poisson_free(struct root_poisson *r);
/** Divide the level among homes, if one GPU has solved it and there are others. No task uses it. */
void root_poisson_divide(struct root_poisson *r, const struct gas *g);
double root_poisson_bytes(const uint32_t root[3], bool periodic);
/** Solve the root level; collective. Sets self_gravity.mean_density. @param massive  with pseudo-mass */
void root_poisson_solve(struct gas *g, bool massive);
/** The potential at a point of the unit lattice of a unit source at the origin: the solution of sum
 * of the six neighbours - 6 potential = 1 at the origin, 0 elsewhere. */
double lattice_green(const struct root_poisson *r, const uint32_t place[3]);

#endif
