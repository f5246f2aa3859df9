/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Opening what is to be read. Only regular files will do: a named pipe would wait for a writer, a
 * device may have no end. */
#ifndef PHOTONS_INPUT_FILE_H
#define PHOTONS_INPUT_FILE_H

#include <stdio.h>

/**
 * Open a regular file for reading; never waits.
 * @param[out] reason  where the result is NULL: why, for a message; holds until the next call
 */
FILE *input_open(const char *path, const char **reason);

/** Why a path cannot be read, for libraries that open files themselves. @return NULL: it can be */
const char *input_refusal(const char *path);

#endif
