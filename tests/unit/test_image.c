/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pictures, read back with libpng. */
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
    image_write(path, &s, 128, 0.5, 1.0);
    struct decoded d = decode();
    assert_int_equal(d.width, 128);
    assert_int_equal(d.height, 128);
    int clump = brightness(&d, cases[i].column, cases[i].row);
    assert_true(clump > 600);               /* the bright end of the colour map is nearly white */
    for (size_t row = 20; row < 108; row++) /* between the labels */
      for (size_t column = 0; column < 128; column++) {
        size_t dx = column > cases[i].column ? column - cases[i].column : cases[i].column - column;
        size_t dy = row > cases[i].row ? row - cases[i].row : cases[i].row - row;
        if (dx > 64) dx = 128 - dx;
        assert_true(brightness(&d, column, row) <= clump);
        /* assignment is three pixels wide */
        if (dx > 1 || dy > 1) assert_true(brightness(&d, column, row) < 20);
      }
    free(d.rgb);
    particles_free(&s);
  }
}

static void test_sizes(void **state) {
  (void)state;
  static const size_t counts[] = {8, 1000000, 3375000}, expected[] = {256, 256, 300},
                      asked[] = {1, 7, 300};
  for (size_t i = 0; i < 3; i++) {
    struct particles s = make_clump(counts[i], 75.0, 50.0);
    image_write(path, &s, 0, 1.0, 1.0);
    struct decoded d = decode();
    assert_int_equal(d.width, expected[i]); /* 2 N^(1/3), 256 .. 1024 */
    free(d.rgb);
    image_write(path, &s, asked[i], 1.0, 1.0);
    d = decode();
    assert_int_equal(d.width, asked[i]);
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
    image_write(path, &s, 128, 1.0, 0.1);
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
 * of 256 pixels. */
static void test_scale_bar(void **state) {
  (void)state;
  struct particles s = make_clump(1000, 75.0, 50.0);
  image_write(path, &s, 256, 1.0, 1.0);
  struct decoded d = decode();
  size_t white = 0;
  for (size_t column = 0; column < 256; column++) white += brightness(&d, column, 247) == 3 * 255;
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
static void test_deterministic(void **state) {
  (void)state;
  static char first[1 << 20], second[1 << 20], kept[1024];
  const char *folder = getenv("PHOTONS_RANKS_OUTPUT");
  snprintf(kept, sizeof kept, "%s%s", folder ? folder : "", folder ? "/density.png" : path);
  struct particles s = make_random(5000, 3);
  image_write(kept, &s, 256, 1.0, 1.0);
  particles_free(&s);
  comm_barrier();
  size_t length = read_all(kept, first, sizeof first);
  comm_barrier();
  s = make_random(5000, 64);
  image_write(path, &s, 256, 1.0, 1.0);
  particles_free(&s);
  comm_barrier();
  assert_true(length > 1000 && length < sizeof first);
  assert_int_equal(read_all(path, second, sizeof second), length);
  assert_memory_equal(first, second, length);
  comm_barrier();
  if (comm_rank() == 0) unlink(path);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_clump),         cmocka_unit_test(test_sizes),
      cmocka_unit_test(test_slice),         cmocka_unit_test(test_scale_bar),
      cmocka_unit_test(test_deterministic),
  };
  comm_start(&argc, &argv);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  comm_end();
  return failed;
}
