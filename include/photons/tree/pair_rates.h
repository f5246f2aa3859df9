/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rates of pairs: how short a step two particles need that pass or orbit each other. They are found from
 * positions and momenta of the same moment, beside the direct sums, over the same near lists. */
#ifndef PHOTONS_TREE_PAIR_RATES_H
#define PHOTONS_TREE_PAIR_RATES_H

#include <math.h>
#include <stdint.h>

#include "photons/base/host_device.h"
#include "photons/tree/p2p.h"

/** What turns positions and momenta into rates, of an isolated system. */
struct pair_law {
  float speed;       /**< 1/r_cut, 1/Mpc: from differences of momenta, km/s, to those in r_cut */
  float mass;        /**< G particles.mass/r_cut^3, (km/s/Mpc)^2 */
  float inverse_eta; /**< 1 over the part of a pair's time that a step has */
  float soft;        /**< from the law's support2 or plummer2 to epsilon^2 */
};

/** Rates of targets. */
struct pair_target {
  struct p2p_target at;
  const float *const *source_p; /**< [slot] momenta of the neighbours, km/s */
};

/** Below rates of any use, and above the least float. (km/s/Mpc)^2 */
#define PAIR_RATE2_LEAST 1e-20f

static HOST_DEVICE inline float pair_inverse_root(float a) {
#ifdef __CUDA_ARCH__
  return rsqrtf(a);
#else
  return 1.0f / sqrtf(a);
#endif
}

/** 1 over the step of a pair. The time of a pair is 1/sqrt(q), q = v^2/d^2 + G (m + M)/d^3, so that it is short
 * where the two pass and where they turn. A step h that is eta times the mean of the times at its beginning and
 * at its end is the same if time runs backwards; to first order 1/h = sqrt(q)/eta - (d/dt q^-1/2) sqrt(q)/2
 * (Pelupessy, Jaenes & Portegies Zwart 2012, New Astron. 17, 711, section 2.3; Dehnen 2017, MNRAS 472, 1226). The
 * derivative is that of the two bodies alone.
 * @param d2    squared distance with epsilon^2 added, r_cut^2
 * @param rv    distance times velocity, r_cut times km/s/Mpc
 * @param v2    squared velocity, (km/s/Mpc)^2 in r_cut
 * @param mass  of both, as pair_law.mass
 * @return km/s/Mpc; negative only if inverse_eta is below 5/4 */
static HOST_DEVICE inline float pair_rate(float d2, float rv, float v2, float mass,
                                          float inverse_eta) {
  const float y = pair_inverse_root(d2), inverse2 = y * y, pass = v2 * inverse2,
              turn = mass * inverse2 * y, q = pass + turn + PAIR_RATE2_LEAST,
              root = pair_inverse_root(q),
              derivative = rv * inverse2 * (pass + 2.5f * turn) * (root * root);
  return q * root * inverse_eta - 0.5f * derivative;
}

#endif
