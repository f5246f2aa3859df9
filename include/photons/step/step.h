/* One step: what is submitted, in which order. */
#ifndef PHOTONS_STEP_H
#define PHOTONS_STEP_H

#include "photons/step/nbody.h"

/** Opening half kick, drift, refit; returns when done, so that the host may look at the boxes.
 * @param kick   int dt/a of the first half
 * @param drift  int dt/a^2 of the step */
void step_drift(struct nbody *n, double kick, double drift);

/** Forces at the present positions (trees refitted) and the closing half kick; returns when done. kick = 0 computes forces only.
 * @param meanwhile  what the host does while the tasks run; it may read positions (domain_acquire_positions()); NULL: nothing */
void step_forces(struct nbody *n, double kick, void (*meanwhile)(void *context), void *context);

/** Sort the particles of all into groups and leaves anew, and refit all trees. */
void step_rebuild(struct nbody *n);

/** Forces of the groups as they stand where none are known yet: with a relative criterion a geometric pass comes first, which gives it accelerations. */
void step_first_forces(struct nbody *n);

/** Make the trees of the groups anew, each of its own particles: nothing travels. */
void step_sort(struct nbody *n);

/** Find the largest acceleration of each group, when forces are known but not computed here (restart). */
void step_measure(struct nbody *n);

/** Largest |acceleration| of all particles, (km/s)^2/(Mpc/h), comoving, after step_forces() or step_measure(), on every process. */
double step_acc_max(const struct nbody *n);

#endif
