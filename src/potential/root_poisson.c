/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The potential of the root level, by Fourier transforms over the box: with the eigenvalues of the
 * discrete Laplacian where the box is periodic; else, in a box of twice the size, as the
 * convolution with the discrete Laplacian's Green function (Hockney & Eastwood 1981, section
 * 6-5-4). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "photons/amr/matter.h"
#include "photons/amr/root_exchange.h"
#include "photons/amr/totals.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/potential/gravity.h"
#include "photons/potential/root_gpu.h"
#include "photons/runtime/handle.h"
#include "photons/runtime/loop.h"
#include "photons/runtime/message.h"

#define PI 3.14159265358979323846

LOOP_STAGE(gas_root_potential, 0x117733, .family = "gas");
LOOP_STAGE(gas_root_transform, 0x115522, .family = "gas");

enum { NEAR = 12, NEAR_SIDE = 2 * NEAR + 1 }; /* cells in which the Green function is relaxed */

/** Axes of the level along those of its transform: rows are along x, as those of groups. */
static const unsigned axis_of[3] = {2, 1, 0};

/** The root level's mesh, and the way between its groups and the mesh. */
struct root_poisson {
  struct fft fft; /* along z, y, x */
  double *values;
  uint32_t size[3]; /* of the transforms, along x, y, z */
  bool periodic;
  double *green;                  /* [line here][z <= size/2][x]: transform of the Green function */
  double *near;                   /* [NEAR_SIDE]^3: Green function around the origin */
  double *eigenvalue[3];          /* along each axis; of the periodic Laplacian */
  struct root_exchange *exchange; /* NULL until it is needed */
  double *sum;                    /* [own group] of the source */
  struct root_gpu *gpu;           /* solves the level in place of the mesh; NULL: the mesh does */
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

/* The Green function in the box of twice the size is even along each axis. What the mesh holds of
 * it are its first cells along z, then the second ones. */

enum { FIRST_HALF, SECOND_HALF };

struct green_part {
  struct root_poisson *root;
  int half;
};

static uint32_t distance(uint32_t cell, uint32_t size) {
  return cell > size / 2 ? size - cell : cell;
}

static void fill_green(void *context, uint32_t plane) {
  const struct green_part *part = context;
  const struct root_poisson *r = part->root;
  const struct fft_box *b = &r->fft.values;
  const uint32_t *size = r->size, z = (uint32_t)b->first[0] + plane, rows = (uint32_t)b->count[1];
  for (uint32_t row = 0; row < 2 * rows; row++) {
    const uint32_t y = (uint32_t)b->first[1] + row % rows + (row < rows ? 0 : size[1] / 2);
    for (uint32_t x = 0; x < size[0]; x++)
      r->values[fft_at(b, plane, row, x)] = lattice_green(
          r, (const uint32_t[]){distance(x, size[0]), distance(y, size[1]),
                                part->half == FIRST_HALF ? z : size[2] / 2 - z});
  }
}

/** The Green function of waves k1 = y and k0 = z, [x] of this rank. */
static double *green_at(const struct root_poisson *r, size_t y, size_t z) {
  const struct fft_box *b = &r->fft.modes;
  return r->green + ((y - b->first[1]) * (r->size[2] / 2 + 1) + z) * b->count[2];
}

static void add_green(void *context, size_t y, size_t first, size_t count, fftw_complex *waves) {
  const struct green_part *part = context;
  const struct root_poisson *r = part->root;
  for (uint32_t z = 0; z <= r->size[2] / 2; z++) {
    const double sign = part->half == SECOND_HALF && z % 2 == 1 ? -1.0 : 1.0;
    double *green = green_at(r, y, z) + first - r->fft.modes.first[2];
    for (size_t x = 0; x < count; x++) green[x] += sign * waves[z * count + x][0];
  }
}

static void make_green(struct root_poisson *r) {
  const struct fft_box *b = &r->fft.modes;
  r->near = near_green();
  r->green = allocate(b->count[1] * (r->size[2] / 2 + 1) * b->count[2], sizeof *r->green,
                      "the Green function");
  for (int half = FIRST_HALF; half <= SECOND_HALF; half++) {
    struct green_part part = {r, half};
    loop_run(&gas_root_potential_stage, (uint32_t)r->fft.values.count[0], fill_green, &part);
    fft_visit(&r->fft, r->values, true, add_green, &part);
  }
}

/** 2 (1 - cos(2 pi k/n)), of waves along one axis. */
static double *make_eigenvalues(uint32_t n) {
  double *value = allocate(n, sizeof *value, "waves of the root level");
  for (uint32_t k = 0; k < n; k++) value[k] = pow(2.0 * sin(PI * k / n), 2.0);
  return value;
}

/** Make the waves those of the potential. */
static void solve_line(void *context, size_t y, size_t first, size_t count, fftw_complex *waves) {
  const struct root_poisson *r = context;
  const double norm = 1.0 / ((double)r->size[0] * r->size[1] * r->size[2]);
  const double *along_x = r->eigenvalue[0] + first;
  for (uint32_t z = 0; z < r->size[2]; z++) {
    const double across = r->eigenvalue[1][y] + r->eigenvalue[2][z];
    const double *green = r->periodic ? NULL
                                      : green_at(r, y, distance(z, r->size[2])) + first -
                                            r->fft.modes.first[2];
    fftw_complex *row = waves + z * count;
    for (size_t x = 0; x < count; x++) {
      const double sum = across + along_x[x];
      const double factor = green ? green[x] : sum > 0.0 ? -1.0 / sum : 0.0;
      for (int part = 0; part < 2; part++) row[x][part] *= norm * factor;
    }
  }
}

static struct fft_mesh mesh_of(const uint32_t root[3], bool periodic) {
  struct fft_mesh m = {.padded = !periodic, .lasting = true, .stage = &gas_root_transform_stage};
  for (int c = 0; c < 3; c++) m.cells[c] = GAS_GROUP_SIDE * (size_t)root[axis_of[c]];
  return m;
}

/** None where ranks have parts of lines. */
static struct root_green lines_of_green(const struct root_poisson *r) {
  const struct fft_box *b = &r->fft.modes;
  return (struct root_green){r->green, (uint32_t)b->first[1],
                             b->count[2] == r->size[0] / 2 + 1 ? (uint32_t)b->count[1] : 0};
}

struct root_poisson *root_poisson_make(const struct gas *g) {
  struct root_poisson *r = allocate(1, sizeof *r, "the root level's potential");
  r->periodic = g->topology.boundary[0][0] == GAS_PERIODIC;
  const struct fft_mesh mesh = mesh_of(g->topology.root, r->periodic);
  r->fft = fft_create(&mesh);
  r->values = fftw_malloc(fft_bytes(&r->fft));
  if (!r->values)
    fail(EXIT_RUN_FAILED, "not enough memory for the potential of the root level: %.1f GB",
         1e-9 * (double)fft_bytes(&r->fft));
  for (int c = 0; c < 3; c++) {
    r->size[axis_of[c]] = (uint32_t)r->fft.size[c];
    r->eigenvalue[axis_of[c]] = make_eigenvalues((uint32_t)r->fft.size[c]);
  }
  if (!r->periodic) make_green(r);
  r->gpu = root_gpu_make(g, r->size, lines_of_green(r));
  return r;
}

void root_poisson_divide(struct root_poisson *r, const struct gas *g) {
  if (!r->gpu || g->tasks.homes == 1) return;
  root_gpu_free(r->gpu);
  r->gpu = root_gpu_make(g, r->size, lines_of_green(r));
}

double root_poisson_bytes(const uint32_t root[3], bool periodic) {
  const struct fft_mesh m = mesh_of(root, periodic);
  const double x = (double)m.cells[2], y = (double)m.cells[1], z = (double)m.cells[0];
  const double green = periodic ? 0.0 : 2.0 * y * (x + 1.0) * (z + 1.0) * sizeof(double);
  return fft_bytes_of_all(&m) + fft_exchange_bytes_of_all(&m) + green +
         root_exchange_bytes_of_all(x * y * z);
}

void root_poisson_free(struct root_poisson *r) {
  root_gpu_free(r->gpu);
  fft_free(&r->fft);
  fftw_free(r->values);
  for (int c = 0; c < 3; c++) free(r->eigenvalue[c]);
  free(r->green);
  free(r->near);
  root_exchange_free(r->exchange);
  free(r->sum);
  free(r);
}

/* What copies between the mesh and the groups needs. */
struct copy {
  struct gas *gas;
  struct root_poisson *root;
  bool massive;
};

static const struct gas_batch *batch_at(const struct copy *c, uint32_t group, size_t *first) {
  const struct gas_batch *b = gas_batch_with(c->gas, 0, group);
  *first = (group - b->first) * (size_t)GAS_GROUP_CELLS;
  return b;
}

static double *cube_at(starpu_data_handle_t handle, size_t first) {
  return (double *)starpu_vector_get_local_ptr(handle) + first;
}

/** The source of a group: its densities, and pseudo-mass. */
static void give_source(void *context, uint32_t group, double *source) {
  const struct copy *c = context;
  const struct gas *g = c->gas;
  size_t first;
  const struct gas_batch *b = batch_at(c, group, &first);
  double *sum = &c->root->sum[gas_own_number(&g->level[0], group)];
  *sum = g->gravity->kernels->source(gas_cells(g, 0, group), gravity_factor(g, 0), 0.0,
                                     c->massive ? cube_at(b->sheets, first) : NULL, source);
  if (b->matter)
    *sum += matter_add((const struct gas_matter *)starpu_vector_get_local_ptr(b->matter) + group -
                           b->first,
                       gravity_factor(g, 0), source);
}

static void take_potential(void *context, uint32_t group, const double *cube) {
  const struct copy *c = context;
  size_t first;
  const struct gas_batch *b = batch_at(c, group, &first);
  memcpy(cube_at(b->potential[c->gas->level[0].potential[POTENTIAL_END]], first), cube,
         GAS_GROUP_CELLS * sizeof *cube);
}

/** Take over an own root batch's data from StarPU, or give it back. */
static void hold(const struct copy *c, bool acquire) {
  const struct gas_level *l = &c->gas->level[0];
  const uint32_t end = gas_first_batch(c->gas, 0, comm_rank() + 1);
  for (uint32_t i = gas_first_batch(c->gas, 0, comm_rank()); i < end; i++) {
    const struct gas_batch *b = gas_batch(c->gas, 0, i);
    const starpu_data_handle_t handle[] = {b->handle[l->now],
                                           b->potential[l->potential[POTENTIAL_END]],
                                           c->massive ? b->sheets : NULL, b->matter};
    for (size_t k = 0; k < sizeof handle / sizeof *handle; k++)
      if (handle[k] && acquire)
        handle_acquire(handle[k], k == 1 ? STARPU_W : STARPU_R);
      else if (handle[k])
        starpu_data_release(handle[k]);
  }
}

static void add_source(const struct gas *g, int level, uint32_t group, struct group_totals *t) {
  const struct root_poisson *r = g->gravity->root;
  const uint32_t own = gas_own_number(&g->level[level], group);
  exact_add(&t->sum[0], r->gpu ? r->gpu->sum[own] : r->sum[own]);
}

/** Mean over the cells of the root level of what its groups have in their sums. */
static double mean_source(const struct gas *g) {
  const struct level_totals t = gas_total(g, 0, 1, add_source);
  return t.sum[0] / ((double)g->topology.level[0].count * GAS_GROUP_CELLS);
}

/** Solve on a GPU. */
static void solve_on_gpu(struct gas *g, struct root_gpu *r, bool massive) {
  root_gpu_meet(r, g);
  gas_root_solve_submit(g, r, massive);
  if (massive || g->tasks.chain) return; /* a chain of tasks finds the mean density itself */
  message_wait();                        /* tasks of other levels read the mean density, too */
  g->gravity->mean_density = mean_source(g);
}

void root_poisson_solve(struct gas *g, bool massive) {
  struct root_poisson *r = g->gravity->root;
  if (r->gpu) {
    solve_on_gpu(g, r->gpu, massive);
    return;
  }
  struct copy copy = {g, r, massive};
  if (!r->exchange) { /* batches are made after the solver */
    r->exchange = root_exchange_make(g, &r->fft.mesh, axis_of, &gas_root_potential_stage);
    r->sum = allocate(g->level[0].mine.end - g->level[0].mine.first, sizeof *r->sum,
                      "sums of groups");
  }
  if (!massive) message_wait(); /* tasks of other levels read the mean density */
  hold(&copy, true);
  if (!r->periodic) memset(r->values, 0, fft_bytes(&r->fft));
  root_exchange_to_mesh(r->exchange, give_source, &copy, r->values);
  if (!massive) g->gravity->mean_density = mean_source(g) / gravity_factor(g, 0);
  fft_convolve(&r->fft, r->values, solve_line, r);
  root_exchange_to_groups(r->exchange, r->values, take_potential, &copy);
  hold(&copy, false);
}
