/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gadget HDF5 snapshots. */
#include "photons/io/snapshot.h"
#include "photons/domain/geometry.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hdf5_checksum.h"
#include "hdf5_util.h"
#include "photons/base/comm.h"
#include "photons/base/output_file.h"
#include "photons/cosmology/cosmology.h"
#include "photons/io/provenance.h"

enum {
  TYPES = 6,
  HALO = 1,
  PIECE = 1 << 17 /* particles converted and written at a time; rows of a compressed chunk */
};

/* Gadget's units in cgs. */
static const double cm_per_kpc = 3.085678e21, g_per_mass_unit = 1.989e43,
                    cm_per_s_per_km_per_s = 1e5;

/** Factors from internal to file units, and file units in cgs. */
struct file_units {
  double position, momentum, acceleration;
  double corner; /* coordinate of position 0 */
  double mass;   /* of a particle, in the file's unit */
  double length_cgs;
};

/** Rows of @p count particles of a block, from its particle @p i on. */
typedef void convert(const struct file_units *units, const struct particle_block *b, size_t i,
                     size_t count, void *rows);

static void convert_positions(const struct file_units *units, const struct particle_block *b,
                              size_t i, size_t count, void *rows) {
  double *out = rows;
  for (size_t n = 0; n < count; n++)
    for (size_t c = 0; c < 3; c++)
      out[3 * n + c] = b->x[c][i + n] * units->position + units->corner;
}

static void convert_vectors(float *const component[3], double factor, size_t i, size_t count,
                            float *out) {
  for (size_t n = 0; n < count; n++)
    for (size_t c = 0; c < 3; c++) out[3 * n + c] = (float)((double)component[c][i + n] * factor);
}

static void convert_velocities(const struct file_units *units, const struct particle_block *b,
                               size_t i, size_t count, void *rows) {
  convert_vectors(b->p, units->momentum, i, count, rows);
}

static void convert_accelerations(const struct file_units *units, const struct particle_block *b,
                                  size_t i, size_t count, void *rows) {
  convert_vectors(b->acc, units->acceleration, i, count, rows);
}

static void convert_potentials(const struct file_units *units, const struct particle_block *b,
                               size_t i, size_t count, void *rows) {
  (void)units;
  memcpy(rows, b->potential + i, count * sizeof(float));
}

static void convert_ids(const struct file_units *units, const struct particle_block *b, size_t i,
                        size_t count, void *rows) {
  (void)units;
  uint64_t *out = rows;
  for (size_t n = 0; n < count; n++) out[n] = b->id[i + n];
}

static void convert_masses(const struct file_units *units, const struct particle_block *b, size_t i,
                           size_t count, void *rows) {
  (void)b;
  (void)i;
  float *out = rows;
  for (size_t n = 0; n < count; n++) out[n] = (float)units->mass;
}

/** A dataset. Physical value in cgs = stored value * to_cgs * a^a_scaling * h^h_scaling (Gadget-4's attributes). */
struct field {
  const char *name;
  enum { DOUBLE, FLOAT, ID } number;
  size_t columns;
  bool constant; /**< one value for all, which takes no space in the file */
  convert *convert;
  double a_scaling, h_scaling, length_scaling, mass_scaling, velocity_scaling;
};

static const struct field fields[] = {
    {"Coordinates", DOUBLE, 3, false, convert_positions, 1, -1, 1, 0, 0},
    {"Velocities", FLOAT, 3, false, convert_velocities, 0.5, 0, 0, 0, 1},
    {"ParticleIDs", ID, 1, false, convert_ids, 0, 0, 0, 0, 0},
    {"Masses", FLOAT, 1, true, convert_masses, 0, -1, 0, 1, 0},
    {"Acceleration", FLOAT, 3, false, convert_accelerations, -2, 1, -1, 0, 2},
    {"Potential", FLOAT, 1, false, convert_potentials, 0, 0, 0, 0, 2},
};
enum { FIELDS = sizeof fields / sizeof *fields };

/** A snapshot, one file or several, as all processes write it. */
struct snapshot {
  const struct parameters *parameters;
  struct provenance provenance;
  const struct particles *particles; /* of this process */
  double a, box;                     /* in the file's unit; isolated systems: 1, 0 */
  double time;                       /* a, or in isolated systems kpc/(km/s) */
  struct file_units units;
  size_t files, all;
  size_t *count; /* [rank] particles */
};

static bool wanted(const struct snapshot *s, const struct field *f) {
  if (f->convert == convert_accelerations) return s->parameters->output.accelerations;
  if (f->convert == convert_potentials) return s->parameters->output.potential;
  return true;
}

static size_t count_ranks(const struct snapshot *s, int first, int end) {
  size_t sum = 0;
  for (int r = first; r < end; r++) sum += s->count[r];
  return sum;
}

static void write_units(hid_t group, const char *path, const struct snapshot *s) {
  hdf5_write_double(group, path, "UnitLength_in_cm", s->units.length_cgs);
  hdf5_write_double(group, path, "UnitMass_in_g", g_per_mass_unit);
  hdf5_write_double(group, path, "UnitVelocity_in_cm_per_s", cm_per_s_per_km_per_s);
}

/** What the headers of isolated systems say in place of a number of the universe. */
static double isolated_or(const struct parameters *p, double value, double number) {
  return p->box.boundary == BOUNDARY_ISOLATED ? value : number;
}

static void write_header(hid_t file, const char *path, const struct snapshot *s, size_t in_file) {
  const struct parameters *p = s->parameters;
  const uint64_t count[TYPES] = {[HALO] = in_file};
  const uint32_t low[TYPES] = {[HALO] = (uint32_t)s->all},
                 high[TYPES] = {[HALO] = (uint32_t)((uint64_t)s->all >> 32)};
  const double mass[TYPES] = {[HALO] = s->particles->mass};
  const int32_t files = (int32_t)s->files, none = 0, no_entropy[TYPES] = {0};
  const hid_t header = hdf5_create_group(file, path, "Header");
  hdf5_write_attribute(header, path, "NumPart_ThisFile", H5T_NATIVE_UINT64, TYPES, count);
  hdf5_write_attribute(header, path, "NumPart_Total", H5T_NATIVE_UINT32, TYPES, low);
  hdf5_write_attribute(header, path, "NumPart_Total_HighWord", H5T_NATIVE_UINT32, TYPES, high);
  hdf5_write_attribute(header, path, "MassTable", H5T_NATIVE_DOUBLE, TYPES, mass);
  hdf5_write_attribute(header, path, "NumFilesPerSnapshot", H5T_NATIVE_INT32, 0, &files);
  hdf5_write_double(header, path, "Time", s->time);
  hdf5_write_double(header, path, "Redshift", 1.0 / s->a - 1.0);
  hdf5_write_double(header, path, "BoxSize", s->box);
  hdf5_write_double(header, path, "Omega0", isolated_or(p, 0.0, p->cosmology.omega_m));
  hdf5_write_double(header, path, "OmegaLambda", isolated_or(p, 0.0, p->cosmology.omega_lambda));
  hdf5_write_double(header, path, "OmegaBaryon", isolated_or(p, 0.0, p->cosmology.omega_b));
  hdf5_write_double(header, path, "HubbleParam", isolated_or(p, 1.0, p->cosmology.h));
  static const char *const flags[] = {"Flag_Sfr",        "Flag_Cooling", "Flag_Feedback",
                                      "Flag_StellarAge", "Flag_Metals",  "Flag_DoublePrecision"};
  for (size_t f = 0; f < sizeof flags / sizeof *flags; f++)
    hdf5_write_attribute(header, path, flags[f], H5T_NATIVE_INT32, 0, &none);
  hdf5_write_attribute(header, path, "Flag_Entropy_ICs", H5T_NATIVE_INT32, TYPES, no_entropy);
  write_units(header, path, s);
  hdf5_close_group(header, path);
}

static void write_parameters(hid_t file, const char *path, const struct snapshot *s) {
  const struct parameters *p = s->parameters;
  const hid_t group = hdf5_create_group(file, path, "Parameters");
  hdf5_write_double(group, path, "Omega0", isolated_or(p, 0.0, p->cosmology.omega_m));
  hdf5_write_double(group, path, "OmegaLambda", isolated_or(p, 0.0, p->cosmology.omega_lambda));
  hdf5_write_double(group, path, "OmegaBaryon", isolated_or(p, 0.0, p->cosmology.omega_b));
  hdf5_write_double(group, path, "HubbleParam", isolated_or(p, 1.0, p->cosmology.h));
  hdf5_write_double(group, path, "w0", p->cosmology.w0);
  hdf5_write_double(group, path, "wa", p->cosmology.wa);
  hdf5_write_double(group, path, "BoxSize", s->box);
  write_units(group, path, s);
  hdf5_close_group(group, path);
}

static hid_t number_type(const struct field *f) {
  const hid_t types[] = {
      [DOUBLE] = H5T_NATIVE_DOUBLE, [FLOAT] = H5T_NATIVE_FLOAT, [ID] = H5T_NATIVE_UINT64};
  return types[f->number];
}

static hid_t create_dataset(hid_t group, const char *path, const struct field *f,
                            const struct snapshot *s, size_t in_file) {
  const hid_t type = number_type(f);
  const int64_t compression = s->parameters->output.compression;
  const hsize_t chunk[2] = {in_file < PIECE ? in_file : PIECE, f->columns};
  const hid_t layout = hdf5_check(H5Pcreate(H5P_DATASET_CREATE), EXIT_RUN_FAILED, path,
                                  "make a dataset");
  if (f->constant) {
    double value;
    f->convert(&s->units, NULL, 0, 1, &value);
    hdf5_check(H5Pset_fill_value(layout, type, &value), EXIT_RUN_FAILED, path, "make a dataset");
  } else if (compression > 0) {
    hdf5_check(H5Pset_chunk(layout, f->columns > 1 ? 2 : 1, chunk), EXIT_RUN_FAILED, path,
               "compress");
    hdf5_check(H5Pset_shuffle(layout), EXIT_RUN_FAILED, path, "compress");
    hdf5_check(H5Pset_deflate(layout, (unsigned)compression), EXIT_RUN_FAILED, path, "compress");
  }
  const hid_t dataset = hdf5_create_dataset(group, path, f->name, type, in_file, f->columns,
                                            layout);
  H5Pclose(layout);
  return dataset;
}

static void write_scaling(hid_t dataset, const char *path, const struct field *f,
                          double length_cgs) {
  hdf5_write_double(dataset, path, "a_scaling", f->a_scaling);
  hdf5_write_double(dataset, path, "h_scaling", f->h_scaling);
  hdf5_write_double(dataset, path, "length_scaling", f->length_scaling);
  hdf5_write_double(dataset, path, "mass_scaling", f->mass_scaling);
  hdf5_write_double(dataset, path, "velocity_scaling", f->velocity_scaling);
  hdf5_write_double(dataset, path, "to_cgs",
                    pow(length_cgs, f->length_scaling) * pow(g_per_mass_unit, f->mass_scaling) *
                        pow(cm_per_s_per_km_per_s, f->velocity_scaling));
}

/** The particles of this process, from row @p begin on. Piece after piece, so that memory does not grow with N, and each chunk is
 * compressed once (twice where two processes meet). */
static void write_rows(hid_t dataset, const char *path, const struct field *f,
                       const struct snapshot *snapshot, size_t begin) {
  const struct particles *s = snapshot->particles;
  const hid_t type = number_type(f);
  const size_t row_size = f->columns * H5Tget_size(type),
               most = s->count < PIECE ? s->count : PIECE;
  char *rows = allocate(most, row_size, "writing a snapshot");
  struct particle_block block = {.count = 0};
  size_t next_block = 0, done = 0; /* blocks entered; particles converted */
  for (size_t first = 0; first < s->count; first = done) {
    const size_t end = first + PIECE - (begin + first) % PIECE; /* of the chunk */
    while (done < s->count && done < end) {
      while (done == block.first + block.count) block = particles_block(s, next_block++);
      const size_t i = done - block.first, room = end - done, left = block.count - i;
      const size_t count = left < room ? left : room;
      f->convert(&snapshot->units, &block, i, count, rows + (done - first) * row_size);
      done += count;
    }
    if (f->constant) /* readers get the fill value */
      hdf5_checksum_add(dataset, path, checksum_rows(rows, row_size, begin + first, done - first));
    else
      hdf5_write_rows(dataset, path, f->name, type, begin + first, done - first, f->columns, rows);
  }
  free(rows);
}

/** The settings of the run. */
static void write_config(hid_t file, const char *path, const struct snapshot *s) {
  const hid_t config = hdf5_create_group(file, path, "Config");
  hdf5_write_config(config, path, s->parameters);
  /* Without an attribute of this name yt (4.1 and 4.4) takes the file for one of Gadget, and its
   * lengths for kpc/h. With it yt takes the file for one of Arepo and reads UnitLength_in_cm. */
  if (s->parameters->output.unit_length == LENGTH_MPC_H)
    hdf5_write_text(config, path, "AMR", "no: the name makes yt read UnitLength_in_cm");
  hdf5_close_group(config, path);
}

/** The file with all its datasets, which have no values yet. */
static void create_file(const struct snapshot *s, const char *temporary, const char *path,
                        size_t in_file) {
  const hid_t file = hdf5_create(temporary, path);
  write_header(file, path, s, in_file);
  write_parameters(file, path, s);
  write_config(file, path, s);
  provenance_write(file, path, &s->provenance);
  if (in_file > 0) {
    const hid_t group = hdf5_create_group(file, path, "PartType1");
    for (size_t f = 0; f < FIELDS; f++) {
      if (!wanted(s, &fields[f])) continue;
      const hid_t dataset = create_dataset(group, path, &fields[f], s, in_file);
      write_scaling(dataset, path, &fields[f], s->units.length_cgs);
      hdf5_check(H5Dclose(dataset), EXIT_RUN_FAILED, path, "write the file");
    }
    hdf5_close_group(group, path);
  }
  hdf5_close_written(file, path);
}

static void write_part(void *context, const struct output_turn *turn) {
  const struct snapshot *s = context;
  const char *path = turn->path;
  if (comm_rank() == turn->first)
    create_file(s, turn->temporary, path, count_ranks(s, turn->first, turn->last + 1));
  if (s->particles->count == 0) return;
  const hid_t file = hdf5_continue(turn->temporary, path);
  const size_t begin = count_ranks(s, turn->first, comm_rank());
  for (size_t f = 0; f < FIELDS; f++) {
    if (!wanted(s, &fields[f])) continue;
    char name[64];
    snprintf(name, sizeof name, "/PartType1/%s", fields[f].name);
    const hid_t dataset = hdf5_check(H5Dopen2(file, name, H5P_DEFAULT), EXIT_RUN_FAILED, path,
                                     "continue the file");
    write_rows(dataset, path, &fields[f], s, begin);
    hdf5_check(H5Dclose(dataset), EXIT_RUN_FAILED, path, "write the file");
  }
  hdf5_close_written(file, path);
}

/** NAME.k.hdf5 for NAME.hdf5 where there are several files. */
static char **list_paths(const char *path, size_t files) {
  static const char ending[] = ".hdf5";
  size_t stem = strlen(path);
  if (stem >= strlen(ending) && strcmp(path + stem - strlen(ending), ending) == 0)
    stem -= strlen(ending);
  char **paths = allocate(files, sizeof *paths, "file names");
  for (size_t f = 0; f < files; f++) {
    const size_t size = strlen(path) + 32;
    paths[f] = allocate(size, 1, "file names");
    if (files == 1)
      snprintf(paths[f], size, "%s", path);
    else
      snprintf(paths[f], size, "%.*s.%zu%s", (int)stem, path, f, ending);
  }
  return paths;
}

void snapshot_write(const char *path, const struct parameters *p, const struct particles *particles,
                    double a) {
  const double length = p->output.unit_length == LENGTH_MPC_H ? 1.0
                                                              : 1000.0; /* file units in Mpc/h */
  const size_t ranks = (size_t)comm_size(),
               files = p->output.files > 0 ? (size_t)p->output.files : ranks;
  const bool isolated = p->box.boundary == BOUNDARY_ISOLATED;
  const double side = particles->box * length;
  struct snapshot s = {.parameters = p,
                       .provenance = provenance_of(p),
                       .particles = particles,
                       .a = isolated ? 1.0 : a,
                       .time = isolated ? cosmology_clock_myr(a) * MYR * length : a,
                       .box = isolated ? 0.0 : particles->box * length,
                       .files = files < ranks ? files : ranks};
  s.units = (struct file_units){.position = side / POSITION_TURN,
                                .corner = isolated ? -0.5 * side : 0.0,
                                .momentum = pow(s.a, -1.5), /* u = v_pec / sqrt(a), p = a v_pec */
                                .acceleration = 1.0 / length,
                                .mass = particles->mass,
                                .length_cgs = cm_per_kpc * 1000.0 / length};
  s.count = allocate(ranks, sizeof *s.count, "particle counts");
  comm_gather_all(&particles->count, sizeof particles->count, s.count);
  s.all = count_ranks(&s, 0, comm_size());
  char **paths = list_paths(path, s.files);
  output_together(paths, s.files, NULL, write_part, &s);
  for (size_t f = 0; f < s.files; f++) free(paths[f]);
  free(paths);
  free(s.count);
}
