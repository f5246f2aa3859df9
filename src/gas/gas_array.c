/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/gas/gas_array.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>

#include "photons/amr/kernels.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/gas/gas_ic.h"
#include "src/io/hdf5_util.h"
#include "src/io/hdf5_virtual.h"

enum { DENSITY, VELOCITY, PRESSURE = VELOCITY + 3, FIELDS };
static const char *const names[FIELDS] = {"density", "velocity_x", "velocity_y", "velocity_z",
                                          "pressure"};

struct gas_array {
  const char *path;
  hid_t file, field[FIELDS];
  size_t size[3]; /* cells along x, y, z */
  int level;
  pthread_mutex_t lock; /* HDF5 serves one thread at a time */
};

/** A box of cells. */
struct part {
  size_t low[3], size[3]; /* along x, y, z */
};

static void read_part(const struct gas_array *a, int field, const struct part *p, double *values) {
  const hsize_t start[3] = {p->low[2], p->low[1], p->low[0]};
  const hsize_t count[3] = {p->size[2], p->size[1], p->size[0]};
  const char *name = names[field];
  const hid_t memory = hdf5_check(H5Screate_simple(3, count, NULL), EXIT_BAD_INPUT, a->path, name);
  const hid_t file = hdf5_check(H5Dget_space(a->field[field]), EXIT_BAD_INPUT, a->path, name);
  hdf5_check(H5Sselect_hyperslab(file, H5S_SELECT_SET, start, NULL, count, NULL), EXIT_BAD_INPUT,
             a->path, name);
  hdf5_check(H5Dread(a->field[field], H5T_NATIVE_DOUBLE, memory, file, H5P_DEFAULT, values),
             EXIT_BAD_INPUT, a->path, name);
  H5Sclose(memory);
  H5Sclose(file);
}

/** Room for the fields of so many cells. */
static void allocate_piece(size_t cells, double *values[FIELDS]) {
  for (int field = 0; field < FIELDS; field++)
    values[field] = allocate(cells, sizeof *values[field], "a piece of initial conditions");
}

static void free_piece(double *values[FIELDS]) {
  for (int field = 0; field < FIELDS; field++) free(values[field]);
}

static struct gas_primitive primitive_at(double *const values[FIELDS], size_t i) {
  return (struct gas_primitive){
      .density = values[DENSITY][i],
      .velocity = {values[VELOCITY][i], values[VELOCITY + 1][i], values[VELOCITY + 2][i]},
      .pressure = values[PRESSURE][i]};
}

/** The shape of a dataset along x, y, z. */
static void read_shape(const char *path, const char *name, hid_t dataset, size_t size[3]) {
  hsize_t shape[3];
  const hid_t space = hdf5_check(H5Dget_space(dataset), EXIT_BAD_INPUT, path, name);
  const hid_t type = hdf5_check(H5Dget_type(dataset), EXIT_BAD_INPUT, path, name);
  const H5T_class_t class = H5Tget_class(type);
  if (class != H5T_INTEGER && class != H5T_FLOAT)
    fail(EXIT_BAD_INPUT, "%s: %s does not consist of numbers", path, name);
  if (H5Sget_simple_extent_ndims(space) != 3)
    fail(EXIT_BAD_INPUT, "%s: %s has %d dimensions; needed: three, z, y and x", path, name,
         H5Sget_simple_extent_ndims(space));
  H5Sget_simple_extent_dims(space, shape, NULL);
  for (int c = 0; c < 3; c++) size[c] = (size_t)shape[2 - c];
  H5Tclose(type);
  H5Sclose(space);
}

/** The level with so many cells along x, y and z; -1: there is none. */
static int find_level(const double root[3], const size_t size[3]) {
  for (int level = 0; level < GAS_LEVELS_MAX; level++) {
    bool same = true;
    for (int c = 0; c < 3; c++) same = same && (double)size[c] == ldexp(root[c], level);
    if (same) return level;
  }
  return -1;
}

static void open_field(struct gas_array *a, int field, const double root[3]) {
  size_t size[3];
  if (H5Lexists(a->file, names[field], H5P_DEFAULT) <= 0)
    fail(EXIT_BAD_INPUT,
         "%s: there is no dataset %s; needed: density, velocity_x, velocity_y, velocity_z and "
         "pressure",
         a->path, names[field]);
  a->field[field] = hdf5_open_dataset(a->file, a->path, names[field]);
  read_shape(a->path, names[field], a->field[field], size);
  a->level = find_level(root, size);
  for (int c = 0; c < 3; c++) {
    if (a->level < 0 || (field > 0 && size[c] != a->size[c]))
      fail(EXIT_BAD_INPUT,
           "%s: %s has %zu x %zu x %zu cells (z, y, x); needed: %g x %g x %g, as gas.root says, or "
           "the same power of two times as many along each axis%s",
           a->path, names[field], size[2], size[1], size[0], root[2], root[1], root[0],
           field > 0 ? ", as many as density has" : "");
    a->size[c] = size[c];
  }
  if (comm_rank() == 0) hdf5_check_readable(a->field[field], a->path, names[field]);
}

static struct gas_array *open_arrays(const char *path, const double root[3]) {
  struct gas_array *a = allocate(1, sizeof *a, "initial conditions of gas");
  *a = (struct gas_array){.path = path, .file = hdf5_open(path), .lock = PTHREAD_MUTEX_INITIALIZER};
  for (int field = 0; field < FIELDS; field++) open_field(a, field, root);
  return a;
}

/** End the program where a number cannot be. */
static void check_part(const struct gas_array *a, int field, const struct part *p,
                       const double *values) {
  const bool positive = field == DENSITY || field == PRESSURE;
  const size_t count = p->size[0] * p->size[1] * p->size[2];
  for (size_t i = 0; i < count; i++) {
    if (isfinite(values[i]) && (!positive || values[i] > 0.0)) continue;
    fail(EXIT_BAD_INPUT, "%s: %s is %g in cell (x, y, z) = (%zu, %zu, %zu) of %zu x %zu x %zu%s",
         a->path, names[field], values[i], p->low[0] + i % p->size[0],
         p->low[1] + i / p->size[0] % p->size[1], p->low[2], a->size[0], a->size[1], a->size[2],
         positive ? "; allowed: more than 0" : "; allowed: finite numbers");
  }
}

/** End the program where the solvers cannot compute with a cell. */
static void check_precision(const struct gas_array *a, const struct part *p,
                            double *const values[FIELDS], double gamma, bool wide) {
  const size_t count = p->size[0] * p->size[1] * p->size[2];
  for (size_t i = 0; i < count; i++) {
    const struct gas_primitive w = primitive_at(values, i);
    const char *lack = gas_precision_lacks(&w, gamma, wide);
    if (!lack) continue;
    fail(EXIT_BAD_INPUT,
         "%s: density %g, velocity (%g, %g, %g) and pressure %g in cell (x, y, z) = (%zu, %zu, "
         "%zu) of "
         "%zu x %zu x %zu: %s %s",
         a->path, w.density, w.velocity[0], w.velocity[1], w.velocity[2], w.pressure,
         p->low[0] + i % p->size[0], p->low[1] + i / p->size[0] % p->size[1], p->low[2], a->size[0],
         a->size[1], a->size[2], lack, gas_precision_remedy(wide));
  }
}

/** Look at all numbers, some rows of a plane at a time. */
static void check_numbers(const struct gas_array *a, double gamma, bool wide) {
  enum { PIECE = 1 << 18 };
  const size_t fitting = PIECE / a->size[0], least = fitting > 0 ? fitting : 1;
  const size_t rows = least < a->size[1] ? least : a->size[1];
  double *values[FIELDS];
  allocate_piece(rows * a->size[0], values);
  for (size_t z = 0; z < a->size[2]; z++)
    for (size_t y = 0; y < a->size[1]; y += rows) {
      const size_t left = a->size[1] - y;
      const struct part p = {{0, y, z}, {a->size[0], left < rows ? left : rows, 1}};
      for (int field = 0; field < FIELDS; field++) {
        read_part(a, field, &p, values[field]);
        check_part(a, field, &p, values[field]);
      }
      check_precision(a, &p, values, gamma, wide);
    }
  free_piece(values);
}

struct gas_array *gas_array_open(const char *path, const double root[3], double gamma, bool wide) {
  struct gas_array *a = NULL;
  if (comm_rank() == 0) {
    a = open_arrays(path, root);
    check_numbers(a, gamma, wide);
  }
  comm_barrier();
  return a ? a : open_arrays(path, root);
}

void gas_array_close(struct gas_array *a) {
  if (!a) return;
  for (int field = 0; field < FIELDS; field++) H5Dclose(a->field[field]);
  H5Fclose(a->file);
  free(a);
}

int gas_array_level(const struct gas_array *a) { return a->level; }

/** Add what the cells of a part hold to the coarser cells above them.
 * @param scale      cells of the part along an axis of a coarser one
 * @param conserved  [z][y][x][GAS_VARIABLES_MAX] of the coarser cells */
static void add_part(const struct part *p, double *const values[FIELDS], size_t scale, double gamma,
                     double *conserved) {
  const double weight = pow((double)scale, -3.0);
  const size_t *n = p->size;
  for (size_t i = 0; i < n[0] * n[1] * n[2]; i++) {
    const size_t x = i % n[0] / scale, y = i / n[0] % n[1] / scale, z = i / (n[0] * n[1]) / scale;
    double *to = conserved + ((z * n[1] / scale + y) * n[0] / scale + x) * GAS_VARIABLES_MAX;
    const struct gas_primitive w = primitive_at(values, i);
    double own[GAS_VARIABLES_MAX];
    gas_conserve(&w, gamma, own);
    for (int v = 0; v < GAS_VARIABLES_MAX; v++) to[v] += weight * own[v];
  }
}

void gas_array_read(struct gas_array *a, int level, const uint32_t place[3], double gamma,
                    double *conserved) {
  /* Layers of cells that are read together: arrays finer by four levels are read by single ones. */
  const int finer = a->level - level, layers = finer < 4 ? GAS_GROUP_SIDE >> finer : 1;
  const size_t scale = (size_t)1 << finer, side = GAS_GROUP_SIDE * scale;
  const size_t layer = GAS_GROUP_SIDE * GAS_GROUP_SIDE * GAS_VARIABLES_MAX;
  struct part p = {.size = {side, side, (size_t)layers * scale}};
  double *values[FIELDS];
  allocate_piece(p.size[0] * p.size[1] * p.size[2], values);
  for (size_t i = 0; i < GAS_GROUP_SIDE * layer; i++) conserved[i] = 0.0;
  for (int z = 0; z < GAS_GROUP_SIDE; z += layers) {
    for (int c = 0; c < 3; c++) p.low[c] = side * place[c];
    p.low[2] += (size_t)z * scale;
    pthread_mutex_lock(&a->lock);
    for (int field = 0; field < FIELDS; field++) read_part(a, field, &p, values[field]);
    pthread_mutex_unlock(&a->lock);
    add_part(&p, values, scale, gamma, conserved + (size_t)z * layer);
  }
  free_piece(values);
}
