/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A pixel shows the cell at its middle, so that cells of all levels have their own sides. */
#include "photons/gas/gas_picture.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "particle_picture.h"
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

enum {
  DENSITY,
  PRESSURE,
  SPEED,
  LEVEL,
  COLUMN,
  COLUMN_HEAT, /* mean along the line of sight, weighted by density, as the next one */
  COLUMN_LEVEL,
  PARTICLES,
  PICTURES
};
/** How numbers are shown. */
enum show { LOGARITHM, FROM_ZERO, LEVELS, MEAN_LEVELS };
struct kind {
  const char *name, *title;
  enum show show;
};
static const struct kind kinds_static[PICTURES] = {
    [DENSITY] = {"slice_density", "log10 density", LOGARITHM},
    [PRESSURE] = {"slice_pressure", "log10 pressure", LOGARITHM},
    [SPEED] = {"slice_speed", "speed", FROM_ZERO},
    [LEVEL] = {"slice_level", "level", LEVELS},
    [COLUMN] = {"projection_density", "log10 mean density", LOGARITHM},
    [COLUMN_HEAT] = {"projection_temperature", "log10 pressure/density", LOGARITHM},
    [COLUMN_LEVEL] = {"projection_level", "mean level", MEAN_LEVELS},
    [PARTICLES] = {"projection_particles", "log10 mean density", LOGARITHM},
};
static const struct kind kinds_comoving[PICTURES] = {
    [DENSITY] = {"slice_density", "log10 density/mean", LOGARITHM},
    [PRESSURE] = {"slice_temperature", "log10 temperature/K", LOGARITHM},
    [SPEED] = {"slice_speed", "speed [km/s]", FROM_ZERO},
    [LEVEL] = {"slice_level", "level", LEVELS},
    [COLUMN] = {"projection_density", "log10 column density/mean", LOGARITHM},
    [COLUMN_HEAT] = {"projection_temperature", "log10 temperature/K", LOGARITHM},
    [COLUMN_LEVEL] = {"projection_level", "mean level", MEAN_LEVELS},
    [PARTICLES] = {"projection_particles", "log10 column density/mean", LOGARITHM},
};
#define DARKEST 0.001 /* part of the pixels that may be darker than the colours, */
#define BRIGHTEST 0.001

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
  const struct parameters *parameters;
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

/** The leaf cell at a point, 0 <= x[c] < side of the box. What is in a group that this rank does not know is of other
 * ranks: the group in the place of the cell. */
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
    const struct gas_group *group = topology_known(t, p.level, p.group);
    unsigned patch = 0, cell = 0;
    if (!group) return p;
    for (int c = 0; c < 3; c++) {
      const unsigned upper = at[c] >= GAS_PATCH_SIDE;
      at[c] -= GAS_PATCH_SIDE * upper;
      patch |= upper << c;
      cell |= ((unsigned)at[c] & 7u) << 3 * c;
    }
    const uint32_t son = group->son[patch];
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
  if (!g->universe.comoving || kind == LEVEL || kind == COLUMN_LEVEL) return 1.0;
  if (kind == SPEED) return 1.0 / g->time;
  if (kind == PRESSURE || kind == COLUMN_HEAT)
    return 1.0 / comoving_heat(g->time, 1.0, g->universe.molecular_weight);
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
  const struct gas_batch *b = gas_batch_with(g, p->level, p->group);
  const struct gas_matter *m = (const struct gas_matter *)starpu_vector_get_local_ptr(b->matter) +
                               p->group - b->first;
  size_t at = 0;
  for (int c = 2; c >= 0; c--)
    at = GAS_GROUP_SIDE * at + GAS_PATCH_SIDE * (p->cell / GAS_PATCH_CELLS >> c & 1) +
         (p->cell >> 3 * c & 7);
  return matter_density(m, at);
}

/** What a cell has. */
struct state {
  double density, square, pressure; /* square: |velocity|^2 */
};

static struct state state_of(const struct gas *g, const void *cells, size_t cell) {
  struct state s = {.density = number(g, cells, cell, GAS_DENSITY)};
  for (unsigned c = 0; c < 3; c++)
    s.square += pow(number(g, cells, cell, GAS_MOMENTUM_X + c) / s.density, 2.0);
  const double thermal = number(g, cells, cell, GAS_ENERGY) - 0.5 * s.density * s.square;
  s.pressure = pressure_at(g, cells, cell, thermal);
  return s;
}

/** The pixel of all slices. */
static void draw_slices(const struct view *v, const double x[3], size_t pixel) {
  const struct gas *g = v->gas;
  const struct place p = place_at(g, x);
  const void *cells = gas_cells(g, p.level, p.group);
  if (!cells) return; /* another rank's */
  const struct state s = state_of(g, cells, p.cell);
  v->value[DENSITY][pixel] = s.density * unit_of(g, DENSITY);
  v->value[PRESSURE][pixel] = (g->universe.comoving ? s.pressure / s.density : s.pressure) *
                              unit_of(g, PRESSURE);
  v->value[SPEED][pixel] = sqrt(s.square) * unit_of(g, SPEED);
  v->value[LEVEL][pixel] = p.level;
}

/** Mean densities along the line of sight, and sums weighted by density, which divide_columns()
 * makes means. Cells are counted in those of the finest level. */
static void draw_column(const struct view *v, double x[3], size_t pixel) {
  const struct gas *g = v->gas;
  const uint64_t all = (uint64_t)(GAS_GROUP_SIDE * g->topology.root[v->sight]) << v->finest;
  double sum = 0.0, of_particles = 0.0, heat = 0.0, levels = 0.0;
  for (uint64_t k = 0, cells_long; k < all; k += cells_long) {
    x[v->sight] = ((double)k + 0.5) / (double)all * v->side[v->sight];
    const struct place p = place_at(g, x);
    const void *cells = gas_cells(g, p.level, p.group);
    cells_long = (uint64_t)1 << (v->finest - p.level);
    if (!topology_known(&g->topology, p.level, p.group)) cells_long *= GAS_GROUP_SIDE;
    if (!cells) continue;
    const struct state s = state_of(g, cells, p.cell);
    sum += (double)cells_long * s.density;
    heat += (double)cells_long * s.pressure;
    levels += (double)cells_long * s.density * p.level;
    if (g->particles) of_particles += (double)cells_long * particle_density(g, &p);
  }
  const double part = 1.0 / (double)all;
  if (g->particles) v->value[PARTICLES][pixel] = of_particles * part * unit_of(g, PARTICLES);
  v->value[COLUMN][pixel] = sum * part * unit_of(g, COLUMN);
  v->value[COLUMN_HEAT][pixel] = heat * part * unit_of(g, COLUMN) * unit_of(g, COLUMN_HEAT);
  v->value[COLUMN_LEVEL][pixel] = levels * part * unit_of(g, COLUMN);
}

/** From sums weighted by density, of all ranks, to means. */
static void divide_columns(const struct view *v) {
  for (size_t i = 0; i < v->width * v->height; i++)
    for (int kind = COLUMN_HEAT; kind <= COLUMN_LEVEL; kind++)
      v->value[kind][i] /= v->value[COLUMN][i];
}

static void draw_row(void *context, uint32_t row) {
  const struct view *v = context;
  for (size_t i = 0; i < v->width; i++) {
    double x[3];
    x[v->across] = ((double)i + 0.5) / (double)v->width * v->side[v->across];
    x[v->up] = ((double)row + 0.5) / (double)v->height * v->side[v->up];
    x[v->sight] = fmin(v->parameters->output.slice_position, 1.0 - 0x1p-40) * v->side[v->sight];
    draw_slices(v, x, row * v->width + i);
    draw_column(v, x, row * v->width + i);
  }
}

/** The shortest axis of the box, of equal ones the last, unless another one is asked for. */
static int choose_sight(const struct gas *g, const struct parameters *p) {
  int sight = 2;
  if (p->output.slice_axis != AXIS_AUTOMATIC) return (int)p->output.slice_axis - AXIS_X;
  for (int c = 1; c >= 0; c--)
    if (g->topology.root[c] < g->topology.root[sight]) sight = c;
  return sight;
}

/** Pixels are the cells of the finest level, or wider ones where these are too many. */
static struct view choose_view(const struct gas *g, const struct parameters *p, size_t pixels) {
  struct view v = {.gas = g,
                   .parameters = p,
                   .sight = choose_sight(g, p),
                   .finest = topology_levels(&g->topology) - 1};
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

static int compare_numbers(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/** The limits that the parameters give. @return false: none */
static bool chosen_limits(const struct parameters *p, int kind, double *low, double *high) {
  const struct {
    const double *limits;
    size_t count;
  } given[PICTURES] = {
      [DENSITY] = {p->output.density_colours, p->output.density_colour_count},
      [PRESSURE] = {p->output.heat_colours, p->output.heat_colour_count},
      [SPEED] = {p->output.speed_colours, p->output.speed_colour_count},
      [COLUMN] = {p->output.density_colours, p->output.density_colour_count},
      [COLUMN_HEAT] = {p->output.heat_colours, p->output.heat_colour_count},
      [PARTICLES] = {p->output.density_colours, p->output.density_colour_count},
  };
  if (given[kind].count != 2) return false;
  *low = given[kind].limits[0];
  *high = given[kind].limits[1];
  return true;
}

/** The limits of the colours: those of the parameters, or of nearly all values, but not so near that
 * rounding shows. Speeds begin at 0, and levels are all that there may be. */
static void choose_limits(const struct view *v, int kind, double *low, double *high) {
  static const double least = 0.01;
  const enum show show = kind_of(v->gas, kind)->show;
  const size_t count = v->width * v->height;
  if (chosen_limits(v->parameters, kind, low, high)) return;
  double *sorted = allocate(count, sizeof *sorted, "the colours of a picture");
  memcpy(sorted, v->value[kind], count * sizeof *sorted);
  qsort(sorted, count, sizeof *sorted, compare_numbers);
  *low = show == LOGARITHM ? sorted[(size_t)(DARKEST * (double)count)] : 0.0;
  *high = sorted[count - 1 - (size_t)(BRIGHTEST * (double)count)];
  free(sorted);
  if (show == LEVELS || show == MEAN_LEVELS) *high = fmax(1.0, v->gas->topology.finest);
  if (show == LOGARITHM)
    *low = fmin(*low, 0.5 * (*low + *high - least)); /* what is uniform has the middle colour */
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
  if (shown->show == LOGARITHM) take_logarithms(value, v->width * v->height);
  choose_limits(v, kind, &low, &high);
  for (size_t y = 0; y < p.height; y++)
    for (size_t x = 0; x < p.width; x++) { /* rows downwards */
      const double z = value[(v->height - 1 - y / scale) * v->width + x / scale];
      picture_colour(fmin(1.0, fmax(0.0, (z - low) / (high - low))), p.rgb + 3 * (y * p.width + x));
    }
  char plane[64] = "";
  if (kind <= LEVEL)
    snprintf(plane, sizeof plane, "%c = %.4g%s", "xyz"[v->sight],
             v -> parameters -> output.slice_position * v->side[v->sight],
             v->gas->universe.comoving ? " Mpc/h" : "");
  picture_label(&p, &(struct caption){.line = {gas_moment(v->gas).text, *plane ? plane : NULL},
                                      .side = v->side[v->across],
                                      .unit = v->gas->universe.comoving ? "Mpc/h" : "",
                                      .title = shown->title,
                                      .low = low,
                                      .high = high,
                                      .whole = shown->show == LEVELS});
  picture_write(path, &p);
  free(p.rgb);
}

/** Take over the densities of own batches' particles from tasks, or give them back. */
static void hold_matter(const struct gas *g, bool hold) {
  for (int level = 0; g->particles && level < topology_levels(&g->topology); level++) {
    const uint32_t end = gas_first_batch(g, level, comm_rank() + 1);
    for (uint32_t i = gas_first_batch(g, level, comm_rank()); i < end; i++) {
      const starpu_data_handle_t matter = gas_batch(g, level, i)->matter;
      if (hold)
        handle_acquire(matter, STARPU_R);
      else
        starpu_data_release(matter);
    }
  }
}

/** All pictures of the present state, on rank 0. */
static struct view draw(const struct gas *g, const struct parameters *p, size_t pixels) {
  struct view v = choose_view(g, p, pixels);
  hold_matter(g, true);
  loop_run(&gas_picture_stage, (uint32_t)v.height, draw_row, &v);
  hold_matter(g, false);
  for (int kind = 0; kind < PICTURES; kind++)
    if (is_wanted(g, kind)) comm_sum_double(v.value[kind], v.width * v.height);
  if (!g->scheme.particles_alone) divide_columns(&v);
  return v;
}

static void view_free(struct view *v) {
  for (int kind = 0; kind < PICTURES; kind++) free(v->value[kind]);
}

/** The column density of particles, where it has more pixels than cells have. */
static void write_particles(const struct view *v, const char *path, size_t pixels) {
  struct view own = {.gas = v->gas,
                     .parameters = v->parameters,
                     .across = v->across,
                     .up = v->up,
                     .sight = v->sight,
                     .width = pixels,
                     .height = pixels};
  for (int c = 0; c < 3; c++) own.side[c] = v->side[c];
  own.value[PARTICLES] = gas_particles_map(v->gas, v->parameters,
                                           (const int[3]){v->across, v->up, v->sight}, pixels);
  if (comm_rank() == 0) write_picture(&own, PARTICLES, path, pixels);
  view_free(&own);
}

/** Write a picture of what draw() has drawn. Collective. */
static void write_kind(const struct view *v, int kind, const char *path, size_t pixels) {
  if (kind == PARTICLES && gas_particles_mapped(v->gas))
    write_particles(v, path, pixels);
  else if (comm_rank() == 0)
    write_picture(v, kind, path, pixels);
}

void gas_pictures_write(const struct gas *g, const struct parameters *p, size_t number_of) {
  const size_t pixels = (size_t)p->output.image_pixels;
  struct view v = draw(g, p, pixels);
  for (int kind = 0; kind < PICTURES; kind++) {
    char path[PARAMETER_PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/%s_%03zu.png", p->output.dir, kind_of(g, kind)->name,
             number_of);
    if (is_wanted(g, kind)) write_kind(&v, kind, path, pixels);
  }
  view_free(&v);
}

void gas_frame_write(const struct gas *g, const struct parameters *p, const char *path) {
  const size_t pixels = (size_t)p->output.movie_pixels;
  struct view v = draw(g, p, pixels);
  write_kind(&v, g->scheme.particles_alone ? PARTICLES : COLUMN, path, pixels);
  view_free(&v);
}
