/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The force of a mesh without pairs. */
#ifndef PHOTONS_MESH_ALONE_H
#define PHOTONS_MESH_ALONE_H

#include <stddef.h>

#include "photons/config/parameters.h"
#include "photons/cosmology/cosmology.h"

struct linear_power;

/**
 * Where the mesh has half of the force, over its Nyquist frequency: gravity.pm_cut. Automatic: a wave number at which
 * the waves of the lattice, on which particles begin, do not pull, and a higher one once linear theory says that the
 * lattice has dissolved.
 * @param linear     NULL: not known; the lattice then stays
 * @param particles  of the run, of box p->box.size
 * @return 0: as mesh_create() has it
 */
double mesh_alone_cut(const struct parameters *p, const struct linear_power *linear,
                      const struct cosmology *c, size_t particles, double a);

#endif
