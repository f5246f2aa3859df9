/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Positions and momenta of the members of one halo at its home. */
#ifndef PHOTONS_HALO_MEMBERS_H
#define PHOTONS_HALO_MEMBERS_H

#include "halo_body.h"
#include "halo_home.h"

struct halo_member {
  uint32_t x[3];
  float p[3];
};

/** The members of a halo in the order of home->member, to be freed with free(). */
struct halo_member *halo_members_read(const struct halo_home *home, const struct halo *h);
/** The same by rising id: sorts them in home->member, too. */
struct halo_member *halo_members_sort(const struct halo_home *home, const struct halo *h);

/** Id of an element of home->member. */
uint64_t halo_member_id(const struct halo_home *home, uint32_t member);

/** Set the centre of mass, the mean momentum and the density peak of a halo.
 * @param member     its members
 * @param[out] peak  the density peak, position units */
void halo_locate(struct halo *h, const struct halo_member *member, double box, uint32_t peak[3]);

/** The members of a halo about its density peak; free(). */
struct halo_body *halo_bodies(const struct halo *h, const struct halo_member *member, double box,
                              double a);

#endif
