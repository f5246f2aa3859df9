/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Steps of pairs: with time.pair_type no step of a particle is longer than a part of the time in which the
 * particle passes or orbits a black hole, which is a particle of this type. */
#ifndef PHOTONS_STEP_PAIR_STEPS_H
#define PHOTONS_STEP_PAIR_STEPS_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "photons/base/host_device.h"
#include "photons/domain/geometry.h"

enum { HOLES_MOST = 64 };

struct hole {
  uint32_t position[3];
  float momentum[3];   /**< km/s */
  float relative_mass; /**< in units of particles.mass */
  uint32_t rung;
};

/** The black holes of a group, or of the run, in any order. */
struct holes {
  uint32_t count;
  uint32_t rung; /**< of the run: the deepest one of all other particles */
  struct hole hole[HOLES_MOST];
};

/** The columns of a group. */
struct hole_arrays {
  uint32_t count;
  const uint32_t *position;
  const float *momentum;
  const float *mass; /**< NULL: all are 1 */
  const uint8_t *type, *rung;
  uint8_t wanted; /**< the type of black holes */
};

/** Particle i as a black hole. */
static HOST_DEVICE inline struct hole hole_of(const struct hole_arrays *a, uint32_t i) {
  struct hole h;
  for (size_t c = 0; c < 3; c++) {
    h.position[c] = a->position[c * a->count + i];
    h.momentum[c] = a->momentum[c * a->count + i];
  }
  h.relative_mass = a->mass ? a->mass[i] : 1.0f;
  h.rung = a->rung[i];
  return h;
}

/** What turns steps of pairs into rungs. */
struct pair_units {
  double length;     /**< Mpc in a position unit */
  double mass;       /**< G times particles.mass, Mpc (km/s)^2 */
  double softening2; /**< of two black holes, Mpc^2; other pairs have the same or more */
};

struct pair_time {
  double
      time2; /**< square of the time in which a particle and a black hole turn or pass, (Mpc/(km/s))^2 */
  double pull2; /**< square of the acceleration by the black hole, ((km/s)^2/Mpc)^2 */
  bool itself;  /**< the particle is the black hole; the others are not set */
};

/** The lesser one of sqrt(d^3/(G (m + M))) and d/v, in the middle of a step of this length while they approach.
 * Such steps are nearly those that the pair would choose if time ran backwards (Pelupessy, Jaenes & Portegies
 * Zwart 2012, New Astron. 17, 711, section 2.3).
 * @param eta  the part of this time that a step has */
static HOST_DEVICE inline struct pair_time pair_time(const struct pair_units *u,
                                                     const struct hole *h, const uint32_t x[3],
                                                     const float p[3], float mass, double eta) {
  double r2 = 0.0, v2 = 0.0, rv = 0.0;
  for (int c = 0; c < 3; c++) {
    const double r = u->length * position_difference(x[c], h->position[c]),
                 v = (double)p[c] - (double)h->momentum[c];
    r2 += r * r;
    v2 += v * v;
    rv += r * v;
  }
  if (!(r2 > 0.0)) return (struct pair_time){HUGE_VAL, 0.0, true};
  const double d2 = r2 + u->softening2, pull = u->mass * (double)h->relative_mass / d2,
               turn2 = d2 * sqrt(d2) / (u->mass * ((double)mass + (double)h->relative_mass));
  const double time2 = fmin(turn2, d2 / v2),
               shrinks = fmax(-1.5 * rv / d2 * eta * sqrt(time2), 0.0), /* -d(step)/dt */
      ahead = 1.0 + 0.5 * shrinks;
  return (struct pair_time){time2 / (ahead * ahead), pull * pull, false};
}

#endif
