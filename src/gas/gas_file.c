/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files of gas in GAMER's layout: groups Info (records), Tree (where the patches are) and GridData
 * (one dataset a variable). What GAMER does not have is beside it: attributes of the file, from
 * which a run goes on, Provenance, and checksums. */
#include "photons/gas/gas_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gas_file_tree.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/base/output_file.h"
#include "photons/base/version.h"
#include "photons/io/provenance.h"
#include "src/io/checkpoint_file.h"
#include "src/io/hdf5_checksum.h"
#include "src/io/hdf5_record.h"
#include "src/io/hdf5_util.h"

static const char format[] = "photons-starpu gas 1";
static const char *const variable_name[GAS_FILE_VARIABLES_MOST] = {"Dens", "MomX", "MomY",
                                                                   "MomZ", "Engy", "Dual"};
enum {
  FORMAT_VERSION = 2509, /* of GAMER */
  FLUIDS = 5,
  PIECE = 64 /* groups copied and transferred at a time */
};

/** Members of struct gas_file that are attributes of the file. */
static const struct {
  const char *name;
  size_t offset;
  bool integer;
} state_fields[] = {
    {"a", offsetof(struct gas_file, a), false},
    {"start_a", offsetof(struct gas_file, start_a), false},
    {"last_output", offsetof(struct gas_file, last_output), false},
    {"wall_seconds", offsetof(struct gas_file, wall_seconds), false},
    {"step", offsetof(struct gas_file, step), true},
    {"outputs_done", offsetof(struct gas_file, outputs_done), true},
};
enum { STATE_FIELDS = sizeof state_fields / sizeof *state_fields };

/** A file at work: what is written, and by whose hand the gas comes and goes. */
struct transfer {
  const struct gas_file *file;
  const struct parameters *parameters;
  struct provenance provenance;
  gas_file_group *group;
  void *context;
};

static hid_t real_type(const struct gas_file *f) {
  return f->real == sizeof(float) ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE;
}

static size_t count_patches(const struct gas_file *f) {
  size_t groups = 0;
  for (size_t l = 0; l < f->levels; l++) groups += f->level[l].groups;
  return GAS_FILE_GROUP_PATCHES * groups;
}

/** Side of a cell in cells of the finest level that there may be, GAMER's unit of corners. */
static int32_t cell_scale(const struct gas_file *f, size_t level) {
  return 1 << (f->levels - 1 - level);
}

static void add_int(struct record *r, const char *name, int32_t value) {
  record_int(r, name, 0, &value);
}

static void add_double(struct record *r, const char *name, double value) {
  record_double(r, name, 0, &value);
}

/* Info: four records, with GAMER's names of members. */

static void write_key_info(hid_t info, const char *path, const struct gas_file *f) {
  struct record r = {0};
  int32_t root[3], box_scale[3], patches[GAS_FILE_LEVELS_MOST], scale[GAS_FILE_LEVELS_MOST];
  int64_t steps[GAS_FILE_LEVELS_MOST];
  double time[GAS_FILE_LEVELS_MOST], dt[GAS_FILE_LEVELS_MOST], cell[GAS_FILE_LEVELS_MOST];
  for (size_t c = 0; c < 3; c++) {
    root[c] = (int32_t)f->root[c];
    box_scale[c] = root[c] * cell_scale(f, 0);
  }
  for (size_t l = 0; l < f->levels; l++) {
    const struct gas_file_level *level = &f->level[l];
    patches[l] = (int32_t)(GAS_FILE_GROUP_PATCHES * level->groups);
    scale[l] = cell_scale(f, l);
    cell[l] = f->box[0] / box_scale[0] * scale[l];
    time[l] = level->time;
    dt[l] = level->dt;
    steps[l] = level->steps;
  }
  add_int(&r, "FormatVersion", FORMAT_VERSION);
  add_int(&r, "Model", 1); /* gas */
  add_int(&r, "Float8", f->real == sizeof(double));
  add_int(&r, "Gravity", 0);
  add_int(&r, "Particle", 0);
  add_int(&r, "NLevel", (int32_t)f->levels);
  add_int(&r, "NCompFluid", FLUIDS);
  add_int(&r, "NCompPassive", (int32_t)f->variables - FLUIDS);
  add_int(&r, "PatchSize", GAS_FILE_GROUP_CELLS / 2);
  add_int(&r, "DumpID", (int32_t)f->outputs_done);
  record_int(&r, "NX0", 3, root);
  record_int(&r, "BoxScale", 3, box_scale);
  record_int(&r, "NPatch", f->levels, patches);
  record_int(&r, "CellScale", f->levels, scale);
  add_int(&r, "Magnetohydrodynamics", 0);
  add_int(&r, "SRHydrodynamics", 0);
  add_int(&r, "CosmicRay", 0);
  record_int64(&r, "Step", 0, &f->step);
  record_int64(&r, "AdvanceCounter", f->levels, steps);
  add_int(&r, "NFieldStored", (int32_t)f->variables);
  add_int(&r, "NMagStored", 0);
  record_double(&r, "BoxSize", 3, f->box);
  record_double(&r, "Time", f->levels, time);
  record_double(&r, "CellSize", f->levels, cell);
  record_double(&r, "dTime_AllLv", f->levels, dt);
  record_text(&r, "CodeVersion", program_version());
  record_text(&r, "GitCommit", program_revision());
  record_write(info, path, "KeyInfo", &r);
}

static void write_makefile(hid_t info, const char *path, const struct gas_file *f) {
  struct record r = {0};
  add_int(&r, "Model", 1);
  add_int(&r, "Gravity", 0);
  add_int(&r, "Comoving", 0);
  add_int(&r, "Particle", 0);
  add_int(&r, "Float8", f->real == sizeof(double));
  add_int(&r, "NLevel", (int32_t)f->levels);
  add_int(&r, "FluScheme", f->scheme);
  add_int(&r, "DualEnergy", f->variables > FLUIDS);
  add_int(&r, "Magnetohydrodynamics", 0);
  add_int(&r, "SRHydrodynamics", 0);
  add_int(&r, "CosmicRay", 0);
  add_int(&r, "EoS", 1); /* of a constant ratio of specific heats */
  record_write(info, path, "Makefile", &r);
}

static void write_constants(hid_t info, const char *path, const struct gas_file *f) {
  struct record r = {0};
  add_int(&r, "NCompFluid", FLUIDS);
  add_int(&r, "NCompPassive", (int32_t)f->variables - FLUIDS);
  add_int(&r, "PatchSize", GAS_FILE_GROUP_CELLS / 2);
  add_int(&r, "Flu_GhostSize", 3);
  add_int(&r, "Flu_Nxt", GAS_FILE_GROUP_CELLS + 2 * 3);
  add_int(&r, "SibOffsetNonperiodic", TREE_OUTSIDE);
  record_write(info, path, "SymConst", &r);
}

static void write_input(hid_t info, const char *path, const struct gas_file *f) {
  static const char *const units[] = {"Unit_L", "Unit_M", "Unit_T", "Unit_V",
                                      "Unit_D", "Unit_E", "Unit_P"};
  struct record r = {0};
  double longest = f->box[0];
  int32_t root[3];
  for (size_t c = 0; c < 3; c++) {
    if (f->box[c] > longest) longest = f->box[c];
    root[c] = (int32_t)f->root[c];
  }
  add_double(&r, "BoxSize", longest);
  record_int(&r, "NX0_Tot", 3, root);
  add_int(&r, "Opt__Unit", 0); /* numbers without units */
  for (size_t u = 0; u < sizeof units / sizeof *units; u++) add_double(&r, units[u], 1.0);
  record_int(&r, "Opt__BC_Flu", 6, f->boundary);
  add_int(&r, "MaxLevel", (int32_t)f->levels - 1);
  add_double(&r, "Gamma", f->gamma);
  add_double(&r, "MolecularWeight", 0.6); /* GAMER's default, for temperatures by other programs */
  for (size_t v = 0; v < f->variables; v++) {
    char label[32];
    snprintf(label, sizeof label, "FieldLabel%02zu", v);
    record_text(&r, label, variable_name[v]);
  }
  record_write(info, path, "InputPara", &r);
}

static void write_info(hid_t file, const char *path, const struct gas_file *f) {
  const hid_t info = hdf5_create_group(file, path, "Info");
  write_key_info(info, path, f);
  write_makefile(info, path, f);
  write_constants(info, path, f);
  write_input(info, path, f);
  hdf5_close_group(info, path);
}

/* Tree. */

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
  int32_t corner[PIECE * GAS_FILE_GROUP_PATCHES][3], father[PIECE * GAS_FILE_GROUP_PATCHES],
      son[PIECE * GAS_FILE_GROUP_PATCHES], sibling[PIECE * GAS_FILE_GROUP_PATCHES][TREE_SIBLINGS];
  int64_t lb_index[PIECE * GAS_FILE_GROUP_PATCHES];
};

static void fill_rows(const struct tree *t, size_t level, size_t first, size_t groups,
                      struct rows *rows) {
  for (size_t n = 0; n < GAS_FILE_GROUP_PATCHES * groups; n++) {
    int32_t place[3];
    tree_place(t->file, level, first + n / GAS_FILE_GROUP_PATCHES, n % GAS_FILE_GROUP_PATCHES,
               place);
    for (size_t c = 0; c < 3; c++)
      rows->corner[n][c] = place[c] * (GAS_FILE_GROUP_CELLS / 2) * cell_scale(t->file, level);
    rows->father[n] = tree_father(t, level, place);
    rows->son[n] = tree_son(t, level, place);
    for (size_t s = 0; s < TREE_SIBLINGS; s++)
      rows->sibling[n][s] = tree_sibling(t, level, place, s);
    rows->lb_index[n] = (int64_t)tree_key(place);
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

static void write_tree(hid_t file, const char *path, const struct gas_file *f) {
  const hid_t group = hdf5_create_group(file, path, "Tree");
  hid_t dataset[TABLES];
  for (size_t i = 0; i < TABLES; i++)
    dataset[i] = hdf5_create_dataset(group, path, tables[i].name, table_type(i), count_patches(f),
                                     tables[i].columns, H5P_DEFAULT);
  hdf5_write_double(dataset[CORNER], path, "Cvt2Phy",
                    f->box[0] / (double)f->root[0] / cell_scale(f, 0));
  struct tree t = tree_make(f);
  struct rows *rows = allocate(1, sizeof *rows, "the tree of patches");
  for (size_t l = 0; l < f->levels; l++)
    for (size_t g = 0, n; g < f->level[l].groups; g += n) {
      n = f->level[l].groups - g < PIECE ? f->level[l].groups - g : PIECE;
      fill_rows(&t, l, g, n, rows);
      write_rows(dataset, path, rows, t.first[l] + GAS_FILE_GROUP_PATCHES * g,
                 GAS_FILE_GROUP_PATCHES * n);
    }
  free(rows);
  tree_free(&t);
  for (size_t i = 0; i < TABLES; i++)
    hdf5_check(H5Dclose(dataset[i]), EXIT_RUN_FAILED, path, "write Tree");
  hdf5_close_group(group, path);
}

/* GridData. */

static void create_grid_data(hid_t file, const char *path, const struct gas_file *f) {
  const hid_t group = hdf5_create_group(file, path, "GridData");
  const hsize_t size[4] = {count_patches(f), 8, 8, 8};
  for (size_t v = 0; v < f->variables; v++)
    hdf5_check(H5Dclose(hdf5_create_array(group, path, variable_name[v], real_type(f), 4, size,
                                          H5P_DEFAULT)),
               EXIT_RUN_FAILED, path, "write GridData");
  hdf5_close_group(group, path);
}

/** Copy one variable of a group between memory and the order of files. */
static void copy_patches(const struct gas_file *f, size_t variable, unsigned char *numbers,
                         unsigned char *piece, bool writing) {
  const size_t patch = GAS_FILE_PATCH_CELLS * f->real;
  numbers += variable * GAS_FILE_GROUP_PATCHES * patch;
  for (size_t i = 0; i < GAS_FILE_GROUP_PATCHES; i++) {
    unsigned char *in_memory = numbers + tree_patch_order[i] * patch, *in_file = piece + i * patch;
    if (writing)
      memcpy(in_file, in_memory, patch);
    else
      memcpy(in_memory, in_file, patch);
  }
}

/** Groups of this rank that follow each other from @p first on, at most PIECE. */
static size_t count_own(const struct transfer *t, size_t level, size_t first) {
  const size_t left = t->file->level[level].groups - first, most = left < PIECE ? left : PIECE;
  size_t n = 0;
  while (n < most && t->group(t->context, level, first + n)) n++;
  return n;
}

/** Write or read one variable of this rank's groups. */
static void transfer_variable(const struct transfer *t, hid_t dataset, const char *path,
                              size_t variable, bool writing) {
  const struct gas_file *f = t->file;
  const size_t group_bytes = GAS_FILE_GROUP_PATCHES * GAS_FILE_PATCH_CELLS * f->real;
  const char *name = variable_name[variable];
  unsigned char *piece = allocate(PIECE, group_bytes, "a piece of a gas file");
  size_t row = 0;
  for (size_t l = 0; l < f->levels; l++) {
    for (size_t g = 0, n; g < f->level[l].groups; g += n ? n : 1) {
      n = count_own(t, l, g);
      const size_t first = row + GAS_FILE_GROUP_PATCHES * g, count = GAS_FILE_GROUP_PATCHES * n;
      if (!writing)
        hdf5_read_rows(dataset, path, name, real_type(f), first, count, GAS_FILE_PATCH_CELLS, piece,
                       NULL);
      for (size_t i = 0; i < n; i++)
        copy_patches(f, variable, t->group(t->context, l, g + i), piece + i * group_bytes, writing);
      if (writing)
        hdf5_write_rows(dataset, path, name, real_type(f), first, count, GAS_FILE_PATCH_CELLS,
                        piece);
    }
    row += GAS_FILE_GROUP_PATCHES * f->level[l].groups;
  }
  free(piece);
}

static void transfer_gas(const struct transfer *t, hid_t file, const char *path, bool writing) {
  for (size_t v = 0; v < t->file->variables; v++) {
    char name[32];
    snprintf(name, sizeof name, "GridData/%s", variable_name[v]);
    const hid_t dataset = hdf5_check(H5Dopen2(file, name, H5P_DEFAULT),
                                     writing ? EXIT_RUN_FAILED : EXIT_BAD_INPUT, path,
                                     "open GridData");
    transfer_variable(t, dataset, path, v, writing);
    hdf5_check(H5Dclose(dataset), EXIT_RUN_FAILED, path, "transfer GridData");
  }
}

/* The file. */

static void write_state(hid_t file, const char *path, const struct transfer *t) {
  for (size_t i = 0; i < STATE_FIELDS; i++)
    hdf5_write_attribute(file, path, state_fields[i].name,
                         state_fields[i].integer ? H5T_NATIVE_INT64 : H5T_NATIVE_DOUBLE, 0,
                         (const char *)t->file + state_fields[i].offset);
  hdf5_write_config(file, path, t->parameters);
}

/** A rank's turn. */
static void write_part(void *context, const struct output_turn *turn) {
  const struct transfer *t = context;
  const char *path = turn->path;
  const bool first = comm_rank() == turn->first;
  const hid_t file = first ? hdf5_create(turn->temporary, path)
                           : hdf5_continue(turn->temporary, path);
  if (first) {
    write_info(file, path, t->file);
    write_tree(file, path, t->file);
    create_grid_data(file, path, t->file);
    write_state(file, path, t);
    provenance_write(file, path, &t->provenance);
  }
  transfer_gas(t, file, path, true);
  if (comm_rank() == turn->last) { /* with these the file is complete */
    hdf5_write_text(file, path, "format", format);
    hdf5_checksum_attributes(file, path);
  }
  hdf5_close_written(file, path);
}

static void write_file(const char *path, const char *previous, const struct parameters *p,
                       const struct gas_file *f, gas_file_group *group, void *context) {
  if (count_patches(f) > INT32_MAX)
    fail(EXIT_RUN_FAILED, "%s: %zu patches are more than a file of GAMER's layout can number", path,
         count_patches(f));
  struct transfer t = {.file = f,
                       .parameters = p,
                       .provenance = provenance_of(p),
                       .group = group,
                       .context = context};
  output_together((char *[]){(char *)path}, 1, previous, write_part, &t);
}

void gas_file_write(const char *path, const struct parameters *p, const struct gas_file *f,
                    gas_file_group *group, void *context) {
  write_file(path, NULL, p, f, group, context);
}

void gas_checkpoint_write(const char *path, const struct parameters *p, const struct gas_file *f,
                          gas_file_group *group, void *context) {
  char *previous = checkpoint_name(path, "previous");
  write_file(path, previous, p, f, group, context);
  free(previous);
}

/* Reading. */

_Noreturn static void corrupt(const char *path, const char *reason) {
  fail(EXIT_BAD_INPUT, "%s: no file of this program: %s", path, reason);
}

static int32_t read_int(hid_t info, const char *path, const char *record, const char *name) {
  int32_t value;
  record_read(info, path, record, name, H5T_NATIVE_INT32, 0, &value);
  return value;
}

static void read_sizes(hid_t info, const char *path, struct gas_file *f) {
  const int32_t levels = read_int(info, path, "KeyInfo", "NLevel");
  if (levels < 1 || levels > GAS_FILE_LEVELS_MOST) corrupt(path, "too many levels");
  f->levels = (size_t)levels;
  const int32_t variables = read_int(info, path, "KeyInfo", "NFieldStored");
  if (variables < FLUIDS || variables > GAS_FILE_VARIABLES_MOST) corrupt(path, "other variables");
  f->variables = (size_t)variables;
  f->real = read_int(info, path, "KeyInfo", "Float8") ? sizeof(double) : sizeof(float);
  f->scheme = (enum gas_file_scheme)read_int(info, path, "Makefile", "FluScheme");
  record_read(info, path, "KeyInfo", "NX0", H5T_NATIVE_UINT32, 3, f->root);
  record_read(info, path, "KeyInfo", "BoxSize", H5T_NATIVE_DOUBLE, 3, f->box);
  record_read(info, path, "InputPara", "Opt__BC_Flu", H5T_NATIVE_INT32, 6, f->boundary);
  record_read(info, path, "InputPara", "Gamma", H5T_NATIVE_DOUBLE, 0, &f->gamma);
  for (size_t c = 0; c < 3; c++)
    if (f->root[c] == 0 || f->root[c] % GAS_FILE_GROUP_CELLS != 0 ||
        f->root[c] > (uint32_t)(INT32_MAX / cell_scale(f, 0)) || !(f->box[c] > 0.0))
      corrupt(path, "an impossible box");
}

static void read_level_state(hid_t info, const char *path, struct gas_file *f) {
  int32_t patches[GAS_FILE_LEVELS_MOST];
  int64_t steps[GAS_FILE_LEVELS_MOST];
  double time[GAS_FILE_LEVELS_MOST], dt[GAS_FILE_LEVELS_MOST];
  record_read(info, path, "KeyInfo", "NPatch", H5T_NATIVE_INT32, f->levels, patches);
  record_read(info, path, "KeyInfo", "AdvanceCounter", H5T_NATIVE_INT64, f->levels, steps);
  record_read(info, path, "KeyInfo", "Time", H5T_NATIVE_DOUBLE, f->levels, time);
  record_read(info, path, "KeyInfo", "dTime_AllLv", H5T_NATIVE_DOUBLE, f->levels, dt);
  size_t root = 1;
  for (size_t c = 0; c < 3; c++) root *= f->root[c] / GAS_FILE_GROUP_CELLS;
  for (size_t l = 0; l < f->levels; l++) {
    if (patches[l] < 0 || patches[l] % GAS_FILE_GROUP_PATCHES != 0)
      corrupt(path, "an impossible number of patches");
    f->level[l] = (struct gas_file_level){.groups = (size_t)patches[l] / GAS_FILE_GROUP_PATCHES,
                                          .time = time[l],
                                          .dt = dt[l],
                                          .steps = steps[l]};
  }
  if (f->level[0].groups != root) corrupt(path, "level 0 does not fill the box");
}

/** A dataset with a row for each patch, whose values are there. */
static hid_t open_patches(hid_t file, const char *path, const char *name, size_t numbers) {
  const hid_t dataset = hdf5_check(H5Dopen2(file, name, H5P_DEFAULT), EXIT_BAD_INPUT, path, name);
  const hid_t space = H5Dget_space(dataset);
  if (H5Sget_simple_extent_npoints(space) != (hssize_t)numbers)
    corrupt(path, "a dataset does not have one row a patch");
  H5Sclose(space);
  hdf5_check_stored(dataset, path, name);
  return dataset;
}

static void read_places(hid_t file, const char *path, struct gas_file *f) {
  const hid_t dataset = open_patches(file, path, "Tree/Corner", 3 * count_patches(f));
  size_t row = 0;
  for (size_t l = 0; l < f->levels; l++) {
    struct gas_file_level *level = &f->level[l];
    level->place = allocate(level->groups, sizeof *level->place, "places of groups");
    const int32_t side = GAS_FILE_GROUP_CELLS * cell_scale(f, l);
    int32_t corner[PIECE * GAS_FILE_GROUP_PATCHES][3];
    for (size_t g = 0, n; g < level->groups; g += n) {
      n = level->groups - g < PIECE ? level->groups - g : PIECE;
      hdf5_read_rows(dataset, path, "Corner", H5T_NATIVE_INT32, row + GAS_FILE_GROUP_PATCHES * g,
                     GAS_FILE_GROUP_PATCHES * n, 3, corner, NULL);
      for (size_t i = 0; i < 3 * n; i++)
        level->place[g + i / 3][i % 3] = corner[GAS_FILE_GROUP_PATCHES * (i / 3)][i % 3] / side;
    }
    row += GAS_FILE_GROUP_PATCHES * level->groups;
  }
  H5Dclose(dataset);
  struct tree t = tree_make(f);
  const char *fault = tree_fault(&t);
  if (fault) corrupt(path, fault);
  tree_free(&t);
}

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
                             (char *)&f + state_fields[i].offset))
      corrupt(path, state_fields[i].name);
  const hid_t info = hdf5_check(H5Gopen2(file, "Info", H5P_DEFAULT), EXIT_BAD_INPUT, path,
                                "read Info");
  read_sizes(info, path, &f);
  read_level_state(info, path, &f);
  H5Gclose(info);
  read_places(file, path, &f);
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
  for (size_t v = 0; v < f->variables; v++) {
    char name[32];
    snprintf(name, sizeof name, "GridData/%s", variable_name[v]);
    H5Dclose(open_patches(file, path, name, GAS_FILE_PATCH_CELLS * count_patches(f)));
  }
  transfer_gas(&t, file, path, false);
  H5Fclose(file);
}

void gas_file_free(struct gas_file *f) {
  for (size_t l = 0; l < f->levels; l++) free(f->level[l].place);
  *f = (struct gas_file){0};
}
