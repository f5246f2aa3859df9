/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of statistics share. */
#ifndef PHOTONS_STATISTICS_LINES_H
#define PHOTONS_STATISTICS_LINES_H

#include <stdio.h>

#include "photons/analysis/statistics.h"

/** Print the first lines of a file: what it is, provenance, the state. */
void statistics_head(FILE *file, const char *title, const struct statistics_state *s);

#endif
