/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The times at which steps begin and end. Steps end exactly at output times. */
#ifndef PHOTONS_TIMELINE_H
#define PHOTONS_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>

#include "photons/config/parameters.h"
#include "photons/cosmology/cosmology.h"

struct timeline {
  bool is_time;      /**< of a system that does not expand: moments are times, not scale factors */
  double begin, end; /**< moments of the run */
  double output[PARAMETER_LIST_MAX + 1]; /**< of outputs that lie ahead, increasing */
  size_t outputs;
  double same; /**< interval below which two moments are the same */
};

/**
 * Set up from the sections [time] and [output]. Outputs belong to redshifts: those that lie behind
 * are left out. All three are moments.
 * @param begin    of the initial conditions
 * @param now      where the run begins, or goes on from a checkpoint
 * @param written  of the last output that was written; before all moments: none was
 */
void timeline_init(struct timeline *t, const struct parameters *p, double begin, double now,
                   double written);

/** Number of outputs until a. */
size_t timeline_outputs_until(const struct timeline *t, double a);

/** Whether the run has reached its end. */
bool timeline_ended(const struct timeline *t, double a);

/** Whether steps are so many of equal length, whatever accelerations are. */
bool timeline_counted(const struct parameters *p);
/** The longest step in ln a: time.max_dlna, or time.max_step of isolated systems. */
double timeline_longest(const struct parameters *p);
/** The shortest step in ln a before a run ends: time.min_dlna, which in isolated systems is a part of
 * time.max_step. */
double timeline_shortest(const struct parameters *p);

/** The step in ln a that the criterion below allows a particle. */
double timeline_adaptive_dlna(const struct parameters *p, const struct cosmology *c, double a,
                              double acc_max, double softening);

/** The largest |acceleration| for which the criterion allows a step in ln a, whatever max_dlna is.
 */
double timeline_adaptive_limit(const struct parameters *p, const struct cosmology *c, double a,
                               double dlna);
/** The largest tide (p2p.h), (km/s)^2/(Mpc/h)^2, for which time.eta_tide allows a step in ln a. Steps
 * follow the dynamical time in the place of the acceleration, as in PKDGRAV (Zemp et al. 2007, MNRAS
 * 376, 273; Grudic & Hopkins 2020, MNRAS 495, 4306): far from the centre of a massive halo the
 * acceleration is large but hardly changes. */
double timeline_tide_limit(const struct parameters *p, const struct cosmology *c, double a,
                           double dlna);
/** The largest |velocity|, km/s, for which GOTHIC's criterion allows a step in ln a. */
double timeline_speed_limit(const struct parameters *p, const struct cosmology *c, double a,
                            double dlna);

/**
 * The scale factor at the end of the step that begins at a.
 * - Fixed steps: the next of `steps` equal intervals in ln a.
 * - Adaptive steps: d ln a = min(max_dlna, H sqrt(2 eta epsilon a^3/|acc|)), the criterion of
 *   Gadget-2 (Springel 2005, eq. 34) with comoving softening and acceleration, over all particles.
 * - Block steps: the base step, max_dlna, or early in a periodic box as much longer as time.stretch
 *   allows. The steps of particles follow the criterion of adaptive
 *   steps, or with time.criterion = gothic dt = gothic_eta min(epsilon/|v|, sqrt(epsilon/|acc|))
 *   (Miki & Umemura 2017, New Astron. 52, 65).
 *
 * Each is cut at the next output and at the end. A remainder between one and two adaptive or base
 * steps is divided into two equal steps in ln a, so that no very short step is left.
 * @param acc_max   largest |acceleration|, comoving, (km/s)^2/(Mpc/h)
 * @param softening comoving, Mpc/h
 */
double timeline_next(const struct timeline *t, const struct parameters *p,
                     const struct cosmology *c, double a, double acc_max, double softening);

/** The shortest comoving softening at a, Mpc/h: softening_shortest(), or less if its physical
 * length would exceed gravity.softening_max_physical. */
double softening_at(const struct parameters *p, double a);

#endif
