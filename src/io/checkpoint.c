/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Checkpoints: the exact state of a run in HDF5, a file or a set of files (hdf5_set.h) in the order of the
 * blocks, whatever the number of processes. Every piece of a file has a checksum. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "build_config.h"
#include "checkpoint_file.h"
#include "checkpoint_parameters.h"
#include "checkpoint_values.h"
#include "hdf5_checksum.h"
#include "hdf5_set.h"
#include "hdf5_share.h"
#include "hdf5_util.h"
#include "hdf5_virtual.h"
#include "photons/base/comm.h"
#include "photons/io/provenance.h"
#include "photons/io/snapshot.h"

static const char format[] = "photons-starpu checkpoint 8";

static const struct {
  const char *name;
  size_t offset;
  bool integer;
} state_fields[] = {
    {"a", offsetof(struct checkpoint_state, a), false},
    {"start_a", offsetof(struct checkpoint_state, start_a), false},
    {"step", offsetof(struct checkpoint_state, step), true},
    {"outputs_done", offsetof(struct checkpoint_state, outputs_done), true},
    {"last_output", offsetof(struct checkpoint_state, last_output), false},
    {"steps_since_sort", offsetof(struct checkpoint_state, policy.steps_since_sort), true},
    {"steps_since_rebuild", offsetof(struct checkpoint_state, policy.steps_since_rebuild), true},
    {"sort_debt", offsetof(struct checkpoint_state, policy.sort_debt), false},
    {"fresh_work", offsetof(struct checkpoint_state, policy.fresh_work), false},
    {"loosening", offsetof(struct checkpoint_state, policy.loosening), false},
    {"spread", offsetof(struct checkpoint_state, policy.spread), false},
    {"fresh_spread", offsetof(struct checkpoint_state, policy.fresh_spread), false},
    {"trees_debt", offsetof(struct checkpoint_state, renewals.of[RENEW_TREES].debt), false},
    {"new_trees_work", offsetof(struct checkpoint_state, renewals.of[RENEW_TREES].fresh_work),
     false},
    {"trees_looseness", offsetof(struct checkpoint_state, renewals.of[RENEW_TREES].looseness),
     false},
    {"groups_debt", offsetof(struct checkpoint_state, renewals.of[RENEW_GROUPS].debt), false},
    {"new_groups_work", offsetof(struct checkpoint_state, renewals.of[RENEW_GROUPS].fresh_work),
     false},
    {"groups_looseness", offsetof(struct checkpoint_state, renewals.of[RENEW_GROUPS].looseness),
     false},
    {"base_dlna", offsetof(struct checkpoint_state, steps.dlna), false},
    {"expansions", offsetof(struct checkpoint_state, steps.expansions), true},
    {"mesh_cells", offsetof(struct checkpoint_state, mesh_cells), true},
    {"next_mesh_cells", offsetof(struct checkpoint_state, next_mesh_cells), true},
    {"energy_a", offsetof(struct checkpoint_state, energy.a), false},
    {"energy_kinetic", offsetof(struct checkpoint_state, energy.kinetic), false},
    {"energy_work", offsetof(struct checkpoint_state, energy.work), false},
    {"energy_first", offsetof(struct checkpoint_state, energy.first), false},
    {"wall_seconds", offsetof(struct checkpoint_state, wall_seconds), false},
};
enum { STATE_FIELDS = sizeof state_fields / sizeof *state_fields };

/**
 * A column of the particles as it lies in memory: rows [first, first + count) of `all`, a row for
 * each particle. A block has one component after the other, so that a row of several numbers is not
 * that of one particle: a row only says which numbers are under one term of the checksum.
 */
struct array {
  const char *name, *unit;
  hid_t type;
  size_t columns, first, count, all;
  void *values;
};

static struct array array_of(const struct particles *s, enum particle_column_index k) {
  const struct particle_column *c = &particle_columns[k];
  const hid_t types[] = {[COLUMN_UINT8] = H5T_NATIVE_UINT8,
                         [COLUMN_UINT32] = H5T_NATIVE_UINT32,
                         [COLUMN_UINT64] = H5T_NATIVE_UINT64,
                         [COLUMN_FLOAT] = H5T_NATIVE_FLOAT,
                         [COLUMN_DOUBLE] = H5T_NATIVE_DOUBLE};
  return (struct array){.name = c->name,
                        .unit = c->unit,
                        .type = types[c->type],
                        .columns = c->components,
                        .first = particles_first(s),
                        .count = s->count,
                        .all = s->all,
                        .values = particles_column(s, k)};
}

enum { ARRAYS_MOST = PARTICLE_COLUMN_COUNT + 1 }; /* with the map of a light cone */

/** What a checkpoint consists of, as a process sees it. */
struct checkpoint {
  const struct parameters *parameters;
  struct provenance provenance;
  const struct particles *particles;
  const struct checkpoint_state *state;
  struct array array[ARRAYS_MOST];
  size_t arrays;
};

static const char galaxies_name[] = "galaxy_last_ids";

static void write_state(void *context, hid_t file, const char *path) {
  const struct checkpoint *c = context;
  for (size_t i = 0; i < STATE_FIELDS; i++)
    hdf5_write_attribute(file, path, state_fields[i].name,
                         state_fields[i].integer ? H5T_NATIVE_INT64 : H5T_NATIVE_DOUBLE, 0,
                         (const char *)c->state + state_fields[i].offset);
  const uint64_t count = c->particles->all, blocks = c->particles->all_blocks;
  hdf5_write_attribute(file, path, "particles", H5T_NATIVE_UINT64, 0, &count);
  hdf5_write_attribute(file, path, "blocks", H5T_NATIVE_UINT64, 0, &blocks);
  hdf5_write_double(file, path, "box", c->particles->box);
  hdf5_write_double(file, path, "mass", c->particles->mass);
  hdf5_write_config(file, path, c->parameters);
  const struct galaxy_ids *g = &c->state->galaxies;
  if (g->count > 0)
    hdf5_write_attribute(file, path, galaxies_name, H5T_NATIVE_UINT64, g->count, g->last);
  if (c->state->map) {
    hdf5_write_attribute(file, path, "lightcone_shell", H5T_NATIVE_INT64, 0, &c->state->map_shell);
    hdf5_write_attribute(file, path, "lightcone_squares", H5T_NATIVE_UINT64, 2,
                         c->state->map_squares);
  }
  provenance_write(file, path, &c->provenance);
}

static const char map_name[] = "lightcone_map";

/** The part of a map that this rank has. */
static struct array map_of(const struct checkpoint_state *s) {
  const size_t first = comm_first(s->map_pixels, comm_rank());
  return (struct array){.name = map_name,
                        .type = H5T_NATIVE_UINT64,
                        .columns = 1,
                        .first = first,
                        .count = comm_first(s->map_pixels, comm_rank() + 1) - first,
                        .all = s->map_pixels,
                        .values = s->map};
}

/** For each column of these particles that checkpoints have. */
#define FOR_SAVED_COLUMNS(s, k) \
  FOR_PARTICLE_COLUMNS((s), k)  \
  if (particle_columns[k].saved == COLUMN_SAVED)

static void list_arrays(struct checkpoint *c) {
  FOR_SAVED_COLUMNS(c->particles, k) c->array[c->arrays++] = array_of(c->particles, k);
  if (c->state->map) c->array[c->arrays++] = map_of(c->state);
}

static void write_rows(void *context, const struct set_file *file) {
  const struct checkpoint *c = context;
  for (size_t i = 0; i < c->arrays; i++)
    hdf5_set_rows(file, &file->set->array[i], c->array[i].first, c->array[i].count,
                  c->array[i].values);
}

static struct set_array in_set(const struct array *a, const struct row_cut *cut) {
  struct set_array of_set = {.type = a->type,
                             .dimensions = a->columns > 1 ? 2 : 1,
                             .size = {a->all, a->columns},
                             .unit = a->unit,
                             .cut = cut};
  snprintf(of_set.name, sizeof of_set.name, "%s", a->name);
  return of_set;
}

void checkpoint_write(const char *path, const struct parameters *p, const struct particles *s,
                      const struct checkpoint_state *state) {
  struct checkpoint c = {
      .parameters = p, .provenance = provenance_of(p), .particles = s, .state = state};
  list_arrays(&c);
  const size_t files = snapshot_files(p, (size_t)comm_size());
  const uint64_t pixels = state->map ? map_of(state).count : 0, particles = s->count;
  struct row_cut cut = row_cut_make(files, 1, &particles),
                 cut_map = row_cut_make(files, 1, &pixels);
  struct set_array array[ARRAYS_MOST];
  for (size_t i = 0; i < c.arrays; i++)
    array[i] = in_set(&c.array[i], c.array[i].name == map_name ? &cut_map : &cut);
  struct hdf5_set set = {format, array, c.arrays, write_rows, write_state, &c};
  char *previous = hdf5_set_name(path, "previous");
  hdf5_set_write(&set, path, previous, files);
  free(previous);
  row_cut_free(&cut);
  row_cut_free(&cut_map);
}

bool checkpoint_check(const char *path, char *reason, size_t size) {
  return hdf5_intact(path, format, reason, size);
}

static uint64_t read_count(hid_t file, const char *path, const char *name) {
  uint64_t count;
  if (!hdf5_read_attribute(file, path, name, H5T_NATIVE_UINT64, 1, &count) || count == 0)
    fail(EXIT_BAD_INPUT, "%s: corrupt checkpoint: no number of %s", path, name);
  return count;
}

/** A dataset that must have as many numbers as the array. */
static hid_t open_array(hid_t file, const char *path, const struct array *array) {
  const hid_t dataset = hdf5_open_dataset(file, path, array->name);
  const hid_t space = hdf5_check(H5Dget_space(dataset), EXIT_BAD_INPUT, path,
                                 "read the checkpoint");
  const hssize_t count = H5Sget_simple_extent_npoints(space);
  const size_t expected = array->all * array->columns;
  if (count < 0 || (size_t)count != expected)
    fail(EXIT_BAD_INPUT, "%s: corrupt checkpoint: %s has %lld numbers, expected %zu", path,
         array->name, (long long)count, expected);
  H5Sclose(space);
  return dataset;
}

static bool has_column(hid_t file, const char *path, int k) {
  return hdf5_check(H5Lexists(file, particle_columns[k].name, H5P_DEFAULT), EXIT_BAD_INPUT, path,
                    "read the checkpoint") > 0;
}

/** The columns of the particles of a checkpoint. It must have those that its steps need. */
static column_set find_columns(hid_t file, const char *path, const struct checkpoint_state *state) {
  column_set needed = columns_present(PRESENT_ALWAYS), found = 0;
  if (state->steps.dlna > 0.0) needed |= columns_present(PRESENT_BLOCK_STEPS);
  for (int k = 0; k < PARTICLE_COLUMN_COUNT; k++) {
    if (particle_columns[k].saved != COLUMN_SAVED) continue;
    if (has_column(file, path, k))
      found |= (column_set)1 << k;
    else if (column_in(needed, k))
      fail(EXIT_BAD_INPUT,
           "%s: the checkpoint has no dataset '%s', which this version of the program expects: go "
           "on with the version that wrote the checkpoint, which its /Provenance names",
           path, particle_columns[k].name);
  }
  return found;
}

/** The arrays are as long as the counts say, and whole. Memory is allocated for them after this. */
static void check_arrays(hid_t file, const char *path, column_set columns, uint64_t count,
                         uint64_t blocks) {
  if (blocks > count || count > SIZE_MAX / 64)
    fail(EXIT_BAD_INPUT, "%s: corrupt checkpoint: %" PRIu64 " particles in %" PRIu64 " blocks",
         path, count, blocks);
  const struct particles promised = {.all = count, .all_blocks = blocks, .columns = columns};
  FOR_SAVED_COLUMNS(&promised, k) {
    const struct array array = array_of(&promised, k);
    const hid_t dataset = open_array(file, path, &array);
    hdf5_check_share(dataset, path, array.name);
    H5Dclose(dataset);
  }
}

static void read_array(hid_t file, const char *path, const struct array *array) {
  const hid_t dataset = open_array(file, path, array);
  hdf5_read_rows(dataset, path, array->name, array->type, array->first, array->count,
                 array->columns, array->values, NULL);
  H5Dclose(dataset);
}

/** Checkpoints of isolated systems once had exp(t/STATIC_CLOCK) in the place of times, from 1 on. */
static void take_times(const struct parameters *p, struct checkpoint_state *state) {
  if (p->box.boundary != BOUNDARY_ISOLATED || state->start_a != 1.0) return;
  state->start_a = 0.0;
  state->a = log(state->a);
  state->last_output = state->last_output > 0.0 ? log(state->last_output) : -1.0;
}

/** The incomplete map of a light cone, if there is one. */
static void read_map(hid_t file, const char *path, struct checkpoint_state *state) {
  state->map_shell = -1;
  state->map = NULL;
  state->map_pixels = 0;
  memset(state->map_squares, 0, sizeof state->map_squares); /* where all masses are equal */
  if (!hdf5_read_attribute(file, path, "lightcone_shell", H5T_NATIVE_INT64, 1, &state->map_shell))
    return;
  (void)hdf5_read_attribute(file, path, "lightcone_squares", H5T_NATIVE_UINT64, 2,
                            state->map_squares);
  const hid_t dataset = hdf5_open_dataset(file, path, map_name);
  hdf5_check_share(dataset, path, map_name);
  const hid_t space = hdf5_check(H5Dget_space(dataset), EXIT_BAD_INPUT, path,
                                 "read the checkpoint");
  state->map_pixels = (size_t)H5Sget_simple_extent_npoints(space);
  H5Sclose(space);
  const struct array map = map_of(state);
  state->map = allocate(map.count, sizeof *state->map, "a map of the light cone");
  hdf5_read_rows(dataset, path, map_name, map.type, map.first, map.count, 1, state->map, NULL);
  H5Dclose(dataset);
}

/** The galaxies of an isolated system; one where the checkpoint names none. */
static void read_galaxies(hid_t file, const char *path, const struct parameters *p,
                          struct checkpoint_state *state) {
  struct galaxy_ids *g = &state->galaxies;
  g->count = hdf5_read_attribute(file, path, galaxies_name, H5T_NATIVE_UINT64, GALAXIES_MAX,
                                 g->last);
  if (g->count == 0 && p->box.boundary == BOUNDARY_ISOLATED) g->count = 1;
}

static struct particles read_whole(const char *path, struct parameters *p,
                                   struct checkpoint_state *state) {
  const hid_t file = hdf5_open(path);
  char *then = hdf5_read_config(file, path);
  checkpoint_compare_parameters(path, p, then);
  free(then);

  for (size_t i = 0; i < STATE_FIELDS; i++)
    if (!hdf5_read_attribute(file, path, state_fields[i].name,
                             state_fields[i].integer ? H5T_NATIVE_INT64 : H5T_NATIVE_DOUBLE, 1,
                             (char *)state + state_fields[i].offset))
      fail(EXIT_BAD_INPUT, "%s: corrupt checkpoint: no %s", path, state_fields[i].name);
  double box, mass;
  if (!hdf5_read_attribute(file, path, "box", H5T_NATIVE_DOUBLE, 1, &box) ||
      !hdf5_read_attribute(file, path, "mass", H5T_NATIVE_DOUBLE, 1, &mass))
    fail(EXIT_BAD_INPUT, "%s: corrupt checkpoint: no box or mass", path);
  const uint64_t count = read_count(file, path, "particles"),
                 blocks = read_count(file, path, "blocks");
  take_times(p, state);
  checkpoint_check_state(path, p, state);
  checkpoint_check_sizes(path, p, count, blocks, box, mass);
  const column_set columns = find_columns(file, path, state);
  check_arrays(file, path, columns, count, blocks);
  struct particles s = particles_create_blocks(count, blocks, box, mass);
  s.sorted = true; /* steps begin with a rebuild, checkpoints come after steps */
  particles_add_columns(&s, columns);
  FOR_SAVED_COLUMNS(&s, k) {
    const struct array array = array_of(&s, k);
    read_array(file, path, &array);
  }
  read_map(file, path, state);
  read_galaxies(file, path, p, state);
  H5Fclose(file);
  checkpoint_check_particles(path, p, &s, state->a);
  return s;
}

struct particles checkpoint_look(const char *newest, struct parameters *p,
                                 struct checkpoint_state *state) {
  char *path = checkpoint_choose(newest, format);
  const struct particles s = read_whole(path, p, state);
  free(path);
  return s;
}

struct particles checkpoint_read(const char *newest, struct parameters *p,
                                 struct checkpoint_state *state) {
  char *path = checkpoint_choose(newest, format);
  const struct particles s = read_whole(path, p, state);
  if (strcmp(path, newest) != 0) checkpoint_set_aside(newest);
  free(path);
  return s;
}
