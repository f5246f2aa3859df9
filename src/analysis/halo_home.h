/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Halos while they are made: each whole at its home, the process that has its first particle. */
#ifndef PHOTONS_HALO_HOME_H
#define PHOTONS_HALO_HOME_H

#include "photons/analysis/halo.h"
#include "photons/runtime/stage.h"

/** Loops over halos. */
extern struct stage halos_stage;

/** A particle of another process that is a member of a halo of this one. */
struct guest {
  uint64_t label; /**< of its group */
  uint64_t id;
  uint32_t x[3];
  float p[3];
};

struct halo_home {
  const struct fof *fof;
  size_t count, members; /**< halos of this home in the order of halo_compare(); their members */
  struct halo *halo;     /**< with `first` in member[] */
  uint32_t *member;    /**< particles of this process, from particles->count on guests; measured: by id in each halo */
  struct guest *guest; /**< by rank */
  size_t *guests_from; /**< [ranks] how many each sent */
  uint32_t *sent;      /**< particles of this process that are guests elsewhere, by rank */
  size_t *sent_to;     /**< [ranks] how many */
};

/** Largest first, by rising lowest id among equals; for qsort(). */
int halo_compare(const void *a, const void *b);

/** Find the halos and bring their members home; all processes call this. */
struct halo_home halo_home_create(const struct fof *f, size_t min_members);
void halo_home_free(struct halo_home *home);

/** Number the halos of all homes and their members: fills all of the catalogue but particles. All processes call
 * this. */
void halo_number(struct halo_catalogue *c, const struct halo_home *home);

/** Sort members and find all properties; all processes call this. */
void halo_measure(struct halo_home *home, double threshold);

/* Spherical overdensity. */

/** Squared distances of particles to a point. */
struct gathering {
  const struct fof *fof;
  uint32_t point[3];
  uint64_t radius2;
  uint64_t *distance2;
  size_t count, capacity;
};

/** A sphere that may hold particles of other processes. */
struct open_sphere {
  struct halo *halo; /**< NULL: this one is done */
  uint32_t point[3];
  double radius; /**< up to which to look, position units */
};

/** Find r_200 and count_200 about g->point, where no other process's particles matter.
 * @param threshold_count  particles in a sphere of unit radius (position units) at the threshold density
 * @return what is left to do where they do */
struct open_sphere halo_measure_sphere(struct gathering *g, double threshold_count, struct halo *h);
/** Finish the open spheres; all processes call this. */
void halo_close_spheres(const struct fof *f, double threshold_count, struct open_sphere *open, size_t count);

/** The block of this process's particle i. @param block  the block of another particle, which may be the same, or empty */
void halo_find_block(const struct particles *s, size_t i, struct particle_block *block);

#endif
