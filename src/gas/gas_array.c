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

enum {
  DENSITY,
  VELOCITY,
  PRESSURE = VELOCITY + 3,
  CARRIED,
  FIELDS_MAX = CARRIED + GAS_CARRIED_MAX
};

struct gas_array {
  const char *path;
  int fields; /* of the following */
  struct gas_variable_text name[FIELDS_MAX];
  int carried[FIELDS_MAX]; /* from CARRIED on: which of gas_primitive.carried */
  hid_t file, field[FIELDS_MAX];
  size_t size[3]; /* cells along x, y, z */
  int level;
  pthread_mutex_t lock; /* HDF5 serves one thread at a time */
};

/** A box of cells. */
struct part {
  size_t low[3], size[3]; /* along x, y, z */
};

static const char *name_of(const struct gas_array *a, int field) { return a->name[field].text; }

/** The datasets that a file must have. */
static void find_fields(struct gas_array *a, const struct gas_physics *physics) {
  static const struct gas_variable_text always[] = {
      {"density"}, {"velocity_x"}, {"velocity_y"}, {"velocity_z"}, {"pressure"}};
  for (int field = 0; field < CARRIED; field++) a->name[field] = always[field];
  a->fields = CARRIED;
  for (unsigned v = gas_solved(physics); v < gas_variables(physics); v++) {
    const enum gas_variable number = gas_variable_at(physics, v);
    a->name[a->fields] = gas_variable_name(number);
    a->carried[a->fields++] = (int)number - GAS_SOLVED_MAX;
  }
}

static void read_part(const struct gas_array *a, int field, const struct part *p, double *values) {
  const hsize_t start[3] = {p->low[2], p->low[1], p->low[0]};
  const hsize_t count[3] = {p->size[2], p->size[1], p->size[0]};
  const char *name = name_of(a, field);
  const hid_t memory = hdf5_reading(H5Screate_simple(3, count, NULL), a->path, name);
  const hid_t file = hdf5_reading(H5Dget_space(a->field[field]), a->path, name);
  hdf5_reading(H5Sselect_hyperslab(file, H5S_SELECT_SET, start, NULL, count, NULL), a->path, name);
  hdf5_reading(H5Dread(a->field[field], H5T_NATIVE_DOUBLE, memory, file, H5P_DEFAULT, values),
               a->path, name);
  H5Sclose(memory);
  H5Sclose(file);
}

/** Room for the fields of so many cells. */
static void allocate_piece(const struct gas_array *a, size_t cells, double *values[FIELDS_MAX]) {
  for (int field = 0; field < a->fields; field++)
    values[field] = allocate(cells, sizeof *values[field], "a piece of initial conditions");
}

static void free_piece(const struct gas_array *a, double *values[FIELDS_MAX]) {
  for (int field = 0; field < a->fields; field++) free(values[field]);
}

static struct gas_primitive primitive_at(const struct gas_array *a,
                                         double *const values[FIELDS_MAX], size_t i) {
  struct gas_primitive w = {
      .density = values[DENSITY][i],
      .velocity = {values[VELOCITY][i], values[VELOCITY + 1][i], values[VELOCITY + 2][i]},
      .pressure = values[PRESSURE][i]};
  for (int field = CARRIED; field < a->fields; field++)
    w.carried[a->carried[field]] = values[field][i];
  return w;
}

/** The shape of a dataset along x, y, z. */
static void read_shape(const char *path, const char *name, hid_t dataset, size_t size[3]) {
  hsize_t shape[3];
  const hid_t space = hdf5_reading(H5Dget_space(dataset), path, name);
  const hid_t type = hdf5_reading(H5Dget_type(dataset), path, name);
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
  const char *name = name_of(a, field);
  if (H5Lexists(a->file, name, H5P_DEFAULT) <= 0)
    fail(EXIT_BAD_INPUT,
         "%s: there is no dataset %s; needed: density, velocity_x, velocity_y, velocity_z and "
         "pressure, and the mass fractions that the run has, such as scalar_0 with gas.scalars = 1",
         a->path, name);
  a->field[field] = hdf5_open_dataset(a->file, a->path, name);
  read_shape(a->path, name, a->field[field], size);
  a->level = find_level(root, size);
  for (int c = 0; c < 3; c++) {
    if (a->level < 0 || (field > 0 && size[c] != a->size[c]))
      fail(EXIT_BAD_INPUT,
           "%s: %s has %zu x %zu x %zu cells (z, y, x); needed: %g x %g x %g, as gas.root says, or "
           "the same power of two times as many along each axis%s",
           a->path, name, size[2], size[1], size[0], root[2], root[1], root[0],
           field > 0 ? ", as many as density has" : "");
    a->size[c] = size[c];
  }
  if (comm_rank() == 0) hdf5_check_readable(a->field[field], a->path, name);
}

static struct gas_array *open_arrays(const char *path, const double root[3],
                                     const struct gas_physics *physics) {
  struct gas_array *a = allocate(1, sizeof *a, "initial conditions of gas");
  *a = (struct gas_array){.path = path, .file = hdf5_open(path), .lock = PTHREAD_MUTEX_INITIALIZER};
  find_fields(a, physics);
  for (int field = 0; field < a->fields; field++) open_field(a, field, root);
  return a;
}

/** End the program where a number cannot be. */
static void check_part(const struct gas_array *a, int field, const struct part *p,
                       const double *values) {
  const bool positive = field == DENSITY || field == PRESSURE, fraction = field >= CARRIED;
  const size_t count = p->size[0] * p->size[1] * p->size[2];
  for (size_t i = 0; i < count; i++) {
    if (isfinite(values[i]) && (!positive || values[i] > 0.0) &&
        (!fraction || (values[i] >= 0.0 && values[i] <= 1.0)))
      continue;
    fail(EXIT_BAD_INPUT, "%s: %s is %g in cell (x, y, z) = (%zu, %zu, %zu) of %zu x %zu x %zu%s",
         a->path, name_of(a, field), values[i], p->low[0] + i % p->size[0],
         p->low[1] + i / p->size[0] % p->size[1], p->low[2], a->size[0], a->size[1], a->size[2],
         positive   ? "; allowed: more than 0"
         : fraction ? "; allowed: 0 to 1"
                    : "; allowed: finite numbers");
  }
}

/** End the program where the solvers cannot compute with a cell. */
static void check_precision(const struct gas_array *a, const struct part *p,
                            double *const values[FIELDS_MAX], double gamma, bool wide) {
  const size_t count = p->size[0] * p->size[1] * p->size[2];
  for (size_t i = 0; i < count; i++) {
    const struct gas_primitive w = primitive_at(a, values, i);
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
  double *values[FIELDS_MAX];
  allocate_piece(a, rows * a->size[0], values);
  for (size_t z = 0; z < a->size[2]; z++)
    for (size_t y = 0; y < a->size[1]; y += rows) {
      const size_t left = a->size[1] - y;
      const struct part p = {{0, y, z}, {a->size[0], left < rows ? left : rows, 1}};
      for (int field = 0; field < a->fields; field++) {
        read_part(a, field, &p, values[field]);
        check_part(a, field, &p, values[field]);
      }
      check_precision(a, &p, values, gamma, wide);
    }
  free_piece(a, values);
}

struct gas_array *gas_array_open(const char *path, const double root[3],
                                 const struct gas_physics *physics, bool wide) {
  struct gas_array *a = NULL;
  if (comm_rank() == 0) {
    a = open_arrays(path, root, physics);
    check_numbers(a, physics->gamma, wide);
  }
  comm_barrier();
  return a ? a : open_arrays(path, root, physics);
}

void gas_array_close(struct gas_array *a) {
  if (!a) return;
  for (int field = 0; field < a->fields; field++) H5Dclose(a->field[field]);
  H5Fclose(a->file);
  free(a);
}

int gas_array_level(const struct gas_array *a) { return a->level; }

/** Add what the cells of a part hold to the coarser cells above them.
 * @param scale      cells of the part along an axis of a coarser one
 * @param conserved  [z][y][x][GAS_VARIABLES_MAX] of the coarser cells */
static void add_part(const struct gas_array *a, const struct part *p,
                     double *const values[FIELDS_MAX], size_t scale, double gamma,
                     double *conserved) {
  const double weight = pow((double)scale, -3.0);
  const size_t *n = p->size;
  for (size_t i = 0; i < n[0] * n[1] * n[2]; i++) {
    const size_t x = i % n[0] / scale, y = i / n[0] % n[1] / scale, z = i / (n[0] * n[1]) / scale;
    double *to = conserved + ((z * n[1] / scale + y) * n[0] / scale + x) * GAS_VARIABLES_MAX;
    const struct gas_primitive w = primitive_at(a, values, i);
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
  double *values[FIELDS_MAX];
  allocate_piece(a, p.size[0] * p.size[1] * p.size[2], values);
  for (size_t i = 0; i < GAS_GROUP_SIDE * layer; i++) conserved[i] = 0.0;
  for (int z = 0; z < GAS_GROUP_SIDE; z += layers) {
    for (int c = 0; c < 3; c++) p.low[c] = side * place[c];
    p.low[2] += (size_t)z * scale;
    pthread_mutex_lock(&a->lock);
    for (int field = 0; field < a->fields; field++) read_part(a, field, &p, values[field]);
    pthread_mutex_unlock(&a->lock);
    add_part(a, &p, values, scale, gamma, conserved + (size_t)z * layer);
  }
  free_piece(a, values);
}
