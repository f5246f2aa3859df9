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

enum { PIECE = 65536, DATASETS_MAX = 3 * GAS_PARTICLE_COLUMN_COUNT };

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

/** Number in the file of the finest patch that contains a position. @param t  that knows what is there */
static size_t patch_of(const struct gas_file *f, const struct topology *t,
                       const double position[3]) {
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
  const struct topology *topology;
  size_t all;   /* rows of the file */
  size_t count; /* rows of this rank: those in patches of own groups */
  uint64_t of_level[GAS_LEVELS_MAX],
      first[GAS_LEVELS_MAX]; /* of these by level; which row is the first */
  struct row *row;           /* [count] in their order */
  struct parcel *received;   /* [arrived] from other ranks */
  size_t arrived;
  int32_t *in_patch[GAS_LEVELS_MAX]; /* [patch of own groups] number of particles */
};

static size_t own_patches(const struct topology *t, int level) {
  const struct group_span own = t->level[level].own;
  return GAS_PATCHES * (size_t)(own.end - own.first);
}

/** The number in the file of the first patch of own groups of a level. */
static size_t first_own(const struct topology *t, int level) {
  return tree_first(t, level) + GAS_PATCHES * (size_t)t->level[level].own.first;
}

static int compare_rows(const void *a, const void *b) {
  const struct row *x = a, *y = b;
  if (x->patch != y->patch) return x->patch < y->patch ? -1 : 1;
  return (x->particle->number > y->particle->number) - (x->particle->number < y->particle->number);
}

static void sort_rows(struct file_particles *s) {
  if (s->count > 0) qsort(s->row, s->count, sizeof *s->row, compare_rows);
}

/** The octree, with the groups that are where this rank's particles are. Collective; topology_view_free() it. */
static struct topology look_around(const struct gas_file *f) {
  struct topology view = topology_view(&f->topology);
  struct key_wants wants = {0};
  for (int l = 0; l < GAS_LEVELS_MAX; l++)
    for (size_t i = 0; i < f->particles->level[l].count; i++) {
      double at[3];
      for (int c = 0; c < 3; c++)
        at[c] = f->particles->level[l].particle[i].position[c] / (GAS_GROUP_SIDE * f->cell);
      topology_want_at(&wants, &view, view.finest, at);
    }
  topology_fetch(&view, &wants);
  return view;
}

/** Rows of this rank's particles. Collective. */
static void take_particles(const struct gas_file *f, struct file_particles *s) {
  struct topology view = look_around(f);
  for (int l = 0; l < GAS_LEVELS_MAX; l++) s->count += f->particles->level[l].count;
  s->row = allocate(s->count, sizeof *s->row, "particles of a file");
  struct row *next = s->row;
  for (int l = 0; l < GAS_LEVELS_MAX; l++)
    for (size_t i = 0; i < f->particles->level[l].count; i++) {
      const struct gas_particle *p = &f->particles->level[l].particle[i];
      *next++ = (struct row){patch_of(f, &view, p->position), p};
    }
  topology_view_free(&view);
}

static int level_of(const struct topology *t, size_t patch) {
  int level = 0;
  while (patch >= tree_first(t, level + 1)) level++;
  return level;
}

static int owner_of(const struct topology *t, size_t patch) {
  const int level = level_of(t, patch);
  return topology_owner(t, level, (uint32_t)((patch - tree_first(t, level)) / GAS_PATCHES));
}

/** A row that another rank writes. */
struct leaving {
  int to;
  struct row row;
};

static int compare_leaving(const void *a, const void *b) {
  const struct leaving *x = a, *y = b;
  return (x->to > y->to) - (x->to < y->to);
}

/** Take the rows that other ranks write out of the list. @return [leaving] by ranks; free() it */
static struct leaving *take_leaving(struct file_particles *s, size_t *leaving) {
  struct leaving *l = allocate(s->count, sizeof *l, "particles of a file");
  size_t stays = 0;
  *leaving = 0;
  for (size_t i = 0; i < s->count; i++) {
    const int to = owner_of(s->topology, s->row[i].patch);
    if (to == comm_rank())
      s->row[stays++] = s->row[i];
    else
      l[(*leaving)++] = (struct leaving){to, s->row[i]};
  }
  s->count = stays;
  if (*leaving > 1) qsort(l, *leaving, sizeof *l, compare_leaving);
  return l;
}

/** Let the owners of patches have the rows of these. Collective. */
static void send_rows(struct file_particles *s) {
  size_t leaving;
  struct leaving *l = take_leaving(s, &leaving);
  struct parcel *send = allocate(leaving, sizeof *send, "particles of a file");
  struct sparse_pieces to = {0}, from;
  for (size_t i = 0; i < leaving; i++) {
    sparse_add(&to, l[i].to, sizeof *send);
    send[i] = (struct parcel){l[i].row.patch, *l[i].row.particle};
  }
  s->received = comm_exchange_sparse(send, &to, &from);
  s->arrived = sparse_bytes(&from) / sizeof *send;
  s->row = reallocate(s->row, s->count + s->arrived + 1, sizeof *s->row, "particles of a file");
  for (size_t i = 0; i < s->arrived; i++)
    s->row[s->count++] = (struct row){s->received[i].patch, &s->received[i].particle};
  sparse_free(&from);
  sparse_free(&to);
  free(l);
  free(send);
}

/** Count the rows of patches and levels, and find which ones they are of all ranks'. Collective. */
static void count_rows(struct file_particles *s) {
  const struct topology *t = s->topology;
  uint64_t all[GAS_LEVELS_MAX], before = 0;
  for (int l = 0; l <= t->finest; l++)
    s->in_patch[l] = allocate(own_patches(t, l), sizeof *s->in_patch[l], "particles of a file");
  for (size_t i = 0; i < s->count; i++) {
    const int level = level_of(t, s->row[i].patch);
    s->in_patch[level][s->row[i].patch - first_own(t, level)]++;
    s->of_level[level]++;
  }
  memcpy(all, s->of_level, sizeof all);
  memcpy(s->first, s->of_level, sizeof s->first);
  comm_sum_u64(all, GAS_LEVELS_MAX);
  comm_sums_before(s->first, GAS_LEVELS_MAX);
  for (int l = 0; l <= t->finest; before += all[l++]) s->first[l] += before;
}

struct file_particles *file_particles_sort(const struct gas_file *f) {
  struct file_particles *s = allocate(1, sizeof *s, "particles of a file");
  s->topology = &f->topology;
  s->all = f->particles->count;
  take_particles(f, s);
  if (comm_size() > 1) send_rows(s);
  sort_rows(s);
  count_rows(s);
  return s;
}

void file_particles_free(struct file_particles *s) {
  if (!s) return;
  for (int l = 0; l < GAS_LEVELS_MAX; l++) free(s->in_patch[l]);
  free(s->row);
  free(s->received);
  free(s);
}

size_t file_particles_arrays(const struct file_particles *s, const struct row_cut *cut,
                             const struct row_cut *patches, struct set_array *array) {
  struct dataset dataset[DATASETS_MAX];
  const size_t datasets = list_datasets(dataset);
  *array++ = (struct set_array){.name = "Tree/NPar",
                                .type = H5T_NATIVE_INT32,
                                .dimensions = 1,
                                .size = {tree_first(s->topology, s->topology->finest + 1)},
                                .cut = patches};
  for (size_t i = 0; i < datasets; i++) {
    const struct dataset *d = &dataset[i];
    array[i] = (struct set_array){
        .type = d->stored, .dimensions = 1, .size = {s->all}, .unit = d->unit, .cut = cut};
    memcpy(array[i].name, d->name, sizeof d->name);
  }
  return datasets + 1;
}

struct row_cut file_particles_cut(const struct file_particles *s, size_t files) {
  return row_cut_make(files, (size_t)s->topology->finest + 1, s->of_level);
}

static void write_dataset(const struct file_particles *s, const struct dataset *d,
                          const struct set_file *file, struct set_array *array) {
  union number *values = allocate(PIECE, sizeof *values, "a piece of a gas file");
  const struct row *row = s->row;
  for (int l = 0; l <= s->topology->finest; row += s->of_level[l++])
    for (size_t first = 0, n; first < s->of_level[l]; first += n) {
      n = s->of_level[l] - first < PIECE ? s->of_level[l] - first : PIECE;
      for (size_t i = 0; i < n; i++) values[i] = number_of(row[first + i].particle, d);
      hdf5_set_rows(file, array, s->first[l] + first, n, values);
    }
  free(values);
}

void file_particles_write(const struct file_particles *s, const struct set_file *file,
                          struct set_array *array) {
  struct dataset dataset[DATASETS_MAX];
  const size_t datasets = list_datasets(dataset);
  for (int l = 0; l <= s->topology->finest; l++)
    hdf5_set_rows(file, array, first_own(s->topology, l), own_patches(s->topology, l),
                  s->in_patch[l]);
  array++;
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
