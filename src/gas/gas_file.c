/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files of gas in GAMER's layout: groups Info (records), Tree (where the patches are) and GridData
 * (one dataset a variable). What GAMER does not have is beside it: attributes of the file, from
 * which a run goes on, Provenance, and checksums. */
#include "photons/gas/gas_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gas_file_particles.h"
#include "gas_file_tree.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/base/output_file.h"
#include "photons/base/version.h"
#include "photons/io/provenance.h"
#include "photons/pm/particles.h"
#include "src/io/checkpoint_file.h"
#include "src/io/hdf5_checksum.h"
#include "src/io/hdf5_record.h"
#include "src/io/hdf5_util.h"

static const char format[] = "photons-starpu gas 1";
static const char *const variable_name[GAS_VARIABLES_MAX] = {
    [GAS_DENSITY] = "Dens",    [GAS_MOMENTUM_X] = "MomX", [GAS_MOMENTUM_Y] = "MomY",
    [GAS_MOMENTUM_Z] = "MomZ", [GAS_ENERGY] = "Engy",     [GAS_ENTROPY] = "Dual"};
enum {
  FORMAT_VERSION = 2509, /* of GAMER */
  FLUIDS = GAS_ENTROPY,  /* variables that GAMER does not call passive */
  PIECE = 64             /* groups copied and transferred at a time */
};
/* GAMER's numbers of boundaries and solvers. */
static const int32_t boundary_number[] = {
    [GAS_PERIODIC] = 1, [GAS_OUTFLOW] = 2, [GAS_REFLECTING] = 3};
static const int32_t solver_number[] = {[GAS_RTVD] = 1, [GAS_MUSCL] = 3};

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

/** A file at work: what is written, and where the gas is. */
struct transfer {
  const struct gas_file *file;
  const struct parameters *parameters;
  struct provenance provenance;
  struct file_particles *particles; /* NULL: there are none */
  gas_file_group *group;
  void *context;
};

/** Datasets of cells: the variables, and maybe the potential. */
static size_t count_fields(const struct gas_file *f) {
  return f->variables + (f->potential ? 1 : 0);
}
static const char *field_name(const struct gas_file *f, size_t field) {
  return field < f->variables ? variable_name[field] : "Pote";
}

static hid_t real_type(const struct gas_file *f) {
  return f->real == sizeof(float) ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE;
}

/** Levels that there may be. */
static size_t count_levels(const struct gas_file *f) { return (size_t)f->topology.finest + 1; }

static size_t count_patches(const struct gas_file *f) {
  return tree_first(&f->topology, f->topology.finest + 1);
}

/** Side of a cell in cells of the finest level that there may be, GAMER's unit of corners. */
static int32_t cell_scale(const struct gas_file *f, int level) {
  return 1 << (f->topology.finest - level);
}

static int32_t root_cells(const struct gas_file *f, int c) {
  return (int32_t)(GAS_GROUP_SIDE * f->topology.root[c]);
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
  const size_t levels = count_levels(f);
  int32_t root[3], box_scale[3], patches[GAS_LEVELS_MAX], scale[GAS_LEVELS_MAX];
  int64_t steps[GAS_LEVELS_MAX];
  double box[3], time[GAS_LEVELS_MAX], dt[GAS_LEVELS_MAX], cell[GAS_LEVELS_MAX];
  for (int c = 0; c < 3; c++) {
    root[c] = root_cells(f, c);
    box_scale[c] = root[c] * cell_scale(f, 0);
    box[c] = f->cell * root[c];
  }
  for (int l = 0; l <= f->topology.finest; l++) {
    patches[l] = (int32_t)(GAS_PATCHES * f->topology.level[l].count);
    scale[l] = cell_scale(f, l);
    cell[l] = f->cell / (double)(1 << l);
    time[l] = f->level[l].time;
    dt[l] = f->level[l].dt;
    steps[l] = f->level[l].steps;
  }
  add_int(&r, "FormatVersion", FORMAT_VERSION);
  add_int(&r, "Model", 1); /* gas */
  add_int(&r, "Float8", f->real == sizeof(double));
  add_int(&r, "Gravity", f->gravity);
  add_int(&r, "Particle", f->particles != NULL);
  if (f->particles) {
    const int64_t particles = (int64_t)f->particles->count;
    record_int64(&r, "Par_NPar", 0, &particles);
  }
  add_int(&r, "NLevel", (int32_t)levels);
  add_int(&r, "NCompFluid", FLUIDS);
  add_int(&r, "NCompPassive", (int32_t)f->variables - FLUIDS);
  add_int(&r, "PatchSize", GAS_PATCH_SIDE);
  add_int(&r, "DumpID", (int32_t)f->moment.outputs_done);
  record_int(&r, "NX0", 3, root);
  record_int(&r, "BoxScale", 3, box_scale);
  record_int(&r, "NPatch", levels, patches);
  record_int(&r, "CellScale", levels, scale);
  add_int(&r, "Magnetohydrodynamics", 0);
  add_int(&r, "SRHydrodynamics", 0);
  add_int(&r, "CosmicRay", 0);
  record_int64(&r, "Step", 0, &f->moment.step);
  record_int64(&r, "AdvanceCounter", levels, steps);
  add_int(&r, "NFieldStored", (int32_t)count_fields(f));
  add_int(&r, "NMagStored", 0);
  record_double(&r, "BoxSize", 3, box);
  record_double(&r, "Time", levels, time);
  record_double(&r, "CellSize", levels, cell);
  record_double(&r, "dTime_AllLv", levels, dt);
  record_text(&r, "CodeVersion", program_version());
  record_text(&r, "GitCommit", program_revision());
  record_write(info, path, "KeyInfo", &r);
}

static void write_makefile(hid_t info, const char *path, const struct transfer *t) {
  const struct gas_file *f = t->file;
  struct record r = {0};
  add_int(&r, "Model", 1);
  add_int(&r, "Gravity", f->gravity);
  add_int(&r, "Comoving", t->parameters->gas.comoving);
  add_int(&r, "Particle", f->particles != NULL);
  add_int(&r, "Float8", f->real == sizeof(double));
  add_int(&r, "NLevel", f->topology.finest + 1);
  add_int(&r, "FluScheme", solver_number[f->solver]);
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
  add_int(&r, "PatchSize", GAS_PATCH_SIDE);
  add_int(&r, "Flu_GhostSize", GAS_GHOSTS);
  add_int(&r, "Flu_Nxt", GAS_BLOCK_SIDE);
  add_int(&r, "SibOffsetNonperiodic", TREE_OUTSIDE);
  record_write(info, path, "SymConst", &r);
}

/** Units in cgs. Those of comoving gas are the physical ones at the time of the file: v~ is a times
 * the velocity, and lengths are comoving. */
static void add_units(struct record *r, const struct transfer *t) {
  const struct parameters *p = t->parameters;
  const double a = t->file->level[0].time, h = p->cosmology.h;
  const bool comoving = p->gas.comoving;
  const double length = comoving ? a * 3.0856775814913673e24 / h : 1.0;
  const double mass = comoving ? 1.98841e43 / h : 1.0, velocity = comoving ? 1e5 / a : 1.0;
  add_int(r, "Opt__Unit", comoving); /* 0: numbers without units */
  add_double(r, "Unit_L", length);
  add_double(r, "Unit_M", mass);
  add_double(r, "Unit_T", length / velocity);
  add_double(r, "Unit_V", velocity);
  add_double(r, "Unit_D", mass / pow(length, 3.0));
  add_double(r, "Unit_E", mass * pow(velocity, 2.0));
  add_double(r, "Unit_P", mass * pow(velocity, 2.0) / pow(length, 3.0));
}

static void write_input(hid_t info, const char *path, const struct transfer *t) {
  const struct gas_file *f = t->file;
  const struct parameters *p = t->parameters;
  struct record r = {0};
  int32_t root[3], boundary[6], longest = 0;
  for (int c = 0; c < 3; c++) {
    root[c] = root_cells(f, c);
    if (root[c] > longest) longest = root[c];
    for (int side = 0; side < 2; side++)
      boundary[2 * c + side] = boundary_number[f->topology.boundary[c][side]];
  }
  add_double(&r, "BoxSize", f->cell * longest);
  record_int(&r, "NX0_Tot", 3, root);
  add_units(&r, t);
  if (p->gas.comoving) {
    add_double(&r, "A_Init", 1.0 / (1.0 + p->ic.z_init));
    add_double(&r, "OmegaM0", p->cosmology.omega_m);
    add_double(&r, "Hubble0", p->cosmology.h);
  }
  record_int(&r, "Opt__BC_Flu", 6, boundary);
  add_int(&r, "MaxLevel", f->topology.finest);
  add_double(&r, "Gamma", f->gamma);
  add_double(&r, "MolecularWeight", p->gas.molecular_weight);
  for (size_t v = 0; v < count_fields(f); v++) {
    char label[32];
    snprintf(label, sizeof label, "FieldLabel%02zu", v);
    record_text(&r, label, field_name(f, v));
  }
  if (f->gravity) {
    add_int(&r, "Opt__Output_Pot", f->potential != NULL);
    add_int(&r, "Opt__BC_Pot", f->topology.boundary[0][0] == GAS_PERIODIC ? 1 : 2);
    add_double(&r, "NewtonG", f->newton_constant);
  }
  record_write(info, path, "InputPara", &r);
}

static void write_info(hid_t file, const char *path, const struct transfer *t) {
  const hid_t info = hdf5_create_group(file, path, "Info");
  write_key_info(info, path, t->file);
  write_makefile(info, path, t);
  write_constants(info, path, t->file);
  write_input(info, path, t);
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
  int32_t corner[PIECE * GAS_PATCHES][3], father[PIECE * GAS_PATCHES], son[PIECE * GAS_PATCHES],
      sibling[PIECE * GAS_PATCHES][TREE_SIBLINGS];
  int64_t lb_index[PIECE * GAS_PATCHES];
};

static void fill_rows(const struct gas_file *f, int level, uint32_t first, uint32_t groups,
                      struct rows *rows) {
  const struct topology *t = &f->topology;
  for (uint32_t n = 0; n < GAS_PATCHES * groups; n++) {
    const uint32_t g = first + n / GAS_PATCHES;
    const int i = n % GAS_PATCHES;
    const struct gas_group *group = &t->level[level].group[g];
    uint32_t place[3];
    tree_place(group, i, place);
    for (int c = 0; c < 3; c++)
      rows->corner[n][c] = (int32_t)(GAS_PATCH_SIDE * place[c]) * cell_scale(f, level);
    rows->father[n] = tree_father(t, level, group);
    rows->son[n] = tree_son(t, level, group, i);
    for (int s = 0; s < TREE_SIBLINGS; s++) rows->sibling[n][s] = tree_sibling(t, level, g, i, s);
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

static void write_tree(hid_t file, const char *path, const struct gas_file *f) {
  const hid_t group = hdf5_create_group(file, path, "Tree");
  hid_t dataset[TABLES];
  for (size_t i = 0; i < TABLES; i++)
    dataset[i] = hdf5_create_dataset(group, path, tables[i].name, table_type(i), count_patches(f),
                                     tables[i].columns, H5P_DEFAULT);
  hdf5_write_double(dataset[CORNER], path, "Cvt2Phy", f->cell / cell_scale(f, 0));
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

/* GridData. */

static void create_grid_data(hid_t file, const char *path, const struct gas_file *f) {
  const hid_t group = hdf5_create_group(file, path, "GridData");
  const hsize_t size[4] = {count_patches(f), 8, 8, 8};
  for (size_t v = 0; v < count_fields(f); v++)
    hdf5_check(H5Dclose(hdf5_create_array(group, path, field_name(f, v), real_type(f), 4, size,
                                          H5P_DEFAULT)),
               EXIT_RUN_FAILED, path, "write GridData");
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
  const char *name = field_name(f, variable);
  const size_t bytes = GAS_GROUP_CELLS * f->real;
  const size_t row = tree_first(&f->topology, level) + GAS_PATCHES * (size_t)first;
  if (!writing)
    hdf5_read_rows(dataset, path, name, real_type(f), row, GAS_PATCHES * groups, GAS_PATCH_CELLS,
                   room, NULL);
  for (uint32_t i = 0; i < groups; i++)
    if (variable < f->variables)
      copy_patches(f, variable, t->group(t->context, level, first + i), room + i * bytes, writing);
    else
      copy_potential(t, level, first + i, room + PIECE * bytes, room + i * bytes);
  if (writing)
    hdf5_write_rows(dataset, path, name, real_type(f), row, GAS_PATCHES * groups, GAS_PATCH_CELLS,
                    room);
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

static void transfer_gas(const struct transfer *t, hid_t file, const char *path, bool writing) {
  for (size_t v = 0; v < count_fields(t->file); v++) {
    char name[32];
    snprintf(name, sizeof name, "GridData/%s", field_name(t->file, v));
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
                         (const char *)&t->file->moment + state_fields[i].offset);
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
    write_info(file, path, t);
    write_tree(file, path, t->file);
    if (t->particles) file_particles_create(file, path, t->particles);
    create_grid_data(file, path, t->file);
    write_state(file, path, t);
    provenance_write(file, path, &t->provenance);
  }
  if (t->particles) file_particles_write(file, path, t->particles);
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
                       .particles = f->particles ? file_particles_sort(f) : NULL,
                       .group = group,
                       .context = context};
  output_together((char *[]){(char *)path}, 1, previous, write_part, &t);
  file_particles_free(t.particles);
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

/** Index of a number of GAMER's; the program ends where there is none. */
static int find_number(const char *path, const int32_t *numbers, int count, int32_t wanted) {
  int i = 0;
  while (i < count && numbers[i] != wanted) i++;
  if (i == count) corrupt(path, "an unknown boundary or solver");
  return i;
}

static void read_numbers(hid_t info, const char *path, struct gas_file *f) {
  const int32_t variables = read_int(info, path, "KeyInfo", "NCompFluid") +
                            read_int(info, path, "KeyInfo", "NCompPassive");
  if (variables < FLUIDS || variables > GAS_VARIABLES_MAX) corrupt(path, "other variables");
  f->variables = (size_t)variables;
  f->real = read_int(info, path, "KeyInfo", "Float8") ? sizeof(double) : sizeof(float);
  f->solver = (enum gas_solver)find_number(path, solver_number, 2,
                                           read_int(info, path, "Makefile", "FluScheme"));
  record_read(info, path, "InputPara", "Gamma", H5T_NATIVE_DOUBLE, 0, &f->gamma);
  if (!read_int(info, path, "KeyInfo", "Particle")) return;
  int64_t particles;
  record_read(info, path, "KeyInfo", "Par_NPar", H5T_NATIVE_INT64, 0, &particles);
  if (particles <= 0) corrupt(path, "an impossible number of particles");
  f->particle_count = (size_t)particles;
}

/** An octree of the root level alone. */
static void read_root(hid_t info, const char *path, struct gas_file *f) {
  enum gas_boundary boundary[3][2];
  int32_t sides[6];
  uint32_t root[3];
  double box[3];
  const int32_t levels = read_int(info, path, "KeyInfo", "NLevel");
  if (levels < 1 || levels > GAS_LEVELS_MAX) corrupt(path, "too many levels");
  record_read(info, path, "KeyInfo", "NX0", H5T_NATIVE_UINT32, 3, root);
  record_read(info, path, "KeyInfo", "BoxSize", H5T_NATIVE_DOUBLE, 3, box);
  record_read(info, path, "InputPara", "Opt__BC_Flu", H5T_NATIVE_INT32, 6, sides);
  for (int c = 0; c < 3; c++) {
    if (root[c] == 0 || root[c] % GAS_GROUP_SIDE != 0 || root[c] > (uint32_t)INT32_MAX >> levels)
      corrupt(path, "an impossible box");
    root[c] /= GAS_GROUP_SIDE;
    for (int side = 0; side < 2; side++)
      boundary[c][side] = (enum gas_boundary)find_number(path, boundary_number, 3,
                                                         sides[2 * c + side]);
  }
  f->cell = box[0] / (GAS_GROUP_SIDE * root[0]);
  topology_init(&f->topology, root, boundary, levels - 1);
}

static void read_levels(hid_t info, const char *path, struct gas_file *f,
                        int32_t patches[GAS_LEVELS_MAX]) {
  int64_t steps[GAS_LEVELS_MAX];
  double time[GAS_LEVELS_MAX], dt[GAS_LEVELS_MAX];
  const size_t levels = count_levels(f);
  record_read(info, path, "KeyInfo", "NPatch", H5T_NATIVE_INT32, levels, patches);
  record_read(info, path, "KeyInfo", "AdvanceCounter", H5T_NATIVE_INT64, levels, steps);
  record_read(info, path, "KeyInfo", "Time", H5T_NATIVE_DOUBLE, levels, time);
  record_read(info, path, "KeyInfo", "dTime_AllLv", H5T_NATIVE_DOUBLE, levels, dt);
  for (size_t l = 0; l < levels; l++) {
    if (patches[l] < 0 || patches[l] % GAS_PATCHES != 0)
      corrupt(path, "an impossible number of patches");
    f->level[l] = (struct gas_file_level){.time = time[l], .dt = dt[l], .steps = steps[l]};
  }
  if ((uint32_t)patches[0] != GAS_PATCHES * f->topology.level[0].count)
    corrupt(path, "level 0 does not fill the box");
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

/** Morton keys of the groups of a level, whose patches begin with row @p row of Corner. */
static uint64_t *read_keys(hid_t corners, const char *path, const struct gas_file *f, int level,
                           size_t row, uint32_t groups) {
  const int32_t side = GAS_GROUP_SIDE * cell_scale(f, level);
  uint64_t *keys = allocate(groups, sizeof *keys, "patch groups");
  for (uint32_t g = 0; g < groups; g++) {
    int32_t corner[3];
    uint32_t place[3];
    hdf5_read_rows(corners, path, "Corner", H5T_NATIVE_INT32, row + GAS_PATCHES * (size_t)g, 1, 3,
                   corner, NULL);
    for (int c = 0; c < 3; c++) {
      place[c] = (uint32_t)(corner[c] / side);
      if (corner[c] < 0 || place[c] >= f->topology.root[c] << level)
        corrupt(path, "a patch is outside the box");
    }
    keys[g] = morton_key(place);
    if (g > 0 && keys[g] <= keys[g - 1]) corrupt(path, "patches are not in order");
  }
  return keys;
}

/** The groups below the root level. */
static void read_tree(hid_t file, const char *path, struct gas_file *f,
                      const int32_t patches[GAS_LEVELS_MAX]) {
  size_t all = 0, row = (size_t)patches[0];
  for (size_t l = 0; l < count_levels(f); l++) all += (size_t)patches[l];
  const hid_t corners = open_patches(file, path, "Tree/Corner", 3 * all);
  for (int l = 1; l <= f->topology.finest; l++) {
    const struct gas_tree_level *coarse = &f->topology.level[l - 1];
    const uint32_t groups = (uint32_t)patches[l] / GAS_PATCHES;
    uint64_t *keys = read_keys(corners, path, f, l, row, groups);
    for (uint32_t g = 0, father = 0; g < groups; g++) { /* both lists rise */
      while (father < coarse->count && coarse->key[father] < keys[g] >> 3) father++;
      if (father == coarse->count || coarse->key[father] != keys[g] >> 3)
        corrupt(path, "a patch has no father");
    }
    topology_replace(&f->topology, l, keys, groups);
    row += (size_t)patches[l];
  }
  H5Dclose(corners);
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
                             (char *)&f.moment + state_fields[i].offset))
      corrupt(path, state_fields[i].name);
  const hid_t info = hdf5_check(H5Gopen2(file, "Info", H5P_DEFAULT), EXIT_BAD_INPUT, path,
                                "read Info");
  int32_t patches[GAS_LEVELS_MAX];
  read_numbers(info, path, &f);
  read_root(info, path, &f);
  read_levels(info, path, &f, patches);
  H5Gclose(info);
  read_tree(file, path, &f, patches);
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
    H5Dclose(open_patches(file, path, name, GAS_PATCH_CELLS * count_patches(f)));
  }
  transfer_gas(&t, file, path, false);
  H5Fclose(file);
}

struct gas_particle *gas_file_read_particles(const char *path, size_t *count) {
  const hid_t file = hdf5_open(path);
  struct gas_particle *particle = file_particles_read(file, path, count);
  H5Fclose(file);
  return particle;
}
