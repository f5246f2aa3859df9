/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Forces of the whole solver on a particle set with exact reference accelerations (shared data, forces/). */
#ifndef PHOTONS_FORCE_SET_H
#define PHOTONS_FORCE_SET_H

#include <stdint.h>
#include <stddef.h>

#include "photons/report.h"
#include "photons/simulation.h"

struct force_error {
  double rms;       /* rms |da| over rms |a| */
  double median, p99; /* of |da|/|a| */
  double momentum;  /* |sum a| / sum |a| */
};

/** Path of a file in the test data folder, or NULL where there is none. */
const char *test_data(const char *name);
/** Parameters from an ini text plus overrides. */
void parameters_from_text(struct parameters *p, const char *text, const char *const *overrides, size_t count);
void start_starpu_for_tests(void);
/** Accelerations of the solver in the order of rising id, N*3, (km/s)^2/(Mpc/h); free() it. */
float *accelerations_by_id(const struct simulation *s);
/** Read particles, compute forces with these overrides of config.ini, compare with /Reference. */
struct force_error force_set_error(const char *path, const char *const *overrides, size_t count, struct work_counts *work);

#endif
