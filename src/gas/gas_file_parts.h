/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of a file of gas, of which each has a file here: Info (gas_file_info.c), Tree (gas_file_patches.c),
 * GridData (gas_file_cells.c). */
#ifndef PHOTONS_GAS_FILE_PARTS_H
#define PHOTONS_GAS_FILE_PARTS_H

#include "photons/gas/gas_file.h"
#include "photons/io/provenance.h"
#include "src/io/hdf5_set.h"
#include "src/io/hdf5_util.h"

enum {
  FORMAT_VERSION = 2509, /* of GAMER */
  FLUIDS = GAS_ENTROPY,  /* variables that GAMER does not call passive */
  PIECE = 64             /* groups copied and transferred at a time */
};

/** A file at work: what is written, and where the gas is. */
struct transfer {
  const struct gas_file *file;
  const struct parameters *parameters;
  struct provenance provenance;
  struct file_particles *particles; /* NULL: there are none */
  gas_file_group *group;
  void *context;
};

/** End the program: a file is not what it should be. */
_Noreturn void file_corrupt(const char *path, const char *reason);

/** Variables of a cell. */
size_t file_variables(const struct gas_file *f);
/** Datasets of cells: the variables, and maybe the potential. */
size_t file_fields(const struct gas_file *f);
/** The name of one of these. */
struct gas_variable_text file_field_name(const struct gas_file *f, size_t field);
/** The type of their numbers. */
hid_t file_real_type(const struct gas_file *f);
/** Levels that there may be. */
size_t file_levels(const struct gas_file *f);
/** All patches. */
size_t file_patches(const struct gas_file *f);
/** Side of a cell in cells of the finest level that there may be, GAMER's unit of corners. */
int32_t file_cell_scale(const struct gas_file *f, int level);
/** Cells of the root level along an axis. */
int32_t file_root_cells(const struct gas_file *f, int c);

/** Info: four records, with GAMER's names of members. */
void file_info_write(hid_t file, const char *path, const struct transfer *t);
/** Read from Info what there is in a cell, and how many particles. */
void file_info_read_numbers(hid_t info, const char *path, const struct parameters *p,
                            struct gas_file *f);
/** An octree of the root level alone. */
void file_info_read_root(hid_t info, const char *path, struct gas_file *f);
/** Read what the levels have done. @param[out] patches  of each level */
void file_info_read_levels(hid_t info, const char *path, struct gas_file *f,
                           int32_t patches[GAS_LEVELS_MAX]);

/** The datasets of Tree. */
enum { FILE_TREE_ARRAYS = 5 };
/** Which rows of datasets with a row for each patch are in which file; collective. */
struct row_cut file_patches_cut(const struct gas_file *f, size_t files);
/** Tree: an array for each dataset. */
void file_tree_arrays(const struct gas_file *f, const struct row_cut *cut, struct set_array *array);
/** Write where the patches of this rank are. @param array  that file_tree_arrays() has listed */
void file_tree_write(const struct gas_file *f, const struct set_file *file,
                     struct set_array *array);
/** The groups below the root level: each rank reads an equal part of their places. Collective. */
void file_tree_read(hid_t file, const char *path, struct gas_file *f,
                    const int32_t patches[GAS_LEVELS_MAX]);
/** A dataset with a row for each patch, whose values are there. */
hid_t file_rows_open(hid_t file, const char *path, const char *name, size_t numbers);

/** GridData: an array for each field. @return how many: file_fields() */
size_t file_cells_arrays(const struct gas_file *f, const struct row_cut *cut,
                         struct set_array *array);
/** Write the fields of this rank's groups. @param array  that file_cells_arrays() has listed */
void file_cells_write(const struct transfer *t, const struct set_file *file,
                      struct set_array *array);
/** Read the variables of this rank's groups. */
void file_cells_read(const struct transfer *t, hid_t file, const char *path);

#endif
