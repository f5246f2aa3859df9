/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pictures, read back with libpng; and the maps of density that they show. */
#include <math.h>
#include <png.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "photons/analysis/analysis.h"
#include "photons/base/comm.h"
#include "src/analysis/column.h"
#include "src/analysis/image_draw.h"
#include "src/analysis/sheet.h"
#include "src/analysis/sheet_cell.h"
#include "src/analysis/tetrahedron.h"

static const char path[] = "test_image_output.png";

struct decoded {
  size_t width, height;
  png_bytep rgb;
};

/** The picture, on every rank. The file is removed. */
static struct decoded decode(void) {
  comm_barrier();
  png_image image = {.version = PNG_IMAGE_VERSION};
  assert_true(png_image_begin_read_from_file(&image, path));
  image.format = PNG_FORMAT_RGB;
  struct decoded d = {
      .width = image.width, .height = image.height, .rgb = malloc(PNG_IMAGE_SIZE(image))};
  assert_non_null(d.rgb);
  assert_true(png_image_finish_read(&image, NULL, d.rgb, 0, NULL));
  comm_barrier();
  if (comm_rank() == 0) unlink(path);
  return d;
}

/** A picture of particles without a lattice. */
static void draw(const struct particles *s, size_t pixels, double thickness) {
  images_write(s, &(struct image){.path = path, .pixels = pixels, .a = 0.5, .thickness = thickness},
               1);
}

static int brightness(const struct decoded *d, size_t column, size_t row) {
  const png_byte *rgb = d->rgb + 3 * (row * d->width + column);
  return rgb[0] + rgb[1] + rgb[2];
}

/** @p count particles at one point of a box of 100 Mpc/h, in three groups. */
static struct particles make_clump(size_t count, double x, double y) {
  struct particles s = particles_create_blocks(count, 3, 100.0, 1.0);
  for (size_t g = 0; g < s.blocks; g++) {
    struct particle_block b = particles_block(&s, g);
    for (size_t i = 0; i < b.count; i++) {
      b.x[0][i] = position_to_integer(x, s.box);
      b.x[1][i] = position_to_integer(y, s.box);
    }
  }
  return s;
}

/* x runs to the right, y upwards; the picture is periodic. Labels are at the left edge, away from
 * the clump. */
static void test_clump(void **state) {
  (void)state;
  static const struct {
    double x, y;
    size_t column, row;
  } cases[] = {{75.1, 25.1, 96, 95}, {60.0001, 80.0001, 76, 25}, {99.9, 50.1, 127, 63}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct particles s = make_clump(1000, cases[i].x, cases[i].y);
    draw(&s, 128, 1.0);
    struct decoded d = decode();
    assert_int_equal(d.width, 128);
    assert_int_equal(d.height, 128);
    int clump = brightness(&d, cases[i].column, cases[i].row);
    assert_true(clump > 600);              /* the bright end of the colour map is nearly white */
    for (size_t row = 44; row < 88; row++) /* between the labels */
      for (size_t column = 0; column < 128; column++) {
        size_t dx = column > cases[i].column ? column - cases[i].column : cases[i].column - column;
        size_t dy = row > cases[i].row ? row - cases[i].row : cases[i].row - row;
        if (dx > 64) dx = 128 - dx;
        assert_true(brightness(&d, column, row) <= clump);
        /* The mesh of counts has 8 cells, so that 1000 particles seem 1/80 of the box apart. */
        if (dx > 6 || dy > 6) assert_true(brightness(&d, column, row) < 20);
      }
    free(d.rgb);
    particles_free(&s);
  }
}

/** A clump in a frame of 200 kpc, kpc from its middle. */
static struct particles make_galaxy(const double x[3]) {
  struct particles s = particles_create_blocks(1000, 3, 0.2, 1.0);
  for (size_t g = 0; g < s.blocks; g++) {
    struct particle_block b = particles_block(&s, g);
    for (size_t i = 0; i < b.count; i++)
      for (size_t c = 0; c < 3; c++) b.x[c][i] = position_to_integer(100.0 + x[c], 200.0);
  }
  return s;
}

/* A clump of an isolated system is where it is face-on, and below edge-on; what leaves the picture on
 * one side does not come in on the other. Labels are at the left edge. */
static void test_isolated(void **state) {
  (void)state;
  static const struct {
    double x[3];
    size_t column, row, row_edge_on;
  } cases[] = {{{10.0, 20.0, -5.0}, 76, 38, 166}, {{49.9, -30.0, 10.0}, 127, 102, 147}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct particles s = make_galaxy(cases[i].x);
    image_write_isolated(&s, path, 100.0, 128, "t = 5 Myr");
    struct decoded d = decode();
    assert_int_equal(d.width, 128);
    assert_int_equal(d.height, 192);
    assert_true(brightness(&d, cases[i].column, cases[i].row) > 600);
    assert_true(brightness(&d, cases[i].column, cases[i].row_edge_on) > 600);
    for (size_t row = 50; row < 150; row++) assert_true(brightness(&d, 1, row) < 20);
    free(d.rgb);
    particles_free(&s);
  }
}

/* Text is legible on any colour: its letters are white, its rim is dark. */
static void test_text(void **state) {
  (void)state;
  static unsigned char rgb[3 * 512 * 512];
  for (int grey = 0; grey <= 255; grey += 255) {
    struct picture p = {.width = 512, .height = 512, .rgb = rgb};
    memset(rgb, grey, sizeof rgb);
    picture_label(&p, &(struct caption){.line = {"z = 0.50", "depth 100 Mpc/h"},
                                        .side = 100.0,
                                        .unit = "Mpc/h",
                                        .title = "log10 Msun/kpc²",
                                        .low = -1.0,
                                        .high = 2.0});
    size_t white = 0, dark = 0;
    for (size_t y = 0; y < 60; y++)
      for (size_t x = 0; x < 150; x++) {
        white += rgb[3 * (512 * y + x)] > 250;
        dark += rgb[3 * (512 * y + x)] < 5;
      }
    assert_true(white > 40 && dark > 100);
    assert_int_equal(rgb[3 * (512 * 256 + 256)], grey); /* the middle is free */
  }
}

static void test_sizes(void **state) {
  (void)state;
  static const size_t pixels[] = {64, 65, 300};
  for (size_t i = 0; i < sizeof pixels / sizeof *pixels; i++) {
    struct particles s = make_clump(1000, 75.0, 50.0);
    draw(&s, pixels[i], 1.0);
    struct decoded d = decode();
    assert_int_equal(d.width, pixels[i]);
    assert_int_equal(d.height, pixels[i]);
    free(d.rgb);
    particles_free(&s);
  }
}

/* A slice of a tenth of the box about its middle contains particles at z = 45.1 and 54.9 Mpc/h, but
 * not at 44.9. */
static void test_slice(void **state) {
  (void)state;
  static const double z[] = {45.1, 54.9, 44.9, 55.1, 0.0};
  for (size_t i = 0; i < sizeof z / sizeof *z; i++) {
    struct particles s = make_clump(1000, 75.1, 25.1);
    for (size_t g = 0; g < s.blocks; g++) {
      struct particle_block b = particles_block(&s, g);
      for (size_t k = 0; k < b.count; k++) b.x[2][k] = position_to_integer(z[i], s.box);
    }
    draw(&s, 128, 0.1);
    struct decoded d = decode();
    if (i < 2)
      assert_true(brightness(&d, 96, 95) > 600);
    else /* no particle, no light */
      assert_true(brightness(&d, 96, 95) < 20);
    free(d.rgb);
    particles_free(&s);
  }
}

/* The bar is a quarter of the box at most, 1, 2 or 5 times a power of ten: 20 of 100 Mpc/h, so 51
 * of 256 pixels. It is the only white thing at the left in its row. */
static void test_scale_bar(void **state) {
  (void)state;
  struct particles s = make_clump(1000, 75.0, 50.0);
  draw(&s, 256, 1.0);
  struct decoded d = decode();
  size_t white = 0;
  for (size_t column = 0; column < 100; column++) white += brightness(&d, column, 243) == 3 * 255;
  assert_int_equal(white, 51);
  free(d.rgb);
  particles_free(&s);
}

static size_t read_all(const char *name, char *bytes, size_t size) {
  FILE *file = fopen(name, "rb");
  assert_non_null(file);
  size_t length = fread(bytes, 1, size, file);
  fclose(file);
  return length;
}

/** Random particles, the same for any number of ranks. */
static struct particles make_random(size_t count, size_t blocks) {
  struct particles s = particles_create_blocks(count, blocks, 100.0, 1.0);
  for (size_t g = 0; g < s.blocks; g++) {
    struct particle_block b = particles_block(&s, g);
    for (size_t i = 0; i < b.count; i++) {
      uint64_t seed = particles_first(&s) + b.first + i + 1;
      for (size_t c = 0; c < 3; c++) {
        for (int turn = 0; turn < 3; turn++)
          seed = seed * 6364136223846793005U + 1442695040888963407U;
        b.x[c][i] = (uint32_t)(seed >> 32);
      }
    }
  }
  return s;
}

/* No bit depends on how the particles are distributed. The pictures of different numbers of ranks
 * are kept for tests/runs/same_files_on_any_ranks.sh to compare. */
static void compare_pictures(const char *name, size_t lattice, double thickness,
                             struct particles (*make)(size_t)) {
  static char first[1 << 20], second[1 << 20], kept[1024];
  const char *folder = getenv("PHOTONS_RANKS_OUTPUT");
  snprintf(kept, sizeof kept, "%s%s%s", folder ? folder : "", folder ? "/" : "", name);
  struct image image = {
      .path = kept, .pixels = 256, .lattice = lattice, .a = 1.0, .thickness = thickness};
  struct particles s = make(3);
  images_write(&s, &image, 1);
  particles_free(&s);
  comm_barrier();
  size_t length = read_all(kept, first, sizeof first);
  comm_barrier();
  s = make(64);
  image.path = path;
  images_write(&s, &image, 1);
  particles_free(&s);
  comm_barrier();
  assert_true(length > 1000 && length < sizeof first);
  assert_int_equal(read_all(path, second, sizeof second), length);
  assert_memory_equal(first, second, length);
  comm_barrier();
  if (comm_rank() == 0) unlink(path);
  if (comm_rank() == 0 && !folder) unlink(kept);
}

static struct particles make_5000(size_t blocks) { return make_random(5000, blocks); }

/** A random number in [-1, 1) that belongs to a point of a lattice and an axis (splitmix64). */
static double noise(uint64_t point, size_t axis) {
  uint64_t seed = (3 * point + axis + 1) * 0x9e3779b97f4a7c15U;
  seed = (seed ^ seed >> 30) * 0xbf58476d1ce4e5b9U;
  seed = (seed ^ seed >> 27) * 0x94d049bb133111ebU;
  return (double)((seed ^ seed >> 31) >> 11) * 0x1p-52 - 1.0;
}

enum shape { UNIFORM, WAVE, JITTERED, FOLDED, CLUMPED };
#define WAVE_AMPLITUDE 0.5 /* largest |d psi/dq|: the sheet does not fold */

/** Half of the points gather about the nearest of a corner of the box, the middles of its sides and
 * faces, and its own. */
static double clumped(size_t side, uint64_t point, size_t axis) {
  const size_t stride[3] = {side * side, side, 1};
  const double q = (double)(point / stride[axis] % side) / (double)side, r = noise(point, axis);
  return noise(point, 3) < 0.0 ? 0.1 * r : 0.5 * round(2.0 * q) + 0.03 * r * r * r - q;
}

/** Displacement of a point of the lattice over the box. */
static double displacement(enum shape shape, size_t side, uint64_t point, size_t axis) {
  const uint64_t plane = point / side / side;
  const double q = (double)plane / (double)side;
  if (shape == WAVE) return axis == 0 ? WAVE_AMPLITUDE * sin(2.0 * M_PI * q) / (2.0 * M_PI) : 0.0;
  if (shape == CLUMPED) return clumped(side, point, axis);
  const double amplitude = shape == FOLDED ? 3.0 : shape == JITTERED ? 0.01 : 0.0;
  return amplitude / (double)side * noise(point, axis);
}

static uint32_t position_of(enum shape shape, size_t side, double shift, uint64_t point,
                            size_t axis) {
  const uint64_t place[3] = {point / side / side, point / side % side, point % side};
  return position_to_integer(
      ((double)place[axis] + shift) / (double)side + displacement(shape, side, point, axis), 1.0);
}

/** A lattice that is `shift` away from the corner of the box. Particles stand in an order that has
 * nothing to do with their ids. */
static struct particles make_lattice(size_t side, size_t blocks, enum shape shape, double shift) {
  const size_t n = side * side * side, stride = 7919; /* a prime that does not divide n */
  struct particles s = particles_create_blocks(n, blocks, 100.0, 1.0);
  for (size_t g = 0; g < s.blocks; g++) {
    struct particle_block b = particles_block(&s, g);
    for (size_t i = 0; i < b.count; i++) {
      const uint64_t point = (particles_first(&s) + b.first + i) * stride % n;
      b.id[i] = point + 1;
      for (size_t c = 0; c < 3; c++) b.x[c][i] = position_of(shape, side, shift, point, c);
    }
  }
  return s;
}

static struct particles make_folded(size_t blocks) { return make_lattice(12, blocks, FOLDED, 0.3); }

static void test_deterministic(void **state) {
  (void)state;
  compare_pictures("density.png", 0, 0.7, make_5000);
  compare_pictures("sheet.png", 12, 1.0, make_folded);
  compare_pictures("sheet_slice.png", 12, 0.7, make_folded);
}

/** The map of a lattice's sheet. */
static double *map_of(struct particles s, size_t side, size_t pixels, uint32_t low,
                      uint32_t extent) {
  double *map;
  assert_true(sheet_project(&s, side, 1, &(struct projection){pixels, low, extent, NULL}, &map));
  particles_free(&s);
  return map;
}

static double sum_of(const double *map, size_t pixels) {
  double sum = 0.0;
  for (size_t i = 0; i < pixels * pixels; i++) sum += map[i];
  return sum;
}

/** Largest difference of a pixel from the mean, over the mean. */
static double variation(const double *map, size_t pixels, double mean) {
  double most = 0.0;
  for (size_t i = 0; i < pixels * pixels; i++) most = fmax(most, fabs(map[i] / mean - 1.0));
  return most;
}

/* Each deposit is rounded to 2^-62 of all mass. Roundings of slopes grow along a column. */
#define ROUNDING 1e-6

/* A lattice has no stripes, wherever it stands and whatever the pixels are. */
static void test_uniform_lattice(void **state) {
  (void)state;
  static const struct {
    size_t side, pixels;
    double shift;
  } cases[] = {{8, 64, 0.0}, {8, 64, 0.5}, {8, 100, 0.3}, {5, 64, 0.77}, {80, 64, 0.21}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const size_t side = cases[i].side, pixels = cases[i].pixels;
    double *map = map_of(make_lattice(side, 3, UNIFORM, cases[i].shift), side, pixels, 0,
                         UINT32_MAX);
    const double mean = pow((double)side, 3) / (double)(pixels * pixels);
    assert_true(variation(map, pixels, mean) < ROUNDING);
    free(map);
  }
}

/* The same with two particles that have changed places: far from uniform. */
static void test_swapped_particles(void **state) {
  (void)state;
  struct particles s = make_lattice(8, 3, UNIFORM, 0.0);
  for (size_t g = 0; g < s.blocks; g++) {
    struct particle_block b = particles_block(&s, g);
    for (size_t i = 0; i < b.count; i++)
      if (b.id[i] == 100 || b.id[i] == 300) b.id[i] = 400 - b.id[i];
  }
  double *map = map_of(s, 8, 64, 0, UINT32_MAX);
  assert_true(variation(map, 64, 512.0 / 64 / 64) > 0.1);
  free(map);
}

/* Ids that are not those of the lattice. */
static void test_no_lattice(void **state) {
  (void)state;
  struct particles s = make_lattice(8, 3, UNIFORM, 0.0);
  const struct projection all = {64, 0, UINT32_MAX, NULL};
  double *map;
  assert_false(sheet_project(&s, 7, 1, &all, &map));
  if (s.count > 0) s.id[0] += comm_rank() == 0 ? 512 : 0;
  assert_false(sheet_project(&s, 8, 1, &all, &map));
  particles_free(&s);
}

static void test_mass(void **state) {
  (void)state;
  static const size_t pixels[] = {64, 100, 256};
  for (size_t i = 0; i < sizeof pixels / sizeof *pixels; i++) {
    double *map = map_of(make_folded(3), 12, pixels[i], 0, UINT32_MAX);
    assert_true(fabs(sum_of(map, pixels[i]) / 1728.0 - 1.0) < ROUNDING);
    free(map);
  }
}

/* Two parts of the box, one of which passes its border, sum up to the whole. */
static void test_slices_add_up(void **state) {
  (void)state;
  enum { PIXELS = 64 };
  const uint32_t cuts[] = {0x80000000u, 0xe0000000u}, extents[] = {0x7fffffffu, 0x3fffffffu};
  double *whole = map_of(make_folded(3), 12, PIXELS, 0, UINT32_MAX);
  for (size_t k = 0; k < 2; k++) {
    double *a = map_of(make_folded(3), 12, PIXELS, cuts[k], extents[k]),
           *b = map_of(make_folded(3), 12, PIXELS, cuts[k] + extents[k] + 1,
                       UINT32_MAX - extents[k] - 1);
    for (size_t i = 0; i < PIXELS * PIXELS; i++)
      assert_true(fabs(a[i] + b[i] - whole[i]) < 1e-6 * 1728.0 / (PIXELS * PIXELS));
    free(a);
    free(b);
  }
  free(whole);
  double *slice = map_of(make_lattice(8, 3, UNIFORM, 0.1), 8, PIXELS, 123456789, 0x0fffffff);
  assert_true(variation(slice, PIXELS, 512.0 / 16.0 / (PIXELS * PIXELS)) < ROUNDING);
  free(slice);
}

/** The map of a lattice's sheet whose tetrahedra are deposited one by one. */
static double *map_one_by_one(enum shape shape, size_t side, double shift,
                              const struct projection *projection) {
  const size_t row = side * side, values = projection->pixels * projection->pixels;
  const double unit = (double)(side * row) * 0x1p-62;
  uint32_t(*position)[3] = calloc((side + 1) * row, sizeof *position);
  uint64_t *map = calloc(values, sizeof *map);
  double *result = calloc(values, sizeof *result);
  assert_true(position && map && result);
  for (size_t i = 0; i < (side + 1) * row; i++)
    for (size_t c = 0; c < 3; c++)
      position[i][c] = position_of(shape, side, shift, i % (side * row), c);
  const struct sheet_part part = {.side = side,
                                  .planes = side,
                                  .scale = (double)projection->pixels / POSITION_TURN,
                                  .mass = 1.0 / 6.0 / unit,
                                  .pixels = projection->pixels,
                                  .low = projection->low,
                                  .extent = projection->extent,
                                  .position = (const uint32_t(*)[3])position,
                                  .map = map};
  for (size_t cell = 0; cell < side * row; cell++)
    for (int t = 0; t < TETRAHEDRA; t++) {
      struct vertex v[4];
      int c[4];
      tetrahedron_corners(t, c);
      for (int k = 0; k < 4; k++)
        v[k] = vertex_near(&part, corner_at(&part, cell / row, cell / side % side, cell % side, 0),
                           corner_at(&part, cell / row, cell / side % side, cell % side, c[k]));
      for (int image = -1; image <= 1; image++) {
        const double low = image * POSITION_TURN;
        tetrahedron_deposit(v, part.mass, low, low + (double)part.extent + 1.0, part.pixels, map);
      }
    }
  columns_integrate(map, projection->pixels, projection->pixels);
  for (size_t k = 0; k < values; k++) result[k] = (double)(int64_t)map[k] * unit;
  free(position);
  free(map);
  return result;
}

/* Tetrahedra are deposited by the edges that they share, those that a face of the slice cuts by the
 * edges of pieces. Vertices of pieces are rounded to 2^-32 of the box, which moves mass where many
 * tetrahedra are seen nearly edge-on. */
static void test_edges(void **state) {
  (void)state;
  static const struct {
    enum shape shape;
    size_t side, pixels;
  } cases[] = {{JITTERED, 8, 100}, {FOLDED, 12, 64},   {FOLDED, 5, 300},  {FOLDED, 40, 64},
               {CLUMPED, 12, 64},  {CLUMPED, 20, 257}, {CLUMPED, 9, 1024}};
  static const uint32_t slices[][2] = {
      {0, UINT32_MAX}, {0, UINT32_MAX - 1}, {0x70000000u, 0x1fffffffu}, {0xc0000000u, 0xafffffffu}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    for (size_t k = 0; k < sizeof slices / sizeof *slices; k++) {
      const size_t side = cases[i].side, pixels = cases[i].pixels;
      const struct projection projection = {pixels, slices[k][0], slices[k][1], NULL};
      const double all = pow((double)side, 3), mean = all / (double)(pixels * pixels);
      double most = 0.0, *map = map_of(make_lattice(side, 3, cases[i].shape, 0.3), side, pixels,
                                       slices[k][0], slices[k][1]);
      double *expected = map_one_by_one(cases[i].shape, side, 0.3, &projection);
      for (size_t j = 0; j < pixels * pixels; j++) most = fmax(most, fabs(map[j] - expected[j]));
      assert_true(most < (k == 0 ? 1e-6 : 1e-5) * mean);
      if (k < 2) assert_true(fabs(sum_of(map, pixels) / all - 1.0) < 1e-6);
      free(map);
      free(expected);
    }
}

/** The Lagrangian coordinate of the plane wave at x, both over the box. */
static double wave_origin(double x) {
  double q = x;
  for (int i = 0; i < 60; i++) {
    const double k = 2.0 * M_PI;
    q -= (q + WAVE_AMPLITUDE * sin(k * q) / k - x) / (1.0 + WAVE_AMPLITUDE * cos(k * q));
  }
  return q;
}

/* Before shells cross, a plane wave has the density 1/(1 + d psi/dq), whose integral up to x is the
 * mass up to q. The sheet is straight between points of the lattice, h apart. Its mass is off by
 * h^2/8 d2 psi/dq2 / (1 + d psi/dq) at most, and its density by the change over half of h. */
static void test_plane_wave(void **state) {
  (void)state;
  enum { PIXELS = 64, SIDE = 32 };
  const double h = 1.0 / SIDE, bend = 2.0 * M_PI * 0.58; /* most of d2 psi/dq2 / (1 + d psi/dq) */
  double *map = map_of(make_lattice(SIDE, 3, WAVE, 0.0), SIDE, PIXELS, 0, UINT32_MAX);
  for (size_t y = 0; y < PIXELS; y++) {
    double mass = 0.0; /* of this row up to here, over all */
    for (size_t x = 0; x < PIXELS; x++) {
      const double found = map[x * PIXELS + y] / pow(SIDE, 3) * PIXELS,
                   end = wave_origin((double)(x + 1) / PIXELS),
                   expected = end - wave_origin((double)x / PIXELS);
      mass += found;
      assert_true(fabs(mass - end) < h * h / 8.0 * bend);
      assert_true(fabs(found / expected - 1.0) < h / 2.0 * bend);
    }
  }
  free(map);
}

/** Length of the line through (x, y) along z in a tetrahedron and between two planes. */
static double thickness(const struct vertex v[4], double x, double y, double low, double high) {
  static const int faces[4][4] = {{0, 1, 2, 3}, {0, 1, 3, 2}, {0, 2, 3, 1}, {1, 2, 3, 0}};
  for (int f = 0; f < 4; f++) {
    const struct vertex *a = &v[faces[f][0]], *b = &v[faces[f][1]], *c = &v[faces[f][2]],
                        *opposite = &v[faces[f][3]];
    const double n[3] = {(b->y - a->y) * (c->z - a->z) - (b->z - a->z) * (c->y - a->y),
                         (b->z - a->z) * (c->x - a->x) - (b->x - a->x) * (c->z - a->z),
                         (b->x - a->x) * (c->y - a->y) - (b->y - a->y) * (c->x - a->x)};
    const double z = a->z - (n[0] * (x - a->x) + n[1] * (y - a->y)) / n[2];
    const double zo = a->z - (n[0] * (opposite->x - a->x) + n[1] * (opposite->y - a->y)) / n[2];
    if (opposite->z > zo)
      low = fmax(low, z);
    else
      high = fmin(high, z);
  }
  return fmax(0.0, high - low);
}

/* Any tetrahedron against sums over 64 x 64 lines a pixel, whose error is below 1/64 of the largest
 * column there. */
static void test_tetrahedra(void **state) {
  (void)state;
  enum { PIXELS = 16, LINES = 64 };
  for (uint64_t k = 0; k < 24; k++) {
    struct vertex v[4];
    for (uint64_t i = 0; i < 4; i++)
      v[i] = (struct vertex){8.0 + 6.0 * noise(4 * k + i, 0), 8.0 + 6.0 * noise(4 * k + i, 1),
                             noise(4 * k + i, 2)};
    const double low = k % 2 ? -0.3 : -2.0, high = k % 2 ? 0.2 : 2.0, unit = 0x1p-40;
    const double volume = fabs((v[1].x - v[0].x) * ((v[2].y - v[0].y) * (v[3].z - v[0].z) -
                                                    (v[2].z - v[0].z) * (v[3].y - v[0].y)) +
                               (v[1].y - v[0].y) * ((v[2].z - v[0].z) * (v[3].x - v[0].x) -
                                                    (v[2].x - v[0].x) * (v[3].z - v[0].z)) +
                               (v[1].z - v[0].z) * ((v[2].x - v[0].x) * (v[3].y - v[0].y) -
                                                    (v[2].y - v[0].y) * (v[3].x - v[0].x))) /
                          6.0;
    uint64_t map[PIXELS * PIXELS] = {0};
    tetrahedron_deposit(v, volume / unit, low, high, PIXELS, map);
    columns_integrate(map, PIXELS, PIXELS);
    for (size_t i = 0; i < PIXELS * PIXELS; i++) {
      double sum = 0.0, most = 0.0;
      for (size_t j = 0; j < LINES * LINES; j++) {
        const size_t row = i / PIXELS, line = j / LINES;
        const double x = (double)row + ((double)line + 0.5) / LINES,
                     y = (double)(i % PIXELS) + ((double)(j % LINES) + 0.5) / LINES;
        const double column = thickness(v, x, y, low, high);
        sum += column / (LINES * LINES);
        most = fmax(most, column);
      }
      assert_true(fabs((double)map[i] * unit - sum) <= 1e-6 + most / LINES);
    }
  }
}

/* No shape: all in a line of sight, in a plane along it, or at one point. No mass is lost. */
static void test_flat_tetrahedra(void **state) {
  (void)state;
  static const struct vertex flat[][4] = {
      {{3.5, 4.5, 0.0}, {3.5, 4.5, 0.2}, {3.5, 4.5, 0.7}, {3.5, 4.5, 1.0}},
      {{3.5, 4.5, 0.0}, {3.5, 9.5, 0.2}, {3.5, 6.5, 0.7}, {3.5, 4.5, 1.0}},
      {{3.0, 4.0, 0.0}, {3.0, 4.0, 0.0}, {3.0, 4.0, 0.0}, {3.0, 4.0, 0.0}},
      {{3.0, 4.0, 0.5}, {5.0, 4.0, 0.5}, {5.0, 9.0, 0.5}, {3.0, 9.0, 0.5}},
      {{3.0, 4.0, 0.5}, {9.0, 10.0, 0.2}, {6.0, 7.0, 0.7}, {6.0, 7.0 + 1e-9, 0.9}},
      {{3.0, 4.0, 0.5}, {9.0, 10.0, 0.2}, {6.0, 7.0, 0.7}, {6.0, 7.0 + 1e-5, 0.9}}};
  for (size_t k = 0; k < sizeof flat / sizeof *flat; k++) {
    uint64_t map[16 * 16] = {0}, sum = 0;
    tetrahedron_deposit(flat[k], 1e9, -INFINITY, INFINITY, 16, map);
    columns_integrate(map, 16, 16);
    for (size_t i = 0; i < 16 * 16; i++) sum += map[i];
    assert_true(fabs((double)sum / 1e9 - 1.0) < 1e-6);
  }
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_clump),
      cmocka_unit_test(test_sizes),
      cmocka_unit_test(test_isolated),
      cmocka_unit_test(test_text),
      cmocka_unit_test(test_slice),
      cmocka_unit_test(test_scale_bar),
      cmocka_unit_test(test_deterministic),
      cmocka_unit_test(test_uniform_lattice),
      cmocka_unit_test(test_swapped_particles),
      cmocka_unit_test(test_no_lattice),
      cmocka_unit_test(test_mass),
      cmocka_unit_test(test_slices_add_up),
      cmocka_unit_test(test_edges),
      cmocka_unit_test(test_plane_wave),
      cmocka_unit_test(test_tetrahedra),
      cmocka_unit_test(test_flat_tetrahedra),
  };
  comm_start(&argc, &argv);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  comm_end();
  return failed;
}
