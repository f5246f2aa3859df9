/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Forces of the whole solver, and particle sets with exact reference accelerations: the sets that
 * `make check` makes in tests/force-sets, and sets of other programs in the folder forces/ of
 * PHOTONS_TEST_DATA. */
#ifndef PHOTONS_FORCE_SET_H
#define PHOTONS_FORCE_SET_H

#include <stddef.h>
#include <stdint.h>

#include "photons/step/nbody.h"
#include "test_files.h"

/** How accelerations differ from a reference. */
struct force_error {
  double rms;         /**< rms |da| over rms |a| */
  double median, p99; /**< of |da|/|a| */
  double largest;     /**< of |da| over rms |a| */
  double momentum;    /**< |sum a| / sum |a|, equal masses */
};

/** Parameters from the text of a config.ini and overrides of the form section.key=value. */
void parameters_from_text(struct parameters *p, const char *text, const char *const *overrides,
                          size_t count);
/** Start StarPU on CPU workers; engine_stop() ends it. */
void start_starpu_for_tests(void);

/** Accelerations of particles in the order of rising id, [N][3] in (km/s)^2/(Mpc/h); free() it. */
float *accelerations_by_id(const struct particles *s);
/** The accelerations that the solver computes for these particles, in the same format. Takes over
 * and frees the particles. @p work and @p net_force may be NULL. */
float *solver_accelerations(const struct parameters *p, struct particles particles,
                            struct work_counts *work, struct net_force *net_force);
struct force_error force_compare(const float *acceleration, const double *reference, size_t n);

/** The whole solver of the particles in a Gadget file, with default parameters but for a softening
 * length of a 30th of their mean distance. nbody_free() it.
 * @param p  set to these parameters; must outlive the solver */
struct nbody *solver_of_gadget_file(const char *path, struct parameters *p);

/** A particle set with its reference accelerations by rising id, [N][3] in (km/s)^2/(Mpc/h). */
struct force_set {
  char *path;
  size_t count;
  double *reference;
};
struct force_set force_set_open(const char *path);
void force_set_close(struct force_set *set);
/** The set's particles in the order of the file, and parameters for them with these overrides of
 * config.ini. */
struct particles force_set_particles(const struct force_set *set, struct parameters *p,
                                     const char *const *overrides, size_t count);
/** Accelerations of the set's particles with these overrides of config.ini, in the format of
 * solver_accelerations(). */
float *force_set_solve(const struct force_set *set, const char *const *overrides, size_t count,
                       struct work_counts *work);
/** The error of these accelerations against the reference. */
struct force_error force_set_error(const struct force_set *set, const char *const *overrides,
                                   size_t count, struct work_counts *work);

#endif
