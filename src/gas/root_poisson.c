/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The potential of the root level, by Fourier transforms over the box: with the eigenvalues of the
 * discrete Laplacian where the box is periodic; else, in a box of twice the size, as the
 * convolution with the discrete Laplacian's Green function (Hockney & Eastwood 1981, section
 * 6-5-4). */
#include <fftw3.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "photons/base/error.h"
#include "photons/gas/gravity.h"
#include "photons/gas/particles.h"
#include "photons/runtime/handle.h"
#include "photons/runtime/loop.h"

#define PI 3.14159265358979323846

LOOP_STAGE(gas_root_potential, 0x117733, .family = "gas");

enum { NEAR = 12, NEAR_SIDE = 2 * NEAR + 1 }; /* cells in which the Green function is relaxed */

struct root_poisson {
  uint32_t cells[3]; /* of the root level along x, y, z */
  uint32_t mesh[3];  /* of the transforms */
  uint32_t row;      /* complex numbers of a row, mesh[0]/2 + 1 */
  bool periodic;
  double *values;    /* [z][y][2 row] */
  double *transform; /* [z][y][row]: of the Green function; periodic: not used */
  double *near;      /* [NEAR_SIDE]^3: Green function around the origin */
  fftw_plan forward, backward, along_z[2]; /* of a plane; of a row of lines along z */
};

/* Far from the origin: Martinsson & Rodin 2002, Proc. R. Soc. A 458, 2609. */
static double far_green(double x, double y, double z) {
  const double square = x * x + y * y + z * z;
  const double fourth = (pow(x, 4.0) + pow(y, 4.0) + pow(z, 4.0)) / (square * square);
  return -(1.0 + (5.0 * fourth - 3.0) / (8.0 * square)) / (4.0 * PI * sqrt(square));
}

/** Relax the Green function in a cube around the origin, whose sides it is far from. */
static double *near_green(void) {
  static const double omega = 1.78; /* about the best for 23 inner cells a side */
  static const int step[3] = {1, NEAR_SIDE, NEAR_SIDE * NEAR_SIDE};
  double *green = allocate((size_t)NEAR_SIDE * NEAR_SIDE * NEAR_SIDE, sizeof *green, "a potential");
  for (int sweep = 0; sweep < 200; sweep++)
    for (int i = 0; i < NEAR_SIDE * NEAR_SIDE * NEAR_SIDE; i++) {
      const int x = i % NEAR_SIDE - NEAR, y = i / NEAR_SIDE % NEAR_SIDE - NEAR,
                z = i / step[2] - NEAR;
      double *g = green + i;
      if (abs(x) == NEAR || abs(y) == NEAR || abs(z) == NEAR) {
        *g = far_green(x, y, z);
        continue;
      }
      double sum = x == 0 && y == 0 && z == 0 ? -1.0 : 0.0;
      for (int c = 0; c < 3; c++) sum += g[step[c]] + g[-step[c]];
      *g += omega * (sum / 6.0 - *g);
    }
  return green;
}

double lattice_green(const struct root_poisson *r, const uint32_t place[3]) {
  if (place[0] > NEAR || place[1] > NEAR || place[2] > NEAR)
    return far_green(place[0], place[1], place[2]);
  return r->near[((place[2] + NEAR) * NEAR_SIDE + place[1] + NEAR) * NEAR_SIDE + place[0] + NEAR];
}

static void make_plans(struct root_poisson *r) {
  const int x = (int)r->mesh[0], y = (int)r->mesh[1], z = (int)r->mesh[2];
  const int row = (int)r->row, stride = y * row;
  fftw_complex *waves = (fftw_complex *)r->values;
  r->forward = fftw_plan_dft_r2c_2d(y, x, r->values, waves, FFTW_ESTIMATE);
  r->backward = fftw_plan_dft_c2r_2d(y, x, waves, r->values, FFTW_ESTIMATE);
  for (int i = 0; i < 2; i++)
    r->along_z[i] = fftw_plan_many_dft(1, &z, row, waves, NULL, stride, 1, waves, NULL, stride, 1,
                                       i == 0 ? FFTW_FORWARD : FFTW_BACKWARD,
                                       FFTW_ESTIMATE | FFTW_UNALIGNED);
  if (!r->forward || !r->backward || !r->along_z[0] || !r->along_z[1])
    fail(EXIT_RUN_FAILED, "FFTW made no plan for a mesh of %d x %d x %d cells", x, y, z);
}

static fftw_complex *plane_of(const struct root_poisson *r, uint32_t z) {
  return (fftw_complex *)r->values + (size_t)z * r->mesh[1] * r->row;
}

static void plane_forward(void *context, uint32_t z) {
  const struct root_poisson *r = context;
  fftw_execute_dft_r2c(r->forward, (double *)plane_of(r, z), plane_of(r, z));
}

static void plane_backward(void *context, uint32_t z) {
  const struct root_poisson *r = context;
  fftw_execute_dft_c2r(r->backward, plane_of(r, z), (double *)plane_of(r, z));
}

static void lines_forward(void *context, uint32_t y) {
  const struct root_poisson *r = context;
  fftw_complex *lines = (fftw_complex *)r->values + (size_t)y * r->row;
  fftw_execute_dft(r->along_z[0], lines, lines);
}

static void forward(struct root_poisson *r) {
  loop_run(&gas_root_potential_stage, r->mesh[2], plane_forward, r);
  loop_run(&gas_root_potential_stage, r->mesh[1], lines_forward, r);
}

/** 2 (1 - cos(2 pi k/n)), of a wave along one axis. */
static double eigenvalue(uint32_t k, uint32_t n) {
  const double s = 2.0 * sin(PI * k / n);
  return s * s;
}

/** Multiply the waves of a y by the Green function's, and transform them back along z. */
static void solve_lines(void *context, uint32_t y) {
  const struct root_poisson *r = context;
  const double cells = (double)r->mesh[0] * r->mesh[1] * r->mesh[2];
  fftw_complex *lines = (fftw_complex *)r->values + (size_t)y * r->row;
  for (uint32_t z = 0; z < r->mesh[2]; z++)
    for (uint32_t x = 0; x < r->row; x++) {
      const size_t at = (size_t)z * r->mesh[1] * r->row + x;
      const double sum = eigenvalue(x, r->mesh[0]) + eigenvalue(y, r->mesh[1]) +
                         eigenvalue(z, r->mesh[2]);
      const double green = !r->periodic ? r->transform[at + (size_t)y * r->row]
                           : sum > 0.0  ? -1.0 / sum
                                        : 0.0;
      for (int part = 0; part < 2; part++) lines[at][part] *= green / cells;
    }
  fftw_execute_dft(r->along_z[1], lines, lines);
}

/** Solve: the values become the potential of the source that they were. */
static void solve(struct root_poisson *r) {
  forward(r);
  loop_run(&gas_root_potential_stage, r->mesh[1], solve_lines, r);
  loop_run(&gas_root_potential_stage, r->mesh[2], plane_backward, r);
}

static double *value_at(const struct root_poisson *r, uint32_t x, uint32_t y, uint32_t z) {
  return r->values + ((size_t)z * r->mesh[1] + y) * 2 * r->row + x;
}

static void fill_green(void *context, uint32_t z) {
  const struct root_poisson *r = context;
  for (uint32_t y = 0; y < r->mesh[1]; y++)
    for (uint32_t x = 0; x < r->mesh[0]; x++) {
      uint32_t place[3] = {x, y, z};
      for (int c = 0; c < 3; c++)
        if (place[c] > r->mesh[c] / 2) place[c] = r->mesh[c] - place[c];
      *value_at(r, x, y, z) = lattice_green(r, place);
    }
}

static void make_green(struct root_poisson *r) {
  const size_t count = (size_t)r->mesh[2] * r->mesh[1] * r->row;
  r->near = near_green();
  r->transform = allocate(count, sizeof *r->transform, "the Green function");
  for (uint32_t z = 0; z < r->mesh[2]; z++) fill_green(r, z);
  forward(r);
  for (size_t i = 0; i < count; i++) r->transform[i] = ((fftw_complex *)r->values)[i][0];
}

struct root_poisson *root_poisson_make(const struct gas *g) {
  struct root_poisson *r = allocate(1, sizeof *r, "the root level's potential");
  r->periodic = g->topology.boundary[0][0] == GAS_PERIODIC;
  for (int c = 0; c < 3; c++) {
    r->cells[c] = GAS_GROUP_SIDE * g->topology.root[c];
    r->mesh[c] = r->periodic ? r->cells[c] : 2 * r->cells[c];
  }
  r->row = r->mesh[0] / 2 + 1;
  r->values = fftw_alloc_real(2 * (size_t)r->mesh[2] * r->mesh[1] * r->row);
  if (!r->values)
    fail(EXIT_RUN_FAILED, "not enough memory for the potential of %u x %u x %u cells", r->mesh[0],
         r->mesh[1], r->mesh[2]);
  make_plans(r);
  if (!r->periodic) make_green(r);
  return r;
}

double root_poisson_bytes(const struct root_poisson *r) {
  const double complex_numbers = (double)r->mesh[2] * r->mesh[1] * r->row;
  return complex_numbers * (r->periodic ? 2.0 : 3.0) * sizeof(double);
}

void root_poisson_free(struct root_poisson *r) {
  fftw_destroy_plan(r->forward);
  fftw_destroy_plan(r->backward);
  fftw_destroy_plan(r->along_z[0]);
  fftw_destroy_plan(r->along_z[1]);
  fftw_free(r->values);
  free(r->transform);
  free(r->near);
  free(r);
}

/* What copies between the mesh and the groups needs. */
struct copy {
  struct gas *gas;
  struct root_poisson *root;
  bool massive;
};

static const struct gas_batch *batch_at(const struct copy *c, uint32_t group, size_t *first) {
  const struct gas_batch *b = &c->gas->level[0].batch[group / c->gas->batch];
  *first = (group - b->first) * (size_t)GAS_GROUP_CELLS;
  return b;
}

static double *cube_at(starpu_data_handle_t handle, size_t first) {
  return (double *)starpu_vector_get_local_ptr(handle) + first;
}

/** The source of a group: its densities, and pseudo-mass. */
static void put_group(void *context, uint32_t group) {
  const struct copy *c = context;
  const struct gas *g = c->gas;
  const uint32_t *place = g->topology.level[0].group[group].place;
  const double factor = 4.0 * PI * g->gravity->newton_constant * g->cell * g->cell;
  size_t first;
  const struct gas_batch *b = batch_at(c, group, &first);
  double source[GAS_GROUP_CELLS];
  g->gravity->kernels->source(gas_cells(g, 0, group), factor, 0.0,
                              c->massive ? cube_at(b->sheets, first) : NULL, source);
  if (b->matter)
    matter_add((const struct gas_matter *)starpu_vector_get_local_ptr(b->matter) + group - b->first,
               factor, source);
  for (uint32_t z = 0; z < GAS_GROUP_SIDE; z++)
    for (uint32_t y = 0; y < GAS_GROUP_SIDE; y++)
      memcpy(value_at(c->root, GAS_GROUP_SIDE * place[0], GAS_GROUP_SIDE * place[1] + y,
                      GAS_GROUP_SIDE * place[2] + z),
             source + (z * GAS_GROUP_SIDE + y) * GAS_GROUP_SIDE, GAS_GROUP_SIDE * sizeof *source);
}

static void get_group(void *context, uint32_t group) {
  const struct copy *c = context;
  const struct gas *g = c->gas;
  const uint32_t *place = g->topology.level[0].group[group].place;
  size_t first;
  const struct gas_batch *b = batch_at(c, group, &first);
  double *cube = cube_at(b->potential[g->level[0].potential[POTENTIAL_END]], first);
  for (uint32_t z = 0; z < GAS_GROUP_SIDE; z++)
    for (uint32_t y = 0; y < GAS_GROUP_SIDE; y++)
      memcpy(cube + (z * GAS_GROUP_SIDE + y) * GAS_GROUP_SIDE,
             value_at(c->root, GAS_GROUP_SIDE * place[0], GAS_GROUP_SIDE * place[1] + y,
                      GAS_GROUP_SIDE * place[2] + z),
             GAS_GROUP_SIDE * sizeof *cube);
}

/** Take over a root batch's data from StarPU, or give it back. */
static void hold(const struct copy *c, bool acquire) {
  const struct gas_level *l = &c->gas->level[0];
  for (uint32_t i = 0; i < l->batch_count; i++) {
    const struct gas_batch *b = &l->batch[i];
    const starpu_data_handle_t handle[] = {
        b->handle[l->now], b->potential[l->potential[POTENTIAL_END]], c->massive ? b->sheets : NULL,
        b->matter};
    for (size_t k = 0; k < sizeof handle / sizeof *handle; k++)
      if (handle[k] && acquire)
        handle_acquire(handle[k], k == 1 ? STARPU_W : STARPU_R);
      else if (handle[k])
        starpu_data_release(handle[k]);
  }
}

/** Of the root level. */
static double mean_density(const struct root_poisson *r, const struct gas *g) {
  const double factor = 4.0 * PI * g->gravity->newton_constant * g->cell * g->cell;
  double sum = 0.0;
  for (uint32_t z = 0; z < r->cells[2]; z++)
    for (uint32_t y = 0; y < r->cells[1]; y++)
      for (uint32_t x = 0; x < r->cells[0]; x++) sum += *value_at(r, x, y, z);
  return sum / factor / ((double)r->cells[0] * r->cells[1] * r->cells[2]);
}

void root_poisson_solve(struct gas *g, bool massive) {
  struct root_poisson *r = g->gravity->root;
  struct copy copy = {g, r, massive};
  const uint32_t groups = g->topology.level[0].count;
  hold(&copy, true);
  memset(r->values, 0, 2 * (size_t)r->mesh[2] * r->mesh[1] * r->row * sizeof *r->values);
  loop_run(&gas_root_potential_stage, groups, put_group, &copy);
  if (!massive) g->gravity->mean_density = mean_density(r, g);
  solve(r);
  loop_run(&gas_root_potential_stage, groups, get_group, &copy);
  hold(&copy, false);
}
