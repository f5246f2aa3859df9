/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which files in output.dir are this program's: a folder holds the results of one run. */
#ifndef PHOTONS_APP_RESULTS_H
#define PHOTONS_APP_RESULTS_H

#include <stddef.h>
#include <stdio.h>

/** A file of this program that is in the folder and worth keeping, malloc'ed; NULL: there is none.
 * Unfinished files, parameters, and the log of a run that took no step are worth nothing. */
char *results_example(const char *dir);

/** Remove what this program wrote into the folder, and nothing else. StarPU opens its traces when
 * it starts: those of an earlier run go before, by results_remove_traces(). */
void results_remove(const char *dir);
void results_remove_traces(const char *dir);

/**
 * The numbers of outputs of which the folder holds finished files, rising, malloc'ed.
 * @param stem      how names of these files begin; "" for any
 * @param[out] count
 */
long *results_numbers(const char *dir, const char *stem, size_t *count);

/** Print a line about the results that are in the folder, and one about how to make a page of
 * them. */
void results_print(FILE *out, const char *dir);

#endif
