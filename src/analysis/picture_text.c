/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "picture_text.h"

#include <ft2build.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "photons/base/error.h"
#include "picture_font.h"
#include FT_FREETYPE_H

#define RIM 0.12 /* of the dark rim, over the size of the letters */

struct picture_font {
  FT_Library library;
  FT_Face face;
  double size;
};

/** What letters cover of each pixel of a picture, 0 to 255. */
struct coverage {
  size_t width, height;
  unsigned char *of;
};

static void check(FT_Error error, const char *what) {
  if (error) fail(EXIT_RUN_FAILED, "cannot %s for pictures: FreeType's error %d", what, error);
}

struct picture_font *picture_font_create(unsigned size) {
  struct picture_font *f = allocate(1, sizeof *f, "the font of pictures");
  f->size = size;
  check(FT_Init_FreeType(&f->library), "start the drawing of text");
  check(FT_New_Memory_Face(f->library, picture_font_data, (FT_Long)sizeof picture_font_data, 0,
                           &f->face),
        "read the font");
  check(FT_Set_Pixel_Sizes(f->face, 0, size), "choose the size of text");
  return f;
}

void picture_font_free(struct picture_font *f) {
  FT_Done_Face(f->face);
  FT_Done_FreeType(f->library);
  free(f);
}

/** The character that a text begins with, of at most three bytes. @return the rest of the text */
static const char *next_character(const char *text, FT_ULong *character) {
  const unsigned char *c = (const unsigned char *)text;
  size_t bytes = 1;
  *character = c[0];
  if (c[0] >= 0xe0 && c[1] && c[2]) {
    *character = (c[0] & 0x0fu) << 12 | (c[1] & 0x3fu) << 6 | (c[2] & 0x3fu);
    bytes = 3;
  } else if (c[0] >= 0xc0 && c[1]) {
    *character = (c[0] & 0x1fu) << 6 | (c[1] & 0x3fu);
    bytes = 2;
  }
  return text + bytes;
}

/** Load a letter. @return its width, pixels; 0 if the font lacks it */
static double load(const struct picture_font *f, FT_ULong character, FT_Int32 flags) {
  const FT_UInt glyph = FT_Get_Char_Index(f->face, character);
  if (glyph == 0 || FT_Load_Glyph(f->face, glyph, flags) != 0) return 0.0;
  return (double)f->face->glyph->advance.x / 64.0;
}

double picture_text_width(const struct picture_font *f, const char *text) {
  double width = 0.0;
  for (FT_ULong character; *text;) {
    text = next_character(text, &character);
    width += load(f, character, FT_LOAD_NO_HINTING);
  }
  return width;
}

static void add_letter(const struct coverage *c, const FT_GlyphSlot slot, double x, double y) {
  const FT_Bitmap *bitmap = &slot->bitmap;
  const long left = lrint(x) + slot->bitmap_left, top = lrint(y) - slot->bitmap_top;
  for (long row = 0; row < (long)bitmap->rows; row++)
    for (long column = 0; column < (long)bitmap->width; column++) {
      const long at_x = left + column, at_y = top + row;
      if (at_x < 0 || at_y < 0 || at_x >= (long)c->width || at_y >= (long)c->height) continue;
      unsigned char *pixel = &c->of[(size_t)at_y * c->width + (size_t)at_x];
      const unsigned char value = bitmap->buffer[row * bitmap->pitch + column];
      if (value > *pixel) *pixel = value;
    }
}

/** The largest coverage within the rim's width of a pixel. */
static unsigned char rim_at(const struct coverage *c, long x, long y, long rim) {
  unsigned char most = 0;
  for (long j = y - rim; j <= y + rim; j++)
    for (long i = x - rim; i <= x + rim; i++) {
      if (i < 0 || j < 0 || i >= (long)c->width || j >= (long)c->height) continue;
      const unsigned char value = c->of[(size_t)j * c->width + (size_t)i];
      if (value > most && (i - x) * (i - x) + (j - y) * (j - y) <= rim * rim) most = value;
    }
  return most;
}

/** Where text begins and ends, with its rim, within the picture. */
struct region {
  long left, right, top, bottom;
};

static long within(double x, size_t most) { return lrint(fmin(fmax(x, 0.0), (double)most)); }

static void blend(const struct coverage *c, struct picture *p, const struct region *r, long rim) {
  for (long y = r->top; y < r->bottom; y++)
    for (long x = r->left; x < r->right; x++) {
      const size_t i = (size_t)y * p->width + (size_t)x;
      const double dark = rim_at(c, x, y, rim) / 255.0, light = c->of[i] / 255.0;
      for (size_t k = 0; k < 3; k++) {
        const double value = (1.0 - dark) * p->rgb[3 * i + k];
        p->rgb[3 * i + k] = (unsigned char)lrint((1.0 - light) * value + light * 255.0);
      }
    }
}

void picture_text_draw(const struct picture_font *f, struct picture *p, double x, double y,
                       const char *text) {
  const struct coverage c = {p->width, p->height,
                             allocate(p->width * p->height, 1, "text of a picture")};
  const long rim = lrint(fmax(1.0, RIM * f->size));
  const double start = x;
  for (FT_ULong character; *text;) {
    text = next_character(text, &character);
    const double advance = load(f, character, FT_LOAD_RENDER | FT_LOAD_NO_HINTING);
    if (advance > 0.0) add_letter(&c, f->face->glyph, x, y);
    x += advance;
  }
  const double border = (double)rim + 0.5 * f->size;
  const struct region region = {within(start - border, p->width), within(x + border, p->width),
                                within(y - 1.5 * f->size, p->height),
                                within(y + f->size, p->height)};
  blend(&c, p, &region, rim);
  free(c.of);
}
