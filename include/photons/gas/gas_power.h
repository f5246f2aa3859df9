/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Power spectra of gas and particles in a box that expands. */
#ifndef PHOTONS_GAS_POWER_H
#define PHOTONS_GAS_POWER_H

#include <stddef.h>

#include "photons/amr/gas.h"

/**
 * Write powerspec_gas_NNN.txt and powerspec_particles_NNN.txt, in the format of power_write(), of
 * what there is. That of the gas is measured on the cells of the root level up to their Nyquist
 * frequency, without their window; that of particles by power_measure(). There is none of a box
 * that is no cube, and none of particles with different masses. Collective; the gas has been
 * acquired.
 */
void gas_power_write(const struct gas *g, const struct parameters *p, size_t number);
/** Most bytes that this takes up on all ranks, with so many particles. */
double gas_power_memory(const struct parameters *p, size_t particles);

#endif
