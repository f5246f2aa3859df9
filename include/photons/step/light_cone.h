/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The past light cone of an observer at z = 0 in the periodic box and its copies: which particles
 * cross it in a step, and maps of how many crossed it in each shell of comoving distance. Stage cone
 * finds the crossings of a group before the group drifts (cone_cross.h). Results do not depend on the
 * number of ranks or workers: crossings are in the order of groups, drifts, copies and particles, and
 * maps are sums of whole numbers, of particles or of their masses in a unit of which each mass is a multiple. */
#ifndef PHOTONS_STEP_LIGHT_CONE_H
#define PHOTONS_STEP_LIGHT_CONE_H

#include <stddef.h>

#include "photons/config/parameters.h"
#include "photons/cosmology/cosmology.h"
#include "photons/domain/particles.h"
#include "photons/step/cone_cross.h"

struct nbody;
struct group;

/** The masses of the particles. */
struct cone_masses {
  double mean; /**< 1e10 Msun/h */
  bool differ; /**< particles have relative masses, of which maps count whole multiples of 2^-bits, */
  int bits;    /**< so that no mass is rounded */
  /** 1e10 Msun/h, of each particle of a type; 0: there are none, or their masses differ. */
  double of_type[PARTICLE_TYPES];
};

/** A particle where it crosses the light cone. */
struct cone_particle {
  double x[3]; /**< from the observer, Mpc/h */
  uint64_t id;
  float velocity[3]; /**< peculiar, km/s */
  float a;           /**< scale factor */
};

/** Some of a group's crossings. Lists that grow in one piece would be copied, and their memory new in each step. */
struct cone_page {
  struct cone_page *next;
  float *mass; /**< [count] relative; NULL: all are 1. This and the next one are behind the page */
  uint8_t *type; /**< [count]; NULL: all are PARTICLE_HALO */
  uint32_t count;
  struct cone_particle particle[CONE_BLOCK];
};

/** The crossings of a group in a step. */
struct cone_part {
  struct cone_page *first, *last; /**< NULL: there are none */
  uint64_t *
      sent; /**< [sent_count][light_cone_words()] of other ranks' parts of the maps, a particle each: pixel +
                     12 nside^2 * (shell - first_shell), and the mass where masses differ */
  size_t sent_count, sent_room;
};

/** The map of a shell. */
struct cone_map {
  uint64_t *
      pixel; /**< this rank's part: light_cone_own_pixels() from light_cone_first_pixel() on, numbers of particles
                      or masses; NULL: the shell is not open */
  /** Where masses differ: the sum of the squares of those that this rank found in the whole map, in 2^CONE_SQUARE_BITS
   * times the square of their unit, each rounded down. Its low 64 bits and its high ones. */
  uint64_t squares[2];
};
enum { CONE_SQUARE_BITS = 24 };

struct light_cone {
  const struct cosmology *cosmology;
  const struct step_kernels *kernels;
  struct cone_view view;
  double observer[3];   /**< position units, whole numbers */
  double unit;          /**< of length: Mpc/h in a position unit */
  bool particles;       /**< whether to keep crossings */
  int64_t nside;        /**< of maps; 0: there are none */
  double shell_width;   /**< Mpc/h: shell k is of distances from k to k + 1 of these */
  int64_t shells;       /**< from the observer to where the light cone begins */
  struct cone_map *map; /**< [shell] */
  struct cone_masses masses;

  /* Of the step: */
  double a0, a1;
  int64_t first_shell, last_shell; /**< that are open: nearest and farthest */
  double (*copy)[3];               /**< copies of the box that may cross, in sides of the box */
  size_t copies;
  struct cone_part *part; /**< [group of this rank] */
  size_t parts;
  double from, to;         /**< scale factors of the drift that is kept here: */
  struct cone_drift drift; /**< many groups have the same one */
};

/** Comoving distance from the observer, Mpc/h, of light that is seen from scale factor a. */
double light_cone_distance(const struct cosmology *c, double a);
/** The reverse, for a distance in Mpc/h not below 0. */
double light_cone_scale_factor(const struct cosmology *c, double distance);

/** The light cone of the parameters; NULL: they have none.
 * @param c    stays in use
 * @param box  side, Mpc/h */
struct light_cone *light_cone_create(const struct parameters *p, const struct cosmology *c,
                                     double box);
void light_cone_free(struct light_cone *cone);

/** Part of the sky that the parameters' light cone has, 0 .. 1. */
double light_cone_sky(const struct parameters *p);

/** Before the drifts of a step from a0 to a1: no crossings are known, and shells that the light cone
 * comes to are open. */
void light_cone_begin(struct nbody *n, double a0, double a1);

/**
 * Find the crossings of a group, which is to drift from scale factor @p from to @p to. To be called
 * before drift_submit(), when the group's box is that before the drift, and g->moved how far its
 * particles may go.
 * @param drift  as for drift_submit()
 */
void light_cone_submit(struct nbody *n, struct group *g, double from, double to, float drift);

/** The place of a group in a copy of the box, from the observer.
 * @param b  about the box's corner @param copy  in whole sides of the box */
struct cone_bounds light_cone_in_copy(const struct light_cone *cone, const struct cone_bounds *b,
                                      const double copy[3]);
/** Forget the crossings of the last step. */
void light_cone_forget_step(struct light_cone *cone);
/** Open the shells that the light cone comes to in the step. */
void light_cone_open_maps(struct light_cone *cone);

/** The crossings of a group's drift, for stage cone. */
void light_cone_find(struct light_cone *cone, struct cone_part *part, const struct cone_drift *d,
                     const struct cone_bounds *bounds, const struct cone_particles *p);

/** Whether the light cone has come to the inner border of a shell. */
bool light_cone_passed(const struct light_cone *cone, int64_t shell);
/** Add particles to the maps of their shells, or keep their pixels for the ranks that have them. Any number of
 * tasks do, of different groups.
 * @param crossings  their x from the observer, Mpc/h
 * @param mass       the group's column of relative masses, in which crossings->index says which are theirs; NULL: particles
 *                   are counted */
void light_cone_count(struct light_cone *cone, struct cone_part *part,
                      const struct cone_crossings *crossings, const float *mass);
/** After the drifts of a step: the ranks count what others found in their parts of the maps. Collective. */
void light_cone_exchange_counts(struct light_cone *cone);
/** Words of a particle in struct cone_part.sent. */
size_t light_cone_words(const struct light_cone *cone);
/** The squares of the masses of all ranks: see struct cone_map. Collective. */
void light_cone_squares(const struct cone_map *map, uint64_t squares[2]);
/** What shot noise is of, 1e10 Msun/h: the mass of a particle, or where masses differ the sum of their squares over
 * their sum. Of all ranks; collective. */
double light_cone_noise_mass(const struct light_cone *cone, const struct cone_map *map);
/** Open a shell if it is not. @return this rank's part of its map */
uint64_t *light_cone_open_map(struct light_cone *cone, int64_t shell);
void light_cone_close_map(struct light_cone *cone, int64_t shell);
/** Pixels of a map. */
size_t light_cone_pixels(const struct light_cone *cone);
/** The first pixel that this rank has, and how many it has: the same of all maps. */
size_t light_cone_first_pixel(const struct light_cone *cone);
size_t light_cone_own_pixels(const struct light_cone *cone);

#endif
