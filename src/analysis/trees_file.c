/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes trees.hdf5 in the layout of Gadget-4's trees. Lengths are in Mpc/h, whatever the unit of other
 * files is: ytree takes Gadget-4's trees to have them in Mpc/h. */
#include <stdlib.h>

#include "photons/base/comm.h"
#include "photons/base/output_file.h"
#include "photons/config/parameters.h"
#include "photons/io/provenance.h"
#include "tree_columns.h"
#include "tree_file.h"
#include "tree_forest.h"

#define POINTER(name, member) \
  { name, offsetof(struct tree_pointers, member), 1, COLUMN_INT64, UNIT_NONE }
static const struct tree_column pointer_columns[] = {
    POINTER("TreeID", tree),
    POINTER("TreeIndex", index),
    POINTER("SnapNum", output),
    POINTER("SubhaloNr", number),
    POINTER("TreeDescendant", descendant),
    POINTER("TreeFirstProgenitor", first_progenitor),
    POINTER("TreeMainProgenitor", first_progenitor),
    POINTER("TreeNextProgenitor", next_progenitor),
    POINTER("TreeFirstHaloInFOFgroup", first_in_group),
    POINTER("TreeNextHaloInFOFgroup", next_in_group),
    {"MassHistory", offsetof(struct tree_pointers, history), 1, COLUMN_DOUBLE, UNIT_MASS},
};
enum { POINTER_COLUMNS = sizeof pointer_columns / sizeof *pointer_columns };

/** A row of the table of trees. */
struct table_row {
  int64_t length, offset, tree;
};
#define TABLE(name, member) \
  { name, offsetof(struct table_row, member), 1, COLUMN_INT64, UNIT_NONE }
static const struct tree_column table_columns[] = {
    TABLE("Length", length), TABLE("StartOffset", offset), TABLE("TreeID", tree)};
enum { TABLE_COLUMNS = sizeof table_columns / sizeof *table_columns };

/** What all ranks know about the file that they write. */
struct writing {
  const struct parameters *parameters;
  struct provenance provenance;
  const struct tree_forest *forest;
  const struct tree_pointers *pointers;
  const struct table_row *table;
};

static void write_header(hid_t file, const char *path, const struct tree_forest *f) {
  const struct {
    const char *name;
    uint64_t value;
  } counts[] = {{"Nhalos_ThisFile", f->nodes},
                {"Nhalos_Total", f->nodes},
                {"Ntrees_ThisFile", f->trees},
                {"Ntrees_Total", f->trees},
                {"NumFiles", 1},
                {"LastSnapShotNr", f->first_output + f->outputs - 1},
                {"FirstSnapShotNr", f->first_output}};
  const hid_t header = hdf5_create_group(file, path, "Header");
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
    hdf5_write_attribute(header, path, counts[i].name, H5T_NATIVE_UINT64, 0, &counts[i].value);
  hdf5_close_group(header, path);
}

static void write_parameters(hid_t file, const char *path, const struct parameters *p) {
  const hid_t group = hdf5_create_group(file, path, "Parameters");
  hdf5_write_double(group, path, "BoxSize", p->box.size);
  hdf5_write_double(group, path, "Omega0", p->cosmology.omega_m);
  hdf5_write_double(group, path, "OmegaLambda", p->cosmology.omega_lambda);
  hdf5_write_double(group, path, "OmegaBaryon", p->cosmology.omega_b);
  hdf5_write_double(group, path, "HubbleParam", p->cosmology.h);
  hdf5_write_double(group, path, "UnitLength_in_cm", 3.085678e24);
  hdf5_write_double(group, path, "UnitMass_in_g", 1.989e43);
  hdf5_write_double(group, path, "UnitVelocity_in_cm_per_s", 1e5);
  hdf5_write_config(group, path, p);
  hdf5_close_group(group, path);
}

/** Times by the numbers of outputs; of outputs before the trees begin they are 0 and -1. */
static void write_times(hid_t file, const char *path, const struct tree_forest *f) {
  const size_t count = f->first_output + f->outputs;
  double *a = allocate(count, sizeof *a, "writing merger trees"),
         *z = allocate(count, sizeof *z, "writing merger trees");
  for (size_t k = 0; k < count; k++) {
    a[k] = k < f->first_output ? 0.0 : f->a[k - f->first_output];
    z[k] = k < f->first_output ? -1.0 : 1.0 / a[k] - 1.0;
  }
  static const struct tree_column time = {"Time", 0, 1, COLUMN_DOUBLE, UNIT_NONE},
                                  redshift = {"Redshift", 0, 1, COLUMN_DOUBLE, UNIT_NONE};
  const hid_t group = hdf5_create_group(file, path, "TreeTimes");
  tree_column_create(group, path, &time, count);
  tree_column_create(group, path, &redshift, count);
  tree_column_write(group, path, &time, 0, count, a, sizeof *a);
  tree_column_write(group, path, &redshift, 0, count, z, sizeof *z);
  hdf5_close_group(group, path);
  free(a);
  free(z);
}

/** The length of lists of ids says nothing here: there are no lists. */
static bool of_nodes(const struct tree_column *c) {
  return c->offset != offsetof(struct tree_object, listed);
}

static hid_t create_file(const struct writing *w, const char *temporary, const char *path) {
  const hid_t file = hdf5_create(temporary, path);
  write_header(file, path, w->forest);
  write_parameters(file, path, w->parameters);
  write_times(file, path, w->forest);
  provenance_write(file, path, &w->provenance);
  const hid_t table = hdf5_create_group(file, path, "TreeTable");
  for (int k = 0; k < TABLE_COLUMNS; k++)
    tree_column_create(table, path, &table_columns[k], w->forest->trees);
  hdf5_close_group(table, path);
  const hid_t halos = hdf5_create_group(file, path, "TreeHalos");
  for (int k = 0; k < TREE_OBJECT_COLUMNS; k++)
    if (of_nodes(&tree_object_columns[k]))
      tree_column_create(halos, path, &tree_object_columns[k], w->forest->nodes);
  for (int k = 0; k < POINTER_COLUMNS; k++)
    tree_column_create(halos, path, &pointer_columns[k], w->forest->nodes);
  hdf5_close_group(halos, path);
  return file;
}

static hid_t open_group(hid_t file, const char *path, const char *name) {
  return hdf5_check(H5Gopen2(file, name, H5P_DEFAULT), EXIT_RUN_FAILED, path, "continue the file");
}

static void write_rows(hid_t file, const char *path, const struct writing *w) {
  const struct tree_forest *f = w->forest;
  const hid_t table = open_group(file, path, "TreeTable"),
              halos = open_group(file, path, "TreeHalos");
  for (int k = 0; k < TABLE_COLUMNS; k++)
    tree_column_write(table, path, &table_columns[k], f->first_tree, f->tree_count, w->table,
                      sizeof *w->table);
  for (int k = 0; k < TREE_OBJECT_COLUMNS && f->node_count > 0; k++)
    if (of_nodes(&tree_object_columns[k]))
      tree_column_write(halos, path, &tree_object_columns[k], f->first_node, f->node_count,
                        &f->node->object, sizeof *f->node);
  for (int k = 0; k < POINTER_COLUMNS; k++)
    tree_column_write(halos, path, &pointer_columns[k], f->first_node, f->node_count, w->pointers,
                      sizeof *w->pointers);
  H5Gclose(table);
  H5Gclose(halos);
}

static void write_part(void *context, const struct output_turn *turn) {
  const struct writing *w = context;
  const hid_t file = comm_rank() == turn->first ? create_file(w, turn->temporary, turn->path)
                                                : hdf5_continue(turn->temporary, turn->path);
  write_rows(file, turn->path, w);
  hdf5_close_written(file, turn->path);
}

static struct table_row *make_table(const struct tree_forest *f) {
  struct table_row *table = allocate(f->tree_count, sizeof *table, "writing merger trees");
  int64_t offset = (int64_t)f->first_node;
  for (size_t k = 0; k < f->tree_count; offset += (int64_t)f->length[k++])
    table[k] = (struct table_row){(int64_t)f->length[k], offset, (int64_t)(f->first_tree + k)};
  return table;
}

void trees_write(const struct parameters *p, size_t last) {
  struct tree_forest f = tree_forest_read(p, last);
  struct tree_pointers *pointers = tree_forest_point(&f);
  struct table_row *table = make_table(&f);
  struct tree_path path;
  snprintf(path.text, sizeof path.text, "%s/trees.hdf5", p->output.dir);
  const struct writing w = {p, provenance_of(p), &f, pointers, table};
  output_together((char *[]){path.text}, 1, NULL, write_part, (void *)&w);
  free(table);
  free(pointers);
  tree_forest_free(&f);
}
