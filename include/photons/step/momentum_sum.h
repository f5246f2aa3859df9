/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PHOTONS_MOMENTUM_SUM_H
#define PHOTONS_MOMENTUM_SUM_H

/** Sums over the momenta of a group times masses in units of particles.mass, km/s and (km/s)^2. */
struct momentum_sum {
  double vector[3], magnitude, square;
};

#endif
