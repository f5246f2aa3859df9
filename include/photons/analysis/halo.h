/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Halos: friends-of-friends groups with enough members, their properties, and their file. */
#ifndef PHOTONS_HALO_H
#define PHOTONS_HALO_H

#include "photons/analysis/fof.h"

/** Masses of spheres about the density peak: rows of halo_mass_definitions. */
enum halo_mass { CRIT_200, MEAN_200, CRIT_500, TOP_HAT_200, HALO_MASSES };

struct halo_mass_definition {
  const char *name; /**< Gadget-4's: datasets are Group_M_NAME and Group_R_NAME */
  /** Mean density in the sphere over the critical density. @param omega_m  Omega_m at that time */
  double (*overdensity)(double omega_m);
};
extern const struct halo_mass_definition halo_mass_definitions[HALO_MASSES];

/** A sphere with the mean density of its definition. */
struct halo_sphere {
  uint64_t count; /**< particles inside, members or not; 0 if no sphere is that dense */
  double radius;  /**< largest radius about centre at which the mean density is the threshold, among
                       spheres of up to twice the mass of the members (larger ones if these are
                       still denser) */
};

/** What the measurement of halos knows of the universe at one time. */
struct halo_background {
  double a, hubble;            /**< hubble: H(a), km/s/(Mpc/h) */
  double density[HALO_MASSES]; /**< that define spheres, comoving, 1e10 Msun/h/(Mpc/h)^3 */
};

/** One halo; lengths are comoving, in Mpc/h. Members inside R_Crit200 are its inner members; where
 * that sphere does not exist, all members are. */
struct halo {
  uint64_t first, count; /**< members: rows first .. first + count - 1 of the members of all
                              halos */
  uint64_t lowest_id;    /**< of its members; orders halos of equal size */
  double position[3];    /**< centre of mass, in [0, L) */
  double momentum[3];    /**< mean a^2 dx/dt of the members, km/s; divided by a: peculiar
                              velocity */
  double centre[3];      /**< density peak: shrinking spheres (Power et al. 2003, MNRAS 338, 14) */
  struct halo_sphere sphere[HALO_MASSES];
  double v_max, r_max; /**< largest circular velocity about centre of the inner members, km/s, and
                             its radius */
  double dispersion;   /**< of the inner members' velocities along one axis, km/s */
  double spin; /**< lambda' = J/(sqrt(2) M V R) of the inner members (Bullock et al. 2001, ApJ 555,
                             240, eq. 5); 0 without R_Crit200 */
  double offset;        /**< from centre to position */
  double axis_ratio[2]; /**< b/a and c/a: roots of the eigenvalues of sum x_i x_j of the inner members
                             about centre */
  double
      concentration; /**< of the NFW profile with the same v_max/V_Crit200 (Prada et al. 2012, MNRAS
                             423, 3018, eqs. 8 and 9); 0 where v_max is not above V_Crit200 */
  uint64_t heavy_count; /**< of halo_count_heavy() */
  double heavy_mass;
  uint64_t subhalos, first_subhalo; /**< number, and the first one's among those of the run */
};

/** A bound part of a halo. Lengths are comoving, in Mpc/h. */
struct subhalo {
  uint64_t first,
      count;     /**< particles: rows first .. first + count - 1, the most bound one first */
  uint64_t id;   /**< of the most bound particle */
  uint64_t halo; /**< number of its halo in the run */
  uint64_t rank,
      parent; /**< rank among the subhalos of the halo, the largest first; and that of the smallest
                              one around this one, or its own */
  double position[3]; /**< of the most bound particle, in [0, L) */
  double mean_position[3];
  double velocity[3]; /**< mean peculiar velocity, km/s */
  double spin[3];     /**< angular momentum over mass, physical Mpc/h km/s */
  double dispersion;  /**< of velocities along one axis, with the Hubble flow, km/s */
  double v_max,
      r_max; /**< largest circular velocity of its particles about position, km/s, and its radius */
  double half_radius; /**< about position, with half of its particles inside */
};

/** Members of a halo or subhalo by type. */
struct member_types {
  uint64_t count[PARTICLE_TYPES];
  /** Place of the first one among the particles of its type, in the order of rows. */
  uint64_t first[PARTICLE_TYPES];
};

/** The halos of the run, largest first. Ranks have consecutive halos; rank 0 has the largest. The
 * members of all halos are numbered in the order of the halos: these
 * numbers are called rows. Within a halo its subhalos follow each other, the largest first, then all
 * other members by rising id. The members on a rank are in general not those of the halos on the same
 * rank. */
struct halo_catalogue {
  const struct particles *particles;
  size_t all, all_members;  /**< halos of the run, and particles in them */
  size_t first_halo, count; /**< halos of this rank */
  struct halo *halo;
  size_t all_subhalos, first_subhalo,
      subhalos; /**< of the run; of this rank: those of its halos, in
                                                     their order */
  struct subhalo *subhalo;
  /** Of each halo and subhalo of this rank; NULL: all members are of type PARTICLE_HALO. */
  struct member_types *halo_types, *subhalo_types;
  bool several_types;     /**< members of the run's halos are of several types */
  size_t members;         /**< particles of this rank in halos */
  uint32_t *member;       /**< these particles, by rising row */
  uint64_t *row;          /**< row of each of them */
  double subhalo_seconds; /**< wall time of the search for subhalos on this rank */
  bool heavy;             /**< the halos know the heavy particles in them: halo_count_heavy() */
};

struct cosmology;
struct halo_background halo_background_at(const struct cosmology *c, double a);

/** The FoF groups with at least @p min_members members. Collective.
 * @param rows  whether the rows of members are wanted (member, row and members of the catalogue), as halo_member_ids() and
 *         halo_ordered_particles() need them; without, these are empty, and all else has the same bits. Particles with
 *         types have them in any case
 * @param subhalo_members  least particles of a subhalo; 0: subhalos are not searched for */
struct halo_catalogue *halo_catalogue_create(const struct fof *f, size_t min_members, bool rows,
                                             size_t subhalo_members,
                                             const struct halo_background *background);

/**
 * Count what halos of light particles contain of heavier ones: number and mass (1e10 Msun/h) of these within
 * R_Crit200 of the centre, which masses of the halo lack. The bits are the same on any number of ranks.
 * Collective.
 * @param s           all particles of the run, with masses of their own
 * @param light_most  largest mass of a light particle, 1e10 Msun/h
 */
void halo_count_heavy(struct halo_catalogue *c, const struct particles *s, double light_most);
void halo_catalogue_free(struct halo_catalogue *c);

struct parameters;
/** Bytes that the search for subhalos in the halos that are searched at a time takes on its rank; 0 without subhalos. An
 * estimate. Local. */
double subhalos_memory(const struct parameters *p, size_t particles);

/** Whether snapshots are in the order of the halos, where there are halos. */
bool halo_order_wanted(const struct parameters *p);
/** Bytes of all ranks that particles in the order of halos take while a snapshot is written; 0 where none
 * is in this order. An estimate. Local.
 * @param columns  that the particles have */
double halo_order_memory(const struct parameters *p, size_t particles, column_set columns);
/** All particles of the run: members of halos by row, then the others that halos could consist of, in their present
 * order, and then those of which halos do not consist. Each rank gets an equal number of them, as from
 * particles_create_share(); free with particles_free(). Collective.
 * @param others         particles of which halos do not consist, or NULL. Masses of both are in units of others->mass
 * @param accelerations  whether to bring the accelerations along; else that column is absent */
struct particles halo_ordered_particles(const struct halo_catalogue *c,
                                        const struct particles *others, bool accelerations);

/** Ids of the members in rows comm_first(all_members, r) .. of rank r, to be freed with free().
 * Collective. */
uint64_t *halo_member_ids(const struct halo_catalogue *c);

struct linear_theory;
struct provenance;
/** Write fof_tab_NNN.hdf5 in Gadget-4's layout, one rank after the other. Collective.
 * @param length linking length, Mpc/h */
void halo_catalogue_write(const char *path, const struct parameters *p,
                          const struct halo_catalogue *c, double a, double length);

/** Write massfunc_NNN.txt: halos counted in bins of mass, and theory averaged over the same bins.
 * Collective; rank 0 writes.
 * @param min_members  of the catalogue: the first bin begins there
 * @param linear       without a spectrum there is no theory
 * @param provenance   NULL: is not written */
void mass_function_write(const char *path, const struct halo_catalogue *halos, size_t min_members,
                         const struct linear_theory *linear, const struct provenance *provenance);

#endif
