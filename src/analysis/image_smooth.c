/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Particles without a known lattice: each is smoothed as widely as the particles about it are
 * apart.
 *
 * A mesh over the box counts particles. Their distance at a cell follows from the count of the
 * smallest cell around it, of sides 1, 2, 4 ..., that holds enough of them. Particles of several
 * masses are as far apart as particles of their own mass alone would be at the density there, so
 * that a heavy particle beside light ones is wide. Kernels of many widths
 * are cheap on a series of maps, each with pixels twice as wide as those of the one before: a
 * particle goes to the two maps whose pixels suit its width. A map is read at the finest pixels
 * with the same quadratic B-spline as it was filled with. Nothing is ever moved from one width to
 * another, so that no rings appear about clumps. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "image_map.h"
#include "photons/base/error.h"
#include "photons/runtime/loop.h"

#define WIDTH 0.7           /* standard deviation of the kernel over the distance of particles */
#define DEVIATION M_SQRT1_2 /* of a B-spline read with a B-spline, in its map's pixels */
#define BORDER 0.25         /* of a map that a few groups touch beyond their share of the box */
#define MAP_UNIT 0x1p-30    /* mean masses of particles */
enum { ENOUGH = 8 };        /* particles that tell their distance */
enum { CELLS_MAX = 128, LEVELS_MAX = 16, WIDEST = 16, BANDS = 64 };

struct levels {
  int count;
  size_t pixels[LEVELS_MAX]; /* a side of each map */
  size_t first[LEVELS_MAX + 1];
};

/** The finest map is the picture's; the last has WIDEST pixels or a few more. */
static struct levels choose_levels(size_t pixels) {
  struct levels l = {.count = 0};
  do {
    l.pixels[l.count] = pixels >> l.count;
    l.first[l.count + 1] = l.first[l.count] + l.pixels[l.count] * l.pixels[l.count];
    l.count++;
  } while (l.count < LEVELS_MAX && pixels >> l.count >= WIDEST);
  return l;
}

struct smoothing {
  const struct particles *particles;
  const struct projection *projection;
  struct levels levels;
  size_t cells;    /* a side of the mesh */
  double *spacing; /* [x][y][z] distance of particles, over the box; of particles of several masses
                    * the distance of those of the mean mass */
  bool by_mass;    /* count_part() adds masses, not numbers */
  struct maps maps;
  const double *sum; /* of the maps of all levels */
  double *map;       /* the picture */
};

/** Where a particle is, over the side of what is projected.
 * @return false: outside of the cube, or of a type that is not shown */
static bool place_of(const struct smoothing *w, const struct particle_block *b, size_t i,
                     double at[3]) {
  const struct cube *cube = w->projection->cube;
  for (size_t c = 0; c < 3; c++)
    at[c] = cube ? (b->x[cube->axis[c]][i] - cube->corner[cube->axis[c]]) / cube->side
                 : b->x[c][i] / POSITION_TURN;
  if (!cube) return true;
  for (size_t c = 0; c < 3; c++)
    if (!(at[c] >= 0.0 && at[c] < 1.0)) return false;
  return cube->types >> particle_type(w->particles, b->first + i) & 1u;
}

static size_t cell_of(const struct smoothing *w, const double at[3]) {
  size_t cell = 0;
  for (size_t c = 0; c < 3; c++) cell = cell * w->cells + (size_t)(at[c] * (double)w->cells);
  return cell;
}

static void count_part(void *context, uint32_t part) {
  const struct smoothing *w = context;
  const size_t blocks = w->particles->blocks;
  uint64_t *map = w->maps.map + part * w->maps.values;
  for (size_t g = block_first(blocks, w->maps.parts, part);
       g < block_first(blocks, w->maps.parts, part + 1); g++) {
    const struct particle_block b = particles_block(w->particles, g);
    for (size_t i = 0; i < b.count; i++) {
      double at[3];
      if (place_of(w, &b, i, at))
        map[cell_of(w, at)] += (uint64_t)((w->by_mass ? (double)b.relative_mass[i] : 1.0) /
                                          MAP_UNIT);
    }
  }
}

/** The mesh with half the cells a side. */
static double *coarsen(const double *fine, size_t cells) {
  const size_t half = cells / 2;
  double *coarse = allocate(half * half * half, sizeof *coarse, "a picture's smoothing");
  for (size_t x = 0; x < cells; x++)
    for (size_t y = 0; y < cells; y++)
      for (size_t z = 0; z < cells; z++)
        coarse[((x / 2) * half + y / 2) * half + z / 2] += fine[(x * cells + y) * cells + z];
  return coarse;
}

/** Replace counts in cells by the distance of particles there; a cell with few of them takes it
 * from the cell of twice the side about it.
 * @param mass  in cells, which replaces counts in the distance; NULL: each particle has mass 1 */
static void find_spacing(double *count, const double *mass, size_t cells) {
  double *wider = NULL;
  if (cells > 1) {
    double *wider_mass = mass ? coarsen(mass, cells) : NULL;
    wider = coarsen(count, cells);
    find_spacing(wider, wider_mass, cells / 2);
    free(wider_mass);
  }
  const size_t half = cells / 2;
  for (size_t x = 0; x < cells; x++)
    for (size_t y = 0; y < cells; y++)
      for (size_t z = 0; z < cells; z++) {
        const size_t cell = (x * cells + y) * cells + z;
        const double units = mass ? mass[cell] : fmax(count[cell], 1.0);
        count[cell] = count[cell] >= ENOUGH || !wider
                          ? 1.0 / ((double)cells * cbrt(units))
                          : wider[((x / 2) * half + y / 2) * half + z / 2];
      }
  free(wider);
}

/** The pixel that contains a coordinate, and the weights of its left neighbour, itself and its
 * right neighbour (quadratic B-spline).
 * @param u  in pixels */
static size_t pixel_weights(double u, double weight[3]) {
  const double d = u - floor(u) - 0.5;
  weight[0] = 0.5 * (0.5 - d) * (0.5 - d);
  weight[1] = 0.75 - d * d;
  weight[2] = 0.5 * (0.5 + d) * (0.5 + d);
  return (size_t)u;
}

static size_t neighbour(size_t i, size_t c, size_t pixels) { return (i + c + pixels - 1) % pixels; }

/** Whether the neighbour c of pixel i is beyond the edge of a cube. */
static bool is_beyond(const struct smoothing *w, size_t i, size_t c, size_t pixels) {
  return w->projection->cube && (i + c < 1 || i + c > pixels);
}

static void deposit(const struct smoothing *w, int level, const double at[2], double mass,
                    uint64_t *maps) {
  const size_t pixels = w->levels.pixels[level];
  uint64_t *map = maps + w->levels.first[level];
  double wx[3], wy[3];
  const size_t x = pixel_weights(at[0] * (double)pixels, wx),
               y = pixel_weights(at[1] * (double)pixels, wy);
  for (size_t c = 0; c < 3; c++)
    for (size_t d = 0; d < 3; d++) {
      if (is_beyond(w, x, c, pixels) || is_beyond(w, y, d, pixels)) continue;
      const size_t pixel = neighbour(x, c, pixels) * pixels + neighbour(y, d, pixels);
      map[pixel] += (uint64_t)(mass * wx[c] * wy[d] / MAP_UNIT + 0.5);
    }
}

static void deposit_part(void *context, uint32_t part) {
  const struct smoothing *w = context;
  const struct projection *p = w->projection;
  const size_t blocks = w->particles->blocks;
  uint64_t *maps = w->maps.map + part * w->maps.values;
  for (size_t g = block_first(blocks, w->maps.parts, part);
       g < block_first(blocks, w->maps.parts, part + 1); g++) {
    const struct particle_block b = particles_block(w->particles, g);
    for (size_t i = 0; i < b.count; i++) {
      double at[3];
      if (!place_of(w, &b, i, at)) continue;
      if (!p->cube && b.x[2][i] - p->low > p->extent) continue;
      const double mass = b.relative_mass ? (double)b.relative_mass[i] : 1.0;
      const double spacing = w->spacing[cell_of(w, at)] * (b.relative_mass ? cbrt(mass) : 1.0);
      const double width = WIDTH * spacing * (double)p->pixels;
      const double octave = fmin(fmax(log2(width / DEVIATION), 0.0), w->levels.count - 1.0);
      const int level = (int)octave;
      const double share = octave - level;
      deposit(w, level, at, mass * (1.0 - share), maps);
      if (share > 0.0) deposit(w, level + 1, at, mass * share, maps);
    }
  }
}

/** Add up all levels at the picture's pixels. */
static void read_band(void *context, uint32_t band) {
  const struct smoothing *w = context;
  const size_t n = w->projection->pixels;
  for (size_t x = block_first(n, BANDS, band); x < block_first(n, BANDS, band + 1); x++)
    for (size_t y = 0; y < n; y++) w->map[x * n + y] = w->sum[x * n + y];
  for (int level = 1; level < w->levels.count; level++) {
    const size_t pixels = w->levels.pixels[level];
    const double scale = (double)pixels / (double)n;
    const double *map = w->sum + w->levels.first[level];
    for (size_t x = block_first(n, BANDS, band); x < block_first(n, BANDS, band + 1); x++)
      for (size_t y = 0; y < n; y++) {
        double wx[3], wy[3], sum = 0.0;
        const size_t i = pixel_weights(((double)x + 0.5) * scale, wx),
                     j = pixel_weights(((double)y + 0.5) * scale, wy);
        for (size_t c = 0; c < 3; c++)
          for (size_t d = 0; d < 3; d++)
            if (!is_beyond(w, i, c, pixels) && !is_beyond(w, j, d, pixels))
              sum += wx[c] * wy[d] *
                     map[neighbour(i, c, pixels) * pixels + neighbour(j, d, pixels)];
        w->map[x * n + y] += sum * scale * scale;
      }
  }
}

static size_t choose_cells(size_t particles) {
  size_t cells = 1;
  while (2 * cells <= CELLS_MAX && 8 * cells * cells * cells <= particles) cells *= 2;
  return cells;
}

/** Numbers or masses of particles in the cells of the mesh. */
static double *fill_mesh(struct smoothing *w, bool by_mass) {
  w->by_mass = by_mass;
  w->maps = maps_create(w->cells * w->cells * w->cells, w->particles->blocks);
  loop_run(&image_stage, w->maps.parts, count_part, w);
  maps_sum(&w->maps);
  return maps_convert(&w->maps, MAP_UNIT);
}

double *smoothed_project(const struct particles *s, const struct projection *p) {
  struct smoothing w = {.particles = s,
                        .projection = p,
                        .levels = choose_levels(p->pixels),
                        .cells = choose_cells(s->all)};
  double *mass = particles_have(s, COLUMN_relative_mass) ? fill_mesh(&w, true) : NULL;
  w.spacing = fill_mesh(&w, false);
  find_spacing(w.spacing, mass, w.cells);
  free(mass);
  w.maps = maps_create(w.levels.first[w.levels.count], s->blocks);
  loop_run(&image_stage, w.maps.parts, deposit_part, &w);
  free(w.spacing);
  maps_sum(&w.maps);
  double *sum = maps_convert(&w.maps, MAP_UNIT);
  w.sum = sum;
  w.map = allocate(p->pixels * p->pixels, sizeof *w.map, "a picture");
  loop_run(&image_stage, BANDS, read_band, &w);
  free(sum);
  return w.map;
}

double smoothed_memory(size_t pixels) {
  const struct levels l = choose_levels(pixels);
  return maps_memory((double)l.first[l.count], HUGE_VAL, BORDER) +
         sizeof(double) * (double)(pixels * pixels + CELLS_MAX * CELLS_MAX * CELLS_MAX);
}
