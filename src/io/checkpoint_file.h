/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two generations of checkpoints, of all solvers. */
#ifndef PHOTONS_CHECKPOINT_FILE_H
#define PHOTONS_CHECKPOINT_FILE_H

/**
 * Name of the newest checkpoint that is whole (malloc'ed): NAME.hdf5, or else, after a warning,
 * NAME-previous.hdf5. The program ends with EXIT_BAD_INPUT if neither is. Collective.
 * @param kind  attribute `format` of the file
 */
char *checkpoint_choose(const char *path, const char *kind);
/** Give a damaged file another name, NAME-damaged.hdf5: else the next checkpoint would let it take
 * the place of the good one before. */
void checkpoint_set_aside(const char *path);

#endif
