/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the checks of config.ini by parameters_check() share. Each leaves out values with reported problems. */
#ifndef PHOTONS_PARAMETER_CHECK_H
#define PHOTONS_PARAMETER_CHECK_H

#include <assert.h>

#include "photons/config/parameter_table.h"

/** The row of a key, which exists. */
static inline const struct parameter *row_of(const char *section, const char *key) {
  const struct parameter *row = parameter_find(section, key);
  assert(row);
  return row;
}

/** Whether no problem was reported with this value, so that it may be compared with others. */
static inline bool sound(const struct parameter_problems *problems, const struct parameter *row) {
  return !problems->origin[row - parameter_table].bad;
}

/** A value that another one needs. @param why  that one, `ic.source = gadget` */
void check_needed(const struct parameters *p, struct parameter_problems *problems,
                  const char *section, const char *key, bool there, const char *why);
/** A file can be read. */
void check_readable(const struct parameters *p, struct parameter_problems *problems,
                    const struct parameter *row, const char *path);
/** The same of a Gadget file, or the first file of a set with this stem. */
void check_gadget_file(const struct parameters *p, struct parameter_problems *problems,
                       const struct parameter *row, const char *path);

/* Of a universe that expands (parameter_check_universe.c). */

void check_cosmology(const struct parameters *p, struct parameter_problems *problems);
void check_power_spectrum(const struct parameters *p, struct parameter_problems *problems);
/** Initial conditions are of a time before the run's end. */
void check_begins_before_end(const struct parameters *p, struct parameter_problems *problems);
/** Outputs are due while the run takes place. */
void check_redshifts(const struct parameters *p, struct parameter_problems *problems);

/** What runs of particles need, in a box or isolated; and what gas on an adaptive mesh needs. */
void check_particle_runs(const struct parameters *p, struct parameter_problems *problems);
void check_gas_runs(const struct parameters *p, struct parameter_problems *problems);

#endif
