/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Text in pictures, drawn by FreeType with a font that is part of the program: a picture is the same
 * where no font is installed. All functions are local. */
#ifndef PHOTONS_PICTURE_TEXT_H
#define PHOTONS_PICTURE_TEXT_H

#include "image_draw.h"

struct picture_font;

/** Open the font. A failure ends the program (EXIT_RUN_FAILED).
 * @param size  height of the letters' square, pixels
 * @return to be freed with picture_font_free() */
struct picture_font *picture_font_create(unsigned size);
void picture_font_free(struct picture_font *f);

/** The width of a text, pixels. @param text  UTF-8; characters that the font lacks are left out */
double picture_text_width(const struct picture_font *f, const char *text);

/** White text with a dark rim, legible on any colour; what is beyond the picture's edges is cut.
 * @param x  left end, @param y  base line, pixels from the upper left corner */
void picture_text_draw(const struct picture_font *f, struct picture *p, double x, double y,
                       const char *text);

#endif
