/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rungs of block time steps, and the kick of particles by rungs. A base step is divided into
 * 2^RUNG_MOST ticks, equal in ln a. A particle of rung k takes steps of 2^(RUNG_MOST - k) ticks,
 * which begin at multiples of their length. Particles whose own step ends at a tick are active
 * there. */
#ifndef PHOTONS_STEP_RUNGS_H
#define PHOTONS_STEP_RUNGS_H

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "photons/base/host_device.h"
#include "photons/domain/kick_largest.h"
#include "photons/step/pair_steps.h"

enum { RUNG_MOST = 20, RUNGS = RUNG_MOST + 1 };

/** A black hole with more than half of the pull on a particle holds it: the square of 1 over this part. */
#define HELD 4.0

/** Ticks of a step of a rung. */
static HOST_DEVICE inline uint32_t rung_ticks(unsigned rung) { return 1u << (RUNG_MOST - rung); }

/** How rungs change in a kick. */
enum rung_choice {
  RUNG_STAYS,
  RUNG_BY_ACCELERATION, /**< any rung: nothing is known of the particle's past */
  RUNG_DEEPENS,         /**< the same or a deeper rung: inside a base step */
  RUNG_FOLLOWS,         /**< at most one coarser: at the end of a base step */
  RUNG_SHIFTS,          /**< base steps have another length than before */
  RUNG_BY_CHANGE,       /**< any rung from `top` on, from how fast the acceleration has changed */
  RUNG_BY_PAIRS         /**< this one or a deeper one, from the rates of pairs (pair_rates.h) */
};

/** A kick of active particles, which closes their own step and opens the next one:
 *   p += short close[rung] + mesh mesh_factor;  a new rung;  p += short open[new rung]
 * Factors are integrals of dt/a, (Mpc/h)/(km/s); 0 where there is nothing to close or to open. */
struct rung_kick {
  float close[RUNGS]; /**< over the second half of the step that ends */
  float open[RUNGS];  /**< over the first half of the step that begins */
  float mesh;         /**< over half of the base step, at its ends */
  float limit[RUNGS]; /**< largest |acceleration|^2 for which the rung's step is short enough */
  float tide[RUNGS];  /**< the tide (p2p.h) below which it is short enough, too; in units of
                       *   acceleration per r_cut */
  float speed[RUNGS]; /**< gothic: largest |momentum|^2 for which it is short enough */
  double pair_step;   /**< steps of pairs: the step of rung 0, Mpc/(km/s), */
  double eta_pair;    /**< and the part of a pair's time that a step may have */
  bool gothic;        /**< rungs follow the present |acceleration| and |momentum| */
  enum rung_choice choice;
  int shift;       /**< RUNG_SHIFTS: added to rungs */
  uint8_t top;     /**< coarsest rung whose steps may begin here */
  uint8_t deepest; /**< deepest rung that may be chosen */
  bool total;      /**< the accelerations given include the mesh's, and stay. Otherwise they are the
                    *   short-range part alone, and the column of accelerations gets the sum */
};

/** Arrays of a kick by rungs. Component c of a column stands at column + c * count. */
struct rung_arrays {
  uint32_t count;                 /**< particles of the group */
  uint32_t active;                /**< particles to be kicked */
  const uint32_t *index;          /**< [active] where they stand in the group; NULL: all of it */
  const float *given;             /**< [3][active] their accelerations; NULL: those of the column */
  const float *tide;              /**< [active] their tides; NULL: not known */
  const float *rate;              /**< [active] RUNG_BY_PAIRS: 1/step, km/s/Mpc */
  const float *mesh;              /**< column mesh_acceleration */
  float *acceleration, *momentum; /**< columns */
  uint8_t *rung;                  /**< column */
  const struct holes *holes;      /**< of the run; NULL: there are none. With them: */
  const uint32_t *position;       /**< [3][active] */
  const float *mass;              /**< column relative_mass; NULL: all are 1 */
  struct pair_units units;
};

/** The factor from |a|^2 now to |a|^2 in the middle of the next step, if |a| goes on to change as
 * it did over the last step. A step chosen for its middle is nearly the one that a particle would
 * choose if time ran backwards. Steps chosen for their beginnings are too long on the way into a
 * halo, not on the way out, and particles gain energy (Quinn et al. 1997; Makino et al. 2006, New
 * Astron. 12, 124). */
static HOST_DEVICE inline float change_ahead(float before2, float now2) {
  const float least = 0.5f, most = 16.0f;
  if (!(before2 > 0.0f)) return 1.0f;
  return fminf(fmaxf(sqrtf(now2 / before2), least), most);
}

/** The rung that a particle takes next.
 * @param before2, now2  its |acceleration|^2 at the beginning and at the end of its last step
 * @param tide  see p2p.h; infinite: not known */
static HOST_DEVICE inline uint8_t next_rung(const struct rung_kick *k, uint8_t rung, float before2,
                                            float now2, float tide) {
  if (k->choice == RUNG_STAYS) return rung;
  if (k->choice == RUNG_SHIFTS) {
    const int moved = rung + k->shift;
    return (uint8_t)(moved < 0 ? 0 : moved > k->deepest ? k->deepest : moved);
  }
  float a2 = now2;
  uint8_t coarsest = 0;
  if (k->choice != RUNG_BY_ACCELERATION) {
    if (!k->gothic) {
      const float change = change_ahead(before2, now2);
      a2 *= change;
      tide *= change * change * change; /* it changes faster than |a| along an orbit */
    }
    coarsest = k->choice == RUNG_FOLLOWS && rung > 0 ? (uint8_t)(rung - 1) : rung;
  }
  while (coarsest < k->deepest && a2 > k->limit[coarsest] && !(tide < k->tide[coarsest]))
    coarsest++;
  return coarsest;
}

/** The coarsest rung from `top` on whose step is no longer than twice eta_pair times the time in which the acceleration
 * changes by itself. Where one body far away pulls, that is the time in which the particle passes or orbits it:
 * rates of pairs know near bodies alone. Of the last step only the mean change is known, half a step ago; from
 * there to the middle of the next step the rate follows the acceleration as it does on a Kepler orbit, where it goes
 * as |a|^(3/4).
 * @param change2  square of the change of the acceleration over the last step
 * @param before2, now2  |acceleration|^2 at its beginning and at its end */
static HOST_DEVICE inline uint8_t rung_of_change(const struct rung_kick *k, uint8_t rung,
                                                 float change2, float before2, float now2) {
  const float ahead = change_ahead(before2, now2), part2 = change2 / fmaxf(now2, FLT_MIN),
              steps = 0.5f * sqrtf(part2 * ahead * sqrtf(ahead)) / (float)k->eta_pair;
  uint8_t next = k->top; /* `steps` are what the last step should have been divided into */
  while (next < k->deepest && steps > ldexpf(1.0f, (int)next - (int)rung)) next++;
  return next;
}

/** The same or a deeper rung, whose step is no longer than 1/rate. */
static HOST_DEVICE inline uint8_t rung_of_rate(const struct rung_kick *k, uint8_t rung,
                                               float rate) {
  const double steps = k->pair_step * (double)rate;
  while (rung < k->deepest && steps > ldexp(1.0, rung)) rung++;
  return rung;
}

/** GOTHIC's criterion: the same or a deeper rung, whose step is short enough for the momentum. */
static HOST_DEVICE inline uint8_t rung_of_speed(const struct rung_kick *k, uint8_t rung, float p2) {
  if (!k->gothic || k->choice == RUNG_STAYS || k->choice == RUNG_SHIFTS) return rung;
  while (rung < k->deepest && p2 > k->speed[rung]) rung++;
  return rung;
}

/** The coarsest rung from `top` on whose step is short enough for a pair. @param time2  of pair_time() */
static HOST_DEVICE inline uint8_t rung_of_pair(const struct rung_kick *k, double time2) {
  const double step = k->pair_step / k->eta_pair;
  uint8_t rung = k->top;
  while (rung < k->deepest && step * step * ldexp(1.0, -2 * rung) > time2) rung++;
  return rung;
}

/** What black holes ask of a particle's step. */
struct pair_demand {
  uint8_t rung; /**< this one or a deeper one */
  bool held;    /**< the particle orbits a black hole, or is one */
};

/** A black hole itself takes the deepest rung of all other particles, so that it answers those that orbit it.
 * @param p     the particle's momentum
 * @param now2  its |acceleration|^2 */
static HOST_DEVICE inline struct pair_demand pairs_demand(const struct rung_kick *k,
                                                          const struct rung_arrays *a, uint32_t j,
                                                          const float p[3], float now2) {
  struct pair_demand demand = {0, false};
  if (!a->holes || k->choice == RUNG_STAYS || k->choice == RUNG_SHIFTS) return demand;
  const uint32_t x[3] = {a->position[j], a->position[(size_t)a->active + j],
                         a->position[2 * (size_t)a->active + j]};
  const float mass = a->mass ? a->mass[a->index ? a->index[j] : j] : 1.0f;
  for (uint32_t h = 0; h < a->holes->count; h++) {
    const struct pair_time pair = pair_time(&a->units, &a->holes->hole[h], x, p, mass, k->eta_pair);
    const uint32_t rung = pair.itself ? a->holes->rung : rung_of_pair(k, pair.time2);
    if (rung > demand.rung) demand.rung = (uint8_t)(rung < k->deepest ? rung : k->deepest);
    demand.held = demand.held || pair.itself || HELD * pair.pull2 > (double)now2;
  }
  return demand;
}

/** The rung from which a particle's next one deepens. One that a black hole holds comes back to coarser rungs
 * inside a base step, since it passes its pericentre in a small part of its orbit. */
static HOST_DEVICE inline uint8_t rung_before(const struct rung_kick *k, uint8_t rung, bool held) {
  return held && k->choice == RUNG_DEEPENS && rung > k->top ? (uint8_t)(rung - 1) : rung;
}

/** What a kick finds about a particle. */
struct kicked {
  int32_t acceleration2, momentum2; /**< bits of squares, see kick_largest.h */
  uint8_t rung;                     /**< the new one */
};

/** Kick active particle j. */
static HOST_DEVICE inline struct kicked kick_by_rung(const struct rung_kick *k,
                                                     const struct rung_arrays *a, uint32_t j) {
  const size_t n = a->count, i = a->index ? a->index[j] : j;
  const size_t from = a->given ? j : i, stride = a->given ? a->active : n;
  const float *given = a->given ? a->given : a->acceleration;
  const uint8_t old = a->rung[i];
  float part[3], sum[3], p[3], now2 = 0.0f, before2 = 0.0f, change2 = 0.0f, closed2 = 0.0f,
                               p2 = 0.0f;
  for (size_t c = 0; c < 3; c++) {
    const float mesh = a->mesh[c * n + i], before = a->acceleration[c * n + i],
                value = given[c * stride + from];
    part[c] = k->total ? value - mesh : value;
    sum[c] = k->total ? value : value + mesh;
    p[c] = a->momentum[c * n + i] + k->close[old] * part[c] + k->mesh * mesh;
    now2 += sum[c] * sum[c];
    before2 += before * before;
    change2 += (sum[c] - before) * (sum[c] - before);
    closed2 += p[c] * p[c];
  }
  const struct pair_demand demand = pairs_demand(k, a, j, p, now2);
  uint8_t rung;
  if (k->choice == RUNG_BY_CHANGE) {
    rung = rung_of_change(k, old, change2, before2, now2);
  } else if (k->choice == RUNG_BY_PAIRS) {
    rung = rung_of_rate(k, old, a->rate[j]);
  } else {
    rung = next_rung(k, rung_before(k, old, demand.held), before2, now2,
                     a->tide ? a->tide[j] : HUGE_VALF);
    rung = rung_of_speed(k, rung > demand.rung ? rung : demand.rung, closed2);
  }
  for (size_t c = 0; c < 3; c++) {
    p[c] += k->open[rung] * part[c];
    p2 += p[c] * p[c];
    a->momentum[c * n + i] = p[c];
    a->acceleration[c * n + i] = sum[c];
  }
  a->rung[i] = rung;
  return (struct kicked){magnitude_bits(now2), magnitude_bits(p2), rung};
}

#endif
