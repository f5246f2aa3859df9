/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Measures of the disk of a galaxy. */
#ifndef PHOTONS_ANALYSIS_DISK_MEASURES_H
#define PHOTONS_ANALYSIS_DISK_MEASURES_H

#include "members.h"
#include "photons/analysis/galaxies.h"

/** Measure the particles of a disk about a centre, kpc. Without particles all stays as it is. Collective. */
void disk_measure(const struct members *m, const double centre[3], struct disk_measures *disk);

#endif
