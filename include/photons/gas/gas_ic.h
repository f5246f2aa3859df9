/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Initial conditions of gas: problems with names, whose cells any level can be given, arrays of one
 * level, or random waves on the root level. */
#ifndef PHOTONS_GAS_IC_H
#define PHOTONS_GAS_IC_H

#include <stdbool.h>

#include "photons/amr/gas.h"
#include "photons/config/choices.h"
#include "photons/gas/primitive.h"

/** A plane wave of Zel'dovich's. Without pressure, matter of phase q comes to phase
 * q - size sin(q). */
struct pancake {
  double size;     /**< below 1 */
  double density;  /**< mean of the gas */
  double velocity; /**< v~ = velocity sin(q)/k, with the wavenumber k */
  double heat;     /**< pressure~/density~, the same everywhere */
};

struct gas_ic {
  enum ic_source source;
  enum gas_direction direction; /**< of the tube or the wave */
  double side[3];               /**< of the box */
  double gamma;
  unsigned scalars;
  double energy;    /**< of Sedov's explosion */
  double amplitude; /**< of the wave, over the density */
  double newton_constant;
  struct pancake pancake;
  struct gas_array *array; /**< NULL: */
  struct gas_waves *waves; /**< NULL, too: a problem with a name */
};

/** The wave that ic.source = pancake is at ic.z_init. */
struct pancake pancake_make(const struct parameters *p);

/** Collective: opens the file of arrays and looks at its numbers. */
struct gas_ic gas_ic_make(const struct parameters *p);
void gas_ic_free(struct gas_ic *ic);

/** To be called before the first level is filled: what a rank's groups need comes to the rank.
 * Collective. */
void gas_ic_share(const struct gas_ic *ic, const struct gas *g);

/** Whether cells of a level can be given. Others are interpolated from the next coarser level. */
bool gas_ic_reaches(const struct gas_ic *ic, int level);

/** Density, velocity and pressure at a place, without scalars. @param cell  side of the cell around it */
struct gas_primitive gas_ic_at(const struct gas_ic *ic, const double place[3], double cell);

/** The fraction of a scalar at a place: scalar 0 is 1 in the part of the box that the problem is about,
 * scalar 1 is 1 in the rest, and scalar k from 2 on is 1/k everywhere. */
double gas_ic_scalar(const struct gas_ic *ic, unsigned scalar, const double place[3], double cell);

/** Fill a group of a level that the initial conditions reach.
 * @param cells  [variable][patch][8][8][8] */
void gas_ic_fill(const struct gas_ic *ic, const struct gas *g, int level, uint32_t group,
                 void *cells);

#endif
