/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The column density of the particles of a universe of gas. */
#ifndef PHOTONS_GAS_PARTICLE_PICTURE_H
#define PHOTONS_GAS_PARTICLE_PICTURE_H

#include <stdbool.h>
#include <stddef.h>

#include "photons/amr/gas.h"

struct parameters;

/** Whether there is such a map: in a cube that expands. Elsewhere the densities of cells show particles. */
bool gas_particles_mapped(const struct gas *g);
/**
 * The column density over the mean: that of the phase-space sheet (src/analysis/sheet.h) where the particles began
 * on a lattice, else each particle is smoothed as widely as those about it are apart. Collective.
 * @param axis  to the right, upwards, of the line of sight
 * @return [y][x] pixels x pixels on every rank, to be freed with free()
 */
double *gas_particles_map(const struct gas *g, const struct parameters *p, const int axis[3],
                          size_t pixels);
/** Bytes that this takes up on all ranks together, at most. */
double gas_particles_map_memory(const struct parameters *p, size_t particles);

#endif
