/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Positions and momenta of the members of one halo at its home. */
#ifndef PHOTONS_HALO_MEMBERS_H
#define PHOTONS_HALO_MEMBERS_H

#include "halo_body.h"
#include "halo_home.h"

/** The members of a halo, in any order: nothing that is measured depends on it. One after the other, halos have the same
 * room. */
struct halo_columns {
  const struct halo_kernels *kernels;
  size_t count, room;
  uint32_t reference[3]; /**< position of the first member by x, y and z, position units */
  uint32_t peak[3];      /**< the density peak, from the reference: halo_locate() */
  uint32_t *x[3];        /**< [count] from the reference, as signed numbers */
  float *p[3];           /**< [count] a^2 dx/dt, km/s */
  uint32_t *left[3];     /**< [room] while the peak is searched for: members that are left, */
  int32_t *inside;       /**< [room] and which of them are inside the sphere */
};

struct halo_columns halo_columns_create(void);
void halo_columns_free(struct halo_columns *m);
/** Begin to fetch the members of a halo that is read next. */
void halo_columns_prefetch(const struct halo_home *home, const struct halo *h);
/** Read the members of a halo. */
void halo_columns_read(struct halo_columns *m, const struct halo_home *home, const struct halo *h);

/** Sort the members of a halo in home->member by rising id. */
void halo_members_sort(const struct halo_home *home, const struct halo *h);

/** Find the ORB group of this rank's particle i.
 * @param block  result; on entry the ORB group of another particle, or an empty one */
static inline void halo_find_block(const struct particles *s, size_t i,
                                   struct particle_block *block) {
  if (i - block->first >= block->count) *block = particles_block_of(s, i);
}

/** Id of an element of home->member. */
uint64_t halo_member_id(const struct halo_home *home, uint32_t member);

/** Set the centre of mass, the mean momentum, the density peak (m->peak, too) and the offset of a halo.
 * @param m  its members */
void halo_locate(struct halo *h, struct halo_columns *m, double box);

/** Compute the properties that follow from the members. Needs halo_locate() and the spheres.
 * @param mass  of a member
 * @param room  for the distances of as many members */
void halo_describe(struct halo *h, const struct halo_columns *m, double box, double mass,
                   const struct halo_background *g, double *room);

/** The members of a halo about its density peak, in the order of home->member; free(). */
struct halo_body *halo_bodies(const struct halo_home *home, const struct halo *h, double a);

#endif
