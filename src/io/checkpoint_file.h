/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the checkpoints of all solvers share: two generations, and the comparison of parameters. */
#ifndef PHOTONS_CHECKPOINT_FILE_H
#define PHOTONS_CHECKPOINT_FILE_H

#include "photons/config/parameters.h"

/**
 * Name of the newest checkpoint that is whole (malloc'ed): NAME.hdf5, or else, after a warning,
 * NAME-previous.hdf5. The program ends with EXIT_BAD_INPUT if neither is. Collective.
 * @param kind  attribute `format` of the file
 */
char *checkpoint_choose(const char *path, const char *kind);
/** Give a damaged file another name, NAME-damaged.hdf5: else the next checkpoint would let it take
 * the place of the good one before. */
void checkpoint_set_aside(const char *path);
/**
 * End the program with EXIT_BAD_INPUT and the names of parameters that change the result and
 * differ.
 * @param[in,out] p  gets values that the run had found out and config.ini does not say
 * @param then       config.ini of the checkpoint
 */
void checkpoint_compare_parameters(const char *path, struct parameters *p, const char *then);

#endif
