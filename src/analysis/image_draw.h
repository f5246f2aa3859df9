/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pictures: colours, text, and PNG files. All functions are local. */
#ifndef PHOTONS_IMAGE_DRAW_H
#define PHOTONS_IMAGE_DRAW_H

#include <stdbool.h>
#include <stddef.h>

/** RGB picture of width x height pixels, rows from the top. */
struct picture {
  size_t width, height;
  unsigned char *rgb;
};

/** What the labels of a picture tell. */
struct legend {
  double box, depth; /**< sides of what is shown, and its extent along the line of sight, Mpc/h */
  double z;          /**< redshift */
  double low, high;  /**< log10 of the density over the mean that are black and brightest */
};

/** Colour of a value between 0 (black) and 1. */
void picture_colour(double value, unsigned char rgb[3]);
/** Draw redshift and depth at the top left, a scale bar at the bottom left and a colour bar at the
 * bottom right, as far as they fit. Black about them keeps them legible on a bright background. */
void picture_label(struct picture *p, const struct legend *legend);
/** Draw a text at the top left, and a colour bar with its title and numbers at the bottom right, as
 * far as they fit. The font has digits, `+-=./` and the letters of the texts that there are.
 * @param whole  the values are whole numbers */
void picture_caption(struct picture *p, const char *text, const char *title, double low,
                     double high, bool whole);
/** Write a PNG file, which appears when it is complete. A failure ends the program
 * (EXIT_RUN_FAILED). */
void picture_write(const char *path, const struct picture *p);

#endif
