/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cosmology.w_table: a table of the equation of state of dark energy. */
#ifndef PHOTONS_CONFIG_DARK_ENERGY_FILE_H
#define PHOTONS_CONFIG_DARK_ENERGY_FILE_H

#include "photons/config/parameter_table.h"

/** Read the file that cosmology.w_table names, if there is one, into p->cosmology.w. Problems are reported. */
void dark_energy_collect(struct parameters *p, struct parameter_problems *problems);

#endif
