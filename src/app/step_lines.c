/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/app/step_lines.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "photons/base/clock.h"
#include "photons/base/error.h"

struct step_lines step_lines_make(const struct step_log *log, bool details, double interval) {
  return (struct step_lines){.log = log,
                             .bar = !details && console_is_terminal(),
                             .details = details,
                             .interval = details ? 0.0 : interval};
}

static void show_bar(const struct step_log *log, const struct step_record *record, double done,
                     const char *eta) {
  enum { LEAST = 10, MOST = 60 };
  char text[128], bar[MOST + 4] = "", line[sizeof text + sizeof bar];
  snprintf(text, sizeof text, "step %lld  %s  %.2f s/step  ETA %s", (long long)record->step,
           log->text(record, false).text, record->wall, eta);
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

static void write_line(char line[CONSOLE_COLUMNS + 2], const struct step_log *log,
                       const struct step_record *record, const char *eta) {
  char rungs[32] = "";
  if (record->block.sub_steps > 0)
    snprintf(rungs, sizeof rungs, "  rungs 0-%d", deepest_rung(record->rungs));
  snprintf(line, CONSOLE_COLUMNS + 1, "step %-5lld %s  %8.3f s  %.3g %s/s%s  ETA %s",
           (long long)record->step, log->text(record, true).text, record->wall,
           (double)record->kicked / record->wall, log->things, rungs, eta);
  strcat(line, "\n");
}

static void print_devices(FILE *out, const struct step_log *log, const char *kind,
                          const struct usage *u, double wall) {
  if (u->units == 0) return;
  fprintf(out, "    %s  ", kind);
  log->print_shares(out, u);
  fprintf(out, "  idle %.1f%%  imbalance %.1f%%\n", 100.0 * usage_idle_share(u, wall),
          100.0 * usage_imbalance(u));
}

static void say_details(const struct step_log *log, const struct step_record *record,
                        const struct usage *cores, const struct usage *gpus) {
  char *text = NULL;
  size_t size;
  FILE *out = open_memstream(&text, &size);
  if (!out) fail(EXIT_RUN_FAILED, "not enough memory for the lines of a step");
  print_devices(out, log, "cores", cores, record->wall);
  print_devices(out, log, "GPUs ", gpus, record->wall);
  fprintf(out, "    ");
  log->print_details(out, record);
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
  write_line(l->held, l->log, record, left);
  say_in(CONSOLE_LOG, "%s", l->held);
  if (l->bar) {
    show_bar(l->log, record, done, left);
    l->held[0] = '\0';
  } else if (due(l, last)) {
    step_lines_end(l);
    l->last = wall_clock();
  }
  if (l->details) say_details(l->log, record, cores, gpus);
}

void step_lines_end(struct step_lines *l) {
  if (l->held[0]) say_in(CONSOLE_SCREEN, "%s", l->held);
  l->held[0] = '\0';
}
