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

#include "photons/analysis.h"

static const char path[] = "test_image_output.png";

struct decoded {
  size_t width, height;
  png_bytep rgb;
};

static struct decoded decode(void) {
  png_image image = {.version = PNG_IMAGE_VERSION};
  assert_true(png_image_begin_read_from_file(&image, path));
  image.format = PNG_FORMAT_RGB;
  struct decoded d = {.width = image.width, .height = image.height, .rgb = malloc(PNG_IMAGE_SIZE(image))};
  assert_non_null(d.rgb);
  assert_true(png_image_finish_read(&image, NULL, d.rgb, 0, NULL));
  unlink(path);
  return d;
}

static int brightness(const struct decoded *d, size_t column, size_t row) {
  const png_byte *rgb = d->rgb + 3 * (row * d->width + column);
  return rgb[0] + rgb[1] + rgb[2];
}

/** @p count particles at one point of a box of 100 Mpc/h, in three blocks. */
static struct particles make_clump(size_t count, double x, double y) {
  struct particles s = {.all = count, .all_blocks = 3, .count = count, .blocks = 3, .box = 100.0};
  s.position = calloc(3 * count, sizeof *s.position);
  assert_non_null(s.position);
  for (size_t g = 0; g < s.blocks; g++) {
    struct particle_block b = particles_block(&s, g);
    for (size_t i = 0; i < b.count; i++) {
      b.x[0][i] = position_to_integer(x, s.box);
      b.x[1][i] = position_to_integer(y, s.box);
    }
  }
  return s;
}

/* x runs to the right, y upwards; the picture is periodic. Labels keep to the left edge: the clump stands clear of
 * them. */
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
    assert_true(clump > 600);               /* the map's bright end is nearly white */
    for (size_t row = 20; row < 108; row++) /* between the labels */
      for (size_t column = 0; column < 128; column++) {
        size_t dx = column > cases[i].column ? column - cases[i].column : cases[i].column - column;
        size_t dy = row > cases[i].row ? row - cases[i].row : cases[i].row - row;
        if (dx > 64) dx = 128 - dx;
        assert_true(brightness(&d, column, row) <= clump);
        if (dx > 1 || dy > 1) assert_true(brightness(&d, column, row) < 20); /* assignment is three pixels wide */
      }
    free(d.rgb);
    free(s.position);
  }
}

static void test_sizes(void **state) {
  (void)state;
  static const size_t counts[] = {8, 1000000, 3375000}, expected[] = {256, 256, 300}, asked[] = {1, 7, 300};
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
    free(s.position);
  }
}

/* A slice of a tenth of the box about its middle holds what lies at z = 45.1 and 54.9 Mpc/h, not what lies at 44.9. */
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
    free(s.position);
  }
}

/* The bar is a quarter of the box at most, 1, 2 or 5 times a power of ten: 20 of 100 Mpc/h, so 51 of 256 pixels. */
static void test_scale_bar(void **state) {
  (void)state;
  struct particles s = make_clump(1000, 75.0, 50.0);
  image_write(path, &s, 256, 1.0, 1.0);
  struct decoded d = decode();
  size_t white = 0;
  for (size_t column = 0; column < 256; column++) white += brightness(&d, column, 247) == 3 * 255;
  assert_int_equal(white, 51);
  free(d.rgb);
  free(s.position);
}

static size_t read_all(char *bytes, size_t size) {
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  size_t length = fread(bytes, 1, size, file);
  fclose(file);
  unlink(path);
  return length;
}

static void test_deterministic(void **state) {
  (void)state;
  static char first[1 << 20], second[1 << 20];
  struct particles s = make_clump(5000, 0.0, 0.0);
  uint64_t seed = 1;
  for (size_t i = 0; i < 3 * s.count; i++)
    s.position[i] = (uint32_t)((seed = seed * 6364136223846793005U + 1442695040888963407U) >> 32);
  image_write(path, &s, 256, 1.0, 1.0);
  size_t length = read_all(first, sizeof first);
  image_write(path, &s, 256, 1.0, 1.0);
  assert_true(length > 1000 && length < sizeof first);
  assert_int_equal(read_all(second, sizeof second), length);
  assert_memory_equal(first, second, length);
  free(s.position);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_clump),     cmocka_unit_test(test_sizes),         cmocka_unit_test(test_slice),
      cmocka_unit_test(test_scale_bar), cmocka_unit_test(test_deterministic),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
