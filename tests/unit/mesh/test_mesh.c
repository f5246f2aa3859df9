/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The stages of the particle mesh: deposit against B-splines, transforms and read-out against plane
 * waves. */
#include "support/mesh_workspace.h"

#include <math.h>

static double uniform(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(*state >> 11) * 0x1p-53;
}

/* The B-spline of 2, 3 or 4 cells at a distance of d cells: Hockney & Eastwood; Sefusatti et al.
 * 2016, eq. 12. */
static double spline(enum assignment a, double d) {
  d = fabs(d);
  switch (a) {
  case ASSIGN_CIC: return d < 1 ? 1 - d : 0;
  case ASSIGN_TSC: return d < 0.5 ? 0.75 - d * d : d < 1.5 ? 0.5 * (1.5 - d) * (1.5 - d) : 0;
  case ASSIGN_PCS:
    return d < 1   ? (4 - 6 * d * d + 3 * d * d * d) / 6
           : d < 2 ? (2 - d) * (2 - d) * (2 - d) / 6
                   : 0;
  }
  return 0;
}

/* Distance of a particle from a cell's point along one axis in cells, nearest image. */
static double distance(double position, uint32_t cell, uint32_t cells) {
  const double d = position - cell;
  return d - cells * round(d / cells);
}

static const enum assignment schemes[] = {ASSIGN_CIC, ASSIGN_TSC, ASSIGN_PCS};

/* Random particles, and particles on the cells' points, halfway, and at both ends of the box: the
 * mesh must hold the sum of their splines. */
static void test_deposit(void **state) {
  (void)state;
  const uint32_t meshes[] = {8, 14, 16}, slabs[] = {1, 4, 16};
  for (int i = 0; i < 3; i++)
    for (int a = 0; a < 3; a++) {
      const uint32_t n = meshes[i], count = 100;
      struct split split = gauss_split(1.0 / n, 1.2, 6.0);
      struct mesh *m = mesh_create(n, slabs[i] < n ? slabs[i] : n, slabs[i] < n ? slabs[i] : n, 1.0,
                                   schemes[a], GRADIENT_SPECTRAL, true, &split);
      mesh_take_columns(m, 0, m->columns);
      struct workspace w = workspace_create(m, mesh_kernels_select());
      uint64_t random = 7;
      uint32_t x[300], near_edge[300];
      for (int j = 0; j < 300; j++) x[j] = (uint32_t)(uniform(&random) * TURN);
      const uint32_t cell = (uint32_t)(TURN / n),
                     special[] = {0, UINT32_MAX, cell, cell / 2, cell / 2 - 1, 1u << 31};
      for (size_t j = 0; j < 6; j++) x[j] = x[100 + j] = x[200 + j] = special[j];
      for (int j = 0; j < 300; j++)
        near_edge[j] = (uint32_t)(int64_t)((uniform(&random) - 0.5) * 0.4 * TURN);
      deposit(&w, count, x);         /* a patch as wide as the mesh */
      deposit(&w, count, near_edge); /* one across the edges of the box */
      for (uint32_t d = 0; d < 2; d++) {
        double total = 0;
        for (uint32_t cx = 0; cx < n; cx++)
          for (uint32_t cy = 0; cy < n; cy++)
            for (uint32_t cz = 0; cz < n; cz++) {
              double expected = 0;
              for (int j = 0; j < 200; j++) {
                const uint32_t *p = j < 100 ? x + j : near_edge + j - 100;
                double weight = 1;
                const uint32_t at[3] = {cx, cy, cz};
                for (int c = 0; c < 3; c++)
                  weight *= spline(schemes[a], distance(p[100 * c] / TURN * n + 0.5 * d, at[c], n));
                expected += weight;
              }
              const float found = w.slabs[3 * d][cx * plane_floats(m) + cy * m->row + cz];
              /* Weights are products of three with float rounding, and a few particles share a
               * cell. */
              assert_near(found, expected, 2e-6);
              total += found;
            }
        assert_near(total, 200, 200 * 1e-6);
      }
      workspace_free(&w);
      mesh_free(m);
    }
}

static void test_patch(void **state) {
  (void)state;
  struct split split = gauss_split(1.0 / 16, 1.2, 6.0);
  const uint32_t cell = 1u << 28; /* of 16 */
  struct mesh *m = mesh_create(16, 1, 1, 1.0, ASSIGN_PCS, GRADIENT_SPECTRAL, false, &split);
  mesh_take_columns(m, 0, m->columns);
  /* One particle in the middle of cell 5 touches 4 .. 7. */
  struct patch p = patch_for_box(m, (const uint32_t[]){5 * cell + cell / 2, 0, cell - 1},
                                 (const double[]){0, 0, 1});
  assert_int_equal(p.origin[0], 4);
  assert_int_equal(p.size[0], 4);
  assert_int_equal(p.origin[1], 15); /* -1 .. 2 */
  assert_int_equal(p.size[1], 4);
  assert_int_equal(p.origin[2], 15); /* up to the first position of cell 1: -1 .. 3 */
  assert_int_equal(p.size[2], 5);
  /* The whole box, and the smallest box that touches all cells: 13 cells of particles. */
  p = patch_for_box(m, (const uint32_t[]){3, 6 * cell + cell / 2, 6 * cell + cell / 2},
                    (const double[]){TURN / 2, 6.5 * cell - 1, 5.5 * cell - 1});
  assert_int_equal(p.size[0], 16);
  assert_int_equal(p.size[1], 16);
  assert_int_equal(p.size[2], 14);
  assert_int_equal(p.origin[2], 0);
  mesh_free(m);
}

static void test_good_size(void **state) {
  (void)state;
  assert_int_equal(mesh_good_size(1), 2);
  assert_int_equal(mesh_good_size(97), 98);
  assert_int_equal(mesh_good_size(121), 126);
  assert_int_equal(mesh_good_size(512), 512);
  assert_int_equal(mesh_good_size(1025), 1050);
}

/* Fill a density with cos(k . (x - shift)), k in units of 2 pi / L, shift in cells. */
static void fill_wave(const struct workspace *w, uint32_t set, const int k[3], double shift,
                      double amplitude) {
  const uint32_t n = w->mesh->cells;
  for (uint32_t x = 0; x < n; x++)
    for (uint32_t y = 0; y < n; y++)
      for (uint32_t z = 0; z < n; z++)
        slab_of(w, set, 0, 0)[x * plane_floats(w->mesh) + y * w->mesh->row + z] =
            (float)(amplitude *
                    cos(2 * M_PI / n *
                        (k[0] * (x - shift) + k[1] * (y - shift) + k[2] * (z - shift))));
}

/* One wave through all stages except the deposit, read at the cells' points, against theory: a = -k
 * (4 pi/k^2) S(k) n/W^2 sin(k.x), times the transfer functions of gradient and interpolation. */
static void check_wave(uint32_t n, uint32_t slabs, enum assignment a, enum gradient gradient,
                       bool interlace, const int k[3]) {
  const double box = 50.0, cell = box / n;
  struct split split = gauss_split(cell, 0.6, 3.0); /* so that waves near Nyquist are not lost */
  struct mesh *m = mesh_create(n, slabs, slabs, box, a, gradient, interlace, &split);
  mesh_take_columns(m, 0, m->columns);
  struct workspace w = workspace_create(m, mesh_kernels_select());
  fill_wave(&w, 0, k, 0, 1);
  /* on the shifted mesh particles are deposited half a cell to the right of their positions */
  if (interlace) fill_wave(&w, 1, k, 0.5, 1);
  transform(&w, 1);
  for (uint32_t i = 0; i < w.fields; i++) /* rows repeat their first four cells */
    for (uint32_t x = 0; x < n; x++)
      for (uint32_t y = 0; y < n; y++) {
        const float *row = w.slabs[i] + x * plane_floats(m) + y * m->row;
        assert_memory_equal(row, row + n, 4 * sizeof *row);
      }

  double k2 = 0, deconvolved = 1, read[2] = {1, 1}, gradient_k[3];
  for (int c = 0; c < 3; c++) {
    const double kc = 2 * M_PI / box * k[c], half = 0.5 * kc * cell;
    k2 += kc * kc;
    const double window = pow(k[c] ? sin(half) / half : 1, assignment_width(a));
    deconvolved /= window * window;
    for (int set = 0; set < 2; set++) { /* the second mesh is half a cell off */
      double interpolation = 0;
      for (int i = -2; i <= 2; i++)
        interpolation += spline(a, i + 0.5 * set) * cos(kc * (i + 0.5 * set) * cell);
      read[set] *= interpolation;
    }
    gradient_k[c] = gradient == GRADIENT_SPECTRAL
                        ? kc
                        : (8 * sin(kc * cell) - sin(2 * kc * cell)) / (6 * cell);
    if (gradient == GRADIENT_SPECTRAL && 2 * abs(k[c]) == (int)n) gradient_k[c] = 0;
  }
  const double density = 1 / (cell * cell * cell), factor = 0.5;
  const double amplitude = factor * 4 * M_PI / k2 * split_mesh_factor(&split, sqrt(k2)) * density *
                           deconvolved * (interlace ? 0.5 * (read[0] + read[1]) : read[0]);

  enum { COUNT = 150 };
  uint32_t x[3 * COUNT], at[3][COUNT];
  float acceleration[3 * COUNT];
  uint64_t random = 3;
  for (int c = 0; c < 3; c++)
    for (int i = 0; i < COUNT; i++) {
      at[c][i] = i < 2 ? (i ? n - 1 : 0) : (uint32_t)(uniform(&random) * n);
      x[c * COUNT + i] = (uint32_t)(((uint64_t)at[c][i] << 32) / n);
      acceleration[c * COUNT + i] = 1.0f; /* read() adds */
    }
  read_field(&w, COUNT, x, (float)factor, acceleration);
  /* float FFTs of log2 N stages; positions are those of the cells' points to 2^-32 of the box
   * only */
  const double tolerance = 2e-6 * amplitude * sqrt(k2) *
                               (gradient == GRADIENT_FD4 ? n / (2 * M_PI) : 1) +
                           2e-7;
  for (int i = 0; i < COUNT; i++) {
    const double phase = 2 * M_PI / n *
                         (k[0] * (double)at[0][i] + k[1] * (double)at[1][i] +
                          k[2] * (double)at[2][i]);
    for (int c = 0; c < 3; c++)
      assert_near(acceleration[c * COUNT + i], 1 - gradient_k[c] * amplitude * sin(phase),
                  tolerance);
  }
  workspace_free(&w);
  mesh_free(m);
}

static void test_waves(void **state) {
  (void)state;
  const int waves[][3] = {{1, 0, 0},  {0, 1, 0},  {0, 0, 1}, {2, -1, 3},
                          {-3, 2, 1}, {1, 4, -2}, {0, 3, 3}};
  const uint32_t meshes[][2] = {{16, 1}, {16, 16}, {10, 3}, {12, 12}, {36, 5}, {64, 4}};
  for (size_t i = 0; i < sizeof meshes / sizeof *meshes; i++)
    for (size_t k = 0; k < sizeof waves / sizeof *waves; k++)
      for (int a = 0; a < 3; a++) {
        check_wave(meshes[i][0], meshes[i][1], schemes[a], GRADIENT_SPECTRAL, false, waves[k]);
        check_wave(meshes[i][0], meshes[i][1], schemes[a], GRADIENT_FD4, false, waves[k]);
        check_wave(meshes[i][0], meshes[i][1], schemes[a], GRADIENT_SPECTRAL, true, waves[k]);
        check_wave(meshes[i][0], meshes[i][1], schemes[a], GRADIENT_FD4, true, waves[k]);
      }
  for (int c = 0; c < 3; c++) { /* the Nyquist mode has no gradient along its own axis */
    int nyquist[3] = {1, 1, 1};
    nyquist[c] = 6;
    check_wave(12, 5, ASSIGN_PCS, GRADIENT_SPECTRAL, false, nyquist);
  }
}

static double largest_field(const struct workspace *w) {
  double largest = 0;
  for (uint32_t f = 0; f < w->fields; f++)
    for (size_t i = 0; i < w->mesh->cells * plane_floats(w->mesh); i++)
      largest = fmax(largest, fabs((double)w->slabs[f][i]));
  return largest;
}

/* The mesh folds k + 2 pi/D (odd) into k. The shifted mesh then shows it with the other sign, and
 * the two must cancel. */
static void test_interlacing_cancels_images(void **state) {
  (void)state;
  const int k[3] = {1, -2, 3};
  struct split split = gauss_split(1.0 / 16, 1.2, 6.0);
  struct mesh *m = mesh_create(16, 4, 4, 1.0, ASSIGN_PCS, GRADIENT_SPECTRAL, true, &split);
  mesh_take_columns(m, 0, m->columns);
  struct workspace w = workspace_create(m, mesh_kernels_select());
  fill_wave(&w, 0, k, 0, 1);
  fill_wave(&w, 1, k, 0.5, 1);
  transform(&w, 1);
  const double kept = largest_field(&w);
  fill_wave(&w, 0, k, 0, 1);
  fill_wave(&w, 1, k, 0.5, -1);
  transform(&w, 1);
  assert_true(kept > 1);
  assert_near(largest_field(&w), 0, 1e-6 * kept); /* float rounding of the transforms */
  workspace_free(&w);
  mesh_free(m);
}

/* A mesh in pencils: each part as its rank has it. */
enum { PARTS_MOST = 6, SLABS_MOST = 8, SETS = 2, FIELDS = 3, SPECTRA = 2 };
struct pencils {
  uint32_t parts;
  struct mesh *mesh[PARTS_MOST];
  float *slab[SETS][FIELDS][SLABS_MOST][PARTS_MOST];
  float complex *row_block[SLABS_MOST][PARTS_MOST][PARTS_MOST]; /* (i, j), as [j][i] */
  float complex *block[PARTS_MOST][SETS][SPECTRA][SLABS_MOST][SLABS_MOST];
  double *potential[PARTS_MOST];
};

static void *aligned(size_t bytes) {
  void *memory = aligned_alloc(64, (bytes + 64) / 64 * 64);
  assert_non_null(memory);
  return memory;
}

static size_t pencil_floats(const struct mesh *m, uint32_t s) {
  return (slab_first(m, s + 1) - slab_first(m, s)) * plane_floats(m);
}

static void make_part(struct pencils *p, uint32_t part) {
  const struct mesh *m = p->mesh[part];
  for (uint32_t s = 0; s < m->slabs; s++) {
    for (int set = 0; set < SETS; set++) {
      for (int f = 0; f < FIELDS; f++)
        p->slab[set][f][s][part] = aligned(pencil_floats(m, s) * sizeof(float));
      for (int k = 0; k < SPECTRA; k++)
        for (uint32_t c = 0; c < m->columns; c++)
          p->block[part][set][k][s][c] = aligned(block_size(m, s, c) * sizeof(float complex));
    }
    for (uint32_t i = 0; i < p->parts; i++)
      p->row_block[s][part][i] = aligned(row_block_size(m, s, i, part) * sizeof(float complex));
  }
  p->potential[part] = aligned((size_t)m->cells * m->kzs * sizeof(double));
}

static void free_part(struct pencils *p, uint32_t part) {
  struct mesh *m = p->mesh[part];
  for (uint32_t s = 0; s < m->slabs; s++) {
    for (int set = 0; set < SETS; set++) {
      for (int f = 0; f < FIELDS; f++) free(p->slab[set][f][s][part]);
      for (int k = 0; k < SPECTRA; k++)
        for (uint32_t c = 0; c < m->columns; c++) free(p->block[part][set][k][s][c]);
    }
    for (uint32_t i = 0; i < p->parts; i++) free(p->row_block[s][part][i]);
  }
  free(p->potential[part]);
  mesh_free(m);
}

/* Compare the rows of a part with those of a whole slab, or copy them from it. */
static void compare_part(const struct pencils *p, const struct workspace *w, int set, int f,
                         uint32_t s, uint32_t part, bool copy) {
  const struct mesh *m = p->mesh[part];
  const size_t bytes = m->cells * sizeof(float);
  for (uint32_t x = 0; x < slab_first(m, s + 1) - slab_first(m, s); x++)
    for (uint32_t y = 0; y < m->ys; y++) {
      float *here = p->slab[set][f][s][part] + x * plane_floats(m) + (size_t)y * m->row;
      const float *there = slab_of(w, (uint32_t)set, (uint32_t)f, s) + x * plane_floats(w->mesh) +
                           (size_t)(m->first_y + y) * m->row;
      if (copy)
        memcpy(here, there, bytes);
      else
        assert_memory_equal(here, there, bytes);
    }
}

static void for_parts(const struct pencils *p, const struct workspace *w, int fields, bool copy) {
  for (uint32_t part = 0; part < p->parts; part++)
    for (uint32_t s = 0; s < w->mesh->slabs; s++)
      for (int set = 0; set < SETS; set++)
        for (int f = 0; f < fields; f++) compare_part(p, w, set, f, s, part, copy);
}

/* Row blocks (part, j) of a slab. */
static void of_rows(const struct pencils *p, uint32_t s, uint32_t part, float complex **blocks) {
  for (uint32_t j = 0; j < p->parts; j++) blocks[j] = p->row_block[s][j][part];
}

static void pencils_forward(const struct pencils *p, int set, uint32_t s, void *scratch) {
  float complex *blocks[PARTS_MOST];
  for (uint32_t i = 0; i < p->parts; i++) {
    of_rows(p, s, i, blocks);
    mesh_fft_z(p->mesh[i], s, p->slab[set][0][s][i], blocks, scratch);
  }
  for (uint32_t j = 0; j < p->parts; j++)
    mesh_fft_y(p->mesh[j], s, (const float complex *const *)p->row_block[s][j],
               p->block[j][set][0][s], scratch);
}

static void pencils_along_x(const struct pencils *p, uint32_t part, uint32_t c, void *scratch) {
  const struct mesh *m = p->mesh[part];
  const float complex *in[SETS * SLABS_MOST];
  float complex *out[SETS * SPECTRA * SLABS_MOST];
  for (uint32_t i = 0; i < SETS * SPECTRA * m->slabs; i++)
    out[i] = p->block[part][i / m->slabs / SPECTRA][i / m->slabs % SPECTRA][i % m->slabs][c];
  for (uint32_t i = 0; i < SETS * m->slabs; i++)
    in[i] = p->block[part][i / m->slabs][0][i % m->slabs][c];
  /* Parts of a task transform each ky by itself, in any order. */
  const struct mesh_range kys = column_kys(m, c);
  for (uint32_t ky = kys.end; ky-- > kys.first;)
    mesh_fft_x(m, c, (struct mesh_range){ky, ky + 1}, in, out,
               p->potential[part] + (size_t)column_first(m, c) * m->kzs, scratch);
}

static void pencils_backward(const struct pencils *p, int set, uint32_t f, uint32_t s,
                             void *scratch) {
  float complex *blocks[PARTS_MOST];
  for (uint32_t j = 0; j < p->parts; j++)
    mesh_ifft_y(p->mesh[j], s, f,
                (const float complex *const *)p->block[j][set][spectrum_of_field(f)][s],
                p->row_block[s][j], scratch);
  for (uint32_t i = 0; i < p->parts; i++) {
    of_rows(p, s, i, blocks);
    mesh_ifft_z(p->mesh[i], s, (const float complex *const *)blocks, p->slab[set][f][s][i],
                scratch);
  }
}

static void pencils_transform(const struct pencils *p) {
  const struct mesh *m = p->mesh[0];
  void *scratch = allocate(mesh_scratch_bytes(m), 1, "scratch");
  memset(scratch, 0xff, mesh_scratch_bytes(m)); /* NaN */
  for (int set = 0; set < SETS; set++)
    for (uint32_t s = 0; s < m->slabs; s++) pencils_forward(p, set, s, scratch);
  for (uint32_t part = 0; part < p->parts; part++)
    for (uint32_t c = 0; c < m->columns; c++) pencils_along_x(p, part, c, scratch);
  for (int set = 0; set < SETS; set++)
    for (uint32_t f = 0; f < FIELDS; f++)
      for (uint32_t s = 0; s < m->slabs; s++) pencils_backward(p, set, f, s, scratch);
  free(scratch);
}

static void compare_potentials(const struct pencils *p, const struct workspace *w) {
  for (uint32_t part = 0; part < p->parts; part++) {
    const struct mesh *m = p->mesh[part];
    for (size_t ky = 0; ky < m->cells; ky++)
      assert_memory_equal(p->potential[part] + ky * m->kzs, w->potential + ky * m->kz + m->first_kz,
                          m->kzs * sizeof(double));
  }
}

/* Any number of parts gives the bits of whole slabs: fields and potentials of noise on meshes with less than one
 * batch of lines, and with a batch and a few lines. */
static void test_pencils_have_the_bits_of_slabs(void **state) {
  (void)state;
  const uint32_t meshes[][3] = {{8, 2, 3}, {8, 8, 5}, {14, 3, 4}, {140, 4, 6}};
  for (size_t i = 0; i < sizeof meshes / sizeof *meshes; i++) {
    const uint32_t n = meshes[i][0], slabs = meshes[i][1];
    struct split split = gauss_split(1.0 / n, 1.2, 6.0);
    struct mesh *m = mesh_create(n, slabs, slabs, 1.0, ASSIGN_PCS, GRADIENT_SPECTRAL, true, &split);
    mesh_take_columns(m, 0, m->columns);
    struct workspace w = workspace_create(m, mesh_kernels_select());
    static struct pencils p;
    p.parts = meshes[i][2];
    for (uint32_t part = 0; part < p.parts; part++) {
      p.mesh[part] = mesh_create(n, slabs, slabs, 1.0, ASSIGN_PCS, GRADIENT_SPECTRAL, true, &split);
      mesh_divide(p.mesh[part], p.parts, part);
      mesh_take_columns(p.mesh[part], 0, slabs);
      make_part(&p, part);
    }
    uint64_t random = 5;
    for (size_t k = 0; k < 2 * n * plane_floats(m); k++)
      w.slabs[k % 2 * FIELDS][k / 2] = (float)uniform(&random);
    for_parts(&p, &w, 1, true);
    transform(&w, 1);
    pencils_transform(&p);
    for_parts(&p, &w, FIELDS, false);
    compare_potentials(&p, &w);
    for (uint32_t part = 0; part < p.parts; part++) free_part(&p, part);
    workspace_free(&w);
    mesh_free(m);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_deposit),
      cmocka_unit_test(test_patch),
      cmocka_unit_test(test_good_size),
      cmocka_unit_test(test_waves),
      cmocka_unit_test(test_interlacing_cancels_images),
      cmocka_unit_test(test_pencils_have_the_bits_of_slabs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
