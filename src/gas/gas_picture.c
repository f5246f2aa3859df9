/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A pixel shows the cell at its middle, so that cells of all levels have their own sides. */
#include "photons/gas/gas_picture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/config/parameters.h"
#include "photons/runtime/loop.h"
#include "src/analysis/image_draw.h"

LOOP_STAGE(gas_picture, 0x888888, .family = "gas");

enum { DENSITY, PRESSURE, SPEED, LEVEL, COLUMN, PICTURES };
static const struct {
  const char *name, *title;
  bool logarithmic;
} kinds[PICTURES] = {
    [DENSITY] = {"slice_density", "log10 density", true},
    [PRESSURE] = {"slice_pressure", "log10 pressure", true},
    [SPEED] = {"slice_speed", "speed", false},
    [LEVEL] = {"slice_level", "level", false},
    [COLUMN] = {"projection_density", "log10 mean density", true},
};

/** What is seen: width x height pixels of each picture. */
struct view {
  const struct gas *gas;
  int across, up, sight; /* axes: to the right, upwards, of the line of sight */
  double side[3];        /* of the box */
  int finest;            /* level with groups */
  size_t width, height;
  double *value[PICTURES]; /* [y][x], of this rank's cells, 0 elsewhere */
};

static double box_side(const struct gas *g, int axis) {
  return g->cell * GAS_GROUP_SIDE * g->topology.root[axis];
}

/** A leaf cell. */
struct place {
  int level;
  uint32_t group;
  size_t cell; /* in [patch][8][8][8] of the group */
};

/** The leaf cell at a point, 0 <= x[c] < side of the box. */
static struct place place_at(const struct gas *g, const double x[3]) {
  const struct topology *t = &g->topology;
  int64_t place[3];
  double at[3]; /* in the group, in its cells */
  for (int c = 0; c < 3; c++) {
    place[c] = (int64_t)(x[c] / (GAS_GROUP_SIDE * g->cell));
    at[c] = x[c] / g->cell - (double)(GAS_GROUP_SIDE * place[c]);
  }
  struct place p = {.group = topology_find(t, 0, place)};
  for (;;) {
    unsigned patch = 0, cell = 0;
    for (int c = 0; c < 3; c++) {
      const unsigned upper = at[c] >= GAS_PATCH_SIDE;
      at[c] -= GAS_PATCH_SIDE * upper;
      patch |= upper << c;
      cell |= ((unsigned)at[c] & 7u) << 3 * c;
    }
    const uint32_t son = t->level[p.level].group[p.group].son[patch];
    p.cell = patch * (size_t)GAS_PATCH_CELLS + cell;
    if (son == NO_GROUP) return p;
    for (int c = 0; c < 3; c++) at[c] *= 2.0;
    p.group = son;
    p.level++;
  }
}

/** A variable of a cell. @param cells of its group */
static double number(const struct gas *g, const void *cells, size_t cell, unsigned variable) {
  const size_t i = variable * (size_t)GAS_GROUP_CELLS + cell;
  return g->kernels->real_size == sizeof(double) ? ((const double *)cells)[i]
                                                 : (double)((const float *)cells)[i];
}

/** The pixel of all slices. */
static void draw_slices(const struct view *v, const double x[3], size_t pixel) {
  const struct gas *g = v->gas;
  const struct place p = place_at(g, x);
  const void *cells = gas_cells(g, p.level, p.group);
  if (!cells) return; /* another rank's */
  const double density = number(g, cells, p.cell, GAS_DENSITY);
  double square = 0.0;
  for (unsigned c = 0; c < 3; c++)
    square += pow(number(g, cells, p.cell, GAS_MOMENTUM_X + c) / density, 2.0);
  const double thermal = number(g, cells, p.cell, GAS_ENERGY) - 0.5 * density * square;
  v->value[DENSITY][pixel] = density;
  v->value[PRESSURE][pixel] = (g->physics.gamma - 1.0) * thermal;
  v->value[SPEED][pixel] = sqrt(square);
  v->value[LEVEL][pixel] = p.level;
}

/** The mean density along the line of sight. Cells are counted in those of the finest level. */
static void draw_column(const struct view *v, double x[3], size_t pixel) {
  const struct gas *g = v->gas;
  const uint64_t all = (uint64_t)(GAS_GROUP_SIDE * g->topology.root[v->sight]) << v->finest;
  double sum = 0.0;
  for (uint64_t k = 0, cells_long; k < all; k += cells_long) {
    x[v->sight] = ((double)k + 0.5) / (double)all * v->side[v->sight];
    const struct place p = place_at(g, x);
    const void *cells = gas_cells(g, p.level, p.group);
    cells_long = (uint64_t)1 << (v->finest - p.level);
    if (cells) sum += (double)cells_long * number(g, cells, p.cell, GAS_DENSITY);
  }
  v->value[COLUMN][pixel] = sum / (double)all;
}

static void draw_row(void *context, uint32_t row) {
  const struct view *v = context;
  for (size_t i = 0; i < v->width; i++) {
    double x[3];
    x[v->across] = ((double)i + 0.5) / (double)v->width * v->side[v->across];
    x[v->up] = ((double)row + 0.5) / (double)v->height * v->side[v->up];
    x[v->sight] = 0.5 * v->side[v->sight];
    draw_slices(v, x, row * v->width + i);
    draw_column(v, x, row * v->width + i);
  }
}

/** Pixels are the cells of the finest level, or wider ones where these are too many. */
static struct view choose_view(const struct gas *g, size_t pixels) {
  struct view v = {.gas = g, .sight = 2, .finest = topology_levels(&g->topology) - 1};
  for (int c = 1; c >= 0; c--)
    if (g->topology.root[c] < g->topology.root[v.sight]) v.sight = c;
  v.across = v.sight == 0 ? 1 : 0;
  v.up = v.sight == 2 ? 1 : 2;
  for (int c = 0; c < 3; c++) v.side[c] = box_side(g, c);
  const double cell = gas_cell(g, v.finest), longer = fmax(v.side[v.across], v.side[v.up]);
  const double pixel = fmax(cell, longer / (double)pixels);
  v.width = (size_t)fmax(1.0, round(v.side[v.across] / pixel));
  v.height = (size_t)fmax(1.0, round(v.side[v.up] / pixel));
  for (int k = 0; k < PICTURES; k++)
    v.value[k] = allocate(v.width * v.height, sizeof(double), "a picture of gas");
  return v;
}

/** The limits of the colours: of all values, but not so near that rounding shows. Speeds begin
 * at 0, and levels are all that there may be. */
static void choose_limits(const struct view *v, int kind, double *low, double *high) {
  static const double least = 0.01;
  const double *value = v->value[kind];
  *low = INFINITY;
  *high = kind == LEVEL ? fmax(1.0, v->gas->topology.finest) : -INFINITY;
  for (size_t i = 0; i < v->width * v->height; i++) {
    *low = fmin(*low, value[i]);
    *high = fmax(*high, value[i]);
  }
  if (kind == LEVEL || kind == SPEED) *low = 0.0;
  *high = fmax(*high, *low + least);
}

/** A value that rounding has left without its positive sign is shown as the least of the others. */
static void take_logarithms(double *value, size_t count) {
  double least = INFINITY;
  for (size_t i = 0; i < count; i++)
    if (value[i] > 0.0) least = fmin(least, value[i]);
  for (size_t i = 0; i < count; i++) value[i] = log10(fmax(value[i], least));
}

static void write_picture(const struct view *v, int kind, const char *path, size_t pixels) {
  const size_t longer = v->width > v->height ? v->width : v->height, scale = pixels / longer;
  struct picture p = {.width = scale * v->width, .height = scale * v->height};
  double *value = v->value[kind], low, high;
  char text[32];
  p.rgb = allocate(3 * p.width * p.height, 1, "a picture of gas");
  if (kinds[kind].logarithmic) take_logarithms(value, v->width * v->height);
  choose_limits(v, kind, &low, &high);
  for (size_t y = 0; y < p.height; y++)
    for (size_t x = 0; x < p.width; x++) { /* rows downwards */
      const double z = value[(v->height - 1 - y / scale) * v->width + x / scale];
      picture_colour((z - low) / (high - low), p.rgb + 3 * (y * p.width + x));
    }
  snprintf(text, sizeof text, "t = %.4g", v->gas->time);
  picture_caption(&p, text, kinds[kind].title, low, high, kind == LEVEL);
  picture_write(path, &p);
  free(p.rgb);
}

void gas_pictures_write(const struct gas *g, const char *folder, size_t number_of, size_t pixels) {
  struct view v = choose_view(g, pixels);
  loop_run(&gas_picture_stage, (uint32_t)v.height, draw_row, &v);
  for (int kind = 0; kind < PICTURES; kind++) {
    char path[PARAMETER_PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/%s_%03zu.png", folder, kinds[kind].name, number_of);
    comm_sum_double(v.value[kind], v.width * v.height);
    if (comm_rank() == 0) write_picture(&v, kind, path, pixels);
    free(v.value[kind]);
  }
}
