/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Halos while they are measured. Each halo is complete at its home, the rank that has its first
 * particle. */
#ifndef PHOTONS_HALO_HOME_H
#define PHOTONS_HALO_HOME_H

#include "photons/analysis/halo.h"
#include "photons/analysis/kernels.h"
#include "photons/runtime/stage.h"

/** Loops over halos. */
extern struct stage halos_stage;

/** A particle of another rank that is a member of a halo of this rank. */
struct guest {
  uint64_t label; /**< of its FoF group */
  uint64_t id;
  uint32_t x[3];
  float p[3];
};

struct halo_home {
  const struct fof *fof;
  size_t count, members; /**< halos of this home in the order of halo_compare(), and the number of
                              their members */
  struct halo *halo;     /**< `first` is an index into member[] */
  uint64_t *before;      /**< [count + 1] members of the halos before each */
  uint64_t *place;  /**< [count] where in member[] those of each begin: the `first` of the halos */
  uint32_t *member; /**< particle of this rank, or guest + particles->count; halos in any order; the
                              members of each in any order, or after halo_measure() with rows in that of the
                              catalogue */
  struct subhalo *subhalo; /**< of all halos, in their order; `first` counts from the halo's first
                                member */
  size_t subhalos;
  double subhalo_seconds; /**< wall time of the search for them */
  struct guest *guest;    /**< in the order of ranks */
  size_t *guests_from;    /**< [rank] guests received from it */
  uint32_t *sent;         /**< particles of this rank that are guests elsewhere, in the order of
                            ranks */
  size_t *sent_to;        /**< [rank] particles sent to it */
};

/** Largest halo first, halos of equal size by rising lowest id; for qsort(). */
int halo_compare(const void *a, const void *b);

/** What orders halos, and the place of the halo in a list. Sorting these moves less memory than sorting
 * halos. */
struct halo_key {
  uint64_t count, lowest_id;
  size_t place;
};
struct halo_key halo_key_of(const struct halo *h, size_t place);
/** The order of halo_compare(). */
int halo_compare_keys(const void *a, const void *b);

/** Keys in the order of halo_compare(), on all workers; free().
 * @param key  freed, or returned */
struct halo_key *halo_keys_sorted(size_t count, struct halo_key *key);
/** A copy of halos in the order of halo_compare(), to be freed with free(). Local, on all workers.
 * @param[out] place  [count] where each was; or NULL */
struct halo *halo_sorted(size_t count, const struct halo *halo, size_t *place);

/** The first halo of a home whose members begin in this part of all members or a later one. */
size_t halo_first_of_part(const struct halo_home *home, uint32_t part, uint32_t parts);

/** Find the halos and bring their members to their homes. Collective. */
struct halo_home halo_home_create(const struct fof *f, size_t min_members);
void halo_home_free(struct halo_home *home);

/** Number the halos of all homes: fills all of the catalogue except its particles and the rows of its members.
 * Collective. @return first row of each halo of the home; free() */
uint64_t *halo_number(struct halo_catalogue *c, struct halo_home *home);
/** Fill the rows of its members, too. Collective. @param first_row  of halo_number() */
void halo_number_members(struct halo_catalogue *c, const struct halo_home *home,
                         const uint64_t *first_row);

/** Count the members of the numbered halos and subhalos by type, where particles have types. Collective. */
void halo_count_types(struct halo_catalogue *c);

/** Compute all properties. Collective.
 * @param rows             bring the members of each halo into the order of the catalogue, as subhalos need it
 * @param subhalo_members  least particles of a subhalo; 0: none are searched for */
void halo_measure(struct halo_home *home, bool rows, size_t subhalo_members,
                  const struct halo_background *background);

/* Spherical overdensity. */

/** Distances of particles to a point, position units. */
struct gathering {
  const struct fof *fof;
  const struct halo_kernels *kernels; /**< NULL: not chosen yet */
  uint32_t point[3];
  uint64_t radius2; /**< the largest, squared */
  double *distance;
  size_t count, capacity;
};

/** Have room for so many more distances. */
void gathering_make_room(struct gathering *g, size_t more);

/** Particles in a sphere of unit radius (position units) at the densities that define spheres. */
struct threshold_counts {
  double of[HALO_MASSES];
};

/** The search for the spheres about one point. They may contain particles of other ranks. */
struct open_sphere {
  struct halo *halo; /**< NULL: all spheres are known */
  uint32_t point[3];
  double radius[HALO_MASSES]; /**< search radii, position units; 0: this sphere is known */
};

/** Find the spheres about g->point where no particles of other ranks can matter.
 * @return the remaining work where particles of other ranks can matter */
struct open_sphere halo_measure_spheres(struct gathering *g, const struct threshold_counts *t,
                                        struct halo *h);
/** Finish the open spheres. Collective. */
void halo_close_spheres(const struct fof *f, const struct threshold_counts *t,
                        struct open_sphere *open, size_t count);

#endif
