/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tree: where the patches are. */
#include "gas_file_parts.h"

#include <stdlib.h>

#include "gas_file_tree.h"
#include "photons/base/error.h"
#include "src/io/hdf5_share.h"
#include "src/io/hdf5_virtual.h"

enum { CORNER, FATHER, SON, SIBLING, LB_INDEX, TABLES };

static const struct {
  const char *name;
  size_t columns, number; /* bytes */
} tables[TABLES] = {
    [CORNER] = {"Corner", 3, 4},  [FATHER] = {"Father", 1, 4},
    [SON] = {"Son", 1, 4},        [SIBLING] = {"Sibling", TREE_SIBLINGS, 4},
    [LB_INDEX] = {"LBIdx", 1, 8},
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
  const struct gas_group *group = NULL;
  struct gas_group room;
  for (uint32_t n = 0; n < GAS_PATCHES * groups; n++) {
    const uint32_t g = first + n / GAS_PATCHES;
    const int i = n % GAS_PATCHES;
    uint32_t place[3];
    if (i == 0) group = topology_look(t, level, g, &room);
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

static hid_t table_type(size_t table) {
  return tables[table].number == 8 ? H5T_NATIVE_INT64 : H5T_NATIVE_INT32;
}

static void write_rows(const hid_t dataset[TABLES], const char *path, const struct rows *rows,
                       size_t first, size_t count) {
  const void *const values[TABLES] = {rows->corner, rows->father, rows->son, rows->sibling,
                                      rows->lb_index};
  for (size_t i = 0; i < TABLES; i++)
    hdf5_write_rows(dataset[i], path, tables[i].name, table_type(i), first, count,
                    tables[i].columns, values[i]);
}

void file_tree_write(hid_t file, const char *path, const struct gas_file *f) {
  const hid_t group = hdf5_create_group(file, path, "Tree");
  hid_t dataset[TABLES];
  for (size_t i = 0; i < TABLES; i++)
    dataset[i] = hdf5_create_dataset(group, path, tables[i].name, table_type(i), file_patches(f),
                                     tables[i].columns, H5P_DEFAULT);
  hdf5_write_double(dataset[CORNER], path, "Cvt2Phy", f->cell / file_cell_scale(f, 0));
  struct rows *rows = allocate(1, sizeof *rows, "the tree of patches");
  for (int l = 0; l <= f->topology.finest; l++) {
    const uint32_t groups = f->topology.level[l].count;
    for (uint32_t g = 0, n; g < groups; g += n) {
      n = groups - g < PIECE ? groups - g : PIECE;
      fill_rows(f, l, g, n, rows);
      write_rows(dataset, path, rows, tree_first(&f->topology, l) + GAS_PATCHES * (size_t)g,
                 GAS_PATCHES * n);
    }
  }
  free(rows);
  for (size_t i = 0; i < TABLES; i++)
    hdf5_check(H5Dclose(dataset[i]), EXIT_RUN_FAILED, path, "write Tree");
  hdf5_close_group(group, path);
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

/** Morton keys of the groups of a level, whose patches begin with row @p row of Corner. */
static uint64_t *read_keys(hid_t corners, const char *path, const struct gas_file *f, int level,
                           size_t row, uint32_t groups) {
  const int32_t side = GAS_GROUP_SIDE * file_cell_scale(f, level);
  uint64_t *keys = allocate(groups, sizeof *keys, "patch groups");
  for (uint32_t g = 0; g < groups; g++) {
    int32_t corner[3];
    uint32_t place[3];
    hdf5_read_rows(corners, path, "Corner", H5T_NATIVE_INT32, row + GAS_PATCHES * (size_t)g, 1, 3,
                   corner, NULL);
    for (int c = 0; c < 3; c++) {
      place[c] = (uint32_t)(corner[c] / side);
      if (corner[c] < 0 || place[c] >= f->topology.root[c] << level)
        file_corrupt(path, "a patch is outside the box");
    }
    keys[g] = morton_key(place);
    if (g > 0 && keys[g] <= keys[g - 1]) file_corrupt(path, "patches are not in order");
  }
  return keys;
}

void file_tree_read(hid_t file, const char *path, struct gas_file *f,
                    const int32_t patches[GAS_LEVELS_MAX]) {
  size_t all = 0, row = (size_t)patches[0];
  for (size_t l = 0; l < file_levels(f); l++) all += (size_t)patches[l];
  const hid_t corners = file_rows_open(file, path, "Tree/Corner", 3 * all);
  for (int l = 1; l <= f->topology.finest; l++) {
    const struct gas_tree_level *coarse = &f->topology.level[l - 1];
    const uint32_t groups = (uint32_t)patches[l] / GAS_PATCHES;
    uint64_t *keys = read_keys(corners, path, f, l, row, groups);
    for (uint32_t g = 0, father = 0; g < groups; g++) { /* both lists rise */
      while (father < coarse->count && coarse->key[father] < keys[g] >> 3) father++;
      if (father == coarse->count || coarse->key[father] != keys[g] >> 3)
        file_corrupt(path, "a patch has no father");
    }
    topology_replace(&f->topology, l, keys, groups);
    row += (size_t)patches[l];
  }
  H5Dclose(corners);
}
