/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "amuse_file.h"

#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "photons/base/error.h"
#include "photons/domain/particles.h"
#include "src/io/gadget.h"
#include "src/io/hdf5_stored.h"
#include "src/io/hdf5_util.h"

enum { MASS, X, VX = X + 3, ATTRIBUTES = VX + 3 };
static const char *const attributes[ATTRIBUTES] = {"mass", "x", "y", "z", "vx", "vy", "vz"};
/* Powers of mass, length and time in a unit, and the unit of SI in cgs. */
enum { BASES = 3 };
static const char *const bases[BASES] = {"mass", "length", "time"};
static const struct kind {
  int power[BASES];
  double cgs;
} mass_kind = {{1, 0, 0}, 1e3}, length_kind = {{0, 1, 0}, 1e2}, velocity_kind = {{0, 1, -1}, 1e2};

enum { NAME_SIZE = 64 };

/** The name of the last group of a group, which is the newest state. @return whether there is one */
static bool find_last(hid_t group, char name[NAME_SIZE]) {
  H5G_info_t info;
  if (H5Gget_info(group, &info) < 0 || info.nlinks == 0) return false;
  const ssize_t length = H5Lget_name_by_idx(group, ".", H5_INDEX_NAME, H5_ITER_INC, info.nlinks - 1,
                                            name, NAME_SIZE, H5P_DEFAULT);
  return length > 0 && length < NAME_SIZE;
}

/** Open the attributes of the newest state. Version 2 of the format has states in the group data, version 1 in
 * particles. @return negative where there are none */
static hid_t open_attributes(hid_t file, const char *path) {
  static const char *const tops[] = {"data", "particles"};
  char name[NAME_SIZE];
  for (size_t k = 0; k < sizeof tops / sizeof *tops; k++) {
    const hid_t top = hdf5_open_group(file, path, tops[k]);
    if (top < 0) continue;
    const bool found = find_last(top, name);
    const hid_t state = found ? hdf5_open_group(top, path, name) : H5I_INVALID_HID;
    H5Gclose(top);
    if (state < 0) continue;
    const hid_t group = hdf5_open_group(state, path, "attributes");
    H5Gclose(state);
    if (group >= 0) return group;
  }
  return H5I_INVALID_HID;
}

bool amuse_file_is(const char *path) {
  const hid_t file = hdf5_try_open(path);
  if (file < 0) return false;
  const hid_t group = open_attributes(file, path);
  if (group >= 0) H5Gclose(group);
  H5Fclose(file);
  return group >= 0;
}

/** Read one factor of a unit and its power: a number, or a base such as system.get('S.I.').base('mass').
 * @param sign  of the power
 * @return where it ends, or NULL */
static const char *read_factor(const char *text, int sign, double *factor, int power[BASES],
                               bool *si) {
  char system[NAME_SIZE], base[NAME_SIZE], *end;
  int length = 0, k = 0;
  const double number = strtod(text, &end);
  const bool is_number = end != text;
  if (!is_number &&
      (sscanf(text, "system.get('%63[^']').base('%63[^']')%n", system, base, &length) != 2 ||
       length == 0))
    return NULL;
  text = is_number ? end : text + length;
  text += strspn(text, ") ");
  long exponent = 1;
  if (strncmp(text, "**", 2) == 0) {
    exponent = strtol(text + 2, &end, 10);
    text = end;
  }
  if (is_number) {
    *factor *= pow(number, (double)(sign * exponent));
    return text;
  }
  while (k < BASES && strcmp(base, bases[k]) != 0) k++;
  if (k == BASES) return NULL;
  power[k] += sign * (int)exponent;
  *si = strcmp(system, "S.I.") == 0;
  return text;
}

/** Read a unit in AMUSE's simple form: a product of a number and powers of bases, with parentheses that change nothing.
 * @return whether it is one */
static bool read_unit(const char *text, double *factor, int power[BASES], bool *si) {
  int sign = 1;
  *factor = 1.0;
  for (int k = 0; k < BASES; k++) power[k] = 0;
  for (text += strspn(text, "( ");; text += 1 + strspn(text + 1, "( ")) {
    text = read_factor(text, sign, factor, power, si);
    if (!text) return false;
    text += strspn(text, ") ");
    if (!*text) return true;
    if (*text != '*' && *text != '/') return false;
    sign = *text == '*' ? 1 : -1;
  }
}

/** The attribute `units` of a dataset, of fixed or variable length. */
static void read_units_text(hid_t dataset, const char *path, const char *name, char *text,
                            size_t size) {
  *text = '\0';
  if (H5Aexists(dataset, "units") <= 0) return;
  const hid_t attribute = hdf5_reading(H5Aopen(dataset, "units", H5P_DEFAULT), path, name);
  const hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute);
  if (H5Tget_class(type) != H5T_STRING || H5Sget_simple_extent_npoints(space) != 1)
    fail(EXIT_BAD_INPUT, "%s: the units of %s are not one text", path, name);
  if (H5Tis_variable_str(type)) {
    char *found = NULL;
    hdf5_reading(H5Aread(attribute, type, &found), path, name);
    snprintf(text, size, "%s", found ? found : "");
    H5free_memory(found);
  } else {
    char *found = allocate(H5Tget_size(type) + 1, 1, name);
    hdf5_reading(H5Aread(attribute, type, found), path, name);
    snprintf(text, size, "%s", found);
    free(found);
  }
  H5Sclose(space);
  H5Tclose(type);
  H5Aclose(attribute);
}

static hid_t open_attribute(hid_t group, const char *path, const char *name) {
  if (H5Lexists(group, name, H5P_DEFAULT) <= 0)
    fail(EXIT_BAD_INPUT, "%s: the particles have no %s; expected mass, x, y, z, vx, vy, vz", path,
         name);
  const hid_t dataset = hdf5_reading(H5Dopen2(group, name, H5P_DEFAULT), path, name);
  hdf5_check_stored(dataset, path, name);
  return dataset;
}

static size_t rows_of(hid_t dataset, const char *path, const char *name) {
  const hid_t space = hdf5_reading(H5Dget_space(dataset), path, name);
  if (H5Sget_simple_extent_ndims(space) != 1)
    fail(EXIT_BAD_INPUT, "%s: %s is not one number for each particle", path, name);
  const size_t rows = (size_t)H5Sget_simple_extent_npoints(space);
  H5Sclose(space);
  return rows;
}

/** The unit of an attribute in cgs, or GADGET_ABSENT: it has none, or one of N-body units. */
static double unit_of(hid_t dataset, const char *path, const char *name, const struct kind *kind) {
  char text[512];
  double factor;
  int power[BASES];
  bool si = false;
  read_units_text(dataset, path, name, text, sizeof text);
  if (!*text || strcmp(text, "none") == 0) return GADGET_ABSENT;
  if (!read_unit(text, &factor, power, &si) || memcmp(power, kind->power, sizeof power) != 0 ||
      (!si && factor != 1.0))
    fail(EXIT_BAD_INPUT,
         "%s: %s has the units %s; expected a %s in SI, or in N-body units without a factor", path,
         name, text,
         kind == &mass_kind     ? "mass"
         : kind == &length_kind ? "length"
                                : "velocity");
  return si ? factor * kind->cgs : GADGET_ABSENT;
}

size_t amuse_file_open(const char *path, struct row_units *units) {
  const hid_t file = hdf5_open(path), group = open_attributes(file, path);
  size_t count = 0;
  for (int k = 0; k < ATTRIBUTES; k++) {
    const struct kind *kind = k < X ? &mass_kind : k < VX ? &length_kind : &velocity_kind;
    double *unit = k < X ? &units->mass : k < VX ? &units->length : &units->velocity;
    const hid_t dataset = open_attribute(group, path, attributes[k]);
    const size_t rows = rows_of(dataset, path, attributes[k]);
    const double found = unit_of(dataset, path, attributes[k], kind);
    if (k > 0 && rows != count)
      fail(EXIT_BAD_INPUT, "%s: %zu particles have a mass, and %zu have %s", path, count, rows,
           attributes[k]);
    if (k > X && k != VX && found != *unit)
      fail(EXIT_BAD_INPUT, "%s: %s has other units than %s", path, attributes[k],
           attributes[k < VX ? X : VX]);
    count = rows;
    *unit = found;
    H5Dclose(dataset);
  }
  H5Gclose(group);
  H5Fclose(file);
  return count;
}

void amuse_file_read(const char *path, size_t first, size_t count,
                     void (*take)(void *context, size_t i, const struct row *row), void *context) {
  enum { CHUNK = 1 << 14 };
  const hid_t file = hdf5_open(path), group = open_attributes(file, path);
  double *value = allocate((size_t)ATTRIBUTES * CHUNK, sizeof *value, "particles of a file");
  hid_t dataset[ATTRIBUTES];
  for (int k = 0; k < ATTRIBUTES; k++) dataset[k] = open_attribute(group, path, attributes[k]);
  for (size_t done = 0; done < count; done += CHUNK) {
    const size_t rows = count - done < CHUNK ? count - done : CHUNK;
    for (size_t k = 0; k < ATTRIBUTES; k++)
      hdf5_read_rows(dataset[k], path, attributes[k], H5T_NATIVE_DOUBLE, first + done, rows, 1,
                     value + k * CHUNK, NULL);
    for (size_t i = 0; i < rows; i++) {
      struct row row = {.mass = value[i], .type = PARTICLE_HALO};
      for (size_t c = 0; c < 3; c++) {
        row.x[c] = value[(X + c) * CHUNK + i];
        row.v[c] = value[(VX + c) * CHUNK + i];
      }
      take(context, done + i, &row);
    }
  }
  for (int k = 0; k < ATTRIBUTES; k++) H5Dclose(dataset[k]);
  free(value);
  H5Gclose(group);
  H5Fclose(file);
}
