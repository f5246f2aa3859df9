/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "gas_file_particles.h"

#include <math.h>
#include <stdlib.h>

#include "gas_file_tree.h"
#include "photons/base/error.h"
#include "photons/gas/particles.h"
#include "src/io/hdf5_util.h"

enum { PIECE = 65536, GENERIC_MASSIVE = 1 /* GAMER's type of a particle */ };

/* Columns of doubles. */
static const struct {
  const char *name;
  size_t offset;
} columns[] = {
    {"ParPosX", offsetof(struct gas_particle, position[0])},
    {"ParPosY", offsetof(struct gas_particle, position[1])},
    {"ParPosZ", offsetof(struct gas_particle, position[2])},
    {"ParVelX", offsetof(struct gas_particle, velocity[0])},
    {"ParVelY", offsetof(struct gas_particle, velocity[1])},
    {"ParVelZ", offsetof(struct gas_particle, velocity[2])},
    {"ParMass", offsetof(struct gas_particle, mass)},
};
enum { COLUMNS = sizeof columns / sizeof *columns };
static const char number_name[] = "ParPUid", type_name[] = "ParType";

/** Number in the file of the finest patch that contains a position. */
static size_t patch_of(const struct gas_file *f, const double position[3]) {
  const struct topology *t = &f->topology;
  double cell = f->cell;
  int64_t place[3];
  for (int c = 0; c < 3; c++) {
    place[c] = (int64_t)floor(position[c] / (GAS_GROUP_SIDE * cell));
    if (place[c] == (int64_t)t->root[c]) place[c]--; /* rounding */
  }
  uint32_t group = topology_find(t, 0, place);
  for (int level = 0;; level++, cell *= 0.5) {
    const struct gas_group *g = &t->level[level].group[group];
    int patch = 0;
    for (int c = 0; c < 3; c++)
      if (position[c] / cell - GAS_GROUP_SIDE * (double)g->place[c] >= GAS_PATCH_SIDE)
        patch |= 1 << c;
    if (g->son[patch] == NO_GROUP)
      return tree_first(t, level) + GAS_PATCHES * (size_t)group + tree_order[patch];
    group = g->son[patch];
  }
}

/** Particles in the order of a file. */
struct sorted {
  size_t count, patches;
  const struct gas_particle **particle; /* [count] */
  int32_t *in_patch;                    /* [patches] number of particles */
};

static struct sorted sort_particles(const struct gas_file *f) {
  struct sorted s = {.count = gas_particles_count(f->particles),
                     .patches = tree_first(&f->topology, f->topology.finest + 1)};
  size_t *patch = allocate(s.count, sizeof *patch, "particles of a file"), n = 0,
         *next = allocate(s.patches + 1, sizeof *next, "particles of a file");
  s.particle = allocate(s.count, sizeof *s.particle, "particles of a file");
  s.in_patch = allocate(s.patches, sizeof *s.in_patch, "particles of a file");
  for (int l = 0; l < GAS_LEVELS_MAX; l++)
    for (size_t i = 0; i < f->particles->level[l].count; i++, n++) {
      patch[n] = patch_of(f, f->particles->level[l].particle[i].position);
      s.in_patch[patch[n]]++;
    }
  for (size_t i = 0; i < s.patches; i++) next[i + 1] = next[i] + (size_t)s.in_patch[i];
  n = 0;
  for (int l = 0; l < GAS_LEVELS_MAX; l++)
    for (size_t i = 0; i < f->particles->level[l].count; i++, n++)
      s.particle[next[patch[n]]++] = &f->particles->level[l].particle[i];
  free(patch);
  free(next);
  return s;
}

static double *field_of(const struct gas_particle *p, size_t column) {
  return (double *)(void *)((char *)(uintptr_t)p + columns[column].offset);
}

static void write_column(hid_t group, const char *path, const struct sorted *s, size_t column) {
  const char *name = columns[column].name;
  const hid_t dataset = hdf5_create_dataset(group, path, name, H5T_NATIVE_DOUBLE, s->count, 1,
                                            H5P_DEFAULT);
  double *values = allocate(PIECE, sizeof *values, "a piece of a gas file");
  for (size_t first = 0, n; first < s->count; first += n) {
    n = s->count - first < PIECE ? s->count - first : PIECE;
    for (size_t i = 0; i < n; i++) values[i] = *field_of(s->particle[first + i], column);
    hdf5_write_rows(dataset, path, name, H5T_NATIVE_DOUBLE, first, n, 1, values);
  }
  free(values);
  hdf5_check(H5Dclose(dataset), EXIT_RUN_FAILED, path, "write Particle");
}

/** A column of integers: numbers or types of particles. */
static void write_integers(hid_t group, const char *path, const struct sorted *s,
                           const char *name) {
  const hid_t dataset = hdf5_create_dataset(group, path, name, H5T_NATIVE_INT64, s->count, 1,
                                            H5P_DEFAULT);
  int64_t *values = allocate(PIECE, sizeof *values, "a piece of a gas file");
  for (size_t first = 0, n; first < s->count; first += n) {
    n = s->count - first < PIECE ? s->count - first : PIECE;
    for (size_t i = 0; i < n; i++)
      values[i] = name == number_name ? (int64_t)s->particle[first + i]->number : GENERIC_MASSIVE;
    hdf5_write_rows(dataset, path, name, H5T_NATIVE_INT64, first, n, 1, values);
  }
  free(values);
  hdf5_check(H5Dclose(dataset), EXIT_RUN_FAILED, path, "write Particle");
}

/** How many particles each patch contains. */
static void write_numbers(hid_t file, const char *path, const struct sorted *s) {
  const hid_t dataset = hdf5_create_dataset(file, path, "Tree/NPar", H5T_NATIVE_INT32, s->patches,
                                            1, H5P_DEFAULT);
  hdf5_write_rows(dataset, path, "Tree/NPar", H5T_NATIVE_INT32, 0, s->patches, 1, s->in_patch);
  hdf5_check(H5Dclose(dataset), EXIT_RUN_FAILED, path, "write Tree");
}

void file_particles_write(hid_t file, const char *path, const struct gas_file *f) {
  struct sorted s = sort_particles(f);
  const hid_t group = hdf5_create_group(file, path, "Particle");
  for (size_t i = 0; i < COLUMNS; i++) write_column(group, path, &s, i);
  write_integers(group, path, &s, number_name);
  write_integers(group, path, &s, type_name);
  hdf5_close_group(group, path);
  write_numbers(file, path, &s);
  free(s.particle);
  free(s.in_patch);
}

/** Open a column. @param count  of its rows; 0: to be set */
static hid_t open_column(hid_t file, const char *path, const char *name, size_t *count) {
  char full[32];
  snprintf(full, sizeof full, "Particle/%s", name);
  const hid_t dataset = hdf5_check(H5Dopen2(file, full, H5P_DEFAULT), EXIT_BAD_INPUT, path, full);
  const hid_t space = hdf5_check(H5Dget_space(dataset), EXIT_BAD_INPUT, path, full);
  const hssize_t rows = H5Sget_simple_extent_npoints(space);
  if (rows <= 0 || (*count > 0 && (size_t)rows != *count))
    fail(EXIT_BAD_INPUT, "%s: %s has %lld rows", path, full, (long long)rows);
  hdf5_check_stored(dataset, path, full);
  *count = (size_t)rows;
  H5Sclose(space);
  return dataset;
}

struct gas_particle *file_particles_read(hid_t file, const char *path, size_t *count) {
  struct gas_particle *particle = NULL;
  double *values = allocate(PIECE, sizeof *values, "a piece of a gas file");
  int64_t *numbers = allocate(PIECE, sizeof *numbers, "a piece of a gas file");
  *count = 0;
  for (size_t column = 0; column <= COLUMNS; column++) {
    const bool last = column == COLUMNS;
    const char *name = last ? number_name : columns[column].name;
    const hid_t dataset = open_column(file, path, name, count);
    if (!particle) particle = allocate(*count, sizeof *particle, "particles");
    for (size_t first = 0, n; first < *count; first += n) {
      n = *count - first < PIECE ? *count - first : PIECE;
      hdf5_read_rows(dataset, path, name, last ? H5T_NATIVE_INT64 : H5T_NATIVE_DOUBLE, first, n, 1,
                     last ? (void *)numbers : values, NULL);
      for (size_t i = 0; i < n; i++)
        if (last)
          particle[first + i].number = (uint64_t)numbers[i];
        else
          *field_of(&particle[first + i], column) = values[i];
    }
    H5Dclose(dataset);
  }
  free(values);
  free(numbers);
  return particle;
}
