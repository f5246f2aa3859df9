/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The particle mesh: deposit and read against B-splines, transforms against plane waves, forces against Ewald sums. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <hdf5.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "photons/error.h" /* before cmocka.h, which has a macro fail() */
#include "photons/kernels.h"
#include "photons/particles.h"

#include <cmocka.h>

#include "assert_near.h"

#define TURN 4294967296.0

static double uniform(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(*state >> 11) * 0x1p-53;
}

/* Slabs and blocks of a whole mesh, and the stages over them. */
struct workspace {
  const struct mesh *mesh;
  const struct kernels *kernels;
  uint32_t sets;
  float *slabs[6];       /* [sets][fields], all planes; a density is where field 0 will be */
  float complex *blocks; /* [sets][fields][slabs][columns] */
  float complex **block; /* the same */
};

static float *slab_of(const struct workspace *w, uint32_t set, uint32_t field, uint32_t s) {
  return w->slabs[set * w->mesh->fields + field] + slab_first(w->mesh, s) * plane_floats(w->mesh);
}

static struct workspace workspace_create(const struct mesh *m, const struct kernels *kernels) {
  struct workspace w = {.mesh = m, .kernels = kernels, .sets = m->interlace ? 2 : 1};
  const uint32_t s = m->slabs, fields = w.sets * m->fields;
  for (uint32_t i = 0; i < fields; i++) {
    w.slabs[i] = aligned_alloc(64, m->cells * plane_floats(m) * sizeof(float));
    assert_non_null(w.slabs[i]);
    memset(w.slabs[i], 0, m->cells * plane_floats(m) * sizeof(float));
  }
  w.blocks = allocate((size_t)fields * m->cells * m->cells * m->kz, sizeof *w.blocks, "blocks");
  w.block = allocate((size_t)fields * s * s, sizeof *w.block, "blocks");
  size_t at = 0;
  for (uint32_t f = 0; f < fields; f++)
    for (uint32_t i = 0; i < s; i++)
      for (uint32_t c = 0; c < s; c++) {
        w.block[(f * s + i) * s + c] = w.blocks + at;
        at += block_size(m, i, c);
      }
  return w;
}

static void workspace_free(struct workspace *w) {
  for (int i = 0; i < 6; i++) free(w->slabs[i]);
  free(w->blocks);
  free(w->block);
}

/* Every `threads`-th slab or column, starting with `first`, of one stage. */
struct share {
  const struct workspace *w;
  int stage;
  uint32_t first, threads;
};

static void *run_share(void *argument) {
  const struct share *share = argument;
  const struct workspace *w = share->w;
  const struct mesh *m = w->mesh;
  void *scratch = allocate(mesh_scratch_bytes(m), 1, "scratch");
  const uint32_t fields = w->sets * m->fields;
  float complex **out = allocate((size_t)fields * m->slabs, sizeof *out, "blocks");
  const float complex **in = allocate((size_t)w->sets * m->slabs, sizeof *in, "blocks");
  for (uint32_t i = share->first; i < m->slabs; i += share->threads) {
    if (share->stage == 0) {
      for (uint32_t set = 0; set < w->sets; set++)
        mesh_fft_yz(m, i, slab_of(w, set, 0, i), w->block + (set * m->fields * m->slabs + i) * m->slabs, scratch);
    } else if (share->stage == 1) {
      for (uint32_t s = 0; s < fields * m->slabs; s++) out[s] = w->block[s * m->slabs + i];
      for (uint32_t set = 0; set < w->sets; set++)
        for (uint32_t s = 0; s < m->slabs; s++) in[set * m->slabs + s] = out[set * m->fields * m->slabs + s];
      mesh_fft_x(m, i, in, out, scratch);
    } else {
      for (uint32_t f = 0; f < fields; f++)
        mesh_ifft_yz(m, i, (const float complex *const *)w->block + (f * m->slabs + i) * m->slabs,
                     w->slabs[f] + slab_first(m, i) * plane_floats(m), scratch);
    }
  }
  free(in);
  free(out);
  free(scratch);
  return NULL;
}

/* Densities in the slabs become fields there. */
static void transform(const struct workspace *w, uint32_t threads) {
  for (int stage = 0; stage < 3; stage++) {
    pthread_t thread[4];
    struct share share[4];
    for (uint32_t t = 0; t < threads; t++) {
      share[t] = (struct share){.w = w, .stage = stage, .first = t, .threads = threads};
      assert_int_equal(pthread_create(&thread[t], NULL, run_share, &share[t]), 0);
    }
    for (uint32_t t = 0; t < threads; t++) assert_int_equal(pthread_join(thread[t], NULL), 0);
  }
}

/* The patch of particles that lie in one another's half box. */
static struct patch patch_of(const struct mesh *m, uint32_t count, const uint32_t *x) {
  uint32_t centre[3];
  double half[3];
  for (size_t c = 0; c < 3; c++) {
    int64_t low = 0, high = 0;
    for (uint32_t i = 1; i < count; i++) {
      const int32_t d = (int32_t)(x[c * count + i] - x[c * count]);
      low = d < low ? d : low;
      high = d > high ? d : high;
    }
    const int64_t middle = (low + high) / 2;
    centre[c] = x[c * count] + (uint32_t)middle;
    half[c] = (double)(high - middle > middle - low ? high - middle : middle - low);
  }
  return patch_for_box(m, centre, half);
}

static void deposit(const struct workspace *w, uint32_t count, const uint32_t *x) {
  const struct mesh *m = w->mesh;
  const struct patch patch = patch_of(m, count, x);
  const size_t size = (size_t)patch.size[0] * patch.size[1] * patch.size[2];
  float *data = allocate(size, sizeof *data, "patch");
  for (uint32_t set = 0; set < w->sets; set++) {
    w->kernels->mesh.deposit(m, count, x, set == 1, &patch, data);
    for (uint32_t s = 0; s < m->slabs; s++) w->kernels->mesh.patch_add(m, s, &patch, data, slab_of(w, set, 0, s));
  }
  free(data);
}

static void read_field(const struct workspace *w, uint32_t count, const uint32_t *x, float factor,
                       float *acceleration) {
  const struct mesh *m = w->mesh;
  const float **planes = allocate(m->fields * (size_t)m->cells, sizeof *planes, "planes");
  for (uint32_t set = 0; set < w->sets; set++) {
    for (uint32_t f = 0; f < m->fields; f++)
      for (uint32_t i = 0; i < m->cells; i++) planes[f * m->cells + i] = slab_of(w, set, f, 0) + i * plane_floats(m);
    w->kernels->mesh.read(m, count, x, set == 1, factor / (float)w->sets, planes, acceleration);
  }
  free(planes);
}

static struct split gauss_split(double cell, double r_cut) {
  struct split s;
  split_init(&s, SPLIT_GAUSS, 1.2 * cell, r_cut * cell, 9);
  return s;
}

/* The B-spline of 2, 3 or 4 cells at a distance of d cells: Hockney & Eastwood; Sefusatti et al. 2016, eq. 12. */
static double spline(enum assignment a, double d) {
  d = fabs(d);
  switch (a) {
  case ASSIGN_CIC: return d < 1 ? 1 - d : 0;
  case ASSIGN_TSC: return d < 0.5 ? 0.75 - d * d : d < 1.5 ? 0.5 * (1.5 - d) * (1.5 - d) : 0;
  case ASSIGN_PCS: return d < 1 ? (4 - 6 * d * d + 3 * d * d * d) / 6 : d < 2 ? (2 - d) * (2 - d) * (2 - d) / 6 : 0;
  }
  return 0;
}

/* Distance of a particle from a cell's point along one axis in cells, nearest image. */
static double distance(double position, uint32_t cell, uint32_t cells) {
  const double d = position - cell;
  return d - cells * round(d / cells);
}

static const enum assignment schemes[] = {ASSIGN_CIC, ASSIGN_TSC, ASSIGN_PCS};

/* Random particles and those on cells' points, halfway, and at both ends of the box: the mesh must hold the sum of their splines. */
static void test_deposit(void **state) {
  (void)state;
  const uint32_t meshes[] = {8, 14, 16}, slabs[] = {1, 4, 16};
  for (int i = 0; i < 3; i++)
    for (int a = 0; a < 3; a++) {
      const uint32_t n = meshes[i], count = 100;
      struct split split = gauss_split(1.0 / n, 6.0);
      struct mesh *m = mesh_create(n, slabs[i] < n ? slabs[i] : n, 1.0, schemes[a], GRADIENT_SPECTRAL, true, &split);
      struct workspace w = workspace_create(m, kernels_select());
      uint64_t random = 7;
      uint32_t x[300], near_edge[300];
      for (int j = 0; j < 300; j++) x[j] = (uint32_t)(uniform(&random) * TURN);
      const uint32_t cell = (uint32_t)(TURN / n), special[] = {0, UINT32_MAX, cell, cell / 2, cell / 2 - 1, 1u << 31};
      for (size_t j = 0; j < 6; j++) x[j] = x[100 + j] = x[200 + j] = special[j];
      for (int j = 0; j < 300; j++) near_edge[j] = (uint32_t)(int64_t)((uniform(&random) - 0.5) * 0.4 * TURN);
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
              /* Weights are products of three with float rounding, and a few particles share a cell. */
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
  struct split split = gauss_split(1.0 / 16, 6.0);
  const uint32_t cell = 1u << 28; /* of 16 */
  struct mesh *m = mesh_create(16, 1, 1.0, ASSIGN_PCS, GRADIENT_SPECTRAL, false, &split);
  /* One particle in the middle of cell 5 touches 4 .. 7. */
  struct patch p = patch_for_box(m, (const uint32_t[]){5 * cell + cell / 2, 0, cell - 1}, (const double[]){0, 0, 1});
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
static void fill_wave(const struct workspace *w, uint32_t set, const int k[3], double shift, double amplitude) {
  const uint32_t n = w->mesh->cells;
  for (uint32_t x = 0; x < n; x++)
    for (uint32_t y = 0; y < n; y++)
      for (uint32_t z = 0; z < n; z++)
        slab_of(w, set, 0, 0)[x * plane_floats(w->mesh) + y * w->mesh->row + z] =
            (float)(amplitude * cos(2 * M_PI / n * (k[0] * (x - shift) + k[1] * (y - shift) + k[2] * (z - shift))));
}

/* One wave through everything but the deposit, read on the cells' points, against theory:
 * a = -k (4 pi/k^2) S(k) n/W^2 sin(k.x), times the gradient's and the interpolation's transfer functions. */
static void check_wave(uint32_t n, uint32_t slabs, enum assignment a, enum gradient gradient, bool interlace,
                       const int k[3]) {
  const double box = 50.0, cell = box / n;
  struct split split = gauss_split(cell, 6.0);
  struct mesh *m = mesh_create(n, slabs, box, a, gradient, interlace, &split);
  struct workspace w = workspace_create(m, kernels_select());
  fill_wave(&w, 0, k, 0, 1);
  if (interlace) fill_wave(&w, 1, k, 0.5, 1); /* particles deposit half a cell to the right of where they are */
  transform(&w, 1);

  double k2 = 0, deconvolved = 1, read[2] = {1, 1}, gradient_k[3];
  for (int c = 0; c < 3; c++) {
    const double kc = 2 * M_PI / box * k[c], half = 0.5 * kc * cell;
    k2 += kc * kc;
    const double window = pow(k[c] ? sin(half) / half : 1, assignment_width(a));
    deconvolved /= window * window;
    for (int set = 0; set < 2; set++) { /* the second mesh is half a cell off */
      double interpolation = 0;
      for (int i = -2; i <= 2; i++) interpolation += spline(a, i + 0.5 * set) * cos(kc * (i + 0.5 * set) * cell);
      read[set] *= interpolation;
    }
    gradient_k[c] = gradient == GRADIENT_SPECTRAL ? kc : (8 * sin(kc * cell) - sin(2 * kc * cell)) / (6 * cell);
    if (gradient == GRADIENT_SPECTRAL && 2 * abs(k[c]) == (int)n) gradient_k[c] = 0;
  }
  const double density = 1 / (cell * cell * cell), factor = 0.5;
  const double amplitude = factor * 4 * M_PI / k2 * split_mesh_factor(&split, sqrt(k2)) * density * deconvolved *
                           (interlace ? 0.5 * (read[0] + read[1]) : read[0]);

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
  /* float FFTs of log2 N stages; positions are those of the cells' points to 2^-32 of the box only */
  const double tolerance = 2e-6 * amplitude * sqrt(k2) * (gradient == GRADIENT_FD4 ? n / (2 * M_PI) : 1) + 2e-7;
  for (int i = 0; i < COUNT; i++) {
    const double phase = 2 * M_PI / n * (k[0] * (double)at[0][i] + k[1] * (double)at[1][i] + k[2] * (double)at[2][i]);
    for (int c = 0; c < 3; c++)
      assert_near(acceleration[c * COUNT + i], 1 - gradient_k[c] * amplitude * sin(phase), tolerance);
  }
  workspace_free(&w);
  mesh_free(m);
}

static void test_waves(void **state) {
  (void)state;
  const int waves[][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {2, -1, 3}, {-3, 2, 1}, {1, 4, -2}, {0, 3, 3}};
  const uint32_t meshes[][2] = {{16, 1}, {16, 16}, {10, 3}, {12, 12}, {36, 5}, {64, 4}};
  for (size_t i = 0; i < sizeof meshes / sizeof *meshes; i++)
    for (size_t k = 0; k < sizeof waves / sizeof *waves; k++)
      for (int a = 0; a < 3; a++) {
        check_wave(meshes[i][0], meshes[i][1], schemes[a], GRADIENT_SPECTRAL, false, waves[k]);
        check_wave(meshes[i][0], meshes[i][1], schemes[a], GRADIENT_FD4, false, waves[k]);
        check_wave(meshes[i][0], meshes[i][1], schemes[a], GRADIENT_SPECTRAL, true, waves[k]);
      }
}

/* The mesh folds k + 2 pi/D (odd) into k; then the shifted mesh shows it with the other sign, and nothing must be left. */
static void test_interlacing_cancels_images(void **state) {
  (void)state;
  const int k[3] = {1, -2, 3};
  struct split split = gauss_split(1.0 / 16, 6.0);
  struct mesh *m = mesh_create(16, 4, 1.0, ASSIGN_PCS, GRADIENT_SPECTRAL, true, &split);
  struct workspace w = workspace_create(m, kernels_select());
  fill_wave(&w, 0, k, 0, 1);
  fill_wave(&w, 1, k, 0.5, 1);
  transform(&w, 1);
  const double with = fabs(w.slabs[2][3]);
  fill_wave(&w, 0, k, 0, 1);
  fill_wave(&w, 1, k, 0.5, -1);
  transform(&w, 1);
  assert_true(with > 1);
  for (size_t f = 0; f < 3; f++) /* float rounding of the two transforms */
    for (size_t i = 0; i < 16 * plane_floats(m); i++) assert_true(fabs(w.slabs[f][i]) < 1e-6 * with);
  workspace_free(&w);
  mesh_free(m);
}

/* Particles with their accelerations by Ewald summation, in Mpc/h and per unit G m. */
struct reference {
  uint32_t count;
  double box;
  uint32_t *x; /* sorted along x */
  double *acceleration;
};

static void read_dataset(hid_t file, const char *name, hid_t type, void *data) {
  hid_t set = H5Dopen2(file, name, H5P_DEFAULT);
  assert_true(set >= 0);
  assert_true(H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0);
  H5Dclose(set);
}

struct keyed {
  uint32_t x;
  size_t index;
};
static int compare_keyed(const void *a, const void *b) {
  const struct keyed *p = a, *q = b;
  return p->x < q->x ? -1 : p->x > q->x;
}

/* False where the test data are not there. */
static bool reference_read(struct reference *r, const char *name) {
  enum { COUNT = 32768 };
  const double box = 1e5, gravity = 43007.1; /* kpc/h and km/s, as in the file */
  const char *data = getenv("PHOTONS_TEST_DATA");
  char path[4096];
  snprintf(path, sizeof path, "%s/forces/%s", data ? data : "../shared/data", name);
  FILE *probe = fopen(path, "rb");
  if (!probe) {
    print_message("%s: not found, set PHOTONS_TEST_DATA\n", path);
    return false;
  }
  fclose(probe);
  hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
  assert_true(file >= 0);
  double masses[6];
  hid_t mass = H5Aopen_by_name(file, "Header", "MassTable", H5P_DEFAULT, H5P_DEFAULT);
  assert_true(mass >= 0 && H5Aread(mass, H5T_NATIVE_DOUBLE, masses) >= 0);
  H5Aclose(mass);
  double *position = allocate(3 * COUNT, sizeof *position, "positions");
  double *acceleration = allocate(3 * COUNT, sizeof *acceleration, "accelerations");
  uint64_t *id = allocate(2 * COUNT, sizeof *id, "ids");
  read_dataset(file, "PartType1/Coordinates", H5T_NATIVE_DOUBLE, position);
  read_dataset(file, "PartType1/ParticleIDs", H5T_NATIVE_UINT64, id);
  read_dataset(file, "Reference/Acceleration", H5T_NATIVE_DOUBLE, acceleration);
  read_dataset(file, "Reference/ParticleIDs", H5T_NATIVE_UINT64, id + COUNT);
  H5Fclose(file);
  *r = (struct reference){.count = COUNT, .box = box * 1e-3};
  r->x = allocate(3 * COUNT, sizeof *r->x, "positions");
  r->acceleration = allocate(3 * COUNT, sizeof *r->acceleration, "accelerations");
  struct keyed *order = allocate(COUNT, sizeof *order, "order");
  for (size_t i = 0; i < COUNT; i++) {
    assert_true(id[i] == id[COUNT + i]);
    order[i] = (struct keyed){position_to_integer(position[3 * i], box), i};
  }
  qsort(order, COUNT, sizeof *order, compare_keyed);
  for (size_t i = 0; i < COUNT; i++)
    for (size_t c = 0; c < 3; c++) {
      r->x[c * COUNT + i] = position_to_integer(position[3 * order[i].index + c], box);
      r->acceleration[c * COUNT + i] = acceleration[3 * order[i].index + c] / (gravity * masses[1]) * 1e6;
    }
  free(order);
  free(position);
  free(acceleration);
  free(id);
  return true;
}

static void reference_free(struct reference *r) {
  free(r->x);
  free(r->acceleration);
}

/* Mesh accelerations of all particles, in groups that are slices along x. */
static float *mesh_forces(const struct mesh *m, const struct kernels *kernels, const struct reference *r,
                          uint32_t groups, uint32_t threads) {
  const uint32_t n = r->count / groups;
  struct workspace w = workspace_create(m, kernels);
  float *acceleration = allocate(3 * (size_t)r->count, sizeof *acceleration, "accelerations");
  uint32_t *x = allocate(3 * (size_t)n, sizeof *x, "positions");
  float *own = allocate(3 * (size_t)n, sizeof *own, "accelerations");
  for (int pass = 0; pass < 2; pass++) {
    for (size_t g = 0; g < groups; g++) {
      for (size_t c = 0; c < 3; c++) memcpy(x + c * n, r->x + c * r->count + g * n, n * sizeof *x);
      if (pass == 0) {
        deposit(&w, n, x);
        continue;
      }
      memset(own, 0, 3 * n * sizeof *own);
      read_field(&w, n, x, 1.0f, own);
      for (size_t c = 0; c < 3; c++) memcpy(acceleration + c * r->count + g * n, own + c * n, n * sizeof *own);
    }
    if (pass == 0) transform(&w, threads);
  }
  workspace_free(&w);
  free(own);
  free(x);
  return acceleration;
}

/* Force factor of Gadget's spline softening (Springel et al. 2001, eq. 71), u = r/h < 1: times r vector is the pull of a unit mass. */
static double spline_softened(double r, double h) {
  const double u = r / h;
  if (u >= 1) return 1 / (r * r * r);
  if (u < 0.5) return (32.0 / 3 + u * u * (32 * u - 38.4)) / (h * h * h);
  return (64.0 / 3 - 48 * u + 38.4 * u * u - 32.0 / 3 * u * u * u - 1 / (15 * u * u * u)) / (h * h * h);
}

enum { SUBSET = 2048 };

/* Exact short-range sums of every 16th particle. */
static void short_range(const struct reference *r, const struct split *split, double *acceleration) {
  const double unit = r->box / TURN, softening = 0.28, cut2 = split->r_cut * split->r_cut;
  for (size_t t = 0; t < SUBSET; t++) {
    const size_t i = t * (r->count / SUBSET);
    double sum[3] = {0};
    for (size_t j = 0; j < r->count; j++) {
      double d[3], r2 = 0;
      for (size_t c = 0; c < 3; c++) {
        d[c] = unit * (int32_t)(r->x[c * r->count + j] - r->x[c * r->count + i]);
        r2 += d[c] * d[c];
      }
      if (r2 >= cut2 || j == i) continue;
      const double distance = sqrt(r2);
      const double f = spline_softened(distance, softening) - (1 - split_force(split, distance)) / (distance * r2);
      for (size_t c = 0; c < 3; c++) sum[c] += f * d[c];
    }
    for (size_t c = 0; c < 3; c++) acceleration[c * SUBSET + t] = sum[c];
  }
}

static int compare_doubles(const void *a, const void *b) {
  const double p = *(const double *)a, q = *(const double *)b;
  return p < q ? -1 : p > q;
}

/* rms error over rms acceleration, and the median of error over acceleration. */
static void force_error(const struct reference *r, const double *near, const float *far, double *rms, double *median) {
  double error2 = 0, total2 = 0, ratio[SUBSET];
  for (size_t t = 0; t < SUBSET; t++) {
    const size_t i = t * (r->count / SUBSET);
    double e2 = 0, a2 = 0;
    for (size_t c = 0; c < 3; c++) {
      const double a = r->acceleration[c * r->count + i], e = near[c * SUBSET + t] + far[c * r->count + i] - a;
      e2 += e * e;
      a2 += a * a;
    }
    ratio[t] = sqrt(e2 / a2);
    error2 += e2;
    total2 += a2;
  }
  qsort(ratio, SUBSET, sizeof *ratio, compare_doubles);
  *rms = sqrt(error2 / total2);
  *median = ratio[SUBSET / 2];
}

/* Schemes and their force errors with exact short-range sums, measured in double precision over all particles. */
static const struct {
  enum assignment assignment;
  enum gradient gradient;
  bool interlace;
  double early_rms[2], late_median[2]; /* r_cut = 6 and 7.2 cells */
} known[] = {{ASSIGN_CIC, GRADIENT_FD4, false, {5.0e-2, 5.0e-2}, {2.2e-3, 2.2e-3}},
             {ASSIGN_TSC, GRADIENT_SPECTRAL, false, {3.7e-3, 3.3e-3}, {3.5e-4, 2.7e-4}},
             {ASSIGN_PCS, GRADIENT_FD4, false, {1.7e-3, 1.5e-3}, {7.8e-4, 7.3e-4}},
             {ASSIGN_PCS, GRADIENT_SPECTRAL, false, {7.2e-4, 1.9e-4}, {1.6e-4, 4.9e-5}},
             {ASSIGN_PCS, GRADIENT_SPECTRAL, true, {7.0e-4, 5.6e-5}, {1.4e-4, 7.9e-6}}};

static void check_forces(const char *name, bool early) {
  struct reference r;
  if (!reference_read(&r, name)) skip();
  double *near = allocate(3 * SUBSET, sizeof *near, "accelerations");
  for (int cut = 0; cut < 2; cut++) {
    struct split split = gauss_split(r.box / 32, cut ? 7.2 : 6.0);
    short_range(&r, &split, near);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
      struct mesh *m = mesh_create(32, 5, r.box, known[i].assignment, known[i].gradient, known[i].interlace, &split);
      float *far = mesh_forces(m, kernels_select(), &r, 8, 1);
      double rms, median;
      force_error(&r, near, far, &rms, &median);
      /* A subset of 2048 has the statistics of the whole to some per cent. */
      const double expected = early ? known[i].early_rms[cut] : known[i].late_median[cut];
      assert_near(early ? rms : median, expected, 0.15 * expected);
      free(far);
      mesh_free(m);
    }
  }
  free(near);
  reference_free(&r);
}

static void test_early_forces(void **state) {
  (void)state;
  check_forces("early32.hdf5", true);
}

static void test_late_forces(void **state) {
  (void)state;
  check_forces("late32.hdf5", false);
}

/* One clustered distribution: no net force; the same bits whatever the slabs and threads; the same force on all instruction sets. */
static void check_invariance(const struct reference *r, enum gradient gradient, bool interlace) {
  struct split split = gauss_split(r->box / 32, 6.0);
  float *first = NULL;
  double total = 0;
  for (uint32_t i = 0; i < 3; i++) {
    const uint32_t slabs[] = {1, 5, 32};
    struct mesh *m = mesh_create(32, slabs[i], r->box, ASSIGN_PCS, gradient, interlace, &split);
    float *a = mesh_forces(m, kernels_select(), r, 8, i + 1);
    if (first) {
      assert_memory_equal(a, first, 3 * r->count * sizeof *a);
      free(a);
    } else {
      first = a;
    }
    mesh_free(m);
  }
  double net[3] = {0};
  for (size_t c = 0; c < 3; c++)
    for (size_t j = 0; j < r->count; j++) {
      net[c] += first[c * r->count + j];
      total += fabs(first[c * r->count + j]);
    }
  /* Deposit and readout are transposed and the kernel is odd: only roundings of the float mesh are left. */
  for (size_t c = 0; c < 3; c++) assert_near(net[c], 0, 1e-5 * total);

  const struct {
    const char *name;
    bool usable;
  } sets[] = {{"baseline", true},
              {"avx2", __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")},
              {"avx512", __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq")}};
  for (size_t i = 0; i < 3; i++) {
    if (!sets[i].usable) continue;
    setenv("PHOTONS_ISA", sets[i].name, 1);
    struct mesh *m = mesh_create(32, 5, r->box, ASSIGN_PCS, gradient, interlace, &split);
    float *a = mesh_forces(m, kernels_select(), r, 8, 1);
    double difference = 0;
    for (size_t j = 0; j < 3 * r->count; j++) difference += fabs((double)a[j] - first[j]);
    /* Roundings of 6e-8 in weights and sums; differences of the potential magnify them some times. */
    assert_near(difference, 0, 2e-6 * total);
    free(a);
    mesh_free(m);
  }
  unsetenv("PHOTONS_ISA");
  free(first);
}

static void test_invariance(void **state) {
  (void)state;
  struct reference r;
  if (!reference_read(&r, "late32.hdf5")) skip();
  check_invariance(&r, GRADIENT_FD4, false);
  check_invariance(&r, GRADIENT_SPECTRAL, false);
  check_invariance(&r, GRADIENT_SPECTRAL, true);
  reference_free(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_deposit),
      cmocka_unit_test(test_patch),
      cmocka_unit_test(test_good_size),
      cmocka_unit_test(test_waves),
      cmocka_unit_test(test_interlacing_cancels_images),
      cmocka_unit_test(test_early_forces),
      cmocka_unit_test(test_late_forces),
      cmocka_unit_test(test_invariance),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
