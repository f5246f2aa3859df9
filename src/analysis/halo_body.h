/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Particles of one halo on one rank, and their properties. The results depend on the order of the
 * particles, which is always that of the catalogue. */
#ifndef PHOTONS_HALO_BODY_H
#define PHOTONS_HALO_BODY_H

#include <stddef.h>

#include "photons/analysis/halo.h"

/** A particle. */
struct halo_body {
  double x[3]; /**< comoving, about the halo's density peak, Mpc/h */
  double v[3]; /**< peculiar velocity, km/s */
};

/** Mean values of bodies. */
struct body_means {
  double x[3], v[3];
  double dispersion; /**< of velocities along one axis, with the Hubble flow about the mean position,
                          km/s */
  double spin[3];    /**< angular momentum over mass about the means, physical Mpc/h km/s */
};
struct body_means body_means(size_t n, const struct halo_body *b, const struct halo_background *g);

/** Distances of bodies from a point, rising, comoving; free(). */
double *body_distances(size_t n, const struct halo_body *b, const double point[3]);

/** The largest of sqrt(G M(r)/r) at the distances of the particles.
 * @param distance  rising, comoving
 * @param mass      of a particle, 1e10 Msun/h
 * @param[out] r_max  where, comoving */
double body_v_max(size_t n, const double *distance, double mass, double a, double *r_max);

/** Distance of two points. */
double body_distance(const double x[3], const double y[3]);

/** What must be given to the kernels that sum over members: terms become multiples of the distance of this number from the next
 * one, and no sum of n of them is rounded.
 * @param most  largest size of a term */
double halo_grid(size_t n, double most);

#endif
