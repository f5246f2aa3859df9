/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A pixel shows the cell at its middle, so that cells of all levels have their own sides. */
#include "photons/gas/gas_picture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "photons/amr/matter.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/config/parameters.h"
#include "photons/gas/comoving.h"
#include "photons/pm/particles.h"
#include "photons/runtime/handle.h"
#include "photons/runtime/loop.h"
#include "src/analysis/image_draw.h"

LOOP_STAGE(gas_picture, 0x888888, .family = "gas");

enum { DENSITY, PRESSURE, SPEED, LEVEL, COLUMN, PARTICLES, PICTURES };
struct kind {
  const char *name, *title;
  bool logarithmic;
};
static const struct kind kinds_static[PICTURES] = {
    [DENSITY] = {"slice_density", "log10 density", true},
    [PRESSURE] = {"slice_pressure", "log10 pressure", true},
    [SPEED] = {"slice_speed", "speed", false},
    [LEVEL] = {"slice_level", "level", false},
    [COLUMN] = {"projection_density", "log10 mean density", true},
    [PARTICLES] = {"projection_particles", "log10 mean density", true},
};
static const struct kind kinds_comoving[PICTURES] = {
    [DENSITY] = {"slice_density", "log10 density/mean", true},
    [PRESSURE] = {"slice_temperature", "log10 temperature", true},
    [SPEED] = {"slice_speed", "speed", false},
    [LEVEL] = {"slice_level", "level", false},
    [COLUMN] = {"projection_density", "log10 column/mean", true},
    [PARTICLES] = {"projection_particles", "log10 column/mean", true},
};

static const struct kind *kind_of(const struct gas *g, int kind) {
  return (g->universe.comoving ? kinds_comoving : kinds_static) + kind;
}

/** Whether there is such a picture. */
static bool is_wanted(const struct gas *g, int kind) {
  if (kind == LEVEL) return true;
  return kind == PARTICLES ? g->particles != NULL : !g->scheme.particles_alone;
}

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
  return g->scheme.kernels->real_size == sizeof(double) ? ((const double *)cells)[i]
                                                        : (double)((const float *)cells)[i];
}

/** From the numbers of cells to what a picture of comoving gas shows; 1 of other gas. */
static double unit_of(const struct gas *g, int kind) {
  if (!g->universe.comoving || kind == LEVEL) return 1.0;
  if (kind == SPEED) return 1.0 / g->time;
  if (kind == PRESSURE) return 1.0 / comoving_heat(g->time, 1.0, g->universe.molecular_weight);
  return 1.0 / ((kind == PARTICLES ? 1.0 - g->universe.share : g->universe.share) *
                comoving_mean_density(&g->universe.cosmology));
}

/** Where thermal energy is lost in rounding the entropy gives the pressure. */
static double pressure_at(const struct gas *g, const void *cells, size_t cell, double thermal) {
  const double density = number(g, cells, cell, GAS_DENSITY), index = g->scheme.physics.gamma - 1.0;
  const double limit = g->scheme.physics.dual_energy_switch * number(g, cells, cell, GAS_ENERGY);
  if (gas_solved(&g->scheme.physics) > GAS_ENTROPY && thermal < limit)
    return number(g, cells, cell, GAS_ENTROPY) * pow(density, index);
  return index * thermal;
}

/** The density of particles in a cell. Batches' densities have been acquired. */
static double particle_density(const struct gas *g, const struct place *p) {
  const struct gas_batch *b = &g->level[p->level].batch[p->group / g->tasks.batch];
  const struct gas_matter *m = (const struct gas_matter *)starpu_vector_get_local_ptr(b->matter) +
                               p->group - b->first;
  size_t at = 0;
  for (int c = 2; c >= 0; c--)
    at = GAS_GROUP_SIDE * at + GAS_PATCH_SIDE * (p->cell / GAS_PATCH_CELLS >> c & 1) +
         (p->cell >> 3 * c & 7);
  return matter_density(m, at);
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
  const double pressure = pressure_at(g, cells, p.cell, thermal);
  v->value[DENSITY][pixel] = density * unit_of(g, DENSITY);
  v->value[PRESSURE][pixel] = (g->universe.comoving ? pressure / density : pressure) *
                              unit_of(g, PRESSURE);
  v->value[SPEED][pixel] = sqrt(square) * unit_of(g, SPEED);
  v->value[LEVEL][pixel] = p.level;
}

/** The mean densities along the line of sight. Cells are counted in those of the finest level. */
static void draw_column(const struct view *v, double x[3], size_t pixel) {
  const struct gas *g = v->gas;
  const uint64_t all = (uint64_t)(GAS_GROUP_SIDE * g->topology.root[v->sight]) << v->finest;
  double sum = 0.0, of_particles = 0.0;
  for (uint64_t k = 0, cells_long; k < all; k += cells_long) {
    x[v->sight] = ((double)k + 0.5) / (double)all * v->side[v->sight];
    const struct place p = place_at(g, x);
    const void *cells = gas_cells(g, p.level, p.group);
    cells_long = (uint64_t)1 << (v->finest - p.level);
    if (cells) sum += (double)cells_long * number(g, cells, p.cell, GAS_DENSITY);
    if (g->particles && cells) of_particles += (double)cells_long * particle_density(g, &p);
  }
  if (g->particles) v->value[PARTICLES][pixel] = of_particles / (double)all * unit_of(g, PARTICLES);
  v->value[COLUMN][pixel] = sum / (double)all * unit_of(g, COLUMN);
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
  const struct kind *shown = kind_of(v->gas, kind);
  p.rgb = allocate(3 * p.width * p.height, 1, "a picture of gas");
  if (shown->logarithmic) take_logarithms(value, v->width * v->height);
  choose_limits(v, kind, &low, &high);
  for (size_t y = 0; y < p.height; y++)
    for (size_t x = 0; x < p.width; x++) { /* rows downwards */
      const double z = value[(v->height - 1 - y / scale) * v->width + x / scale];
      picture_colour((z - low) / (high - low), p.rgb + 3 * (y * p.width + x));
    }
  picture_caption(&p, gas_moment(v->gas).text, shown->title, low, high, kind == LEVEL);
  picture_write(path, &p);
  free(p.rgb);
}

/** Take over the densities of own batches' particles from tasks, or give them back. */
static void hold_matter(const struct gas *g, bool hold) {
  for (int level = 0; g->particles && level < topology_levels(&g->topology); level++) {
    const uint32_t end = gas_first_batch(g, level, comm_rank() + 1);
    for (uint32_t i = gas_first_batch(g, level, comm_rank()); i < end; i++) {
      const starpu_data_handle_t matter = g->level[level].batch[i].matter;
      if (hold)
        handle_acquire(matter, STARPU_R);
      else
        starpu_data_release(matter);
    }
  }
}

void gas_pictures_write(const struct gas *g, const char *folder, size_t number_of, size_t pixels) {
  struct view v = choose_view(g, pixels);
  hold_matter(g, true);
  loop_run(&gas_picture_stage, (uint32_t)v.height, draw_row, &v);
  hold_matter(g, false);
  for (int kind = 0; kind < PICTURES; kind++) {
    char path[PARAMETER_PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/%s_%03zu.png", folder, kind_of(g, kind)->name, number_of);
    if (is_wanted(g, kind)) comm_sum_double(v.value[kind], v.width * v.height);
    if (is_wanted(g, kind) && comm_rank() == 0) write_picture(&v, kind, path, pixels);
    free(v.value[kind]);
  }
}
