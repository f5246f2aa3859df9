/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/app/step_files.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "galaxy_file.h"
#include "photons/app/csv.h"
#include "photons/base/error.h"
#include "photons/base/output_text.h"
#include "photons/cosmology/cosmology.h"

static FILE *open_file(const char *folder, const char *name, int64_t last_step) {
  char path[PARAMETER_PATH_MAX + 64];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return csv_continue(path, last_step);
}

/** The columns of log/energy.csv end with those of the types of particles. */
static void write_energy_header(FILE *out, unsigned types, bool external) {
  fprintf(out,
          "step,time_myr,kinetic,potential,total,virial,momentum_x,momentum_y,momentum_z,"
          "angular_x,angular_y,angular_z,centre_x,centre_y,centre_z,escaped,net_force,net_torque");
  for (int t = 0; t < PARTICLE_TYPES; t++)
    if (types >> t & 1)
      fprintf(out,
              ",kinetic_type_%d,potential_type_%d,angular_type_%d_x,angular_type_%d_y,"
              "angular_type_%d_z,centre_type_%d_x,centre_type_%d_y,centre_type_%d_z",
              t, t, t, t, t, t, t, t);
  fprintf(out, external ? ",external,jacobi\n" : "\n");
}

/** The types with columns in the log/energy.csv of a run that goes on. */
static unsigned types_in_header(const char *folder) {
  char path[PARAMETER_PATH_MAX + 64], name[32];
  snprintf(path, sizeof path, "%s/energy.csv", folder);
  FILE *file = fopen(path, "r");
  char *header = NULL;
  size_t size = 0;
  unsigned types = 0;
  const bool read = file && getline(&header, &size, file) > 0;
  for (int t = 0; t < PARTICLE_TYPES && read; t++) {
    snprintf(name, sizeof name, ",kinetic_type_%d,", t);
    if (strstr(header, name)) types |= 1U << t;
  }
  free(header);
  if (file) fclose(file);
  return types;
}

/** Where bars were in the last rows of log/galaxy.csv. */
static struct galaxy_bars *read_bars(const char *folder) {
  char path[PARAMETER_PATH_MAX + 64];
  struct galaxy_bars *bars = allocate(1, sizeof *bars, "bars of galaxies");
  snprintf(path, sizeof path, "%s/galaxy.csv", folder);
  galaxy_bars_read(bars, path);
  return bars;
}

static void write_timings_header(FILE *out, const struct step_log *log) {
  fprintf(out, "step,%s,%s", log->time_columns, log->length_column);
  log->write_timings_columns(out);
  fprintf(out, "\n");
}

static void write_statistics_header(FILE *out, const struct step_log *log,
                                    const struct parameters *p) {
  fprintf(out, "step,%s", log->time_columns);
  log->write_statistics_columns(out, p);
  fprintf(out, "\n");
}

struct step_files step_files_open(const char *folder, int64_t last_step, const struct parameters *p,
                                  const struct step_log *log) {
  struct step_files f = {
      .log = log,
      .timings = open_file(folder, "timings.csv", last_step),
      .statistics = open_file(folder, "statistics.csv", last_step),
      .energy = log->has_energies ? open_file(folder, "energy.csv", last_step) : NULL,
      .galaxy = log->has_energies ? open_file(folder, "galaxy.csv", last_step) : NULL,
      .escapers = log->has_energies ? open_file(folder, "escapers.csv", last_step) : NULL};
  snprintf(f.folder, sizeof f.folder, "%s", folder);
  if (ftell(f.timings) == 0) write_timings_header(f.timings, log);
  if (ftell(f.statistics) == 0) write_statistics_header(f.statistics, log, p);
  if (f.energy && ftell(f.energy) > 0) f.types = types_in_header(folder);
  if (f.galaxy) f.bars = read_bars(folder);
  if (f.escapers && ftell(f.escapers) == 0)
    fprintf(f.escapers, "step,time_myr,id,x,y,z,vx,vy,vz\n");
  return f;
}

static void write_time(FILE *out, const struct step_log *log, const struct step_record *record) {
  fprintf(out, "%lld,", (long long)record->step);
  log->write_time(out, record);
}

static void write_timings(FILE *out, const struct step_log *log, const struct step_record *record,
                          const struct usage *cores, const struct usage *gpus, double peak_bytes) {
  write_time(out, log, record);
  fprintf(out, ",%.9g,%.6g,%.6g", log->length(record), record->wall,
          (double)record->kicked / record->wall);
  log->write_timings(out, record, cores, gpus, peak_bytes);
  fprintf(out, "\n");
}

static void write_statistics(FILE *out, const struct step_log *log,
                             const struct step_record *record) {
  write_time(out, log, record);
  log->write_statistics(out, record);
  fprintf(out, "\n");
}

#define MPC_IN_KPC 1e3

static void write_vector(FILE *out, const double v[3], double unit) {
  for (int c = 0; c < 3; c++) fprintf(out, ",%.9g", unit * v[c]);
}

/** NAN is an empty field. */
static void write_known(FILE *out, double value) {
  fprintf(out, isnan(value) ? "," : ",%.4g", value);
}

static unsigned types_of(const struct statistics *s) {
  unsigned types = 0;
  for (int t = 0; t < PARTICLE_TYPES; t++) types |= (unsigned)(s->types[t].mass > 0.0) << t;
  return types;
}

/** The centre of a type whose particles have all escaped is an empty field. */
static void write_component(FILE *out, const struct component *c) {
  fprintf(out, ",%.15g,%.15g", c->kinetic, c->potential);
  write_vector(out, c->angular, MPC_IN_KPC);
  if (c->mass > 0.0)
    write_vector(out, c->centre, MPC_IN_KPC);
  else
    fprintf(out, ",,,");
}

/** A row where the potential energy was computed. A particle that is left alone has no virial ratio. */
static void write_energy(FILE *out, const struct step_record *record, unsigned types) {
  const struct statistics *s = &record->statistics;
  write_time(out, &log_of_isolated, record);
  const bool external = !isnan(s->external);
  const double clausius = s->potential + (external ? s->clausius : 0.0);
  fprintf(out, ",%.15g,%.15g,%.15g", s->kinetic, s->potential,
          s->kinetic + s->potential + (external ? s->external : 0.0));
  fprintf(out, clausius == 0.0 ? "," : ",%.9g", -2.0 * s->kinetic / clausius);
  write_vector(out, s->momentum, 1.0);
  write_vector(out, s->angular, MPC_IN_KPC);
  write_vector(out, s->centre, MPC_IN_KPC);
  fprintf(out, ",%.15g", s->escaped);
  write_known(out, s->net_force.force);
  write_known(out, s->net_force.torque);
  for (int t = 0; t < PARTICLE_TYPES; t++)
    if (types >> t & 1) write_component(out, &s->types[t]);
  if (external) fprintf(out, isnan(s->jacobi) ? ",%.15g," : ",%.15g,%.15g", s->external, s->jacobi);
  fprintf(out, "\n");
}

void step_files_write_energy(const char *path, const struct step_record *record) {
  const unsigned types = types_of(&record->statistics);
  struct output_text text;
  FILE *file = output_text_begin(&text);
  write_energy_header(file, types, !isnan(record->statistics.external));
  write_energy(file, record, types);
  output_text_save(&text, path);
}

/** A row for each particle that was taken out: kpc and km/s. */
static void write_escapers(FILE *out, const struct step_record *record) {
  const struct escapers *e = record->escapers;
  for (size_t i = 0; e && i < e->count; i++) {
    fprintf(out, "%lld,%.9g,%llu", (long long)record->step, cosmology_myr(e->a),
            (unsigned long long)e->escaper[i].id);
    for (int c = 0; c < 3; c++) fprintf(out, ",%.9g", 1e3 * e->escaper[i].position[c]);
    for (int c = 0; c < 3; c++) fprintf(out, ",%.9g", e->escaper[i].velocity[c]);
    fprintf(out, "\n");
  }
}

static void require(bool written, const char *name) {
  if (!written) fail(EXIT_RUN_FAILED, "cannot write log/%s: is the disk full?", name);
}

/** Append rows to a file, which other programs may then read. */
static void append(struct output_text *rows, const struct step_files *f, FILE *file,
                   const char *name) {
  char path[sizeof f->folder + 64];
  snprintf(path, sizeof path, "%s/%s", f->folder, name);
  output_text_append(rows, file, path);
  require(fflush(file) == 0, name);
}

/** A new file begins with the types of particles that there are now. */
static void begin_energy(struct step_files *f, const struct statistics *s) {
  if (ftell(f->energy) != 0) return;
  f->types = types_of(s);
  write_energy_header(f->energy, f->types, !isnan(s->external));
}

void step_files_write(struct step_files *f, const struct step_record *record,
                      const struct usage *cores, const struct usage *gpus, double peak_bytes) {
  struct output_text rows;
  write_timings(output_text_begin(&rows), f->log, record, cores, gpus, peak_bytes);
  append(&rows, f, f->timings, "timings.csv");
  write_statistics(output_text_begin(&rows), f->log, record);
  append(&rows, f, f->statistics, "statistics.csv");
  if (!f->energy) return;
  begin_energy(f, &record->statistics);
  if (!isnan(record->statistics.potential)) {
    write_energy(output_text_begin(&rows), record, f->types);
    append(&rows, f, f->energy, "energy.csv");
  }
  if (record->galaxies) {
    if (ftell(f->galaxy) == 0) galaxy_file_header(f->galaxy, f->types);
    galaxy_file_rows(output_text_begin(&rows), (long long)record->step, cosmology_myr(record->a),
                     f->types, record->galaxies, record->galaxy_count, f->bars);
    append(&rows, f, f->galaxy, "galaxy.csv");
  }
  write_escapers(output_text_begin(&rows), record);
  append(&rows, f, f->escapers, "escapers.csv");
}

void step_files_close(struct step_files *f) {
  require(fclose(f->timings) == 0, "timings.csv");
  require(fclose(f->statistics) == 0, "statistics.csv");
  require(!f->energy || fclose(f->energy) == 0, "energy.csv");
  require(!f->galaxy || fclose(f->galaxy) == 0, "galaxy.csv");
  free(f->bars);
  require(!f->escapers || fclose(f->escapers) == 0, "escapers.csv");
  *f = (struct step_files){0};
}
