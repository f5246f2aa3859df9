/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a kick does to a momentum, on cores and GPUs. */
#ifndef PHOTONS_STEP_KICK_H
#define PHOTONS_STEP_KICK_H

#include "photons/base/host_device.h"

/** A momentum p becomes p + push * acceleration - loss * p. Only steps of the mesh alone have a loss
 * (cosmology_growth_step()). */
struct kick {
  float push; /**< (Mpc/h)/(km/s) */
  float loss;
};

/** One component of a momentum after a kick. */
static HOST_DEVICE inline float after_kick(struct kick k, float momentum, float acceleration) {
  return momentum + k.push * acceleration - k.loss * momentum;
}

#endif
