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

enum { CAPTION_LINES = 2 };

/** What the labels of a picture tell. */
struct caption {
  const char *line[CAPTION_LINES]; /**< at the top left; NULL: none */
  double side;                     /**< what the width of the picture stands for */
  const char *unit;                /**< of it; "": without a unit; NULL: no scale bar is drawn */
  const char *title;               /**< of the colour bar */
  double low, high;                /**< values at the ends of the colour bar */
  bool whole;                      /**< the values are whole numbers */
};

/** Colour of a value between 0 (black) and 1. */
void picture_colour(double value, unsigned char rgb[3]);
/** Draw lines of text at the top left, a scale bar at the bottom left and a colour bar at the bottom
 * right, as far as they fit. A dark rim keeps them legible on any colour. Text is UTF-8 of the
 * characters that src/analysis/font/ has. */
void picture_label(struct picture *p, const struct caption *caption);
/** Write a PNG file, which appears when it is complete. A failure ends the program
 * (EXIT_RUN_FAILED). */
void picture_write(const char *path, const struct picture *p);

#endif
