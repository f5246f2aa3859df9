/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How waves grow on a grid of particles while they are linear (Joyce & Marcos 2007, PRD 75, 063516; Garrison et al.
 * 2016, MNRAS 461, 4125). The pull on a displaced grid is the sum of that of all its particles. For each wave vector
 * it is a symmetric matrix of trace 1, in units of 4 pi G times the mean density, in the place of the fluid's
 * projection on the wave vector. Of its three eigenvectors that near the wave vector stands for the fluid's growing
 * wave. Its eigenvalue is less than 1 for most waves near the particles' Nyquist frequency, so that they grow more
 * slowly. */
#ifndef PHOTONS_IC_LATTICE_GROWTH_H
#define PHOTONS_IC_LATTICE_GROWTH_H

#include <stddef.h>

struct lattice_growth;

/** A wave of the grid beside that of a fluid. */
struct lattice_wave {
  double direction[3]; /**< of displacements, by q; its component along q is that of q */
  double eigenvalue;   /**< of the pull; 1: that of a fluid */
  double rate;         /**< dln(displacement)/dln D1 */
};

/** The table of pulls, 33^3 matrices. free() it. */
struct lattice_growth *lattice_growth_create(void);
/**
 * The wave of a wave vector. Rates are those of a universe of matter alone, D1 to the power
 * (sqrt(1 + 24 eigenvalue) - 1)/4.
 * @param q     wave vector in units of the fundamental mode, not 0
 * @param side  particles along the box
 */
struct lattice_wave lattice_growth_of(const struct lattice_growth *l, const double q[3],
                                      double side);

#endif
