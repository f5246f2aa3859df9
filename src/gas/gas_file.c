/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files of gas in GAMER's layout: groups Info (records), Tree (where the patches are) and GridData
 * (one dataset a variable). What GAMER does not have is beside it: attributes of the file, from
 * which a run goes on, Provenance, and checksums. */
#include "photons/gas/gas_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gas_file_particles.h"
#include "gas_file_parts.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/gas/create.h"
#include "photons/io/snapshot.h"
#include "src/io/checkpoint_file.h"
#include "src/io/checkpoint_parameters.h"
#include "src/io/hdf5_checksum.h"

static const char format[] = "photons-starpu gas 1";

/** Members of struct gas_moment, which are attributes of the file. */
static const struct {
  const char *name;
  size_t offset;
  bool integer;
} state_fields[] = {
    {"a", offsetof(struct gas_moment, a), false},
    {"start_a", offsetof(struct gas_moment, start_a), false},
    {"last_output", offsetof(struct gas_moment, last_output), false},
    {"wall_seconds", offsetof(struct gas_moment, wall_seconds), false},
    {"step", offsetof(struct gas_moment, step), true},
    {"outputs_done", offsetof(struct gas_moment, outputs_done), true},
};
enum { STATE_FIELDS = sizeof state_fields / sizeof *state_fields };

static void write_state(hid_t file, const char *path, const struct transfer *t) {
  for (size_t i = 0; i < STATE_FIELDS; i++)
    hdf5_write_attribute(file, path, state_fields[i].name,
                         state_fields[i].integer ? H5T_NATIVE_INT64 : H5T_NATIVE_DOUBLE, 0,
                         (const char *)&t->file->moment + state_fields[i].offset);
  hdf5_write_config(file, path, t->parameters);
}

static void write_rest(void *context, hid_t file, const char *path) {
  const struct transfer *t = context;
  file_info_write(file, path, t);
  write_state(file, path, t);
  provenance_write(file, path, &t->provenance);
}

static void write_rows(void *context, const struct set_file *file) {
  const struct transfer *t = context;
  struct set_array *cells = file->set->array + FILE_TREE_ARRAYS;
  file_tree_write(t->file, file, file->set->array);
  if (t->particles) file_particles_write(t->particles, file, cells + file_fields(t->file));
  file_cells_write(t, file, cells);
}

static void write_file(const char *path, const char *previous, const struct parameters *p,
                       const struct gas_file *f, gas_file_group *group, void *context) {
  const size_t files = snapshot_files(p, (size_t)comm_size());
  if (file_patches(f) > INT32_MAX)
    fail(EXIT_RUN_FAILED, "%s: %zu patches are more than a file of GAMER's layout can number", path,
         file_patches(f));
  struct transfer t = {.file = f,
                       .parameters = p,
                       .provenance = provenance_of(p),
                       .particles = f->particles ? file_particles_sort(f) : NULL,
                       .group = group,
                       .context = context};
  struct set_array array[FILE_TREE_ARRAYS + GAS_VARIABLES_MAX + 1 + FILE_PARTICLE_ARRAYS_MOST];
  struct hdf5_set set = {format, array, 0, write_rows, write_rest, &t};
  struct row_cut patches = file_patches_cut(f, files), particles = {0};
  file_tree_arrays(f, &patches, array);
  set.arrays = FILE_TREE_ARRAYS;
  set.arrays += file_cells_arrays(f, &patches, array + set.arrays);
  if (t.particles) {
    particles = file_particles_cut(t.particles, files);
    set.arrays += file_particles_arrays(t.particles, &particles, &patches, array + set.arrays);
  }
  hdf5_set_write(&set, path, previous, files);
  row_cut_free(&patches);
  row_cut_free(&particles);
  file_particles_free(t.particles);
}

void gas_file_write(const char *path, const struct parameters *p, const struct gas_file *f,
                    gas_file_group *group, void *context) {
  write_file(path, NULL, p, f, group, context);
}

void gas_checkpoint_write(const char *path, const struct parameters *p, const struct gas_file *f,
                          gas_file_group *group, void *context) {
  char *previous = hdf5_set_name(path, "previous");
  write_file(path, previous, p, f, group, context);
  free(previous);
}

/* Reading. */

/** Read a file whose checksums are right. */
static struct gas_file read_whole(const char *path, struct parameters *p) {
  struct gas_file f = {0};
  const hid_t file = hdf5_open(path);
  char *then = hdf5_read_config(file, path);
  checkpoint_compare_parameters(path, p, then);
  free(then);
  for (size_t i = 0; i < STATE_FIELDS; i++)
    if (!hdf5_read_attribute(file, path, state_fields[i].name,
                             state_fields[i].integer ? H5T_NATIVE_INT64 : H5T_NATIVE_DOUBLE, 1,
                             (char *)&f.moment + state_fields[i].offset))
      file_corrupt(path, state_fields[i].name);
  const hid_t info = hdf5_check(H5Gopen2(file, "Info", H5P_DEFAULT), EXIT_BAD_INPUT, path,
                                "read Info");
  int32_t patches[GAS_LEVELS_MAX];
  file_info_read_numbers(info, path, p, &f);
  file_info_read_root(info, path, &f);
  file_info_read_levels(info, path, &f, patches);
  H5Gclose(info);
  file_tree_read(file, path, &f, patches);
  H5Fclose(file);
  return f;
}

struct gas_file gas_file_open(const char *path, struct parameters *p) {
  char reason[1024];
  if (!hdf5_intact(path, format, reason, sizeof reason)) fail(EXIT_BAD_INPUT, "%s", reason);
  return read_whole(path, p);
}

struct gas_file gas_checkpoint_open(const char *path, struct parameters *p, bool look,
                                    char **found) {
  *found = checkpoint_choose(path, format);
  const struct gas_file f = read_whole(*found, p);
  if (!look && strcmp(*found, path) != 0) checkpoint_set_aside(path);
  return f;
}

void gas_file_read(const char *path, const struct gas_file *f, gas_file_group *group,
                   void *context) {
  const struct transfer t = {.file = f, .group = group, .context = context};
  const hid_t file = hdf5_open(path);
  file_cells_read(&t, file, path);
  H5Fclose(file);
}

struct gas_particle *gas_file_read_particles(const char *path, size_t *count) {
  const hid_t file = hdf5_open(path);
  struct gas_particle *particle = file_particles_read(file, path, count);
  H5Fclose(file);
  return particle;
}
