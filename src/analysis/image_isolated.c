/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A picture of an isolated system: its surface density face-on, and edge-on below. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "image_draw.h"
#include "image_map.h"
#include "photons/analysis/analysis.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/domain/geometry.h"

/* log10 of the surface density over that of all mass spread over the square, which is black or
 * brightest: outskirts and centre of a disk that fills half of the width. */
#define LOW (-1.7)
#define HIGH 1.8
#define KPC 1e3 /* in a Mpc */

/** The types of particles that are shown, and their mass, 1e10 Msun. */
static unsigned shown_types(const struct particles *s, double *mass) {
  double of[PARTICLE_TYPES] = {0.0};
  unsigned types = 0;
  for (size_t i = 0; i < s->count; i++) of[particle_type(s, i)] += particle_mass(s, i);
  comm_sum_double(of, PARTICLE_TYPES);
  for (int t = 0; t < PARTICLE_TYPES; t++)
    if (of[t] > 0.0) types |= 1u << t;
  if (types & ~(1u << PARTICLE_HALO)) types &= ~(1u << PARTICLE_HALO);
  *mass = 0.0;
  for (int t = 0; t < PARTICLE_TYPES; t++)
    if (types >> t & 1u) *mass += of[t];
  return types;
}

/** Masses in pixels, [x][upwards], along z or along y. */
static double *project(const struct particles *s, double side, size_t pixels, unsigned types,
                       bool edge_on) {
  struct cube cube = {.side = side / (KPC * s->box) * POSITION_TURN,
                      .axis = {0, edge_on ? 2 : 1, edge_on ? 1 : 2},
                      .types = types};
  for (int c = 0; c < 3; c++) cube.corner[c] = FRAME_MIDDLE - 0.5 * cube.side;
  return smoothed_project(s, &(struct projection){.pixels = pixels, .cube = &cube});
}

/** Draw rows of a map.
 * @param unit   from its masses to the surface density over that of all mass
 * @param row    of the picture, the first
 * @param first  of the map, from its upper end */
static void colour_rows(struct picture *p, const double *map, double unit, size_t row, size_t first,
                        size_t rows) {
  const size_t pixels = p->width;
  for (size_t y = 0; y < rows; y++)
    for (size_t x = 0; x < pixels; x++) {
      const double density = map[x * pixels + pixels - 1 - first - y] * unit;
      const double colour = (log10(fmax(density, 1e-300)) - LOW) / (HIGH - LOW);
      picture_colour(fmin(1.0, fmax(0.0, colour)), p->rgb + 3 * ((row + y) * pixels + x));
    }
}

void image_write_isolated(const struct particles *s, const char *path, double side, size_t pixels,
                          const char *moment) {
  double mass;
  const unsigned types = shown_types(s, &mass);
  double *face = project(s, side, pixels, types, false),
         *edge = project(s, side, pixels, types, true);
  const size_t strip = pixels / 2, height = pixels + strip;
  if (comm_rank() == 0) {
    struct picture p = {
        .width = pixels, .height = height, .rgb = allocate(3 * pixels * height, 1, "the picture")};
    const double unit = s->mass / mass * (double)(pixels * pixels),
                 mean = log10(1e10 * mass / (side * side));
    colour_rows(&p, face, unit, 0, 0, pixels);
    colour_rows(&p, edge, unit, pixels, (pixels - strip) / 2, strip);
    picture_label(&p, &(struct caption){.line = {moment},
                                        .side = side,
                                        .unit = "kpc",
                                        .title = "log10 Msun/kpc²",
                                        .low = mean + LOW,
                                        .high = mean + HIGH});
    picture_write(path, &p);
    free(p.rgb);
  }
  free(face);
  free(edge);
}
