/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A curve in one line of text. */
#ifndef PHOTONS_APP_SPARKLINE_H
#define PHOTONS_APP_SPARKLINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/** Print one character a value, in eight heights from `low` to `high`; a blank for NAN.
 * @param utf8  block characters of Unicode, else ASCII */
void sparkline_print(FILE *out, const double *values, size_t count, double low, double high,
                     bool utf8);

/** Print a bar of so many characters between brackets, filled to a share of 0 .. 1. */
void sparkline_bar(FILE *out, double share, int width, bool utf8);

#endif
