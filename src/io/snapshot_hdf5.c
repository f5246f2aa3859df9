/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Snapshots in Gadget's HDF5 format, as Gadget-4 writes them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hdf5_checksum.h"
#include "hdf5_chunks.h"
#include "hdf5_util.h"
#include "photons/base/comm.h"
#include "snapshot_set.h"

enum {
  TYPES = PARTICLE_TYPES,
  /* Rows of a compressed chunk. libdeflate takes fewer bytes for longer chunks at its fast levels. */
  CHUNK = 1 << 16
};

static const double g_per_mass_unit = 1.989e43, cm_per_s_per_km_per_s = 1e5; /* Gadget's units */

static bool wanted(const struct snapshot *s, const struct snapshot_field *f) {
  if (s->fraction < 1.0 && strcmp(f->name, "Potential") == 0) return false;
  return snapshot_field_wanted(f, s->parameters, &s->units.rounding);
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

static void write_header(hid_t file, const char *path, const struct snapshot *s,
                         const uint64_t in_file[TYPES]) {
  const struct parameters *p = s->parameters;
  uint32_t low[TYPES], high[TYPES];
  for (unsigned t = 0; t < TYPES; t++) {
    const uint64_t all = snapshot_count(s, t, 0, comm_size());
    low[t] = (uint32_t)all;
    high[t] = (uint32_t)(all >> 32);
  }
  const int32_t files = (int32_t)s->files, none = 0, no_entropy[TYPES] = {0};
  const hid_t header = hdf5_create_group(file, path, "Header");
  hdf5_write_attribute(header, path, "NumPart_ThisFile", H5T_NATIVE_UINT64, TYPES, in_file);
  hdf5_write_attribute(header, path, "NumPart_Total", H5T_NATIVE_UINT32, TYPES, low);
  hdf5_write_attribute(header, path, "NumPart_Total_HighWord", H5T_NATIVE_UINT32, TYPES, high);
  hdf5_write_attribute(header, path, "MassTable", H5T_NATIVE_DOUBLE, TYPES, s->mass);
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
  if (s->fraction < 1.0) hdf5_write_double(header, path, "SubsampleFraction", s->fraction);
  hdf5_close_group(header, path);
}

/** Softening lengths as Gadget-4 has them: class n is that of type n. In physical units a length is at most
 * SofteningMaxPhysClass; without a limit that is the comoving length. */
static void write_softening(hid_t group, const char *path, const struct snapshot *s) {
  const double limit = s->parameters->gravity.softening_max_physical;
  const double unit = s->parameters->output.unit_length == LENGTH_MPC_H ? 1e-3
                                                                        : 1.0; /* from kpc/h */
  for (unsigned t = 0; t < TYPES; t++) {
    const double comoving = softening_of_type(s->parameters, t);
    const int32_t class = (int32_t)t;
    if (comoving < 0.0 || snapshot_count(s, t, 0, comm_size()) == 0) continue;
    char name[40];
    snprintf(name, sizeof name, "SofteningClassOfPartType%u", t);
    hdf5_write_attribute(group, path, name, H5T_NATIVE_INT32, 0, &class);
    snprintf(name, sizeof name, "SofteningComovingClass%u", t);
    hdf5_write_double(group, path, name, unit * comoving);
    snprintf(name, sizeof name, "SofteningMaxPhysClass%u", t);
    hdf5_write_double(group, path, name, unit * (limit > 0.0 ? limit : comoving));
  }
}

static void write_parameters(hid_t file, const char *path, const struct snapshot *s) {
  const struct parameters *p = s->parameters;
  const hid_t group = hdf5_create_group(file, path, "Parameters");
  hdf5_write_double(group, path, "Omega0", isolated_or(p, 0.0, p->cosmology.omega_m));
  hdf5_write_double(group, path, "OmegaLambda", isolated_or(p, 0.0, p->cosmology.omega_lambda));
  hdf5_write_double(group, path, "OmegaBaryon", isolated_or(p, 0.0, p->cosmology.omega_b));
  hdf5_write_double(group, path, "HubbleParam", isolated_or(p, 1.0, p->cosmology.h));
  if (!p->cosmology.w_table[0]) {
    hdf5_write_double(group, path, "w0", p->cosmology.w0);
    hdf5_write_double(group, path, "wa", p->cosmology.wa);
  }
  hdf5_write_double(group, path, "BoxSize", s->box);
  /* Without it pynbody takes the age of a universe at redshift 0 for the time. */
  if (p->box.boundary == BOUNDARY_ISOLATED) hdf5_write_double(group, path, "Time_GYR", s->time_gyr);
  write_units(group, path, s);
  write_softening(group, path, s);
  hdf5_close_group(group, path);
}

/** Whether a block has one value for all particles of a type. */
static bool constant(const struct snapshot *s, const struct snapshot_field *f, unsigned type) {
  return f->mass && s->mass[type] > 0.0;
}

/** That value, which has room in a double. */
static void convert_constant(const struct snapshot *s, const struct snapshot_field *f,
                             unsigned type, double *value) {
  struct file_units units = s->units;
  units.mass = s->mass[type];
  f->convert(&units, NULL, 0, 0, 1, value);
}

/** The gzip level of the file; 0: it is not compressed. */
static unsigned level(const struct snapshot *s) {
  const unsigned given = (unsigned)s->parameters->output.compression, of_lean = 1;
  return given == 0 && s->parameters->output.lean ? of_lean : given;
}

/** Rows of a chunk of a dataset. */
static size_t chunk_rows(size_t in_file) { return in_file < CHUNK ? in_file : CHUNK; }

static hid_t create_dataset(hid_t group, const char *path, const struct snapshot_field *f,
                            const struct snapshot *s, unsigned type_of_particles, size_t in_file) {
  const hid_t type = snapshot_field_type(f);
  const unsigned compression = level(s);
  const hid_t layout = hdf5_check(H5Pcreate(H5P_DATASET_CREATE), EXIT_RUN_FAILED, path,
                                  "make a dataset");
  if (constant(s, f, type_of_particles)) {
    double value;
    convert_constant(s, f, type_of_particles, &value);
    hdf5_check(H5Pset_fill_value(layout, type, &value), EXIT_RUN_FAILED, path, "make a dataset");
  } else if (compression > 0) {
    hdf5_set_chunks(layout, path, chunk_rows(in_file), f->columns, compression);
  }
  const hid_t dataset = hdf5_create_dataset(group, path, f->name, type, in_file, f->columns,
                                            layout);
  H5Pclose(layout);
  return dataset;
}

static void write_scaling(hid_t dataset, const char *path, const struct snapshot_field *f,
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

/** What rounding took from the values of a lean snapshot: at most this, in the unit of the dataset. */
static void write_error(hid_t dataset, const char *path, const struct snapshot_field *f,
                        const struct snapshot *s) {
  if (f->step) hdf5_write_double(dataset, path, "error_bound", 0.5 * f->step(&s->units.rounding));
}

/** Particles of a type of this process. */
struct own_rows {
  const struct snapshot *snapshot;
  const struct snapshot_field *field;
  unsigned type;
  size_t count, begin;           /* row of the first of them in the file */
  struct snapshot_place *places; /* [chunk] before its first row */
};

static void make_columns(void *context, size_t chunk, size_t count, void *columns) {
  const struct own_rows *own = context;
  snapshot_columns(own->snapshot, own->field, own->type, &own->places[chunk], count, columns);
}

/** Each chunk is compressed once (twice where two processes meet). */
static void write_compressed(hid_t dataset, const char *path, struct own_rows *own, size_t rows) {
  const struct snapshot_field *f = own->field;
  const size_t end = own->begin + own->count, chunks = (end - 1) / rows - own->begin / rows + 1;
  own->places = allocate(chunks, sizeof *own->places, "writing a snapshot");
  struct snapshot_place at = {0};
  for (size_t chunk = 0, row = own->begin; chunk < chunks; chunk++) {
    const size_t next = (row / rows + 1) * rows, n = (next < end ? next : end) - row;
    own->places[chunk] = at;
    snapshot_skip(own->snapshot, own->type, &at, n);
    row += n;
  }
  hdf5_write_chunks(dataset, path, f->name, snapshot_field_type(f), own->begin, own->count,
                    f->columns, &(struct column_source){make_columns, own});
  free(own->places);
}

/** Piece after piece, so that memory does not grow with N. */
static void write_plain(hid_t dataset, const char *path, const struct own_rows *own) {
  const struct snapshot_field *f = own->field;
  const hid_t type = snapshot_field_type(f);
  const size_t row_size = f->columns * H5Tget_size(type),
               most = own->count < SNAPSHOT_PIECE ? own->count : SNAPSHOT_PIECE;
  char *rows = allocate(most, row_size, "writing a snapshot");
  struct snapshot_place at = {0};
  for (size_t first = 0, n; first < own->count; first += n) {
    n = own->count - first < most ? own->count - first : most;
    snapshot_convert(own->snapshot, f, own->type, &at, n, rows, row_size);
    hdf5_write_rows(dataset, path, f->name, type, own->begin + first, n, f->columns, rows);
  }
  free(rows);
}

/** The particles of a type of this process, from row @p begin on. */
static void write_rows(hid_t dataset, const char *path, const struct snapshot_field *f,
                       const struct snapshot *s, unsigned particle_type, size_t begin,
                       size_t in_file) {
  struct own_rows own = {s, f, particle_type, s->count[comm_rank()][particle_type], begin, NULL};
  if (constant(s, f, particle_type)) { /* readers get the fill value */
    double value;
    convert_constant(s, f, particle_type, &value);
    hdf5_checksum_add(dataset, path,
                      checksum_equal_numbers(&value, snapshot_field_size(f), begin, own.count));
  } else if (level(s) > 0) {
    write_compressed(dataset, path, &own, chunk_rows(in_file));
  } else {
    write_plain(dataset, path, &own);
  }
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
static hid_t create_file(const struct snapshot *s, const char *temporary, const char *path,
                         const uint64_t in_file[TYPES]) {
  const hid_t file = hdf5_create(temporary, path);
  write_header(file, path, s, in_file);
  write_parameters(file, path, s);
  write_config(file, path, s);
  provenance_write(file, path, &s->provenance);
  for (unsigned t = 0; t < TYPES; t++) {
    if (in_file[t] == 0) continue;
    char name[32];
    snprintf(name, sizeof name, "PartType%u", t);
    const hid_t group = hdf5_create_group(file, path, name);
    for (size_t f = 0; f < snapshot_field_count; f++) {
      if (!wanted(s, &snapshot_fields[f])) continue;
      const hid_t dataset = create_dataset(group, path, &snapshot_fields[f], s, t, in_file[t]);
      write_scaling(dataset, path, &snapshot_fields[f], s->units.length_cgs);
      write_error(dataset, path, &snapshot_fields[f], s);
      hdf5_check(H5Dclose(dataset), EXIT_RUN_FAILED, path, "write the file");
    }
    hdf5_close_group(group, path);
  }
  return file;
}

void snapshot_write_hdf5(void *context, const struct output_turn *turn) {
  const struct snapshot *s = context;
  const char *path = turn->path;
  uint64_t in_file[TYPES];
  for (unsigned t = 0; t < TYPES; t++)
    in_file[t] = snapshot_count(s, t, turn->first, turn->last + 1);
  const bool first = comm_rank() == turn->first;
  if (!first && s->particles->count == 0) return;
  const hid_t file = first ? create_file(s, turn->temporary, path, in_file)
                           : hdf5_continue(turn->temporary, path);
  for (size_t k = 0; k < (size_t)TYPES * snapshot_field_count; k++) {
    const unsigned type = (unsigned)(k / snapshot_field_count);
    const struct snapshot_field *f = &snapshot_fields[k % snapshot_field_count];
    if (s->count[comm_rank()][type] == 0 || !wanted(s, f)) continue;
    char name[64];
    snprintf(name, sizeof name, "/PartType%u/%s", type, f->name);
    const hid_t dataset = hdf5_check(H5Dopen2(file, name, H5P_DEFAULT), EXIT_RUN_FAILED, path,
                                     "continue the file");
    write_rows(dataset, path, f, s, type, snapshot_count(s, type, turn->first, comm_rank()),
               in_file[type]);
    hdf5_check(H5Dclose(dataset), EXIT_RUN_FAILED, path, "write the file");
  }
  hdf5_close_written(file, path);
}
