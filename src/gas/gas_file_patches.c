/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tree: where the patches are. */
#include "gas_file_parts.h"

#include <stdio.h>
#include <stdlib.h>

#include "gas_file_tree.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "src/io/hdf5_share.h"
#include "src/io/hdf5_virtual.h"

enum { CORNER, FATHER, SON, SIBLING, LB_INDEX };

static const struct {
  const char *name;
  size_t columns, number; /* bytes */
} tables[FILE_TREE_ARRAYS] = {
    [CORNER] = {"Tree/Corner", 3, 4},  [FATHER] = {"Tree/Father", 1, 4},
    [SON] = {"Tree/Son", 1, 4},        [SIBLING] = {"Tree/Sibling", TREE_SIBLINGS, 4},
    [LB_INDEX] = {"Tree/LBIdx", 1, 8},
};

/** Rows of some groups in each of the tables. */
struct rows {
  int32_t corner[PIECE * GAS_PATCHES][3], father[PIECE * GAS_PATCHES], son[PIECE * GAS_PATCHES],
      sibling[PIECE * GAS_PATCHES][TREE_SIBLINGS];
  int64_t lb_index[PIECE * GAS_PATCHES];
};

static void fill_rows(const struct gas_file *f, int level, uint32_t first, uint32_t groups,
                      struct rows *rows) {
  const struct topology *t = &f->topology;
  for (uint32_t n = 0; n < GAS_PATCHES * groups; n++) {
    const struct gas_group *group = topology_group(t, level, first + n / GAS_PATCHES);
    const int i = n % GAS_PATCHES;
    uint32_t place[3];
    tree_place(group, i, place);
    for (int c = 0; c < 3; c++)
      rows->corner[n][c] = (int32_t)(GAS_PATCH_SIDE * place[c]) * file_cell_scale(f, level);
    rows->father[n] = tree_father(t, level, group);
    rows->son[n] = tree_son(t, level, group, i);
    for (int s = 0; s < TREE_SIBLINGS; s++)
      rows->sibling[n][s] = tree_sibling(t, level, group, i, s);
    rows->lb_index[n] = (int64_t)morton_key(place);
  }
}

struct row_cut file_patches_cut(const struct gas_file *f, size_t files) {
  uint64_t count[GAS_LEVELS_MAX] = {0};
  for (int l = 0; l <= f->topology.finest; l++) {
    const struct group_span own = f->topology.level[l].own;
    count[l] = GAS_PATCHES * (uint64_t)(own.end - own.first);
  }
  return row_cut_make(files, file_levels(f), count);
}

void file_tree_arrays(const struct gas_file *f, const struct row_cut *cut,
                      struct set_array *array) {
  for (size_t i = 0; i < FILE_TREE_ARRAYS; i++) {
    array[i] = (struct set_array){.type = tables[i].number == 8 ? H5T_NATIVE_INT64
                                                                : H5T_NATIVE_INT32,
                                  .dimensions = tables[i].columns > 1 ? 2 : 1,
                                  .size = {file_patches(f), tables[i].columns},
                                  .cut = cut};
    snprintf(array[i].name, sizeof array[i].name, "%s", tables[i].name);
  }
  array[CORNER].number_name = "Cvt2Phy";
  array[CORNER].number = f->cell / file_cell_scale(f, 0);
}

void file_tree_write(const struct gas_file *f, const struct set_file *file,
                     struct set_array *array) {
  struct rows *rows = allocate(1, sizeof *rows, "the tree of patches");
  const void *const values[FILE_TREE_ARRAYS] = {rows->corner, rows->father, rows->son,
                                                rows->sibling, rows->lb_index};
  for (int l = 0; l <= f->topology.finest; l++) {
    const struct group_span own = f->topology.level[l].own;
    for (uint32_t g = own.first, n; g < own.end; g += n) {
      n = own.end - g < PIECE ? own.end - g : PIECE;
      fill_rows(f, l, g, n, rows);
      for (size_t i = 0; i < FILE_TREE_ARRAYS; i++)
        hdf5_set_rows(file, &array[i], tree_first(&f->topology, l) + GAS_PATCHES * (size_t)g,
                      GAS_PATCHES * n, values[i]);
    }
  }
  free(rows);
}

hid_t file_rows_open(hid_t file, const char *path, const char *name, size_t numbers) {
  const hid_t dataset = hdf5_open_dataset(file, path, name);
  const hid_t space = H5Dget_space(dataset);
  if (H5Sget_simple_extent_npoints(space) != (hssize_t)numbers)
    file_corrupt(path, "a dataset does not have one row a patch");
  H5Sclose(space);
  hdf5_check_share(dataset, path, name);
  return dataset;
}

/** The Morton key of the group whose first patch begins at a corner. */
static uint64_t key_at(const char *path, const struct gas_file *f, int level,
                       const int32_t corner[3]) {
  const int32_t side = GAS_GROUP_SIDE * file_cell_scale(f, level);
  uint32_t place[3];
  for (int c = 0; c < 3; c++) {
    place[c] = (uint32_t)(corner[c] / side);
    if (corner[c] < 0 || place[c] >= f->topology.root[c] << level)
      file_corrupt(path, "a patch is outside the box");
  }
  return morton_key(place);
}

/** The keys of some groups of a level, the first of whose patches is row @p row of Corner. */
static uint64_t *read_keys(hid_t corners, const char *path, const struct gas_file *f, int level,
                           size_t row, uint32_t groups) {
  int32_t(*corner)[3] = allocate(PIECE * GAS_PATCHES, sizeof *corner, "a piece of a gas file");
  uint64_t *keys = allocate(groups, sizeof *keys, "patch groups");
  for (uint32_t g = 0, n; g < groups; g += n) {
    n = groups - g < PIECE ? groups - g : PIECE;
    hdf5_read_rows(corners, path, "Corner", H5T_NATIVE_INT32, row + GAS_PATCHES * (size_t)g,
                   GAS_PATCHES * n, 3, corner, NULL);
    for (uint32_t i = 0; i < n; i++) {
      keys[g + i] = key_at(path, f, level, corner[GAS_PATCHES * i]);
      if (g + i > 0 && keys[g + i] <= keys[g + i - 1])
        file_corrupt(path, "patches are not in order");
    }
  }
  free(corner);
  return keys;
}

/** The keys that ranks have read rise from rank to rank. */
static void require_order(const char *path, const uint64_t *keys, uint32_t groups) {
  struct key_range mine = {KEY_END, 0}, /* the first and the last one; of no groups none */
      *all = allocate((size_t)comm_size(), sizeof *all, "ranges of keys");
  if (groups > 0) mine = (struct key_range){keys[0], keys[groups - 1]};
  comm_gather_all(&mine, sizeof mine, all);
  const struct key_range *latest = NULL;
  for (int r = 0; r < comm_size(); r++) {
    if (all[r].begin == KEY_END) continue;
    if (latest && all[r].begin <= latest->end) file_corrupt(path, "patches are not in order");
    latest = &all[r];
  }
  free(all);
}

/** Each group is inside one of the next coarser level. */
static void require_fathers(const char *path, struct gas_file *f, int level, const uint64_t *keys,
                            uint32_t groups) {
  struct key_wants wants = {0};
  for (uint32_t g = 0; g < groups; g++)
    topology_want(&wants, &f->topology, level - 1,
                  (struct key_range){keys[g] >> 3, (keys[g] >> 3) + 1});
  topology_fetch(&f->topology, &wants);
  for (uint32_t g = 0, latest = 0; g < groups; g++) {
    if (g > 0 && keys[g] >> 3 == keys[g - 1] >> 3) continue;
    if (topology_with_next_key(&f->topology, level - 1, keys[g] >> 3, &latest) == NO_GROUP)
      file_corrupt(path, "a patch has no father");
  }
}

void file_tree_read(hid_t file, const char *path, struct gas_file *f,
                    const int32_t patches[GAS_LEVELS_MAX]) {
  size_t all = 0, row = (size_t)patches[0];
  for (size_t l = 0; l < file_levels(f); l++) all += (size_t)patches[l];
  const hid_t corners = file_rows_open(file, path, "Tree/Corner", 3 * all);
  for (int l = 1; l <= f->topology.finest; l++) {
    const size_t groups = (size_t)patches[l] / GAS_PATCHES, first = comm_first(groups, comm_rank());
    const uint32_t own = (uint32_t)(comm_first(groups, comm_rank() + 1) - first);
    uint64_t *keys = read_keys(corners, path, f, l, row + GAS_PATCHES * first, own);
    require_order(path, keys, own);
    require_fathers(path, f, l, keys, own);
    topology_replace(&f->topology, l, keys, own);
    row += (size_t)patches[l];
  }
  H5Dclose(corners);
}
