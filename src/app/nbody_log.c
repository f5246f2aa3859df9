/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How steps of particles are told, in a box and of an isolated system. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "photons/app/step_log.h"

/** The columns of log/statistics.csv after the time: members of struct statistics. */
static const struct column {
  const char *name;
  size_t offset; /* NAN: an empty field */
} columns[] = {
    {"kinetic_energy", offsetof(struct statistics, kinetic)},
    {"momentum_x", offsetof(struct statistics, momentum[0])},
    {"momentum_y", offsetof(struct statistics, momentum[1])},
    {"momentum_z", offsetof(struct statistics, momentum[2])},
    {"momentum_sum", offsetof(struct statistics, momentum_sum)},
    {"acceleration_max", offsetof(struct statistics, acc_max)},
    {"potential_energy", offsetof(struct statistics, potential)},
    {"layzer_irvine", offsetof(struct statistics, layzer_irvine)},
    {"layzer_irvine_error", offsetof(struct statistics, layzer_irvine_error)},
};
enum { COLUMNS = sizeof columns / sizeof *columns };

static void write_redshift(FILE *out, const struct step_record *record) {
  fprintf(out, "%.9g,%.9g", record->a, 1.0 / record->a - 1.0);
}

static void write_myr(FILE *out, const struct step_record *record) {
  fprintf(out, "%.9g", cosmology_myr(record->a));
}

static double dlna(const struct step_record *record) { return record->dlna; }
static double myr(const struct step_record *record) { return cosmology_myr(record->dlna); }

static void write_timings_columns(FILE *out) {
  fprintf(out, ",wall_s,particles_per_s,p2p_pairs,m2l_interactions,walk_visits,"
               "rebuilt,sorted,idle_share,"
               "imbalance,peak_rss_bytes,cone_files_s,cone_waited_s,cone_files,"
               "cone_beside,sub_steps,rung_particles,"
               "rung_kicked,rung_pairs");
  stage_columns(out, false);
}

static void write_statistics_columns(FILE *out, const struct parameters *p) {
  (void)p;
  for (int i = 0; i < COLUMNS; i++) fprintf(out, ",%s", columns[i].name);
}

/** A column of numbers by rung, from rung 0 on: "12;34;5". */
static void write_by_rung(FILE *out, const uint64_t by_rung[RUNGS]) {
  fprintf(out, ",%llu", (unsigned long long)by_rung[0]);
  for (int k = 1; k <= deepest_rung(by_rung); k++)
    fprintf(out, ";%llu", (unsigned long long)by_rung[k]);
}

static void write_timings(FILE *out, const struct step_record *record, const struct usage *cores,
                          const struct usage *gpus, double peak_bytes) {
  fprintf(out, ",%llu,%llu,%llu,%u,%u", (unsigned long long)record->work.pairs,
          (unsigned long long)record->work.interactions, (unsigned long long)record->work.visits,
          record->rebuilt, record->sorted);
  usage_print_idle_share(cores, record->wall, out);
  fprintf(out, ",%.4g,%.0f,%.6g,%.6g,%u,%u,%u", usage_imbalance(gpus->units ? gpus : cores),
          peak_bytes, record->cone_files, record->cone_waited, record->cone_count,
          record->cone_beside, record->block.sub_steps);
  write_by_rung(out, record->rungs);
  write_by_rung(out, record->block.particles);
  write_by_rung(out, record->block.pairs);
  stage_seconds(out, false, record, cores, gpus);
}

static void write_statistics(FILE *out, const struct step_record *record) {
  for (int i = 0; i < COLUMNS; i++) {
    double value;
    memcpy(&value, (const char *)&record->statistics + columns[i].offset, sizeof value);
    fprintf(out, isnan(value) ? "," : ",%.15g", value);
  }
}

static struct moment_text text_of_isolated(const struct step_record *record, bool length) {
  struct moment_text m;
  snprintf(m.text, sizeof m.text, length ? "t %-8.7g dt %.4g Myr" : "t %.7g Myr",
           cosmology_myr(record->a), myr(record));
  return m;
}

/** "p2p 61%  m2l 3%  pm 30%  other 6%": shares of a kind of device's busy time by families of
 * stages, in the order of their first stages. Families that took no part are left out. */
static void print_shares(FILE *out, const struct usage *u) {
  const double to_percent = u->busy > 0.0 ? 100.0 / u->busy : 0.0;
  double other = u->busy;
  for (uint32_t i = 0; i < stage_count(); i++) {
    const char *family = stage_at(i)->family;
    bool first = family != NULL;
    double sum = 0.0;
    for (uint32_t k = 0; k < stage_count() && first; k++) {
      if (!stage_at(k)->family || strcmp(stage_at(k)->family, family) != 0) continue;
      if (k < i) first = false;
      sum += u->seconds[k];
    }
    if (!first || sum == 0.0) continue; /* no stage of the family ran: other systems have it */
    fprintf(out, "%s %.0f%%  ", family, to_percent * sum);
    other -= sum;
  }
  fprintf(out, "other %.0f%%", to_percent * fmax(other, 0.0));
}

static void print_pairs(FILE *out, const struct step_record *record) {
  fprintf(out, "%.3g pairs", (double)record->work.pairs);
}

static void print_scale_and_pairs(FILE *out, const struct step_record *record) {
  fprintf(out, "a %.6f  ", record->a);
  print_pairs(out, record);
}

/** What logs of particles have in common. */
#define OF_PARTICLES                                                                          \
  .things = "particles", .thing = "particle", .work = "particle-steps",                       \
  .write_timings_columns = write_timings_columns, .write_timings = write_timings,             \
  .write_statistics_columns = write_statistics_columns, .write_statistics = write_statistics, \
  .print_shares = print_shares

const struct step_log log_of_box = {.time_columns = "a,z",
                                    .length_column = "dlna",
                                    .write_time = write_redshift,
                                    .length = dlna,
                                    .text = step_text_of_redshift,
                                    .print_details = print_scale_and_pairs,
                                    OF_PARTICLES};
const struct step_log log_of_isolated = {.time_columns = "time_myr",
                                         .length_column = "dt_myr",
                                         .write_time = write_myr,
                                         .length = myr,
                                         .has_energies = true,
                                         .text = text_of_isolated,
                                         .print_details = print_pairs,
                                         OF_PARTICLES};
