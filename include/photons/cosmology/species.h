/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Linear theory of cold dark matter and baryons beside species that are not made of particles:
 * neutrinos with mass, radiation, perturbations of dark energy, and what of general relativity is left
 * in N-body gauge (Tram et al. 2019, JCAP 03, 022). A table of a Boltzmann code says how cold dark
 * matter and baryons grow at each k, and by which part the other species add to their attraction.
 *
 * The mesh multiplies each mode by that part. The species then follow the particles with the phases
 * and the amplitude that the particles have, at any amplitude: on scales where particles have left
 * linear theory, neutrinos stream freely and add little (compare Ali-Haimoud & Bird 2013, MNRAS 428,
 * 3375). */
#ifndef PHOTONS_SPECIES_H
#define PHOTONS_SPECIES_H

#include <stdbool.h>

struct parameters;
struct species;

/** The table that the parameters name; NULL: they name none. A bad table, or one of another universe,
 * ends the program with EXIT_BAD_INPUT. */
struct species *species_create(const struct parameters *p);
void species_free(struct species *s);

/** delta_k(a)/delta_k(1) of cold dark matter and baryons; k in h/Mpc. Beyond the table's k it is that of
 * the table's end. */
double species_growth(const struct species *s, double a, double k);
/** dln delta_k/dln a of the same. */
double species_rate(const struct species *s, double a, double k);

/** What other species add to the attraction, by k at one time: delta rho of all other species over
 * that of cold dark matter and baryons. */
struct response;
struct response *response_create(const struct species *s, double a);
double response_at(const struct response *r, double k);
void response_free(struct response *r);

#endif
