/* SPDX-License-Identifier: GPL-3.0-or-later */
/* GridData: one dataset a variable. */
#include "gas_file_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gas_file_tree.h"
#include "photons/base/error.h"

size_t file_cells_arrays(const struct gas_file *f, const struct row_cut *cut,
                         struct set_array *array) {
  for (size_t v = 0; v < file_fields(f); v++) {
    struct set_array *a = &array[v];
    *a = (struct set_array){
        .type = file_real_type(f), .dimensions = 4, .size = {file_patches(f), 8, 8, 8}, .cut = cut};
    snprintf(a->name, sizeof a->name, "GridData/%s", file_field_name(f, v).text);
    if (v >= file_variables(f)) continue;
    /* what GAMER does not say of a variable */
    const enum gas_variable number = gas_variable_at(&f->physics, (unsigned)v);
    snprintf(a->title, sizeof a->title, "%s", gas_variable_name(number).text);
    a->unit = gas_variable_unit(number);
  }
  return file_fields(f);
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

/** Rows of a dataset: some groups of a level. */
struct piece {
  int level;
  uint32_t first, groups;
};

static size_t row_of(const struct transfer *t, const struct piece *p) {
  return tree_first(&t->file->topology, p->level) + GAS_PATCHES * (size_t)p->first;
}

/** Copy one field of some groups of this rank. @param room  for PIECE + 1 groups */
static void copy_piece(const struct transfer *t, size_t variable, const struct piece *p,
                       unsigned char *room, bool writing) {
  const struct gas_file *f = t->file;
  const size_t bytes = GAS_GROUP_CELLS * f->real;
  for (uint32_t i = 0; i < p->groups; i++)
    if (variable < file_variables(f))
      copy_patches(f, variable, t->group(t->context, p->level, p->first + i), room + i * bytes,
                   writing);
    else
      copy_potential(t, p->level, p->first + i, room + PIECE * bytes, room + i * bytes);
}

/** The next piece of this rank's groups, after @p p; at first @p p is all zero. @return false: there is none */
static bool next_piece(const struct transfer *t, struct piece *p) {
  const struct topology *tree = &t->file->topology;
  for (p->first += p->groups; p->level <= tree->finest; p->level++, p->first = 0) {
    const struct group_span own = tree->level[p->level].own;
    if (p->first < own.first) p->first = own.first;
    if (p->first >= own.end) continue;
    p->groups = own.end - p->first < PIECE ? own.end - p->first : PIECE;
    return true;
  }
  return false;
}

static unsigned char *allocate_room(const struct gas_file *f) {
  return allocate((PIECE + 1) * GAS_GROUP_CELLS, f->real, "a piece of a gas file");
}

void file_cells_write(const struct transfer *t, const struct set_file *file,
                      struct set_array *array) {
  unsigned char *room = allocate_room(t->file);
  for (size_t v = 0; v < file_fields(t->file); v++)
    for (struct piece p = {0}; next_piece(t, &p);) {
      copy_piece(t, v, &p, room, true);
      hdf5_set_rows(file, &array[v], row_of(t, &p), GAS_PATCHES * p.groups, room);
    }
  free(room);
}

void file_cells_read(const struct transfer *t, hid_t file, const char *path) {
  const struct gas_file *f = t->file;
  unsigned char *room = allocate_room(f);
  for (size_t v = 0; v < file_variables(f); v++) {
    char name[64];
    snprintf(name, sizeof name, "GridData/%s", file_field_name(f, v).text);
    const hid_t dataset = file_rows_open(file, path, name, GAS_PATCH_CELLS * file_patches(f));
    for (struct piece p = {0}; next_piece(t, &p);) {
      hdf5_read_rows(dataset, path, name, file_real_type(f), row_of(t, &p), GAS_PATCHES * p.groups,
                     GAS_PATCH_CELLS, room, NULL);
      copy_piece(t, v, &p, room, false);
    }
    hdf5_check(H5Dclose(dataset), EXIT_BAD_INPUT, path, "read GridData");
  }
  free(room);
}
