/* When steps begin and end: step sizes, and outputs hit exactly. */
#ifndef PHOTONS_TIMELINE_H
#define PHOTONS_TIMELINE_H

#include <stddef.h>

#include "photons/cosmology/cosmology.h"
#include "photons/config/parameters.h"

struct timeline {
  double begin, end;                     /**< scale factors of the run */
  double output[PARAMETER_LIST_MAX + 1]; /**< scale factors of outputs that lie ahead, rising */
  size_t outputs;
};

/**
 * From time and output parameters. Outputs belong to redshifts: those that lie behind are left out.
 * @param begin    scale factor of the initial conditions
 * @param now      where the run begins, or goes on from a checkpoint
 * @param written  of the last output that was written; 0: none was
 */
void timeline_init(struct timeline *t, const struct parameters *p, double begin, double now,
                   double written);

/** Number of outputs at scale factors <= a. */
size_t timeline_outputs_until(const struct timeline *t, double a);

/** The step in ln a that the criterion below allows. */
double timeline_adaptive_dlna(const struct parameters *p, const struct cosmology *c, double a,
                              double acc_max, double softening);

/**
 * Scale factor at the end of the step that begins at a.
 * Fixed: the next of `steps` equal intervals in ln a. Adaptive: min(max_dlna, H sqrt(2 eta epsilon a^3/|acc|)), the criterion of
 * Gadget-2 (Springel 2005, eq. 34) with comoving softening and acceleration, over all particles. Either is cut at the next output or the end; a
 * remainder between one and two steps is halved, so that no sliver is left.
 * @param acc_max   largest |acceleration|, comoving, (km/s)^2/(Mpc/h)
 * @param softening comoving, Mpc/h
 */
double timeline_next(const struct timeline *t, const struct parameters *p, const struct cosmology *c, double a,
                     double acc_max, double softening);

/** Comoving softening in Mpc/h at a: the parameter, or less where its physical length would exceed the limit. */
double softening_at(const struct parameters *p, double a);

#endif
