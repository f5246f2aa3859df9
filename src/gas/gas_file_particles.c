/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "gas_file_particles.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gas_file_tree.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/pm/particles.h"
#include "src/io/hdf5_share.h"
#include "src/io/hdf5_util.h"
#include "src/io/hdf5_virtual.h"

enum { PIECE = 65536, DATASETS_MAX = FILE_PARTICLE_ARRAYS_MOST };

/** A dataset of the group Particle: one component of a column. */
struct dataset {
  char name[40]; /* with the group */
  const char *unit;
  enum column_type type; /* in memory */
  size_t offset;         /* in struct gas_particle */
  hid_t stored;          /* in files: double or int64, as GAMER has them */
};

/** The datasets of a column, added to those of others. @return the number of all */
static size_t add_datasets(struct dataset *dataset, size_t count,
                           const struct gas_particle_column *row) {
  const struct particle_column *column = &row->column;
  const bool real = column->type == COLUMN_FLOAT || column->type == COLUMN_DOUBLE;
  for (unsigned c = 0; c < column->components; c++) {
    struct dataset *d = &dataset[count++];
    *d = (struct dataset){.unit = column->unit,
                          .type = column->type,
                          .offset = column->member + c * column->size,
                          .stored = real ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT64};
    snprintf(d->name, sizeof d->name, "Particle/%s%.*s", row->file, column->components > 1,
             &"XYZ"[c]);
  }
  return count;
}

/** The datasets of a file. @return their number */
static size_t list_datasets(struct dataset dataset[DATASETS_MAX]) {
  size_t count = 0;
  for (int k = 0; k < GAS_PARTICLE_COLUMN_COUNT; k++)
    if (gas_particle_columns[k].column.saved == COLUMN_SAVED)
      count = add_datasets(dataset, count, &gas_particle_columns[k]);
  return count;
}

/** A number of a particle in a file. */
union number {
  double real;
  int64_t integer;
};

static union number number_of(const struct gas_particle *p, const struct dataset *d) {
  const void *at = (const char *)p + d->offset;
  switch (d->type) {
  case COLUMN_UINT8: return (union number){.integer = *(const uint8_t *)at};
  case COLUMN_UINT32: return (union number){.integer = *(const uint32_t *)at};
  case COLUMN_UINT64: return (union number){.integer = *(const int64_t *)at};
  case COLUMN_FLOAT: return (union number){.real = (double)*(const float *)at};
  default: return (union number){.real = *(const double *)at};
  }
}

/** Set it. @return whether an integer fits */
static bool set_number(struct gas_particle *p, const struct dataset *d, union number number) {
  void *at = (char *)p + d->offset;
  switch (d->type) {
  case COLUMN_UINT8:
    *(uint8_t *)at = (uint8_t)number.integer;
    return number.integer >= 0 && number.integer <= UINT8_MAX;
  case COLUMN_UINT32:
    *(uint32_t *)at = (uint32_t)number.integer;
    return number.integer >= 0 && number.integer <= UINT32_MAX;
  case COLUMN_UINT64: *(int64_t *)at = number.integer; return true;
  case COLUMN_FLOAT: *(float *)at = (float)number.real; return true;
  default: *(double *)at = number.real; return true;
  }
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
    uint32_t at[3];
    int patch = 0;
    topology_place(t, level, group, at);
    for (int c = 0; c < 3; c++)
      if (position[c] / cell - GAS_GROUP_SIDE * (double)at[c] >= GAS_PATCH_SIDE) patch |= 1 << c;
    const uint32_t son = topology_son(t, level, group, patch);
    if (son == NO_GROUP)
      return tree_first(t, level) + GAS_PATCHES * (size_t)group + tree_order[patch];
    group = son;
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

void file_particles_write_numbers(hid_t file, const char *path, const struct file_particles *s) {
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

size_t file_particles_arrays(const struct file_particles *s, const struct row_cut *cut,
                             struct set_array *array) {
  struct dataset dataset[DATASETS_MAX];
  const size_t datasets = list_datasets(dataset);
  for (size_t i = 0; i < datasets; i++) {
    const struct dataset *d = &dataset[i];
    array[i] = (struct set_array){
        .type = d->stored, .dimensions = 1, .size = {s->all}, .unit = d->unit, .cut = cut};
    memcpy(array[i].name, d->name, sizeof d->name);
  }
  return datasets;
}

struct row_cut file_particles_cut(const struct file_particles *s, size_t files) {
  const uint64_t count = s->count;
  return row_cut_make(files, 1, &count);
}

static void write_dataset(const struct file_particles *s, const struct dataset *d,
                          const struct set_file *file, struct set_array *array) {
  union number *values = allocate(PIECE, sizeof *values, "a piece of a gas file");
  for (size_t first = 0, n; first < s->count; first += n) {
    n = s->count - first < PIECE ? s->count - first : PIECE;
    for (size_t i = 0; i < n; i++) values[i] = number_of(s->row[first + i].particle, d);
    hdf5_set_rows(file, array, s->first + first, n, values);
  }
  free(values);
}

void file_particles_write(const struct file_particles *s, const struct set_file *file,
                          struct set_array *array) {
  struct dataset dataset[DATASETS_MAX];
  const size_t datasets = list_datasets(dataset);
  for (size_t i = 0; i < datasets; i++) write_dataset(s, &dataset[i], file, &array[i]);
}

/** Open a dataset. @param count  of its rows; 0: to be set */
static hid_t open_dataset(hid_t file, const char *path, const char *name, size_t *count) {
  const hid_t dataset = hdf5_open_dataset(file, path, name);
  const hid_t space = hdf5_reading(H5Dget_space(dataset), path, name);
  const hssize_t rows = H5Sget_simple_extent_npoints(space);
  if (rows <= 0 || (*count > 0 && (size_t)rows != *count))
    fail(EXIT_BAD_INPUT, "%s: %s has %lld rows", path, name, (long long)rows);
  hdf5_check_share(dataset, path, name);
  *count = (size_t)rows;
  H5Sclose(space);
  return dataset;
}

/** Read rows [first, first + count) of a dataset. */
static void read_dataset(hid_t id, const char *path, const struct dataset *d, size_t first,
                         size_t count, struct gas_particle *particle) {
  union number *values = allocate(PIECE, sizeof *values, "a piece of a gas file");
  for (size_t i = 0, n; i < count; i += n) {
    n = count - i < PIECE ? count - i : PIECE;
    hdf5_read_rows(id, path, d->name, d->stored, first + i, n, 1, values, NULL);
    for (size_t k = 0; k < n; k++)
      if (!set_number(&particle[i + k], d, values[k]))
        fail(EXIT_BAD_INPUT, "%s: %s of row %zu is %lld: out of range", path, d->name,
             first + i + k, (long long)values[k].integer);
  }
  free(values);
}

struct gas_particle *file_particles_read(hid_t file, const char *path, size_t *count) {
  struct dataset dataset[DATASETS_MAX];
  const size_t datasets = list_datasets(dataset);
  struct gas_particle *particle = NULL;
  size_t all = 0;
  for (size_t i = 0; i < datasets; i++) {
    const hid_t id = open_dataset(file, path, dataset[i].name, &all);
    const size_t first = comm_first(all, comm_rank());
    *count = comm_first(all, comm_rank() + 1) - first;
    if (!particle) particle = allocate(*count, sizeof *particle, "particles");
    read_dataset(id, path, &dataset[i], first, *count, particle);
    H5Dclose(id);
  }
  for (size_t i = 0; i < *count; i++)
    if (particle[i].type >= PARTICLE_TYPES)
      fail(EXIT_BAD_INPUT, "%s: type of particle %llu is %d; allowed: 0 to %d", path,
           (unsigned long long)particle[i].number, particle[i].type, PARTICLE_TYPES - 1);
  return particle;
}
