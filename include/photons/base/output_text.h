/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables in text files. Their lines are made in memory and are written only if all of their numbers
 * are finite: `nan` or `inf` as an item of a line ends the program (EXIT_RUN_FAILED), with a message
 * that names the file and the column. All functions are local. */
#ifndef PHOTONS_OUTPUT_TEXT_H
#define PHOTONS_OUTPUT_TEXT_H

#include <stdio.h>

/** Lines that are not written yet. */
struct output_text {
  FILE *stream;
  char *text;
  size_t size;
};

/** Begin. @return where to print the lines; never NULL */
FILE *output_text_begin(struct output_text *t);
/** Append the lines to a table with commas whose first line has the names of its columns.
 * @param path  its name, for messages and to look up the names */
void output_text_append(struct output_text *t, FILE *file, const char *path);
/** Make the lines a file of that name (output_file.h): a table with spaces, and the names of its
 * columns in the last line that begins with '#'. */
void output_text_save(struct output_text *t, const char *path);

#endif
