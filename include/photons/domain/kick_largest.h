/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The largest numbers that a kick saw, and how kernels find a largest number among which may be
 * NaN. */
#ifndef PHOTONS_DOMAIN_KICK_LARGEST_H
#define PHOTONS_DOMAIN_KICK_LARGEST_H

#include <stdint.h>
#include <string.h>

#include "photons/base/host_device.h"

/** Of the particles of a group. Where one number is infinite or NaN, its largest value is so, too.
 */
struct kick_largest {
  float acceleration; /**< largest |acceleration|, (km/s)^2/(Mpc/h) */
  float momentum;     /**< largest |momentum| after the kick, km/s */
};

/** The bits of |a|. As integers they have the order of the numbers, and NaN is above infinity. The
 * kernels are compiled with -ffast-math, which takes all floats for finite: only integers can tell.
 */
static HOST_DEVICE inline int32_t magnitude_bits(float a) {
  int32_t bits;
  memcpy(&bits, &a, sizeof bits);
  return bits & INT32_MAX;
}
static HOST_DEVICE inline float magnitude_from_bits(int32_t bits) {
  float a;
  memcpy(&a, &bits, sizeof a);
  return a;
}

#endif
