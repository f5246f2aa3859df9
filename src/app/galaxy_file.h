/* SPDX-License-Identifier: GPL-3.0-or-later */
/* log/galaxy.csv: a row for each galaxy at steps where energies are measured. */
#ifndef PHOTONS_GALAXY_FILE_H
#define PHOTONS_GALAXY_FILE_H

#include <stdio.h>

#include "photons/analysis/galaxies.h"

/** Where bars were in the last rows, as the file has it, so that a run that goes on after a checkpoint computes the
 * same pattern speeds. */
struct galaxy_bars {
  double time_myr[GALAXIES_MAX], angle[GALAXIES_MAX]; /**< NAN: there was none */
};

/** Read where the bars were in the last rows of a file; none where there is no such file. */
void galaxy_bars_read(struct galaxy_bars *bars, const char *path);
/** @param types  bits of the types of particles that have columns */
void galaxy_file_header(FILE *out, unsigned types);
/** The rows of a step, one for each galaxy. */
void galaxy_file_rows(FILE *out, long long step, double time_myr, unsigned types,
                      const struct galaxy_measures *galaxies, size_t count,
                      struct galaxy_bars *bars);

#endif
