/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/app/step_lines.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "photons/base/clock.h"
#include "photons/base/error.h"
#include "photons/cosmology/cosmology.h"

struct step_lines step_lines_make(bool details, double interval) {
  return (struct step_lines){.bar = !details && console_is_terminal(),
                             .details = details,
                             .interval = details ? 0.0 : interval};
}

/** The time, and the length of the step where it is wanted. */
static struct moment_text time_of(const struct step_record *record, bool length) {
  struct moment_text m;
  const double myr = cosmology_clock_myr(record->a), z = 1.0 / record->a - 1.0;
  if (record->gas && record->isolated)
    snprintf(m.text, sizeof m.text, length ? "t %-9.6g dt %.4g" : "t %.6g", record->gas->time,
             record->gas->dt);
  else if (record->isolated)
    snprintf(m.text, sizeof m.text, length ? "t %-8.7g dt %.4g Myr" : "t %.7g Myr", myr,
             cosmology_interval_myr(record->dlna));
  else
    snprintf(m.text, sizeof m.text, length ? "z %-8.4f dlna %.4f" : "z %.3f", z, record->dlna);
  return m;
}

static void show_bar(const struct step_record *record, double done, const char *eta) {
  enum { LEAST = 10, MOST = 60 };
  char text[128], bar[MOST + 4] = "", line[sizeof text + sizeof bar];
  snprintf(text, sizeof text, "step %lld  %s  %.2f s/step  ETA %s", (long long)record->step,
           time_of(record, false).text, record->wall, eta);
  const int columns = console_columns() - 1; /* the cursor needs one */
  const int room = columns - (int)strlen(text) - 3, width = room < MOST ? room : MOST;
  if (width >= LEAST) {
    const int filled = (int)(width * fmin(fmax(done, 0.0), 1.0));
    bar[0] = '[';
    memset(bar + 1, '#', (size_t)filled);
    memset(bar + 1 + filled, '.', (size_t)(width - filled));
    memcpy(bar + 1 + width, "] ", 3);
  }
  snprintf(line, sizeof line, "%s%s", bar, text);
  if (columns >= 0 && (size_t)columns < sizeof line) line[columns] = '\0';
  console_status(line);
}

static void write_line(char line[CONSOLE_COLUMNS + 2], const struct step_record *record,
                       const char *eta) {
  char rungs[32] = "";
  if (record->block.sub_steps > 0)
    snprintf(rungs, sizeof rungs, "  rungs 0-%d", deepest_rung(record->rungs));
  snprintf(line, CONSOLE_COLUMNS + 1, "step %-5lld %s  %8.3f s  %.3g %s/s%s  ETA %s",
           (long long)record->step, time_of(record, true).text, record->wall,
           (double)record->kicked / record->wall, record->gas ? "cells" : "particles", rungs, eta);
  strcat(line, "\n");
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

/** "solve 61%  prepare 30%  other 9%": of a run of gas, by stages with more than a twentieth. */
static void print_gas_shares(FILE *out, const struct usage *u) {
  double other = u->busy;
  for (uint32_t i = 0; i < stage_count(); i++) {
    const char *name = stage_name(stage_at(i));
    if (strncmp(name, "gas_", 4) != 0 || u->seconds[i] <= 0.05 * u->busy) continue;
    fprintf(out, "%s %.0f%%  ", name + 4, 100.0 * u->seconds[i] / u->busy);
    other -= u->seconds[i];
  }
  fprintf(out, "other %.0f%%", u->busy > 0.0 ? 100.0 * fmax(other, 0.0) / u->busy : 0.0);
}

static void print_devices(FILE *out, const char *kind, const struct usage *u, double wall,
                          bool gas) {
  if (u->units == 0) return;
  fprintf(out, "    %s  ", kind);
  (gas ? print_gas_shares : print_shares)(out, u);
  fprintf(out, "  idle %.1f%%  imbalance %.1f%%\n", 100.0 * usage_idle_share(u, wall),
          100.0 * usage_imbalance(u));
}

static void print_levels(FILE *out, const struct gas_record *g) {
  fprintf(out, "    patches by level");
  for (int l = 0; l < g->levels; l++) fprintf(out, " %llu", (unsigned long long)g->patches[l]);
}

static void say_details(const struct step_record *record, const struct usage *cores,
                        const struct usage *gpus) {
  char *text = NULL;
  size_t size;
  FILE *out = open_memstream(&text, &size);
  if (!out) fail(EXIT_RUN_FAILED, "not enough memory for the lines of a step");
  print_devices(out, "cores", cores, record->wall, record->gas);
  print_devices(out, "GPUs ", gpus, record->wall, record->gas);
  if (record->gas)
    print_levels(out, record->gas);
  else if (record->isolated) /* a is that of their clock */
    fprintf(out, "    %.3g pairs", (double)record->work.pairs);
  else
    fprintf(out, "    a %.6f  %.3g pairs", record->a, (double)record->work.pairs);
  if (record->block.sub_steps > 0) fprintf(out, "  %u sub-steps", record->block.sub_steps);
  fprintf(out, "%s%s\n", record->rebuilt ? "  rebuilt" : "", record->sorted ? "  sorted" : "");
  if (fclose(out) != 0) fail(EXIT_RUN_FAILED, "not enough memory for the lines of a step");
  say("%s", text);
  free(text);
}

/** Whether a line is due on standard output. */
static bool due(const struct step_lines *l, bool last) {
  return last || l->last == 0.0 || wall_clock() - l->last >= l->interval;
}

void step_lines_tell(struct step_lines *l, const struct step_record *record,
                     const struct usage *cores, const struct usage *gpus, double done, double eta,
                     bool last) {
  char left[CLOCK_DURATION_SIZE] = "-";
  if (!isnan(eta)) clock_duration(left, eta);
  write_line(l->held, record, left);
  say_in(CONSOLE_LOG, "%s", l->held);
  if (l->bar) {
    show_bar(record, done, left);
    l->held[0] = '\0';
  } else if (due(l, last)) {
    step_lines_end(l);
    l->last = wall_clock();
  }
  if (l->details) say_details(record, cores, gpus);
}

void step_lines_end(struct step_lines *l) {
  if (l->held[0]) say_in(CONSOLE_SCREEN, "%s", l->held);
  l->held[0] = '\0';
}
