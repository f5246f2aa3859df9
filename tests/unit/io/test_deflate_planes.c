/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Streams of planes are read by libdeflate, as they are by every reader of the format, and are the same with all instruction sets. */
#include <libdeflate.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>

#include "photons/io/kernels.h"
#include "support/io_kernels_of.h"

/** What a plane is made of. */
enum content { NOISE, EQUAL, RUNS, RARE_AND_COMMON, BITS, BELL, CONTENTS };

static void fill(gsl_rng *rng, enum content content, size_t count, unsigned char *data) {
  unsigned char value = 7;
  for (size_t i = 0; i < count; i++) {
    if (content == NOISE) value = (unsigned char)gsl_rng_uniform_int(rng, 256);
    if (content == RUNS && gsl_rng_uniform_int(rng, 300) == 0)
      value = (unsigned char)gsl_rng_uniform_int(rng, 4);
    if (content == RARE_AND_COMMON)
      for (value = 0; value < 255 && gsl_rng_uniform_int(rng, 2); value++) {}
    if (content == BITS) value = (unsigned char)gsl_rng_uniform_int(rng, 2);
    if (content == BELL) /* and a few values that a sample lacks */
      value = (unsigned char)(gsl_rng_uniform_int(rng, 9000) == 0
                                  ? (double)gsl_rng_uniform_int(rng, 256)
                                  : 128.0 + gsl_ran_gaussian(rng, 20.0));
    data[i] = value;
  }
}

/** Pack and unpack planes. @return bytes of the stream */
static size_t check_stream(size_t planes, size_t count, const unsigned char *data) {
  const size_t room = deflate_planes_bound(planes, count);
  unsigned char *stream = malloc(room), *back = malloc(planes * count);
  const size_t bytes = io_kernels_of(ISA_BASELINE)->deflate_planes(planes, count, data, stream);
  size_t found = 0;
  struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
  assert_true(bytes > 0 && bytes <= room);
  assert_int_equal(libdeflate_zlib_decompress(d, stream, bytes, back, planes * count, &found),
                   LIBDEFLATE_SUCCESS);
  assert_int_equal(found, planes * count);
  assert_memory_equal(back, data, found);
  libdeflate_free_decompressor(d);
  for (enum isa isa = ISA_AVX2; isa <= isa_select(); isa++) {
    unsigned char *other = malloc(room);
    assert_int_equal(io_kernels_of(isa)->deflate_planes(planes, count, data, other), bytes);
    assert_memory_equal(other, stream, bytes);
    free(other);
  }
  free(back);
  free(stream);
  return bytes;
}

/** Planes of any length and content, beside each other. */
static void test_planes(void **state) {
  (void)state;
  static const size_t counts[] = {1, 2, 3, 7, 8, 9, 258, 259, 260, 1000, 65535, 65536, 140000};
  gsl_rng *rng = gsl_rng_alloc(gsl_rng_ranlxd1);
  for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
    for (size_t planes = 1; planes <= 8; planes += 3) {
      unsigned char *data = malloc(planes * counts[k]);
      for (int first = 0; first < CONTENTS; first++) {
        for (size_t p = 0; p < planes; p++)
          fill(rng, (enum content)(((size_t)first + p) % CONTENTS), counts[k],
               data + p * counts[k]);
        (void)check_stream(planes, counts[k], data);
      }
      free(data);
    }
  gsl_rng_free(rng);
}

/** Noise takes no more than it has, a single value next to nothing, and others what Huffman's code of their values and of the
 * end of the block does: of two values 1.5 bits, of a normal distribution log2(20 sqrt(2 pi e)) = 6.4 bits and little more. */
static void test_sizes(void **state) {
  (void)state;
  enum { COUNT = 1 << 16 };
  static unsigned char data[COUNT];
  static const double most[CONTENTS] = {1.001, 0.004, 0.01, 0.256, 0.19, 0.82};
  gsl_rng *rng = gsl_rng_alloc(gsl_rng_ranlxd1);
  for (int content = 0; content < CONTENTS; content++) {
    fill(rng, (enum content)content, COUNT, data);
    assert_true((double)check_stream(1, COUNT, data) < most[content] * COUNT);
  }
  gsl_rng_free(rng);
}

/** Values whose numbers are those of Fibonacci would have codes longer than the format allows. */
static void test_long_codes(void **state) {
  (void)state;
  enum { VALUES = 23 };
  static unsigned char data[1 << 17];
  size_t count = 0;
  for (unsigned value = 0, number = 1, next = 1; value < VALUES; value++) {
    for (unsigned k = 0; k < number; k++) data[count++] = (unsigned char)value;
    next += number;
    number = next - number;
  }
  gsl_rng *rng = gsl_rng_alloc(gsl_rng_ranlxd1);
  gsl_ran_shuffle(rng, data, count, 1);
  assert_true(check_stream(1, count, data) < count / 2);
  gsl_rng_free(rng);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_planes),
      cmocka_unit_test(test_sizes),
      cmocka_unit_test(test_long_codes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
