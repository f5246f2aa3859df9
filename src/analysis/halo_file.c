/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes the halo catalogue in the format of Gadget-4's fof_tab. */
#include <math.h>
#include <stdlib.h>

#include "halo_fields.h"
#include "halo_home.h"
#include "photons/base/comm.h"
#include "photons/base/output_file.h"
#include "photons/io/provenance.h"
#include "photons/runtime/loop.h"
#include "src/io/hdf5_util.h"

enum { PARTS = 64 }; /* of a loop over the rows of a dataset */

/* Gadget's units */
static const double cm_per_kpc = 3.085678e21, g_per_mass_unit = 1.989e43,
                    cm_per_s_per_km_per_s = 1e5;

static hid_t number_type(const struct halo_field *f) {
  const hid_t types[] = {[FIELD_DOUBLE] = H5T_NATIVE_DOUBLE,
                         [FIELD_FLOAT] = H5T_NATIVE_FLOAT,
                         [FIELD_INT32] = H5T_NATIVE_INT32,
                         [FIELD_INT64] = H5T_NATIVE_INT64,
                         [FIELD_UINT64] = H5T_NATIVE_UINT64};
  return types[f->number];
}

static void create_field(hid_t group, const char *path, const struct halo_field *f, size_t halos,
                         double length) {
  const hid_t dataset = hdf5_create_dataset(group, path, f->name, number_type(f), halos, f->columns,
                                            H5P_DEFAULT);
  const double per_length = cm_per_kpc * 1000.0 / length,
               unit = pow(per_length, f->length) * pow(g_per_mass_unit, f->mass) *
                      pow(cm_per_s_per_km_per_s, f->velocity);
  hdf5_write_double(dataset, path, "a_scaling", f->a_scaling);
  hdf5_write_double(dataset, path, "h_scaling", 0.0 - f->length - f->mass);
  hdf5_write_double(dataset, path, "length_scaling", f->length);
  hdf5_write_double(dataset, path, "mass_scaling", f->mass);
  hdf5_write_double(dataset, path, "velocity_scaling", f->velocity);
  hdf5_write_double(dataset, path, "to_cgs", unit);
  hdf5_check(H5Dclose(dataset), EXIT_RUN_FAILED, path, "write the file");
}

static void write_rows(hid_t file, const char *path, const char *name, hid_t type, size_t first,
                       size_t count, size_t columns, const void *rows) {
  const hid_t dataset = hdf5_check(H5Dopen2(file, name, H5P_DEFAULT), EXIT_RUN_FAILED, path,
                                   "continue the file");
  hdf5_write_rows(dataset, path, name, type, first, count, columns, rows);
  hdf5_check(H5Dclose(dataset), EXIT_RUN_FAILED, path, "write the file");
}

/** What all ranks know about the file that they write. */
struct writing {
  const struct parameters *parameters;
  struct provenance provenance;
  const struct halo_catalogue *catalogue;
  double a, length, linking_length; /* length: file units in Mpc/h */
  const uint64_t *ids;              /* halo_member_ids(), or NULL */
};

static bool is_written(const struct writing *w, const struct halo_table *t,
                       const struct halo_field *f) {
  if (t->subhalos && !w->parameters->output.subhalos) return false;
  return !(f->where == FIELD_HEAVY && !w->catalogue->heavy) &&
         !(f->where == FIELD_ONE_TYPE && w->catalogue->several_types);
}

/** A field while its rows are filled. */
struct filling {
  const struct writing *writing;
  const struct halo_field *field;
  bool subhalos;
  size_t row_size;
  char *rows;
};

static void fill_part(void *context, uint32_t part) {
  const struct filling *f = context;
  struct halo_catalogue c = *f->writing->catalogue; /* of the part's halos and subhalos */
  const size_t rows = f->subhalos ? c.subhalos : c.count, first = block_first(rows, PARTS, part);
  const size_t count = block_first(rows, PARTS, (size_t)part + 1) - first;
  if (f->subhalos) {
    c.subhalo += first, c.subhalos = count;
    if (c.subhalo_types) c.subhalo_types += first;
  } else {
    c.halo += first, c.count = count;
    if (c.halo_types) c.halo_types += first;
  }
  f->field->fill(&c, f->writing->length, f->rows + first * f->row_size);
}

/** Write one field of this rank's halos or subhalos. */
static void write_field(hid_t file, const char *path, const struct halo_table *t,
                        const struct halo_field *f, const struct writing *w) {
  const struct halo_catalogue *c = w->catalogue;
  const size_t first = t->subhalos ? c->first_subhalo : c->first_halo,
               count = t->subhalos ? c->subhalos : c->count;
  char name[64];
  snprintf(name, sizeof name, "/%s/%s", t->group, f->name);
  const hid_t type = number_type(f);
  struct filling filling = {w, f, t->subhalos, f->columns * H5Tget_size(type), NULL};
  filling.rows = reallocate(NULL, count, filling.row_size, "writing the halo catalogue");
  loop_run(&halos_stage, PARTS, fill_part, &filling);
  write_rows(file, path, name, type, first, count, f->columns, filling.rows);
  free(filling.rows);
}

/** Write this rank's halos or subhalos. */
static void write_table(hid_t file, const char *path, const struct halo_table *t,
                        const struct writing *w) {
  for (size_t f = 0; f < t->fields; f++)
    if (is_written(w, t, &t->field[f])) write_field(file, path, t, &t->field[f], w);
}

static void write_header(hid_t file, const char *path, const struct parameters *p,
                         const struct halo_catalogue *c, double a, double length,
                         double linking_length) {
  const struct {
    const char *name;
    int64_t value;
  } counts[] = {{"Ngroups_ThisFile", (int64_t)c->all},
                {"Ngroups_Total", (int64_t)c->all},
                {"Nids_ThisFile", (int64_t)c->all_members},
                {"Nids_Total", (int64_t)c->all_members},
                {"Nsubhalos_ThisFile", (int64_t)c->all_subhalos},
                {"Nsubhalos_Total", (int64_t)c->all_subhalos},
                {"Nsubgroups_ThisFile", (int64_t)c->all_subhalos},
                {"Nsubgroups_Total", (int64_t)c->all_subhalos}};
  const int32_t one = 1;
  const hid_t header = hdf5_create_group(file, path, "Header");
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
    hdf5_write_attribute(header, path, counts[i].name, H5T_NATIVE_INT64, 0, &counts[i].value);
  hdf5_write_attribute(header, path, "NumFiles", H5T_NATIVE_INT32, 0, &one);
  hdf5_write_double(header, path, "Time", a);
  hdf5_write_double(header, path, "Redshift", 1.0 / a - 1.0);
  hdf5_write_double(header, path, "BoxSize", c->particles->box * length);
  hdf5_write_double(header, path, "Omega0", p->cosmology.omega_m);
  hdf5_write_double(header, path, "OmegaLambda", p->cosmology.omega_lambda);
  hdf5_write_double(header, path, "OmegaBaryon", p->cosmology.omega_b);
  hdf5_write_double(header, path, "HubbleParam", p->cosmology.h);
  hdf5_write_double(header, path, "LinkingLength", linking_length * length);
  hdf5_write_double(header, path, "UnitLength_in_cm", cm_per_kpc * 1000.0 / length);
  hdf5_write_double(header, path, "UnitMass_in_g", g_per_mass_unit);
  hdf5_write_double(header, path, "UnitVelocity_in_cm_per_s", cm_per_s_per_km_per_s);
  hdf5_close_group(header, path);
}

/** Create the datasets of halos or subhalos; none of subhalos where none were searched for. */
static void create_table(hid_t file, const char *path, const struct writing *w,
                         const struct halo_table *t) {
  const hid_t group = hdf5_create_group(file, path, t->group);
  const size_t rows = t->subhalos ? w->catalogue->all_subhalos : w->catalogue->all;
  for (size_t f = 0; f < t->fields; f++)
    if (is_written(w, t, &t->field[f])) create_field(group, path, &t->field[f], rows, w->length);
  hdf5_close_group(group, path);
}

static void create_ids(hid_t file, const char *path, size_t members) {
  const hid_t ids = hdf5_create_group(file, path, "IDs");
  const hid_t dataset = hdf5_create_dataset(ids, path, "ID", H5T_NATIVE_UINT64, members, 1,
                                            H5P_DEFAULT);
  hdf5_check(H5Dclose(dataset), EXIT_RUN_FAILED, path, "write the file");
  hdf5_close_group(ids, path);
}

/** Create the file with all its datasets, still without values. */
static hid_t create_file(const struct writing *w, const char *temporary, const char *path) {
  const hid_t file = hdf5_create(temporary, path);
  write_header(file, path, w->parameters, w->catalogue, w->a, w->length, w->linking_length);
  const hid_t parameters = hdf5_create_group(file, path, "Parameters");
  hdf5_write_config(parameters, path, w->parameters);
  hdf5_close_group(parameters, path);
  provenance_write(file, path, &w->provenance);
  for (int t = 0; t < HALO_TABLES; t++) create_table(file, path, w, &halo_tables[t]);
  if (w->parameters->output.halo_ids) create_ids(file, path, w->catalogue->all_members);
  return file;
}

static void write_part(void *context, const struct output_turn *turn) {
  const struct writing *w = context;
  const struct halo_catalogue *c = w->catalogue;
  const size_t first = comm_first(c->all_members, comm_rank()),
               ids = comm_first(c->all_members, comm_rank() + 1) - first;
  const bool creates = comm_rank() == turn->first;
  if (!creates && c->count == 0 && (ids == 0 || !w->ids)) return;
  const hid_t file = creates ? create_file(w, turn->temporary, turn->path)
                             : hdf5_continue(turn->temporary, turn->path);
  for (int t = 0; t < HALO_TABLES; t++) write_table(file, turn->path, &halo_tables[t], w);
  if (w->ids) write_rows(file, turn->path, "/IDs/ID", H5T_NATIVE_UINT64, first, ids, 1, w->ids);
  hdf5_close_written(file, turn->path);
}

void halo_catalogue_write(const char *path, const struct parameters *p,
                          const struct halo_catalogue *c, double a, double linking_length) {
  if (c->count > 0 && c->halo[0].count > INT32_MAX) /* the largest of this rank */
    fail(EXIT_RUN_FAILED, "%s: a halo of %llu particles is more than GroupLen can hold", path,
         (unsigned long long)c->halo[0].count);
  uint64_t *ids = p->output.halo_ids ? halo_member_ids(c) : NULL;
  struct writing w = {.parameters = p,
                      .provenance = provenance_of(p),
                      .catalogue = c,
                      .a = a,
                      .length = p->output.unit_length == LENGTH_MPC_H ? 1.0 : 1000.0,
                      .linking_length = linking_length,
                      .ids = ids};
  char *const paths[] = {(char *)path};
  output_together(paths, 1, NULL, write_part, &w);
  free(ids);
}
