/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Density from the phase-space sheet (Abel, Hahn & Kaehler 2012, MNRAS 427, 61; Shandarin, Habib &
 * Heitmann 2012, PRD 85, 083005): the lattice of the initial conditions, cut into tetrahedra that
 * move with their vertices, the particles. Each tetrahedron keeps its mass and is uniform. */
#ifndef PHOTONS_SHEET_H
#define PHOTONS_SHEET_H

#include <stdbool.h>

#include "image_map.h"

/**
 * Project the sheet. Neighbours on the lattice must be nearer than half the box. Collective.
 * @param side  of the lattice; the particle at (i, j, k) has the id 1 + (i side + j) side + k
 * @param p     [count], with the same number of pixels
 * @param[out] map  [count] of [x][y] on every rank, particles per pixel, to be freed with free()
 * @return whether the ids are 1 .. side^3; if not, there are no maps
 */
bool sheet_project(const struct particles *s, size_t side, size_t count,
                   const struct projection p[], double *map[]);
/** Bytes that this takes on all ranks together. Local.
 * @param reach  how far particles move along an axis, over the box */
double sheet_memory(size_t particles, size_t pixels, double reach);

#endif
