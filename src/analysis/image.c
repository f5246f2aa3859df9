/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A picture of the logarithm of the projected density. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "image_draw.h"
#include "image_map.h"
#include "photons/analysis/analysis.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/runtime/loop.h"
#include "sheet.h"

#define DARKEST 0.005 /* fraction of the pixels that are black, */
#define BRIGHTEST 0.001
#define RANGE_MIN \
  0.2 /* least range in dex from black to the brightest colour, because a uniform field would show \
         its rounding */
#define ROUNDED 10.0 /* limits to choose from, per dex */
#define FLOOR -3.0   /* log10 of the density of an empty pixel, over the mean */
#define CEILING 9.0
#define DISPLACEMENT 10.0 /* Mpc/h, of most particles along an axis until today */
enum { BINS = 12000 };    /* from FLOOR to CEILING */

/** The value that a fraction of the pixels does not exceed. */
static double quantile(const size_t *bins, size_t all, double fraction) {
  size_t i = 0, below = bins[0];
  while (i + 1 < BINS && (double)below < fraction * (double)all) below += bins[++i];
  return FLOOR + (CEILING - FLOOR) * ((double)i + 0.5) / BINS;
}

/** Choose the values of black and of the brightest colour. */
static void choose_limits(const double *map, size_t all, double *low, double *high) {
  size_t *bins = allocate(BINS, sizeof *bins, "a picture's histogram");
  for (size_t i = 0; i < all; i++)
    bins[(size_t)fmin(BINS - 1, (map[i] - FLOOR) / (CEILING - FLOOR) * BINS)]++;
  *low = floor(quantile(bins, all, DARKEST) * ROUNDED) / ROUNDED;
  *high = ceil(quantile(bins, all, 1.0 - BRIGHTEST) * ROUNDED) / ROUNDED;
  *high = fmax(*high, *low + RANGE_MIN);
  free(bins);
}

static void label(struct picture *p, const struct image *image, double box, double low,
                  double high) {
  char z[32], depth[48];
  snprintf(z, sizeof z, "z = %.2f", fmax(0.0, 1.0 / image->a - 1.0));
  snprintf(depth, sizeof depth, "depth %g Mpc/h", image->thickness * box);
  picture_label(p, &(struct caption){.line = {z, depth},
                                     .side = box,
                                     .unit = "Mpc/h",
                                     .title = "log10 column density/mean",
                                     .low = low,
                                     .high = high});
}

/** @param map  [x][y] mean masses of particles per pixel; replaced by logarithms */
static void draw(double *map, const struct image *image, double mean, double box) {
  const size_t pixels = image->pixels, all = pixels * pixels;
  struct picture p = {
      .width = pixels, .height = pixels, .rgb = allocate(3 * all, 1, "the picture")};
  for (size_t i = 0; i < all; i++) map[i] = fmax(FLOOR, log10(fmax(0.0, map[i]) / mean));
  double low = image->low, high = image->high;
  if (low >= high) choose_limits(map, all, &low, &high);
  for (size_t x = 0; x < pixels; x++)
    for (size_t y = 0; y < pixels; y++) { /* y points upwards in the box, rows downwards */
      const double value = (map[x * pixels + y] - low) / (high - low);
      picture_colour(fmin(1.0, fmax(0.0, value)), p.rgb + 3 * ((pixels - 1 - y) * pixels + x));
    }
  label(&p, image, box, low, high);
  picture_write(image->path, &p);
  free(p.rgb);
}

static struct projection projection_of(const struct image *image) {
  const double extent = fmin(image->thickness, 1.0) * POSITION_TURN - 1.0;
  return (struct projection){.pixels = image->pixels,
                             .low = (uint32_t)(0.5 * POSITION_TURN - 0.5 * extent),
                             .extent = (uint32_t)extent};
}

struct drawing {
  const struct particles *particles;
  const struct image *image; /* [image] */
  double **map;
};

static void draw_image(void *context, uint32_t i) {
  const struct drawing *d = context;
  const struct image *image = &d->image[i];
  const double mean = (double)d->particles->all * fmin(image->thickness, 1.0) /
                      (double)(image->pixels * image->pixels);
  draw(d->map[i], image, mean, d->particles->box);
}

void images_write(const struct particles *s, const struct image *image, size_t count) {
  struct projection projection[IMAGES_MOST] = {{0}};
  double *map[IMAGES_MOST];
  for (size_t i = 0; i < count; i++) projection[i] = projection_of(&image[i]);
  const bool sheet = image->lattice > 0 && !particles_have(s, COLUMN_relative_mass);
  if (!sheet || !sheet_project(s, image->lattice, count, projection, map))
    for (size_t i = 0; i < count; i++) map[i] = smoothed_project(s, &projection[i]);
  struct drawing drawing = {s, image, map};
  if (comm_rank() == 0) loop_run(&image_stage, (uint32_t)count, draw_image, &drawing);
  for (size_t i = 0; i < count; i++) free(map[i]);
}

double image_memory(const struct parameters *p, size_t particles) {
  const bool movie = p->output.movie > 0;
  if (p->box.boundary == BOUNDARY_ISOLATED)
    return movie ? comm_size() * smoothed_memory((size_t)p->output.movie_pixels) : 0.0;
  if (!p->output.images && !movie) return 0.0;
  const size_t image = p->output.images ? (size_t)p->output.image_pixels : 0,
               frame = movie ? (size_t)p->output.movie_pixels : 0,
               pixels = image > frame ? image : frame;
  const double reach = DISPLACEMENT / (1.0 + p->time.z_end) / fmax(p->box.size, DISPLACEMENT);
  const bool lattice = p->ic.source == IC_GENERATE && !p->ic.glass[0];
  const double values = (double)(pixels * pixels), ranks = comm_size(),
               drawn = p->output.images && p->analysis.slice > 0.0 ? 2.0 : 1.0;
  const double waiting = (drawn - 1.0) * ranks * sizeof(double); /* the first map, for the second */
  return (3.0 * drawn + waiting) * values +
         (lattice ? sheet_memory(particles, pixels, reach) : ranks * smoothed_memory(pixels));
}
