/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A package: a kind of physics that the solvers do not know, such as uniform gravity. Its variables are rows of
 * the table of variables (amr/variables.h), its parameters rows of the table of parameters; the rest is here.
 * src/gas/packages.c lists all packages. */
#ifndef PHOTONS_HYDRO_PACKAGE_H
#define PHOTONS_HYDRO_PACKAGE_H

#include "photons/amr/gas.h"

struct parameters;

struct gas_package {
  const char *name;
  /** Keep what the parameters say in struct gas. Gas is not there yet. */
  void (*read)(struct gas *g, const struct parameters *p);
  /** Whether a run has the package. If not, the functions below are not called. */
  bool (*is_there)(const struct gas *g);
  /** What it does to the cells of a level in a time: submit tasks that update present ones. Called for half
   * the step before the solver, and for the other half after it (Strang 1968, SIAM J. Numer. Anal. 5, 506),
   * so that steps are of second order. NULL: nothing. */
  void (*source)(struct gas *g, int level, double time);
  /** The longest step of a level at a Courant number of 1. NULL: any. Of this rank's cells. */
  double (*longest_step)(const struct gas *g, int level);
};

/** gas.acceleration: all gas falls alike. */
extern const struct gas_package uniform_gravity;

#endif
