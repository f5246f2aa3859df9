/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "gas_file_particles.h"

#include <math.h>
#include <stdlib.h>

#include "gas_file_tree.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/pm/particles.h"
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

static double *field_of(const struct gas_particle *p, size_t column) {
  return (double *)(void *)((char *)(uintptr_t)p + columns[column].offset);
}

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

/** A row of a file. */
struct row {
  size_t patch;
  const struct gas_particle *particle;
};

/** A row in a message. */
struct parcel {
  size_t patch;
  struct gas_particle particle;
};

struct file_particles {
  size_t all, first;       /* rows of the file; the first one of this rank */
  size_t count, patches;   /* rows of this rank; patches of the file */
  struct row *row;         /* [count] in their order */
  struct parcel *received; /* where their particles are; NULL: where they are in memory */
  uint64_t *in_patch;      /* [patches] number of particles */
};

static int compare_rows(const void *a, const void *b) {
  const struct row *x = a, *y = b;
  if (x->patch != y->patch) return x->patch < y->patch ? -1 : 1;
  return (x->particle->number > y->particle->number) - (x->particle->number < y->particle->number);
}

static void sort_rows(struct file_particles *s) {
  if (s->count > 0) qsort(s->row, s->count, sizeof *s->row, compare_rows);
}

/** Rows of this rank's particles. */
static void take_particles(const struct gas_file *f, struct file_particles *s) {
  for (int l = 0; l < GAS_LEVELS_MAX; l++) s->count += f->particles->level[l].count;
  s->row = allocate(s->count, sizeof *s->row, "particles of a file");
  struct row *next = s->row;
  for (int l = 0; l < GAS_LEVELS_MAX; l++)
    for (size_t i = 0; i < f->particles->level[l].count; i++) {
      const struct gas_particle *p = &f->particles->level[l].particle[i];
      *next++ = (struct row){patch_of(f, p->position), p};
    }
  sort_rows(s);
}

/** The rank that writes each patch with particles: that of the patch's first row, if rows are dealt
 * out evenly. @return [patch]; free() it */
static int *find_writers(const struct file_particles *s) {
  int *writer = allocate(s->patches, sizeof *writer, "particles of a file");
  for (size_t i = 0, row = 0; i < s->patches && row < s->all; row += s->in_patch[i++])
    writer[i] = (int)block_containing(s->all, (size_t)comm_size(), row);
  return writer;
}

/** Exchange rows, which are in their order. */
static void send_rows(struct file_particles *s, const size_t *sent, const size_t *received) {
  struct parcel *send = allocate(s->count, sizeof *send, "particles of a file");
  for (size_t i = 0; i < s->count; i++)
    send[i] = (struct parcel){s->row[i].patch, *s->row[i].particle};
  free(s->row);
  s->count = 0;
  for (int r = 0; r < comm_size(); r++) s->count += received[r] / sizeof *send;
  s->received = allocate(s->count, sizeof *s->received, "particles of a file");
  comm_exchange(send, sent, s->received, received);
  free(send);
  s->row = allocate(s->count, sizeof *s->row, "particles of a file");
  for (size_t i = 0; i < s->count; i++)
    s->row[i] = (struct row){s->received[i].patch, &s->received[i].particle};
  sort_rows(s);
}

/** Let the ranks that write rows have them. */
static void send_to_writers(struct file_particles *s) {
  const size_t ranks = (size_t)comm_size();
  size_t *bytes_of = allocate(2 * ranks, sizeof *bytes_of, "message sizes");
  int *writer = find_writers(s);
  for (size_t i = 0; i < s->count; i++) bytes_of[writer[s->row[i].patch]] += sizeof(struct parcel);
  comm_exchange_sizes(bytes_of, bytes_of + ranks);
  send_rows(s, bytes_of, bytes_of + ranks);
  free(writer);
  free(bytes_of);
}

struct file_particles *file_particles_sort(const struct gas_file *f) {
  struct file_particles *s = allocate(1, sizeof *s, "particles of a file");
  s->all = f->particles->count;
  s->patches = tree_first(&f->topology, f->topology.finest + 1);
  s->in_patch = allocate(s->patches, sizeof *s->in_patch, "particles of a file");
  take_particles(f, s);
  for (size_t i = 0; i < s->count; i++) s->in_patch[s->row[i].patch]++;
  comm_sum_u64(s->in_patch, s->patches);
  if (comm_size() > 1) send_to_writers(s);
  s->first = comm_sum_before(s->count);
  return s;
}

void file_particles_free(struct file_particles *s) {
  if (!s) return;
  free(s->row);
  free(s->received);
  free(s->in_patch);
  free(s);
}

/** How many particles each patch contains. */
static void write_numbers(hid_t file, const char *path, const struct file_particles *s) {
  const hid_t dataset = hdf5_create_dataset(file, path, "Tree/NPar", H5T_NATIVE_INT32, s->patches,
                                            1, H5P_DEFAULT);
  int32_t *numbers = allocate(PIECE, sizeof *numbers, "a piece of a gas file");
  for (size_t first = 0, n; first < s->patches; first += n) {
    n = s->patches - first < PIECE ? s->patches - first : PIECE;
    for (size_t i = 0; i < n; i++) numbers[i] = (int32_t)s->in_patch[first + i];
    hdf5_write_rows(dataset, path, "Tree/NPar", H5T_NATIVE_INT32, first, n, 1, numbers);
  }
  free(numbers);
  hdf5_check(H5Dclose(dataset), EXIT_RUN_FAILED, path, "write Tree");
}

/* After the columns of doubles: numbers and types of particles. */
enum { NUMBERS = COLUMNS, TYPES, ALL_COLUMNS };

static const char *column_name(size_t column) {
  return column == NUMBERS ? number_name : column == TYPES ? type_name : columns[column].name;
}
static hid_t column_type(size_t column) {
  return column < COLUMNS ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT64;
}

void file_particles_create(hid_t file, const char *path, const struct file_particles *s) {
  const hid_t group = hdf5_create_group(file, path, "Particle");
  for (size_t i = 0; i < ALL_COLUMNS; i++)
    hdf5_check(H5Dclose(hdf5_create_dataset(group, path, column_name(i), column_type(i), s->all, 1,
                                            H5P_DEFAULT)),
               EXIT_RUN_FAILED, path, "write Particle");
  hdf5_close_group(group, path);
  write_numbers(file, path, s);
}

/** A number of a particle in a file. */
union number {
  double real;
  int64_t integer;
};

static union number number_of(const struct gas_particle *p, size_t column) {
  if (column < COLUMNS) return (union number){.real = *field_of(p, column)};
  return (union number){.integer = column == NUMBERS ? (int64_t)p->number : GENERIC_MASSIVE};
}

static void write_column(hid_t file, const char *path, const struct file_particles *s,
                         size_t column) {
  char name[32];
  snprintf(name, sizeof name, "Particle/%s", column_name(column));
  const hid_t dataset = hdf5_check(H5Dopen2(file, name, H5P_DEFAULT), EXIT_RUN_FAILED, path,
                                   "open Particle");
  union number *values = allocate(PIECE, sizeof *values, "a piece of a gas file");
  for (size_t first = 0, n; first < s->count; first += n) {
    n = s->count - first < PIECE ? s->count - first : PIECE;
    for (size_t i = 0; i < n; i++) values[i] = number_of(s->row[first + i].particle, column);
    hdf5_write_rows(dataset, path, name, column_type(column), s->first + first, n, 1, values);
  }
  free(values);
  hdf5_check(H5Dclose(dataset), EXIT_RUN_FAILED, path, "write Particle");
}

void file_particles_write(hid_t file, const char *path, const struct file_particles *s) {
  for (size_t i = 0; i < ALL_COLUMNS; i++) write_column(file, path, s, i);
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
  union number *values = allocate(PIECE, sizeof *values, "a piece of a gas file");
  size_t all = 0;
  for (size_t column = 0; column <= NUMBERS; column++) {
    const hid_t dataset = open_column(file, path, column_name(column), &all);
    const size_t own = comm_first(all, comm_rank());
    *count = comm_first(all, comm_rank() + 1) - own;
    if (!particle) particle = allocate(*count, sizeof *particle, "particles");
    for (size_t first = 0, n; first < *count; first += n) {
      n = *count - first < PIECE ? *count - first : PIECE;
      hdf5_read_rows(dataset, path, column_name(column), column_type(column), own + first, n, 1,
                     values, NULL);
      for (size_t i = 0; i < n; i++)
        if (column == NUMBERS)
          particle[first + i].number = (uint64_t)values[i].integer;
        else
          *field_of(&particle[first + i], column) = values[i].real;
    }
    H5Dclose(dataset);
  }
  free(values);
  return particle;
}
