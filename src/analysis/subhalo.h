/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The search for subhalos in one halo, as SUBFIND does it (Springel et al. 2001, MNRAS 328, 726): peaks of
 * the density in phase space, bounded by saddle points, are candidates, and what is bound in a candidate is a subhalo. */
#ifndef PHOTONS_SUBHALO_H
#define PHOTONS_SUBHALO_H

#include <stdbool.h>

#include "halo_body.h"

/** Particles about a peak of the density, down to the saddle point that joins it to a larger one. A
 * candidate has consecutive places in the order of all particles of its halo, and candidates inside it
 * have some of these. */
struct candidate {
  uint32_t first, count; /**< places */
  uint32_t level;        /**< above that of all candidates inside this one; 0: there are none */
  uint32_t bound;        /**< particles of the subhalo; 0: there is none */
  uint32_t *member;      /**< their numbers, the most bound one first; or NULL */
  /** Number of the smallest candidate around this one, or its own; among subhalos: of the smallest
   * subhalo. */
  uint32_t around;
  uint32_t nested; /**< number among subhalos, those around others first */
};

/** Candidates of a halo. The first one is the whole halo; each comes before those inside it. */
struct candidates {
  struct candidate *list;
  size_t count;
  uint32_t *order; /**< [place] number of a body */
};

/** Find candidates of at least `least` particles; the whole halo is one in any case.
 * @param time    Mpc/h / (km/s): a distance in phase space is sqrt(v^2 + (x/time)^2) */
struct candidates subhalo_candidates(size_t n, const struct halo_body *b, double time,
                                     size_t least);
void subhalo_candidates_free(struct candidates *c);

/** What the unbinding needs to know. */
struct unbinding {
  const struct halo_body *body; /**< of the halo */
  const struct halo_background *background;
  double mass, softening; /**< of a particle, 1e10 Msun/h, and comoving, Mpc/h */
  size_t least;           /**< particles of a subhalo */
};

/** Remove the particles that are not bound to the others.
 * @param count   particles, numbers in `body`
 * @param number  [count] on return: bound particles, the most bound one first
 * @return bound particles; 0 if they are fewer than u->least */
size_t subhalo_unbind(const struct unbinding *u, size_t count, uint32_t *number);

/** A particle and its potential in the field of others and its own, (km/s)^2. */
struct known_potential {
  double potential;
  uint32_t number;
};

/** Potentials of particles in the field of all of them. Neighbours follow each other in the list; free().
 * @param number  [count] numbers in `body` */
struct known_potential *subhalo_potentials(const struct unbinding *u, size_t count,
                                           const uint32_t *number);
/** subhalo_unbind() of particles of which some are left out, from the potentials of all of them.
 * @param left_out     [body]; NULL: none is
 * @param[out] number  [count] */
size_t subhalo_unbind_known(const struct unbinding *u, size_t count,
                            const struct known_potential *known, const bool *left_out,
                            uint32_t *number);

/** Give subhalos those particles of their host that are bound to them and closer to them in phase space.
 * @param time    Mpc/h / (km/s): a distance in phase space is sqrt(v^2 + (x/time)^2). Particles further in space than
 *                `time` times the subhalo's largest circular velocity stay with the host
 * @param rest    [rest_count] numbers of the host's own particles, the densest one first
 * @param inside  [count] subhalos; `member` and `bound` change */
void subhalos_grow(const struct unbinding *u, double time, uint32_t rest_count,
                   const uint32_t *rest, uint32_t count, struct candidate *const *inside);

/** The squared distance of two subhalos in phase space, over the squared largest circular velocity of the first one.
 * @param time  Mpc/h / (km/s): a distance in phase space is sqrt(v^2 + (x/time)^2) */
double subhalo_distance2(const struct unbinding *u, double time, const struct candidate *c,
                         const struct candidate *other);

/** Members of halos that are searched at a time on a rank with so many particles, for the sake of memory; a halo alone may
 * have more. */
size_t subhalos_at_a_time(size_t particles);

/** Find the subhalos of a halo, the largest first. Within a loop other workers help.
 * @param b           members of the halo
 * @param least       particles of a subhalo
 * @param[out] order  [h->count] numbers of the members: those of each subhalo, the most bound one first,
 *         then all others by rising number
 * @return h->subhalos subhalos, whose `first` counts from the first member; free(). Complete but for
 *         `halo` and `id` */
struct subhalo *subhalos_of(struct halo *h, const struct halo_body *b, double box, double mass,
                            size_t least, const struct halo_background *g, uint32_t *order);

#endif
