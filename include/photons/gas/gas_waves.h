/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cosmological initial conditions of gas that is all matter: density and velocity of linear theory
 * on the root level, as means over its cells, with the random phases of particles of the same seed (photons/ic/ic.h). */
#ifndef PHOTONS_GAS_WAVES_H
#define PHOTONS_GAS_WAVES_H

#include <stdint.h>

struct gas;
struct parameters;
struct gas_waves;

/**
 * Density 1 + delta and velocity a H f Psi in the middles of the root level's cells at ic.z_init,
 * where delta is minus the divergence of the displacement Psi. Every rank has its share of the level,
 * 32 bytes a cell. Modes are those of particles that are as many as cells. A density that is not
 * positive ends the program with EXIT_BAD_USAGE, a bad table of the spectrum with EXIT_BAD_INPUT.
 * Collective.
 */
struct gas_waves *gas_waves_make(const struct parameters *p);
/** Read the tables that these waves, or those of particles, are made with: what is wrong in them ends the program as there. */
void gas_waves_check(const struct parameters *p);
/** @param w  may be NULL */
void gas_waves_free(struct gas_waves *w);

/** Bring the waves to the ranks that have the groups of the root level. Once only: the groups stay
 * where they are. Collective. */
void gas_waves_share(struct gas_waves *w, const struct gas *g);
/** After that: the conserved variables (enum gas_variable) of an own group of the root level; as
 * gas_array_read(). */
void gas_waves_read(const struct gas_waves *w, uint32_t group, double *conserved);

/** Most bytes that the waves of all ranks take up while they are made and shared, and after that. */
double gas_waves_memory(const struct parameters *p);
double gas_waves_held_memory(const struct parameters *p);

#endif
