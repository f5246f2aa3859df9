/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Some particles of an isolated system, such as the disk of a galaxy, and sums over them. */
#ifndef PHOTONS_ANALYSIS_MEMBERS_H
#define PHOTONS_ANALYSIS_MEMBERS_H

#include "photons/domain/galaxy_ids.h"
#include "photons/domain/particles.h"

#define ALL_TYPES ((1U << PARTICLE_TYPES) - 1)

/** Those of a galaxy that are of some types. The host has the particles (domain_acquire()). */
struct members {
  const struct particles *particles;
  const struct galaxy_ids *galaxies;
  size_t galaxy;  /**< its number, from 0 on */
  unsigned types; /**< bit t: those of type t */
};

/** A particle. */
struct body {
  double x[3], v[3]; /**< kpc about the origin of snapshots, km/s */
  double mass;       /**< 1e10 Msun */
  size_t place;      /**< among all particles of the run */
};

/** Adds to sums what a particle has. */
typedef void (*body_function)(const void *context, const struct body *body, double *sum);

/**
 * Call a function for all members on all ranks, and add up their sums. Those of groups are added
 * up by group_sums(), so that the bits depend neither on workers nor on ranks. Collective.
 * @param[out] sum  [n], the same on all ranks
 */
void members_sum(const struct members *m, body_function function, const void *context, size_t n,
                 double *sum);
/** Adds to counts what a particle has. */
typedef void (*body_counter)(const void *context, const struct body *body, uint64_t *count);

/**
 * Call a function for all members on all ranks, and add up their counts. Whole numbers need no order, so that there
 * are n counts of a rank, and n for each worker. Collective.
 * @param[out] count  [n], the same on all ranks
 */
void members_count(const struct members *m, body_counter function, const void *context, size_t n,
                   uint64_t *count);
/** Call a function for the members of this rank, one after the other. */
void members_visit(const struct members *m, body_function function, const void *context,
                   double *sum);

/** A centre and the directions of three axes. */
struct body_frame {
  double centre[3]; /**< kpc */
  double axis[3][3];
};

/** Components of a vector along the axes. */
static inline void along_axes(const struct body_frame *f, const double v[3], double out[3]) {
  for (int k = 0; k < 3; k++)
    out[k] = f->axis[k][0] * v[0] + f->axis[k][1] * v[1] + f->axis[k][2] * v[2];
}
/** The position of a particle about the centre along the axes, kpc. */
static inline void position_in(const struct body_frame *f, const struct body *b, double out[3]) {
  const double x[3] = {b->x[0] - f->centre[0], b->x[1] - f->centre[1], b->x[2] - f->centre[2]};
  along_axes(f, x, out);
}

/** A distance of a particle, kpc: from the centre, or from the third axis. */
typedef double (*body_distance)(const struct body_frame *f, const struct body *b);
double distance_from_centre(const struct body_frame *f, const struct body *b);
double distance_from_axis(const struct body_frame *f, const struct body *b);

enum { SHARES_MOST = 5 };
/**
 * The least distances within which members have shares of their mass, as floats. Collective.
 * @param share        [count], count <= SHARES_MOST
 * @param[out] radius  [count], kpc; 0 where there are no members
 */
void radii_of_shares(const struct members *m, const struct body_frame *frame,
                     body_distance distance, size_t count, const double *share, double *radius);

/**
 * The densest point by shrinking spheres (Power et al. 2003, MNRAS 338, 14): the centre of mass of the
 * particles within a sphere is the centre of the next sphere, of 0.9 times the radius, until the next one
 * would hold less than 0.5 % of the particles, or 100. The first sphere is in the densest part, so
 * that of two clumps one is found, and holds 20 % of the mass; of less than 1000 particles so much that 200 are in it.
 * Collective.
 * @param[out] centre  kpc
 * @return their number; 0: there is no centre
 */
size_t densest_point(const struct members *m, double centre[3]);

#endif
