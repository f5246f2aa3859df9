/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A picture of the projected density: logarithmic, smoothed where particles are few, with a scale
 * bar and the redshift. */
#include <math.h>
#include <png.h>
#include <stdlib.h>
#include <string.h>

#include "photons/analysis/analysis.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/base/output_file.h"
#include "photons/domain/geometry.h"
#include "photons/runtime/loop.h"

LOOP_STAGE(image, 0xaa4466, .untimed = true);

#define PIXELS_MIN 256
#define PIXELS_MAX 1024
#define SMOOTHING \
  0.4             /* kernel width over particle spacing at the mean density; hides the lattice of
                     the initial conditions */
#define BLEND 0.5 /* how fast a finer smoothing takes over with density, per octave */
#define DARKEST 0.005 /* fraction of the pixels that are black, */
#define BRIGHTEST 0.001
#define RANGE_MIN \
  0.2              /* least range in dex from black to the brightest colour, because a uniform
                         field would show its rounding */
#define FLOOR 1e-3 /* density of an empty pixel, over the mean */

#define COLOURS 11 /* anchors of the colour map */
enum { BANDS = 32, PARTS_MAX = 32 };
enum { WIDEST = 16 };                /* pixels across the picture at the widest smoothing */
#define MAPS_MAX (256.0 * 1048576.0) /* most bytes of the maps of all parts on one host */
#define MAP_UNIT 0x1p-30             /* particles; integers add up exactly in any order */

/** RGB picture, rows from the top. */
struct picture {
  size_t pixels;
  png_byte *rgb;
};

/** Colour map `magma` of Smith & van der Walt (CC0) at equal steps. Its lightness rises evenly,
 * also for colour-blind readers and in print. */
static const png_byte colours[COLOURS][3] = {{0, 0, 4},       {20, 14, 54},   {59, 15, 112},
                                             {100, 26, 128},  {140, 41, 129}, {183, 55, 121},
                                             {222, 73, 104},  {247, 112, 92}, {254, 159, 109},
                                             {254, 207, 146}, {252, 253, 191}};

/** Five columns by seven rows, one byte for each row, leftmost column in bit 4. */
static const struct glyph {
  char character;
  unsigned char rows[7];
} font[] = {
    {'0', {14, 17, 19, 21, 25, 17, 14}}, {'1', {4, 12, 4, 4, 4, 4, 14}},
    {'2', {14, 17, 1, 2, 4, 8, 31}},     {'3', {31, 2, 4, 2, 1, 17, 14}},
    {'4', {2, 6, 10, 18, 31, 2, 2}},     {'5', {31, 16, 30, 1, 1, 17, 14}},
    {'6', {6, 8, 16, 30, 17, 17, 14}},   {'7', {31, 1, 2, 4, 8, 8, 8}},
    {'8', {14, 17, 17, 14, 17, 17, 14}}, {'9', {14, 17, 17, 15, 1, 2, 12}},
    {'.', {0, 0, 0, 0, 0, 12, 12}},      {'-', {0, 0, 0, 31, 0, 0, 0}},
    {'=', {0, 0, 31, 0, 31, 0, 0}},      {'/', {0, 1, 2, 4, 8, 16, 0}},
    {'M', {17, 27, 21, 21, 17, 17, 17}}, {'p', {0, 0, 30, 17, 30, 16, 16}},
    {'c', {0, 0, 14, 16, 16, 17, 14}},   {'h', {16, 16, 22, 25, 17, 17, 17}},
    {'z', {0, 0, 31, 2, 4, 8, 31}},      {'k', {16, 16, 18, 20, 24, 20, 18}},
};

/** The pixel that contains a coordinate, and the weights of its left neighbour, itself and its
 * right neighbour (quadratic B-spline). */
static inline size_t pixel_weights(uint32_t u, size_t pixels, double weight[3]) {
  uint64_t position = (uint64_t)u * pixels; /* 32 bits of fraction */
  double d = (double)(uint32_t)position * 0x1p-32 - 0.5;
  weight[0] = 0.5 * (0.5 - d) * (0.5 - d);
  weight[1] = 0.75 - d * d;
  weight[2] = 0.5 * (0.5 + d) * (0.5 + d);
  return (size_t)(position >> 32);
}

/** This rank's particles of a slice projected to pixels, in parts that have a map each. */
struct projection {
  const struct particles *particles;
  size_t pixels;
  uint32_t low, extent; /* z in [low, low + extent] */
  uint32_t parts;
  uint64_t *map;   /* [part][row][column] in MAP_UNIT; row 0 is y = 0 */
  uint64_t *count; /* [part] particles */
};

static void project_part(void *context, uint32_t part) {
  const struct projection *p = context;
  const struct particles *s = p->particles;
  const size_t pixels = p->pixels;
  uint64_t *map = p->map + part * pixels * pixels;
  for (size_t g = block_first(s->blocks, p->parts, part);
       g < block_first(s->blocks, p->parts, part + 1); g++) {
    struct particle_block b = particles_block(s, g);
    for (size_t i = 0; i < b.count; i++) {
      if (b.x[2][i] - p->low > p->extent) continue;
      p->count[part]++;
      double wx[3], wy[3];
      size_t x = pixel_weights(b.x[0][i], pixels, wx), y = pixel_weights(b.x[1][i], pixels, wy);
      const size_t column[3] = {x > 0 ? x - 1 : pixels - 1, x, x + 1 < pixels ? x + 1 : 0},
                   row[3] = {y > 0 ? y - 1 : pixels - 1, y, y + 1 < pixels ? y + 1 : 0};
      for (size_t c = 0; c < 3; c++)
        for (size_t d = 0; d < 3; d++)
          map[row[c] * pixels + column[d]] += (uint64_t)(int64_t)(wy[c] * wx[d] / MAP_UNIT + 0.5);
    }
  }
}

/** Particles per pixel over all ranks, summed up in the map of part 0.
 * @return number of particles */
static uint64_t project(const struct projection *p) {
  loop_run(&image_stage, p->parts, project_part, (void *)p);
  const size_t all = p->pixels * p->pixels;
  uint64_t count = p->count[0];
  for (uint32_t part = 1; part < p->parts; part++) {
    count += p->count[part];
    for (size_t i = 0; i < all; i++) p->map[i] += p->map[part * all + i];
  }
  comm_sum_u64(p->map, all);
  comm_sum_u64(&count, 1);
  return count;
}

/** Convolution along one axis, in bands of rows. */
struct convolution {
  const double *in;
  double *out;
  size_t pixels, step;
  bool along_y;
};

static void convolve_band(void *context, uint32_t band) {
  static const double weight[5] = {1.0 / 16, 4.0 / 16, 6.0 / 16, 4.0 / 16, 1.0 / 16};
  const struct convolution *v = context;
  const size_t pixels = v->pixels;
  for (size_t y = block_first(pixels, BANDS, band); y < block_first(pixels, BANDS, band + 1); y++)
    for (size_t x = 0; x < pixels; x++) {
      double sum = 0.0;
      for (size_t i = 0; i < 5; i++) {
        /* 2 step < pixels */
        size_t there = (v->along_y ? y : x) + pixels + i * v->step - 2 * v->step;
        if (there >= pixels) there -= pixels;
        if (there >= pixels) there -= pixels;
        sum += weight[i] * (v->along_y ? v->in[there * pixels + x] : v->in[y * pixels + there]);
      }
      v->out[y * pixels + x] = sum;
    }
}

/** Convolve along one axis with (1, 4, 6, 4, 1)/16, points @p step apart; adds step^2 to the
 * variance of the kernel. */
static void smooth_axis(const double *in, double *out, size_t pixels, size_t step, bool along_y) {
  struct convolution v = {.in = in, .pixels = pixels, .step = step, .along_y = along_y};
  v.out = out;
  loop_run(&image_stage, BANDS, convolve_band, &v);
}

/**
 * Adaptive smoothing that conserves mass. Beginning with the widest of a series of smoothings, the
 * mass of a pixel passes to the next finer smoothing where the density found so far is high enough
 * for the width of the present one: width >= SMOOTHING * particle spacing * mean / density. Near
 * equality part of the mass passes. The picture is then level_0 + S_0 (level_1 + S_1 (level_2 +
 * ...)).
 */
static void smooth(double *map, size_t pixels, double spacing, double count) {
  size_t all = pixels * pixels, levels = 0;
  while ((size_t)WIDEST << levels <= pixels) levels++;
  double *level = allocate((levels + 2) * all, sizeof *level, "the picture's smoothing"),
         *scratch = level + (levels + 1) * all;
  memcpy(level, map, all * sizeof *map);
  for (size_t j = 0; j < levels; j++) {
    smooth_axis(level + j * all, scratch, pixels, (size_t)1 << j, false);
    smooth_axis(scratch, level + (j + 1) * all, pixels, (size_t)1 << j, true);
  }
  double enough = SMOOTHING * spacing * (count / (double)all); /* width times density, pixels */
  for (size_t i = 0; i < all; i++) {
    double mass = map[i];
    for (size_t j = levels; j-- > 0;) {
      /* 1/4 is the variance of the assignment, the rest the sum of 4^i for i < j. */
      double width = sqrt(0.25 + (ldexp(1.0, 2 * (int)j) - 1.0) / 3.0);
      double octaves = log2(1e-30 + level[(j + 1) * all + i] * width / enough);
      double share = fmin(1.0, fmax(0.0, 0.5 + BLEND * octaves));
      level[(j + 1) * all + i] = (1.0 - share) * mass;
      mass *= share;
    }
    level[i] = mass;
  }
  memcpy(map, level + levels * all, all * sizeof *map);
  for (size_t j = levels; j-- > 0;) {
    smooth_axis(map, scratch, pixels, (size_t)1 << j, false);
    smooth_axis(scratch, map, pixels, (size_t)1 << j, true);
    for (size_t i = 0; i < all; i++) map[i] += level[j * all + i];
  }
  free(level);
}

static int compare_doubles(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/** Logarithm of the density, scaled to [0, 1] between two percentiles. */
static void scale_contrast(double *map, size_t all, double mean) {
  for (size_t i = 0; i < all; i++) map[i] = log10(fmax(map[i], FLOOR * mean));
  double *sorted = allocate(all, sizeof *sorted, "the picture's percentiles");
  memcpy(sorted, map, all * sizeof *map);
  qsort(sorted, all, sizeof *sorted, compare_doubles);
  double low = sorted[(size_t)((double)(all - 1) * DARKEST)],
         high = sorted[(size_t)((double)(all - 1) * (1.0 - BRIGHTEST))];
  free(sorted);
  high = fmax(high, low + RANGE_MIN);
  for (size_t i = 0; i < all; i++) map[i] = fmin(1.0, fmax(0.0, (map[i] - low) / (high - low)));
}

static void colour(double value, png_byte rgb[3]) {
  double position = value * (double)(COLOURS - 1);
  size_t i = value >= 1.0 ? COLOURS - 2 : (size_t)position;
  double d = position - (double)i;
  for (size_t c = 0; c < 3; c++)
    rgb[c] = (png_byte)lrint((1.0 - d) * colours[i][c] + d * colours[i + 1][c]);
}

/** Fill the part of a rectangle that lies inside the picture. */
static void fill(struct picture *p, size_t x, size_t y, size_t width, size_t height,
                 png_byte grey) {
  for (size_t j = y; j < y + height && j < p->pixels; j++)
    for (size_t i = x; i < x + width && i < p->pixels; i++)
      memset(p->rgb + 3 * (j * p->pixels + i), grey, 3);
}

static void draw_text(struct picture *p, size_t x, size_t y, size_t scale, const char *text,
                      png_byte grey) {
  for (; *text; text++, x += 6 * scale)
    for (size_t g = 0; g < sizeof font / sizeof *font; g++) {
      if (font[g].character != *text) continue;
      for (size_t row = 0; row < 7; row++)
        for (size_t column = 0; column < 5; column++)
          if (font[g].rows[row] >> (4 - column) & 1)
            fill(p, x + column * scale, y + row * scale, scale, scale, grey);
    }
}

/** The length of the scale bar: 1, 2 or 5 times a power of ten, at most a quarter of the box. */
static double bar_length(double box) {
  double power = pow(10.0, floor(log10(0.25 * box))), digit = 0.25 * box / power;
  return power * (digit >= 5.0 ? 5.0 : digit >= 2.0 ? 2.0 : 1.0);
}

/** Draw the redshift at the top left, the scale bar and its length at the bottom left. A dark copy,
 * one step off, keeps them legible on a bright background. */
static void draw_labels(struct picture *p, double box, double a) {
  size_t scale = p->pixels / 256 > 0 ? p->pixels / 256 : 1, margin = 8 * scale,
         bottom = p->pixels - margin;
  double length = bar_length(box), z = fmax(0.0, 1.0 / a - 1.0);
  size_t width = (size_t)lrint(length / box * (double)p->pixels);
  char redshift[32], label[32];
  snprintf(redshift, sizeof redshift, "z = %.2f", z);
  snprintf(label, sizeof label, "%g Mpc/h", length);
  for (size_t pass = 0; pass < 2; pass++) {
    size_t off = pass == 0 ? scale : 0;
    png_byte grey = pass == 0 ? 0 : 255;
    draw_text(p, margin + off, margin + off, scale, redshift, grey);
    if (p->pixels < 4 * margin) continue; /* no room */
    fill(p, margin + off, bottom - 2 * scale + off, width, 2 * scale, grey);
    draw_text(p, margin + off, bottom - 12 * scale + off, scale, label, grey);
  }
}

static void png_failed(png_structp png, png_const_charp message) {
  fail(EXIT_RUN_FAILED, "cannot write the picture %s: %s", (const char *)png_get_error_ptr(png),
       message);
}

static void png_warned(png_structp png, png_const_charp message) {
  warn("picture %s: %s", (const char *)png_get_error_ptr(png), message);
}

/** On errors libpng calls png_failed(), which does not return. */
static void write_png(const char *path, const struct picture *p) {
  char *temporary = output_begin(path);
  FILE *file = output_open(temporary);
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, (png_voidp)path, png_failed,
                                            png_warned);
  png_infop info = png == NULL ? NULL : png_create_info_struct(png);
  if (info == NULL) fail(EXIT_RUN_FAILED, "not enough memory for the picture %s", path);
  png_uint_32 pixels = (png_uint_32)p->pixels;
  png_init_io(png, file);
  png_set_IHDR(png, info, pixels, pixels, 8, PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_set_sRGB(png, info, PNG_sRGB_INTENT_PERCEPTUAL);
  png_write_info(png, info);
  for (size_t y = 0; y < p->pixels; y++) png_write_row(png, p->rgb + 3 * y * p->pixels);
  png_write_end(png, info);
  png_destroy_write_struct(&png, &info);
  output_close(file, path);
  output_commit(temporary, path);
}

/** Draw a map of @p count particles. */
static void draw(const char *path, const uint64_t *particles, size_t pixels, double spacing,
                 double count, double box, double a) {
  const size_t all = pixels * pixels;
  double *map = allocate(all, sizeof *map, "the picture");
  struct picture p = {.pixels = pixels, .rgb = allocate(3 * all, 1, "the picture")};
  for (size_t i = 0; i < all; i++) map[i] = (double)particles[i] * MAP_UNIT;
  smooth(map, pixels, spacing * (double)pixels, count);
  scale_contrast(map, all, fmax(count, 1.0) / (double)all);
  for (size_t y = 0; y < pixels; y++) /* y points upwards in the box, rows downwards in the
                                         picture */
    for (size_t x = 0; x < pixels; x++)
      colour(map[y * pixels + x], p.rgb + 3 * ((pixels - 1 - y) * pixels + x));
  draw_labels(&p, box, a);
  write_png(path, &p);
  free(map);
  free(p.rgb);
}

static size_t choose_pixels(double spacing) {
  return (size_t)fmin(PIXELS_MAX, fmax(PIXELS_MIN, 2.0 / spacing));
}

double image_memory(const struct parameters *p, size_t particles, size_t groups) {
  if (!p->output.images) return 0.0;
  const size_t asked = (size_t)p->output.image_size;
  const double pixels = (double)(asked ? asked : choose_pixels(1.0 / cbrt((double)particles)));
  const double levels = fmax(0.0, floor(log2(pixels / WIDEST)) + 1.0), all = pixels * pixels;
  const double parts = fmin(fmin(PARTS_MAX, (double)groups), MAPS_MAX / (8.0 * all));
  /* A part's map is touched in the rows of its particles: bisection halves x, y and z in turn. */
  const double rows = exp2(-floor((floor(log2(fmax(parts, 1.0))) + 1.0) / 3.0));
  const double drawn = 3.0 +
                       sizeof(double) * (levels + 2.0 + 1.0 + 1.0); /* smoothed, sorted, colours */
  return all * (sizeof(uint64_t) * fmax(parts, 1.0) * rows + drawn);
}

void image_write(const char *path, const struct particles *s, size_t pixels, double a,
                 double thickness) {
  const double spacing = 1.0 / cbrt((double)s->all),
               extent = fmin(thickness, 1.0) * POSITION_TURN - 1.0;
  if (pixels == 0) pixels = choose_pixels(spacing);
  const double maps = MAPS_MAX / (double)comm_host_size() /
                      (double)(pixels * pixels * sizeof(uint64_t));
  struct projection projection = {.particles = s, .pixels = pixels, .extent = (uint32_t)extent};
  projection.low = (uint32_t)(0.5 * POSITION_TURN - 0.5 * extent);
  projection.parts = (uint32_t)fmax(1.0, fmin(fmin(PARTS_MAX, (double)s->blocks), maps));
  projection.map = allocate(projection.parts * pixels * pixels, sizeof *projection.map,
                            "the picture's density");
  projection.count = allocate(projection.parts, sizeof *projection.count, "the picture's density");
  const uint64_t count = project(&projection);
  if (comm_rank() == 0) draw(path, projection.map, pixels, spacing, (double)count, s->box, a);
  free(projection.map);
  free(projection.count);
}
