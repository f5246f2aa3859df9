/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How steps of gas are told, at rest and in comoving coordinates. */
#include <math.h>
#include <string.h>

#include "photons/app/step_log.h"
#include "photons/gas/create.h"

static void write_time(FILE *out, const struct step_record *record) {
  fprintf(out, "%.15g", record->gas->time);
}

static void write_redshift(FILE *out, const struct step_record *record) {
  fprintf(out, "%.15g,%.9g", record->a, 1.0 / record->a - 1.0);
}

static double dt(const struct step_record *record) { return record->gas->dt; }
static double dlna(const struct step_record *record) { return record->dlna; }

static void write_timings_columns(FILE *out) {
  fprintf(out, ",wall_s,updates_per_s,level_patches,level_updates,idle_share,imbalance,"
               "peak_rss_bytes,first_order_faces,home_bytes");
  stage_columns(out, true);
}

static void write_statistics_columns(FILE *out, const struct parameters *p) {
  const struct gas_physics physics = gas_physics_of(p);
  fprintf(out, ",mass,momentum_x,momentum_y,momentum_z,energy,potential_energy,"
               "particle_momentum_x,particle_momentum_y,particle_momentum_z,particle_energy");
  for (unsigned v = gas_solved(&physics); v < gas_variables(&physics); v++)
    fprintf(out, ",%s", gas_variable_name(gas_variable_at(&physics, v)).text);
}

/** A column of numbers by level, from the root on: "64;128;0". */
static void by_level(FILE *out, const uint64_t *number, int levels) {
  for (int l = 0; l < levels; l++)
    fprintf(out, "%s%llu", l == 0 ? "," : ";", (unsigned long long)number[l]);
}

static void write_timings(FILE *out, const struct step_record *record, const struct usage *cores,
                          const struct usage *gpus, double peak_bytes) {
  const struct gas_record *g = record->gas;
  by_level(out, g->patches, g->levels);
  by_level(out, g->updates, g->levels);
  usage_print_idle_share(cores, record->wall, out);
  fprintf(out, ",%.4g,%.0f,%.0f,%.0f", usage_imbalance(gpus->units ? gpus : cores), peak_bytes,
          g->totals.first_order, g->totals.home_bytes);
  stage_seconds(out, true, record, cores, gpus);
}

static void write_statistics(FILE *out, const struct step_record *record) {
  const struct gas_record *g = record->gas;
  for (int v = GAS_DENSITY; v <= GAS_ENERGY; v++) fprintf(out, ",%.15g", g->totals.conserved[v]);
  fprintf(out, ",%.15g", g->totals.potential_energy);
  for (int c = 0; c < 3; c++) fprintf(out, ",%.15g", g->totals.particles.momentum[c]);
  fprintf(out, ",%.15g", g->totals.particles.kinetic_energy);
  for (unsigned v = gas_solved(&g->physics); v < gas_variables(&g->physics); v++)
    fprintf(out, ",%.15g", g->totals.conserved[gas_variable_at(&g->physics, v)]);
}

static struct moment_text text_at_rest(const struct step_record *record, bool length) {
  struct moment_text m;
  snprintf(m.text, sizeof m.text, length ? "t %-9.6g dt %.4g" : "t %.6g", record->gas->time,
           record->gas->dt);
  return m;
}

/** "solve 61%  prepare 30%  other 9%": by stages with more than a twentieth. */
static void print_shares(FILE *out, const struct usage *u) {
  double other = u->busy;
  for (uint32_t i = 0; i < stage_count(); i++) {
    const char *name = stage_name(stage_at(i));
    if (strncmp(name, "gas_", 4) != 0 || u->seconds[i] <= 0.05 * u->busy) continue;
    fprintf(out, "%s %.0f%%  ", name + 4, 100.0 * u->seconds[i] / u->busy);
    other -= u->seconds[i];
  }
  fprintf(out, "other %.0f%%", u->busy > 0.0 ? 100.0 * fmax(other, 0.0) / u->busy : 0.0);
}

static void print_levels(FILE *out, const struct step_record *record) {
  const struct gas_record *g = record->gas;
  fprintf(out, "patches by level");
  for (int l = 0; l < g->levels; l++) fprintf(out, " %llu", (unsigned long long)g->patches[l]);
}

/** What logs of gas have in common. */
#define OF_GAS                                                                                \
  .things = "cells", .thing = "cell", .work = "cell updates",                                 \
  .write_timings_columns = write_timings_columns, .write_timings = write_timings,             \
  .write_statistics_columns = write_statistics_columns, .write_statistics = write_statistics, \
  .print_shares = print_shares, .print_details = print_levels

const struct step_log log_of_gas = {.time_columns = "time",
                                    .length_column = "dt",
                                    .write_time = write_time,
                                    .length = dt,
                                    .text = text_at_rest,
                                    OF_GAS};
const struct step_log log_of_comoving_gas = {.time_columns = "a,z",
                                             .length_column = "dlna",
                                             .write_time = write_redshift,
                                             .length = dlna,
                                             .text = step_text_of_redshift,
                                             OF_GAS};
