/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which parameters a restart may change, of all solvers. */
#ifndef PHOTONS_CHECKPOINT_PARAMETERS_H
#define PHOTONS_CHECKPOINT_PARAMETERS_H

#include "photons/config/parameters.h"

/**
 * End the program with EXIT_BAD_INPUT and the names of parameters that change the result and
 * differ.
 * @param[in,out] p  gets values that the run had found out and config.ini does not say
 * @param then       config.ini of the checkpoint
 */
void checkpoint_compare_parameters(const char *path, struct parameters *p, const char *then);

#endif
