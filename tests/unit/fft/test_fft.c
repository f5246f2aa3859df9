/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The distributed Fourier transform, on any number of ranks. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "photons/fft/fft.h"
#include "support/allocated.h"
#include "support/checksum.h"

/* Powers of two and other numbers, cubes and other boxes; few planes and many. */
static const size_t boxes[][3] = {{2, 2, 2}, {6, 6, 6}, {16, 16, 16}, {30, 30, 30}, {6, 16, 10}};
enum { BOXES = sizeof boxes / sizeof *boxes, MESHES = 2 * BOXES }; /* each in both layouts */

static struct fft make(int mesh_number, bool padded, enum fft_precision precision) {
  const int box = mesh_number % BOXES;
  struct fft_mesh mesh = {.padded = padded,
                          .precision = precision,
                          .layout = mesh_number < BOXES ? FFT_AUTO : FFT_PENCILS,
                          .lasting = box % 2 == 1};
  memcpy(mesh.cells, boxes[box], sizeof mesh.cells);
  return fft_create(&mesh);
}

/** The number of a cell or mode of n[0] x n[1] x n[2]. */
static uint64_t number(const size_t n[3], size_t x, size_t y, size_t z) {
  return (x * n[1] + y) * n[2] + z;
}

/** A pseudo-random number in [-1, 1), the same on every rank. */
static double noise(const struct fft *f, size_t x, size_t y, size_t z) {
  return (double)(int64_t)checksum_term(number(f->mesh.cells, x, y, z), 1) * 0x1p-63;
}

/* Loops over what this rank has of the values, or of the modes. */
#define FOR_BOX(b, x, y, z)                   \
  for (size_t x = 0; x < (b).count[0]; x++)   \
    for (size_t y = 0; y < (b).count[1]; y++) \
      for (size_t z = 0; z < (b).count[2]; z++)

static double *make_noise(const struct fft *f) {
  double *memory = calloc(fft_bytes(f), 1);
  const struct fft_box *b = &f->values;
  FOR_BOX(*b, x, y, z) memory[fft_at(b, x, y, z)] = noise(f, b->first[0] + x, b->first[1] + y, z);
  return memory;
}

/** The largest value on all ranks, so that all fail together. */
static void assert_all_below(double largest, double bound) {
  comm_max_double(&largest, 1);
  if (!(largest < bound)) fail_msg("%g is not below %g", largest, bound);
}

/** The largest difference between the values and a multiple of the noise; a checksum of them. */
static double compare(const struct fft *f, const double *memory, double factor, uint64_t *sum) {
  const struct fft_box *b = &f->values;
  double error = 0.0;
  FOR_BOX(*b, x, y, z) {
    const double value = memory[fft_at(b, x, y, z)];
    *sum += checksum_double(number(f->mesh.cells, b->first[0] + x, b->first[1] + y, z), value);
    error = fmax(error, fabs(value / factor - noise(f, b->first[0] + x, b->first[1] + y, z)));
  }
  return error;
}

static double volume(const struct fft *f) {
  return (double)f->size[0] * (double)f->size[1] * (double)f->size[2];
}

/** The boxes of all ranks together are the mesh; a rank knows those of others. */
static void test_share(void **state) {
  (void)state;
  for (int i = 0; i < MESHES; i++) {
    struct fft f = make(i, false, FFT_DOUBLE);
    uint64_t count[2] = {f.values.count[0] * f.values.count[1] * f.values.count[2],
                         f.modes.count[0] * f.modes.count[1] * f.modes.count[2]};
    size_t cells = 0;
    for (int r = 0; r < comm_size(); r++) {
      const struct fft_box b = fft_values_of(&f.mesh, f.grid, r);
      cells += b.count[0] * b.count[1] * b.count[2];
      for (size_t x = 0; x < b.count[0] && b.count[1] > 0; x++)
        assert_int_equal(
            fft_row_of(&f, b.first[0] + x) * f.grid.columns + fft_column_of(&f, b.first[1]), r);
    }
    comm_sum_u64(count, 2);
    assert_int_equal(count[0], number(f.size, f.size[0], 0, 0));
    assert_int_equal(count[1], f.size[0] * f.size[1] * (f.size[2] / 2 + 1));
    assert_int_equal(cells, count[0]);
    fft_free(&f);
  }
}

/** A plane wave a cos(2 pi sum of k x/n + phase) has the one mode a n^3/2 exp(i phase), the sign of
 * the exponent being -. */
static void test_wave(void **state) {
  (void)state;
  for (int i = 0; i < MESHES; i++) {
    if (i % BOXES == 0) continue;
    struct fft f = make(i, false, FFT_DOUBLE);
    const size_t *n = f.size, k[3] = {n[0] - 2, 1, n[2] / 2 - 1};
    double *memory = calloc(fft_bytes(&f), 1), error = 0.0;
    const struct fft_box *b = &f.values;
    FOR_BOX(*b, x, y, z) {
      const double turns = (double)(k[0] * (b->first[0] + x)) / (double)n[0] +
                           (double)(k[1] * (b->first[1] + y)) / (double)n[1] +
                           (double)(k[2] * z) / (double)n[2];
      memory[fft_at(b, x, y, z)] = 0.75 * cos(2.0 * M_PI * turns + 0.4);
    }
    fft_forward(&f, memory);
    const double size = 0.375 * volume(&f);
    b = &f.modes;
    FOR_BOX(*b, x, y, z) {
      const double a = x == k[0] && b->first[1] + y == k[1] && b->first[2] + z == k[2] ? size : 0.0;
      const double *mode = memory + 2 * fft_at(b, x, y, z);
      error = fmax(error, hypot(mode[0] - a * cos(0.4), mode[1] - a * sin(0.4)));
    }
    assert_all_below(error, 1e-13 * size); /* rounding 2^-53, log2(n^3) < 15 steps, 30 turns */
    free(memory);
    fft_free(&f);
  }
}

/** Forward and back multiplies by the volume. Modes and values are the same, bit by bit, for all
 * numbers of ranks (the caller compares). */
static void test_return(void **state) {
  (void)state;
  uint64_t modes = 0, values = 0;
  for (int i = 0; i < MESHES; i++) {
    struct fft f = make(i, false, FFT_DOUBLE);
    double *memory = make_noise(&f);
    const struct fft_box *b = &f.modes;
    fft_forward(&f, memory);
    FOR_BOX(*b, x, y, z)
    for (size_t part = 0; part < 2; part++)
      modes += checksum_double(2 * number(f.size, x, b->first[1] + y, b->first[2] + z) + part,
                               memory[2 * fft_at(b, x, y, z) + part]);
    fft_backward(&f, memory);
    /* of values up to 1, rounding 2^-53 and log2(n^3) < 15 steps each way */
    assert_all_below(compare(&f, memory, volume(&f), &values), 1e-14);
    free(memory);
    fft_free(&f);
  }
  checksum_print("modes", modes);
  checksum_print("values", values);
}

/** Move values by (1, 0, 1) cells. */
static void move(void *context, size_t k1, size_t k2, size_t count, fftw_complex *modes) {
  const struct fft *f = context;
  assert_true(k1 >= f->modes.first[1] && k1 - f->modes.first[1] < f->modes.count[1]);
  for (size_t k0 = 0; k0 < f->size[0]; k0++)
    for (size_t i = 0; i < count; i++) {
      fftw_complex *mode = modes + k0 * count + i;
      const double angle = -2.0 * M_PI *
                           ((double)k0 / (double)f->size[0] +
                            (double)(k2 + i) / (double)f->size[2]);
      const double re = (*mode)[0] * cos(angle) - (*mode)[1] * sin(angle),
                   im = (*mode)[0] * sin(angle) + (*mode)[1] * cos(angle);
      (*mode)[0] = re;
      (*mode)[1] = im;
    }
}

/** Values that are moved come from the neighbour: in a periodic mesh at the edge from the other side,
 * in a padded one from outside, where there is nothing. */
static uint64_t check_moved(bool padded) {
  uint64_t values = 0;
  for (int i = 0; i < MESHES; i++) {
    struct fft f = make(i, padded, FFT_DOUBLE);
    const size_t *n = f.mesh.cells;
    double *memory = make_noise(&f), error = 0.0;
    const struct fft_box *b = &f.values;
    fft_convolve(&f, memory, move, &f);
    FOR_BOX(*b, x, y, z) {
      const size_t at = b->first[0] + x;
      const bool outside = padded && (at == 0 || z == 0);
      const size_t across = b->first[1] + y;
      const double before = noise(&f, (at + n[0] - 1) % n[0], across, (z + n[2] - 1) % n[2]);
      const double value = memory[fft_at(b, x, y, z)];
      values += checksum_double(number(n, at, across, z), value);
      error = fmax(error, fabs(value / volume(&f) - (outside ? 0.0 : before)));
    }
    assert_all_below(error, 1e-13);
    free(memory);
    fft_free(&f);
  }
  return values;
}

static void test_convolution(void **state) {
  (void)state;
  checksum_print("moved", check_moved(false));
  checksum_print("moved in a padded mesh", check_moved(true));
}

/** All modes but those with k1 = k2 = 0 are 0. */
struct visited {
  const struct fft *f;
  double *error; /* [k1 here][k2 here] */
};
/* cppcheck-suppress constParameter ; the type of the function */
static void visit(void *context, size_t k1, size_t k2, size_t count, fftw_complex *modes) {
  const struct visited *v = context;
  const struct fft *f = v->f;
  double *errors = v->error + (k1 - f->modes.first[1]) * f->modes.count[2] + k2 - f->modes.first[2];
  for (size_t k0 = 0; k0 < f->size[0]; k0++)
    for (size_t i = 0; i < count; i++) {
      double sum[2] = {0.0};
      for (size_t x = 0; k1 == 0 && k2 + i == 0 && x < f->mesh.cells[0]; x++) {
        const double angle = 2.0 * M_PI * (double)(k0 * x) / (double)f->size[0];
        sum[0] += cos(angle) * (double)(f->size[1] * f->size[2]);
        sum[1] -= sin(angle) * (double)(f->size[1] * f->size[2]);
      }
      const double *mode = modes[k0 * count + i];
      errors[i] = fmax(errors[i], hypot(mode[0] - sum[0], mode[1] - sum[1]));
    }
}

/** Ones in the first half of a padded mesh along axis 0, and everywhere along the others. */
static void test_visit(void **state) {
  (void)state;
  for (int i = 0; i < MESHES; i++) {
    struct fft f = make(i, true, FFT_DOUBLE);
    double *memory = calloc(fft_bytes(&f), 1), error = 0.0;
    struct visited v = {&f, calloc(f.modes.count[1] * f.modes.count[2] + 1, sizeof(double))};
    for (size_t x = 0; x < f.values.count[0]; x++)
      for (size_t y = 0; y < 2 * f.values.count[1]; y++)
        for (size_t z = 0; z < f.size[2]; z++) memory[fft_at(&f.values, x, y, z)] = 1.0;
    fft_visit(&f, memory, true, visit, &v);
    for (size_t k = 0; k < f.modes.count[1] * f.modes.count[2]; k++)
      error = fmax(error, v.error[k]);
    assert_all_below(error, 1e-13 * volume(&f));
    free(v.error);
    free(memory);
    fft_free(&f);
  }
}

/** Two meshes in single precision, in planes with gaps, whose values come some rows at a time. */
struct pair {
  struct fft fft;
  float *memory[2];
  const struct fft *wide;
  const double *noise;
  size_t width; /* of the modes that are kept, along axis 2 */
};

/** Noise, and minus its half in the opposite order along axis 2. */
static double value_of(const struct pair *p, int set, size_t x, size_t y, size_t z) {
  const struct fft_box *b = &p->wide->values;
  if (set == 0) return p->noise[fft_at(b, x, y, z)];
  return -0.5 * p->noise[fft_at(b, x, y, b->count[2] - 1 - z)];
}

static void weave(void *context, size_t x, size_t y, size_t count, float *lines) {
  const struct pair *p = context;
  const size_t n = p->fft.values.count[2];
  for (size_t z = 0; z < n + FFT_BEYOND; z++)
    for (size_t i = 0; i < FFT_LINES; i++)
      for (int set = 0; set < 2; set++)
        lines[2 * (z * FFT_LINES + i) + (size_t)set] = z < n
                                                           ? (float)value_of(
                                                                 p, set, x,
                                                                 y + (i < count ? i : count - 1), z)
                                                           : NAN;
}

static struct pair make_pair(const struct fft *f, const double *values) {
  struct fft_mesh mesh = f->mesh;
  mesh.precision = FFT_SINGLE;
  mesh.row = (f->size[2] + 6) & ~(size_t)3;
  mesh.spare = 1;
  struct pair p = {.fft = fft_create(&mesh), .wide = f, .noise = values};
  for (int set = 0; set < 2; set++) p.memory[set] = calloc(fft_bytes(&p.fft), 1);
  return p;
}

/** What double precision has of a mesh. */
static double *make_modes(const struct pair *p, int set) {
  double *memory = calloc(fft_bytes(p->wide), 1);
  const struct fft_box *b = &p->wide->values;
  FOR_BOX(*b, x, y, z) memory[fft_at(b, x, y, z)] = value_of(p, set, x, y, z);
  fft_forward(p->wide, memory);
  return memory;
}

/** The largest error of the modes of FFT_LINES lines, and beyond them what should be 0. */
static double error_of_lines(const struct pair *p, int set, const double *expected, size_t y,
                             size_t first, uint64_t *sum) {
  const struct fft *g = &p->fft;
  const struct fft_box *b = &g->modes;
  const size_t left = b->count[2] - first, count = left < FFT_LINES ? left : FFT_LINES;
  fftwf_complex *line = fftwf_alloc_complex(g->size[0] * FFT_LINES);
  double error = 0.0;
  fft_lines(g, p->memory[set], y, first, count, line);
  for (size_t x = 0; x < b->count[0]; x++)
    for (size_t i = 0; i < FFT_LINES; i++) {
      static const double none[2] = {0.0, 0.0};
      const size_t z = b->first[2] + first + i, at = number(g->size, x, b->first[1] + y, z);
      if (2 * z == g->size[2] || z >= p->width) continue; /* is lost */
      const double *mode = i < count ? expected + 2 * fft_at(&p->wide->modes, x, y, first + i)
                                     : none;
      const double re = (double)line[x * FFT_LINES + i][0], im = (double)line[x * FFT_LINES + i][1];
      error = fmax(error, hypot(re - mode[0], im - mode[1]));
      if (i < count) *sum += checksum_double(2 * at, re) + checksum_double(2 * at + 1, im);
    }
  fftwf_free(line);
  return error;
}

/** The largest error of the modes of two meshes along axis 2 below a width. */
static double error_of_pair(const struct fft *f, const double *noise, size_t width,
                            uint64_t *modes) {
  struct pair p = make_pair(f, noise);
  double error = 0.0;
  p.width = width;
  fft_pair_to_lines(&p.fft, (void *const[]){p.memory[0], p.memory[1]}, width, weave, &p);
  for (int set = 0; set < 2; set++) {
    double *expected = make_modes(&p, set);
    for (size_t y = 0; y < f->modes.count[1]; y++)
      for (size_t z = 0; z < f->modes.count[2]; z += FFT_LINES)
        error = fmax(error, error_of_lines(&p, set, expected, y, z, modes));
    free(expected);
    free(p.memory[set]);
  }
  fft_free(&p.fft);
  return error;
}

/** The modes of two meshes in single precision are those of double precision, all of them or some. */
static void test_pair(void **state) {
  (void)state;
  uint64_t modes = 0, some = 0;
  for (int i = 0; i < MESHES; i++) {
    struct fft f = make(i, false, FFT_DOUBLE);
    double *noise = make_noise(&f);
    /* modes of about the root of the volume, rounding 2^-24 */
    assert_all_below(error_of_pair(&f, noise, f.size[2], &modes), 2e-6 * sqrt(volume(&f)));
    assert_all_below(error_of_pair(&f, noise, f.size[2] / 3, &some), 2e-6 * sqrt(volume(&f)));
    free(noise);
    fft_free(&f);
  }
  checksum_print("modes of single precision", modes);
  checksum_print("modes of small k2 in single precision", some);
}

/** A rank's memory is its share of the mesh; where there are others, twice that, in the course of a
 * transform. */
static void test_memory(void **state) {
  (void)state;
  if (!allocated_is_counted()) skip();
  enum { SIDE = 96 };
  const struct fft_mesh mesh = {.cells = {SIDE, SIDE, SIDE}};
  const double share = SIDE * SIDE * (SIDE + 2) * sizeof(double) / (size_t)comm_size(),
               before = allocated_begin();
  struct fft f = fft_create(&mesh);
  double *memory = calloc(fft_bytes(&f), 1);
  assert_all_below(fabs(fft_bytes_of_all(&mesh) / comm_size() / share - 1.0), 1e-12);
  const double held = allocated_now() - before;
  fft_forward(&f, memory);
  fft_backward(&f, memory);
  const double most = allocated_most() - before,
               expected = (fft_bytes_of_all(&mesh) + fft_exchange_bytes_of_all(&mesh)) /
                          comm_size();
  /* plans; and a plane's lines for each of two workers */
  const double small = 10.0 * SIDE * SIDE * sizeof(double);
  assert_all_below(fabs(held - share), small);
  assert_all_below(fabs(most - expected), small);
  free(memory);
  fft_free(&f);
}

/** The number of a column and of the mode in it. */
static void fill(void *context, size_t k0, size_t k1, fftw_complex *modes) {
  const struct fft *f = context;
  for (size_t k2 = 0; k2 <= f->size[2] / 2; k2++) {
    modes[k2][0] = (double)number(f->size, k0, k1, k2);
    modes[k2][1] = -modes[k2][0];
  }
}

/** Modes come to the ranks that have them, whichever rank made them. */
static void test_fill(void **state) {
  (void)state;
  for (int i = 0; i < MESHES; i++) {
    struct fft f = make(i, false, FFT_DOUBLE);
    double *memory = calloc(fft_bytes(&f), 1), error = 0.0;
    const struct fft_box *b = &f.modes;
    fft_fill(&f, memory, fill, &f);
    FOR_BOX(*b, x, y, z) {
      const double *mode = memory + 2 * fft_at(b, x, y, z),
                   expected = (double)number(f.size, x, b->first[1] + y, b->first[2] + z);
      error = fmax(error, fabs(mode[0] - expected) + fabs(mode[1] + expected));
    }
    assert_all_below(error, 1e-300);
    free(memory);
    fft_free(&f);
  }
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_share),  cmocka_unit_test(test_wave),
      cmocka_unit_test(test_return), cmocka_unit_test(test_convolution),
      cmocka_unit_test(test_visit),  cmocka_unit_test(test_fill),
      cmocka_unit_test(test_pair),   cmocka_unit_test(test_memory)};
  comm_start(&argc, &argv);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  comm_end();
  return failed;
}
