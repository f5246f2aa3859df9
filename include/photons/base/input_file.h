/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Opening files for reading. Only regular files are accepted: reading a named pipe waits until
 * another process writes, and reading a device may never end. */
#ifndef PHOTONS_INPUT_FILE_H
#define PHOTONS_INPUT_FILE_H

#include <stddef.h>
#include <stdio.h>

/**
 * Open a regular file for reading. Never waits.
 * @param[out] reason  NULL, or why the file could not be opened, for a message; valid until the
 *         next call
 * @return NULL if it could not be opened
 */
FILE *input_open(const char *path, const char **reason);

/** The first line of a text file without a byte-order mark of UTF-8, which some editors write. */
char *input_text(char *line);

/** Why a path cannot be read, or NULL if it can be read. For libraries that open the path
 * themselves. */
const char *input_refusal(const char *path);

/**
 * The beginning and the end of a text file to which another process may be writing. An incomplete
 * last line is left out.
 * @param head  so many of its first lines
 * @param most  after these, the whole lines in so many bytes at the end of the file
 * @return malloc'ed; NULL if the file could not be opened
 */
char *input_lines(const char *path, int head, size_t most);

#endif
