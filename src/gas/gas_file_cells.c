/* SPDX-License-Identifier: GPL-3.0-or-later */
/* GridData: one dataset a variable. */
#include "gas_file_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gas_file_tree.h"
#include "photons/base/error.h"

/** What GAMER does not say of a variable. */
static void describe_variable(hid_t dataset, const char *path, enum gas_variable number) {
  hdf5_write_text(dataset, path, "name", gas_variable_name(number).text);
  hdf5_write_text(dataset, path, "unit", gas_variable_unit(number));
}

void file_cells_create(hid_t file, const char *path, const struct gas_file *f) {
  const hid_t group = hdf5_create_group(file, path, "GridData");
  const hsize_t size[4] = {file_patches(f), 8, 8, 8};
  for (size_t v = 0; v < file_fields(f); v++) {
    const hid_t dataset = hdf5_create_array(group, path, file_field_name(f, v).text,
                                            file_real_type(f), 4, size, H5P_DEFAULT);
    if (v < file_variables(f))
      describe_variable(dataset, path, gas_variable_at(&f->physics, (unsigned)v));
    hdf5_check(H5Dclose(dataset), EXIT_RUN_FAILED, path, "write GridData");
  }
  hdf5_close_group(group, path);
}

/** Copy one variable of a group between memory and the order of files. */
static void copy_patches(const struct gas_file *f, size_t variable, unsigned char *numbers,
                         unsigned char *piece, bool writing) {
  const size_t patch = GAS_PATCH_CELLS * f->real;
  numbers += variable * GAS_PATCHES * patch;
  for (size_t i = 0; i < GAS_PATCHES; i++) {
    unsigned char *in_memory = numbers + tree_order[i] * patch, *in_file = piece + i * patch;
    if (writing)
      memcpy(in_file, in_memory, patch);
    else
      memcpy(in_memory, in_file, patch);
  }
}

/** The same of the potential, which is written. @param cells  of a group */
static void copy_potential(const struct transfer *t, int level, uint32_t group,
                           unsigned char *cells, unsigned char *piece) {
  t->file->potential(t->context, level, group, cells);
  copy_patches(t->file, 0, cells, piece, true);
}

/** Groups of this rank that follow each other from @p first on, at most PIECE. */
static uint32_t count_own(const struct transfer *t, int level, uint32_t first) {
  const uint32_t left = t->file->topology.level[level].count - first;
  const uint32_t most = left < PIECE ? left : PIECE;
  uint32_t n = 0;
  while (n < most && t->group(t->context, level, first + n)) n++;
  return n;
}

/** Write or read one field of some groups of this rank. @param room for PIECE + 1 groups */
static void transfer_piece(const struct transfer *t, hid_t dataset, const char *path,
                           size_t variable, int level, uint32_t first, uint32_t groups,
                           unsigned char *room, bool writing) {
  const struct gas_file *f = t->file;
  const struct gas_variable_text label = file_field_name(f, variable);
  const char *name = label.text;
  const size_t bytes = GAS_GROUP_CELLS * f->real;
  const size_t row = tree_first(&f->topology, level) + GAS_PATCHES * (size_t)first;
  if (!writing)
    hdf5_read_rows(dataset, path, name, file_real_type(f), row, GAS_PATCHES * groups,
                   GAS_PATCH_CELLS, room, NULL);
  for (uint32_t i = 0; i < groups; i++)
    if (variable < file_variables(f))
      copy_patches(f, variable, t->group(t->context, level, first + i), room + i * bytes, writing);
    else
      copy_potential(t, level, first + i, room + PIECE * bytes, room + i * bytes);
  if (writing)
    hdf5_write_rows(dataset, path, name, file_real_type(f), row, GAS_PATCHES * groups,
                    GAS_PATCH_CELLS, room);
}

/** Write or read one variable of this rank's groups. */
static void transfer_variable(const struct transfer *t, hid_t dataset, const char *path,
                              size_t variable, bool writing) {
  const struct gas_file *f = t->file;
  unsigned char *room = allocate((PIECE + 1) * GAS_GROUP_CELLS, f->real, "a piece of a gas file");
  for (int l = 0; l <= f->topology.finest; l++)
    for (uint32_t g = 0, n; g < f->topology.level[l].count; g += n ? n : 1) {
      n = count_own(t, l, g);
      transfer_piece(t, dataset, path, variable, l, g, n, room, writing);
    }
  free(room);
}

void file_cells_transfer(const struct transfer *t, hid_t file, const char *path, bool writing) {
  for (size_t v = 0; v < file_fields(t->file); v++) {
    char name[64];
    snprintf(name, sizeof name, "GridData/%s", file_field_name(t->file, v).text);
    const hid_t dataset = hdf5_check(H5Dopen2(file, name, H5P_DEFAULT),
                                     writing ? EXIT_RUN_FAILED : EXIT_BAD_INPUT, path,
                                     "open GridData");
    transfer_variable(t, dataset, path, v, writing);
    hdf5_check(H5Dclose(dataset), EXIT_RUN_FAILED, path, "transfer GridData");
  }
}
