/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Info: records of GAMER. */
#include "gas_file_parts.h"

#include <math.h>
#include <stdio.h>

#include "gas_file_tree.h"
#include "photons/base/version.h"
#include "photons/gas/create.h"
#include "photons/pm/particles.h"
#include "src/io/hdf5_record.h"

/* GAMER's numbers of boundaries and solvers. */
static const int32_t boundary_number[] = {
    [GAS_PERIODIC] = 1, [GAS_OUTFLOW] = 2, [GAS_REFLECTING] = 3};
static const int32_t solver_number[] = {[GAS_RTVD] = 1, [GAS_MUSCL] = 3, [GAS_PPM] = 5};

static void add_int(struct record *r, const char *name, int32_t value) {
  record_int(r, name, 0, &value);
}

static void add_double(struct record *r, const char *name, double value) {
  record_double(r, name, 0, &value);
}

static void write_key_info(hid_t info, const char *path, const struct gas_file *f) {
  struct record r = {0};
  const size_t levels = file_levels(f);
  int32_t root[3], box_scale[3], patches[GAS_LEVELS_MAX], scale[GAS_LEVELS_MAX];
  int64_t steps[GAS_LEVELS_MAX];
  double box[3], time[GAS_LEVELS_MAX], dt[GAS_LEVELS_MAX], cell[GAS_LEVELS_MAX];
  for (int c = 0; c < 3; c++) {
    root[c] = file_root_cells(f, c);
    box_scale[c] = root[c] * file_cell_scale(f, 0);
    box[c] = f->cell * root[c];
  }
  for (int l = 0; l <= f->topology.finest; l++) {
    patches[l] = (int32_t)(GAS_PATCHES * f->topology.level[l].count);
    scale[l] = file_cell_scale(f, l);
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
  add_int(&r, "NCompPassive", (int32_t)file_variables(f) - FLUIDS);
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
  add_int(&r, "NFieldStored", (int32_t)file_fields(f));
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
  add_int(&r, "FluScheme", solver_number[f->physics.solver]);
  add_int(&r, "DualEnergy", gas_solved(&f->physics) > FLUIDS);
  add_int(&r, "Magnetohydrodynamics", 0);
  add_int(&r, "SRHydrodynamics", 0);
  add_int(&r, "CosmicRay", 0);
  add_int(&r, "EoS", 1); /* of a constant ratio of specific heats */
  record_write(info, path, "Makefile", &r);
}

static void write_constants(hid_t info, const char *path, const struct gas_file *f) {
  struct record r = {0};
  add_int(&r, "NCompFluid", FLUIDS);
  add_int(&r, "NCompPassive", (int32_t)file_variables(f) - FLUIDS);
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
    root[c] = file_root_cells(f, c);
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
  add_double(&r, "Gamma", f->physics.gamma);
  add_double(&r, "MolecularWeight", p->gas.molecular_weight);
  for (size_t v = 0; v < file_fields(f); v++) {
    char label[32];
    snprintf(label, sizeof label, "FieldLabel%02zu", v);
    record_text(&r, label, file_field_name(f, v).text);
  }
  if (f->gravity) {
    add_int(&r, "Opt__Output_Pot", f->potential != NULL);
    add_int(&r, "Opt__BC_Pot", f->topology.boundary[0][0] == GAS_PERIODIC ? 1 : 2);
    add_double(&r, "NewtonG", f->newton_constant);
  }
  record_write(info, path, "InputPara", &r);
}

void file_info_write(hid_t file, const char *path, const struct transfer *t) {
  const hid_t info = hdf5_create_group(file, path, "Info");
  write_key_info(info, path, t->file);
  write_makefile(info, path, t);
  write_constants(info, path, t->file);
  write_input(info, path, t);
  hdf5_close_group(info, path);
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
  if (i == count) file_corrupt(path, "an unknown boundary or solver");
  return i;
}

void file_info_read_numbers(hid_t info, const char *path, const struct parameters *p,
                            struct gas_file *f) {
  const int32_t variables = read_int(info, path, "KeyInfo", "NCompFluid") +
                            read_int(info, path, "KeyInfo", "NCompPassive");
  f->physics = gas_physics_of(p);
  f->real = read_int(info, path, "KeyInfo", "Float8") ? sizeof(double) : sizeof(float);
  f->physics.solver = (enum gas_solver)find_number(path, solver_number, 3,
                                                   read_int(info, path, "Makefile", "FluScheme"));
  if (variables != (int32_t)file_variables(f)) file_corrupt(path, "other variables");
  record_read(info, path, "InputPara", "Gamma", H5T_NATIVE_DOUBLE, 0, &f->physics.gamma);
  if (!read_int(info, path, "KeyInfo", "Particle")) return;
  int64_t particles;
  record_read(info, path, "KeyInfo", "Par_NPar", H5T_NATIVE_INT64, 0, &particles);
  if (particles <= 0) file_corrupt(path, "an impossible number of particles");
  f->particle_count = (size_t)particles;
}

void file_info_read_root(hid_t info, const char *path, struct gas_file *f) {
  enum gas_boundary boundary[3][2];
  int32_t sides[6];
  uint32_t root[3];
  double box[3];
  const int32_t levels = read_int(info, path, "KeyInfo", "NLevel");
  if (levels < 1 || levels > GAS_LEVELS_MAX) file_corrupt(path, "too many levels");
  record_read(info, path, "KeyInfo", "NX0", H5T_NATIVE_UINT32, 3, root);
  record_read(info, path, "KeyInfo", "BoxSize", H5T_NATIVE_DOUBLE, 3, box);
  record_read(info, path, "InputPara", "Opt__BC_Flu", H5T_NATIVE_INT32, 6, sides);
  for (int c = 0; c < 3; c++) {
    if (root[c] == 0 || root[c] % GAS_GROUP_SIDE != 0 || root[c] > (uint32_t)INT32_MAX >> levels)
      file_corrupt(path, "an impossible box");
    root[c] /= GAS_GROUP_SIDE;
    for (int side = 0; side < 2; side++)
      boundary[c][side] = (enum gas_boundary)find_number(path, boundary_number, 3,
                                                         sides[2 * c + side]);
  }
  f->cell = box[0] / (GAS_GROUP_SIDE * root[0]);
  topology_init_keys(&f->topology, root, boundary, levels - 1);
}

void file_info_read_levels(hid_t info, const char *path, struct gas_file *f,
                           int32_t patches[GAS_LEVELS_MAX]) {
  int64_t steps[GAS_LEVELS_MAX];
  double time[GAS_LEVELS_MAX], dt[GAS_LEVELS_MAX];
  const size_t levels = file_levels(f);
  record_read(info, path, "KeyInfo", "NPatch", H5T_NATIVE_INT32, levels, patches);
  record_read(info, path, "KeyInfo", "AdvanceCounter", H5T_NATIVE_INT64, levels, steps);
  record_read(info, path, "KeyInfo", "Time", H5T_NATIVE_DOUBLE, levels, time);
  record_read(info, path, "KeyInfo", "dTime_AllLv", H5T_NATIVE_DOUBLE, levels, dt);
  for (size_t l = 0; l < levels; l++) {
    if (patches[l] < 0 || patches[l] % GAS_PATCHES != 0)
      file_corrupt(path, "an impossible number of patches");
    f->level[l] = (struct gas_file_level){.time = time[l], .dt = dt[l], .steps = steps[l]};
  }
  if ((uint32_t)patches[0] != GAS_PATCHES * f->topology.level[0].count)
    file_corrupt(path, "level 0 does not fill the box");
}
