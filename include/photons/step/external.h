/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The potentials of section [external], in which an isolated system moves. */
#ifndef PHOTONS_EXTERNAL_H
#define PHOTONS_EXTERNAL_H

#include <starpu.h>
#include <stdbool.h>

#include "photons/step/external_field.h"

struct nbody;
struct parameters;

struct external {
  struct external_field field;
  double *values;             /**< of the table; NULL: there is none */
  starpu_data_handle_t table; /**< of the values */
};

/** What is conserved in the potentials. */
struct external_symmetry {
  bool round;     /**< all are spheres: angular momentum; otherwise its z component, without bars */
  bool bars;      /**< there are bars: no angular momentum */
  bool rotates;   /**< energy is not conserved, */
  bool jacobi;    /**< but E - pattern L_z: all bars turn with one speed */
  double pattern; /**< km/s/kpc */
};

/** Read the potentials of section [external] and the table. What is wrong ends the program:
 * EXIT_BAD_USAGE, a file EXIT_BAD_INPUT. */
struct external_field external_read(const struct parameters *p, double **values);
/** Whether there are any. */
bool external_wanted(const struct parameters *p);
/** One potential from text: a name, then KEY=VALUE. @return what is wrong, in @p reason, or true */
bool external_parse(const char *text, struct external_term *term, char *reason, size_t size);
/** The values of a table, from radii in kpc, increasing, and masses within them in 1e10 Msun.
 * @return allocated */
double *external_tabulate(struct external_table *t, size_t rows, const double *radius,
                          const double *mass);
/** Turn the bars to a time. @param time  since the beginning, kpc/(km/s) */
void external_turn(struct external_field *field, double time);
struct external_symmetry external_symmetry(const struct external_field *field);

/** What an N-body system needs of the potentials, with StarPU running; NULL: there are none. */
struct external *external_start(const struct parameters *p);
void external_free(struct external *external);

/** The time of n->a since the beginning, kpc/(km/s). */
double external_time(const struct nbody *n);

/** Sums over all particles at the time of n->a, 1e10 Msun (km/s)^2: the energy in the potentials, and
 * m x times acceleration. Collective, when all tasks have ended. */
struct external_sums {
  double energy, clausius;
};
struct external_sums external_measure(struct nbody *n);
/** Add the potentials to those of this rank's particles, (km/s)^2. Collective. */
void external_add_potentials(struct nbody *n, float *potential);

#endif
