/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The search for subhalos in one halo, as SUBFIND does it (Springel et al. 2001, MNRAS 328, 726): peaks of
 * the density in phase space, bounded by saddle points, are candidates, and what is bound in a candidate is a subhalo. */
#ifndef PHOTONS_SUBHALO_H
#define PHOTONS_SUBHALO_H

#include <stdbool.h>

#include "halo_body.h"
#include "halo_density.h"

/** Particles and their potentials in the field of all of them and their own, (km/s)^2. */
struct potentials {
  uint32_t count;
  uint32_t *number;  /**< in a list of bodies, rising */
  double *potential; /**< of each */
};

/** Particles about a peak of the density, down to the saddle point that joins it to a larger one. A
 * candidate has consecutive places in the order of all particles of its halo, and candidates inside it
 * have some of these. */
struct candidate {
  uint32_t first, count; /**< places */
  uint32_t level;        /**< above that of all candidates inside this one; 0: there are none */
  struct potentials
      all; /**< of its particles, where these are known before the unbinding; else none */
  struct potentials member; /**< of the subhalo; none: there is no subhalo */
  uint32_t centre;          /**< the most bound of these */
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
 * @param d  of the particles, freed */
struct candidates subhalo_candidates(size_t n, struct densities *d, size_t least);
void subhalo_candidates_free(struct candidates *c);

/** What the unbinding needs to know. Bodies whose numbers are near each other should be near each other: fields are found
 * faster then. */
struct unbinding {
  const struct halo_body *body; /**< of the halo */
  const struct halo_background *background;
  double mass, softening; /**< of a particle, 1e10 Msun/h, and comoving, Mpc/h */
  size_t least;           /**< particles of a subhalo */
};

/** Potentials of particles in the field of all of them.
 * @param number  [count] rising; copied */
struct potentials potentials_of(const struct unbinding *u, uint32_t count, const uint32_t *number);
/** The same from what is known of the nearest of some sets of particles: faster where most particles are the same. */
struct potentials potentials_from(const struct unbinding *u, uint32_t sets,
                                  const struct potentials *const *known, uint32_t count,
                                  const uint32_t *number);
/** Potentials of the first particles without the others, which have been taken away from all of them.
 * @param p        those that are left, whose potentials change
 * @param removed  [count] rising */
void potentials_without(const struct unbinding *u, struct potentials *p, uint32_t count,
                        const uint32_t *removed);
/** Particles with undefined potentials. @param number  [count] rising; copied */
struct potentials potentials_list(uint32_t count, const uint32_t *number);
/** A request for potentials of particles in their own field. */
struct potentials_request {
  const struct unbinding *unbinding;
  struct potentials *potentials; /**< more than none; of potentials_list() */
};
/** What potentials_of() finds, of many lists by tasks. Waits for the tasks. Not within a loop or a task.
 * @param task     most particles of a task, HALO_PAIRS at least
 * @param request  [count] of one softening length */
void potentials_by_tasks(uint32_t task, size_t count, const struct potentials_request *request);
/** The potential of a particle in the field of none but itself, (km/s)^2, positive; and of one other times their distance. */
double potential_of_itself(const struct unbinding *u);
double potential_unit(const struct unbinding *u);
struct potentials potentials_copy(const struct potentials *p);
void potentials_free(struct potentials *p);

/** Remove the particles that are not bound to the others; all, if fewer than u->least are. Potentials are then those in the
 * field of the others.
 * @return number of the most bound one; UINT32_MAX: none is left */
uint32_t subhalo_unbind(const struct unbinding *u, struct potentials *p);
/** The particles of potentials by rising energy in the rest frame of all, the most bound one first.
 * @param[out] number  [p->count] */
void subhalo_by_energy(const struct unbinding *u, const struct potentials *p, uint32_t *number);

/** Give subhalos those particles of their host that are bound to them and closer to them in phase space.
 * @param time    Mpc/h / (km/s): a distance in phase space is sqrt(v^2 + (x/time)^2). Particles further in space than
 *                `time` times the subhalo's largest circular velocity stay with the host
 * @param rest    [rest_count] numbers of the host's own particles, rising
 * @param centre  of these, the densest one
 * @param all     the particles of the host with those of its subhalos
 * @param inside  [count] subhalos; `member` and `centre` change */
void subhalos_grow(const struct unbinding *u, double time, uint32_t rest_count,
                   const uint32_t *rest, uint32_t centre, const struct potentials *all,
                   uint32_t count, struct candidate *const *inside);

/** The squared distance of two subhalos in phase space, over the squared largest circular velocity of the first one.
 * @param time  Mpc/h / (km/s): a distance in phase space is sqrt(v^2 + (x/time)^2) */
double subhalo_distance2(const struct unbinding *u, double time, const struct candidate *c,
                         const struct candidate *other);

/** Members of halos that are searched at a time on a rank with so many particles, for the sake of memory; a halo alone may
 * have more. */
size_t subhalos_at_a_time(size_t particles);

/** The search in a halo before its subhalos are found. */
struct subhalo_search {
  size_t count;           /**< particles */
  uint32_t *number;       /**< [body] of the member */
  struct halo_body *body; /**< those near each other follow each other */
  struct halo_tree tree;  /**< of the bodies in phase space */
  struct densities densities;
  struct unbinding unbinding;
  struct candidates candidates;
};

/** Begin the search: all but the densities. Within a loop other workers help, here and below.
 * @param n      members of the halo
 * @param b      these
 * @param mass   of a particle
 * @param least  particles of a subhalo */
struct subhalo_search subhalo_search_begin(size_t n, const struct halo_body *b, double mass,
                                           size_t least, const struct halo_background *g);
/** Find the candidates. The densities are freed, and the tree. */
void subhalo_search_candidates(struct subhalo_search *s);
/** List the particles of all candidates, for potentials_by_tasks(). */
void subhalo_search_list(struct subhalo_search *s);

/** Find the subhalos of a halo, the largest first.
 * @param s           with candidates; freed
 * @param[out] order  [h->count] numbers of the members: those of each subhalo, the most bound one first,
 *         then all others by rising number
 * @return h->subhalos subhalos, whose `first` counts from the first member; free(). Complete but for
 *         `halo` and `id` */
struct subhalo *subhalos_of(struct halo *h, struct subhalo_search *s, double box, uint32_t *order);

struct halo_home;
/** Find the subhalos of all halos of a home: home->subhalo. The members of each halo come into the order of its subhalos. */
void halo_search_subhalos(struct halo_home *home, size_t least, const struct halo_background *g);

#endif
