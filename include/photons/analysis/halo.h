/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Halos: friends-of-friends groups with enough members, their properties, and their file. */
#ifndef PHOTONS_HALO_H
#define PHOTONS_HALO_H

#include "photons/analysis/fof.h"

/** One halo; lengths are comoving, in Mpc/h. */
struct halo {
  uint64_t first, count; /**< members: rows first .. first + count - 1 of the members of all
                              halos */
  uint64_t lowest_id;    /**< of its members; orders halos of equal size */
  double position[3];    /**< centre of mass, in [0, L) */
  double momentum[3];    /**< mean a^2 dx/dt of the members, km/s; divided by a: peculiar
                              velocity */
  double centre[3];      /**< density peak: shrinking spheres (Power et al. 2003, MNRAS 338, 14) */
  uint64_t count_200;    /**< particles within r_200, members or not; 0 if no sphere reaches the
                              threshold */
  double r_200;          /**< largest radius about centre at which the mean density is the
                              threshold, among spheres of up to twice the mass of the members
                              (larger ones if these are still denser) */
};

/** The halos of the run, largest first. Ranks have consecutive halos; rank 0 has the largest. The
 * members of all halos are numbered in the order of the halos, and by rising id within each: these
 * numbers are called rows. The members on a rank are in general not those of the halos on the same
 * rank. */
struct halo_catalogue {
  const struct particles *particles;
  size_t all, all_members;  /**< halos of the run, and particles in them */
  size_t first_halo, count; /**< halos of this rank */
  struct halo *halo;
  size_t members;   /**< particles of this rank in halos */
  uint32_t *member; /**< these particles, by rising row */
  uint64_t *row;    /**< row of each of them */
};

/**
 * The FoF groups with at least @p min_members members. Collective.
 * @param threshold  mean density that defines r_200, comoving, 1e10 Msun/h/(Mpc/h)^3: 200
 *         rho_critical(z) a^3
 */
struct halo_catalogue *halo_catalogue_create(const struct fof *f, size_t min_members,
                                             double threshold);
void halo_catalogue_free(struct halo_catalogue *c);

/** All particles of the run: members of halos by row, then the others in their present order. Each
 * rank gets an equal number of them, as from particles_create_share(); free with particles_free().
 * Collective. */
struct particles halo_ordered_particles(const struct halo_catalogue *c);

/** Ids of the members in rows comm_first(all_members, r) .. of rank r, to be freed with free().
 * Collective. */
uint64_t *halo_member_ids(const struct halo_catalogue *c);

struct parameters;
struct cosmology;
struct linear_power;
struct provenance;
/** 200 times the critical density at a, comoving, 1e10 Msun/h/(Mpc/h)^3. */
double halo_threshold(const struct cosmology *c, double a);
/** Write fof_tab_NNN.hdf5 in Gadget-4's layout, one rank after the other. Collective.
 * @param length linking length, Mpc/h */
void halo_catalogue_write(const char *path, const struct parameters *p,
                          const struct halo_catalogue *c, double a, double length);

/** Write massfunc_NNN.txt: halos counted in bins of mass, and theory averaged over the same bins.
 * Collective; rank 0 writes.
 * @param min_members  of the catalogue: the first bin begins there
 * @param provenance   NULL: is not written */
void mass_function_write(const char *path, const struct halo_catalogue *halos, size_t min_members,
                         const struct linear_power *linear, const struct cosmology *c, double a,
                         const struct provenance *provenance);

#endif
