/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The gas of a level: its step, what finer levels correct, and how fast it is. Without gas nothing
 * happens. */
#ifndef PHOTONS_HYDRO_HYDRO_H
#define PHOTONS_HYDRO_HYDRO_H

#include "photons/amr/gas.h"

/** A step of a level. */
struct hydro_step {
  double dt;
  double begin, end; /**< in the last step of the next coarser level, 0 .. 1 */
  double least_heat; /**< of gas_physics, at the end of the step */
};

/** Let the gas of a level take a step. */
void hydro_solve(struct gas *g, int level, struct hydro_step s);
/** Correct a level after the finer one has taken its steps: fluxes through the sides of refined
 * patches, and cells in these. Of the step only its length and least_heat are read. */
void hydro_correct(struct gas *g, int level, struct hydro_step s);
/** Give the refined patches of a level and of all finer ones the means of the finer cells, of whatever
 * ranks. */
void hydro_restrict(struct gas *g, int level);
/** Largest speed of a signal on a level that gas_cfl has measured. Collective. */
double hydro_fastest(const struct gas *g, int level);

#endif
