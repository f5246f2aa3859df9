/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Opening files for reading. Only regular files are accepted: reading a named pipe waits until
 * another process writes, and reading a device may never end. */
#ifndef PHOTONS_INPUT_FILE_H
#define PHOTONS_INPUT_FILE_H

#include <stdio.h>

/**
 * Open a regular file for reading, without ever waiting.
 * @param[out] reason  why not, for a message, if the result is NULL; valid until the next call
 */
FILE *input_open(const char *path, const char **reason);

/** Why a path cannot be read; NULL: it can. For libraries that take a path and open it. */
const char *input_refusal(const char *path);

#endif
