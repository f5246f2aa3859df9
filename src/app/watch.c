/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/app/watch.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "photons/app/eta.h"
#include "photons/app/run_folder.h"
#include "photons/app/sparkline.h"
#include "photons/base/clock.h"
#include "photons/base/comm.h"
#include "photons/base/console.h"
#include "photons/base/error.h"
#include "photons/cosmology/cosmology.h"
#include "photons/runtime/stage.h"
#include "photons/step/rungs.h"

/* Recent steps, whose mean is shown; stages that are named; characters of a curve and of the bar;
 * seconds from one view to the next; the column where lines go on after their names. */
enum { RECENT = 10, LARGEST = 6, CURVE = 60, BAR = 20, INTERVAL = 2, MARGIN = 12 };

struct view {
  FILE *out;
  bool utf8;
  struct run_folder f;
  size_t rows;  /* of log/timings.csv */
  size_t first; /* of the recent ones */
};

/** Begin a line with its name. */
static void heading(const struct view *v, const char *name) {
  fprintf(v->out, "%-*s", MARGIN, name);
}

static double number(const struct view *v, size_t row, const char *column) {
  return csv_number(&v->f.timings, row, column);
}

/** Sum over recent steps of a column, times the steps' seconds if `timed`. */
static double recent(const struct view *v, const char *column, bool timed) {
  double sum = 0.0;
  for (size_t row = v->first; row < v->rows; row++)
    sum += number(v, row, column) * (timed ? number(v, row, "wall_s") : 1.0);
  return sum;
}

/** The mean of a column over the time of recent steps. */
static double recent_mean(const struct view *v, const char *column) {
  return recent(v, column, true) / recent(v, "wall_s", false);
}

static double now(const struct view *v, const char *column) {
  return number(v, v->rows - 1, column);
}

static void print_state(const struct view *v) {
  static const char *const ends[] = {
      [RUN_UNKNOWN] = "no process works in this folder",
      [RUN_BEGUN] = "broken off: no process works in this folder",
      [RUN_STOPPED] = "stopped",
      [RUN_FAILED] = "failed",
      [RUN_ENDED] = "ended",
  };
  heading(v, "state");
  if (v->f.goes_on)
    fprintf(v->out, "running, %s", v->f.holder);
  else
    fputs(ends[v->f.end], v->out);
  if (!isnan(v->f.age)) {
    char age[CLOCK_DURATION_SIZE];
    clock_duration(age, v->f.age);
    fprintf(v->out, "; last step %s ago", age);
  }
  fputs("\n", v->out);
}

/** The column of the logs with the time: the redshift, Myr, or the time of gas. */
static const char *time_column(const struct view *v) {
  return v->f.clock ? "time" : v->f.isolated ? "time_myr" : "z";
}

static double time_now(const struct view *v) { return now(v, time_column(v)); }

/** Print the time of a column, of the end or of an output. */
static void print_time(const struct view *v, int digits, double time) {
  fprintf(v->out,
          v->f.clock      ? "t = %.*g"
          : v->f.isolated ? "t = %.*g Myr"
                          : "z = %.*g",
          digits, time);
}

/** The scale factor at the end of a step; in isolated systems the time. */
static double scale_factor(const struct view *v, size_t row) {
  return v->f.isolated ? cosmology_time(number(v, row, "time_myr")) : number(v, row, "a");
}

/** The length of a step in ln a; of gas in time. */
static double step_length(const struct view *v, size_t row) {
  if (v->f.clock) return number(v, row, "dt");
  return v->f.isolated ? cosmology_time(number(v, row, "dt_myr")) : number(v, row, "dlna");
}

/** The way of the run in ln a, of gas in time, that is behind, and ahead; NAN: not known. */
static double way_behind(const struct view *v) {
  if (v->f.clock) return time_now(v) - number(v, 0, "time");
  return moment_interval(v->f.isolated, scale_factor(v, 0), scale_factor(v, v->rows - 1));
}
static double way_ahead(const struct view *v) {
  if (v->f.clock) return fmax(v->f.end_time - time_now(v), 0.0);
  const double end = v->f.isolated ? cosmology_time(v->f.end_time) : 1.0 / (1.0 + v->f.end_time);
  return fmax(moment_interval(v->f.isolated, scale_factor(v, v->rows - 1), end), 0.0);
}

static void print_progress(const struct view *v) {
  heading(v, "progress");
  if (!isnan(v->f.end_time)) {
    const double whole = way_behind(v) + way_ahead(v);
    const double share = whole > 0.0 ? way_behind(v) / whole : 1.0;
    sparkline_bar(v->out, share, BAR, v->utf8);
    fprintf(v->out, " %.1f%%%s, ", 100.0 * share, v->f.isolated || v->f.clock ? "" : " in ln a");
  }
  fprintf(v->out, "step %.0f, ", now(v, "step"));
  print_time(v, 4, fmax(time_now(v), 0.0));
  if (!isnan(v->f.end_time)) fprintf(v->out, " of %g", v->f.end_time);
  fputs("\n", v->out);
}

static void print_speed(const struct view *v) {
  const double seconds = recent(v, "wall_s", false);
  heading(v, "speed");
  fprintf(v->out, "%.3g %s/s, %.3g s/step in the last %zu steps\n",
          recent(v, v->f.gas ? "updates_per_s" : "particles_per_s", true) / seconds,
          v->f.gas ? "cell updates" : "particle-steps", seconds / (double)(v->rows - v->first),
          v->rows - v->first);
}

/** Whether an output comes after a step. */
static bool ahead_of(const struct view *v, size_t row, double output) {
  const double present = number(v, row, time_column(v));
  if (v->f.isolated || v->f.clock) return !(output <= present * (1.0 + 1e-6));
  return !(output > present - 1e-6 * (1.0 + present));
}

/** Whether an output comes after the last step. */
static bool is_ahead(const struct view *v, double output) {
  return v->rows == 0 || ahead_of(v, v->rows - 1, output);
}

/** The number of outputs to come. @param[out] next  the time of the first; NAN: there is none */
static size_t outputs_ahead(const struct view *v, double *next) {
  size_t ahead = 0;
  *next = NAN;
  for (size_t i = 0; i < v->f.output_time_count; i++) {
    if (!is_ahead(v, v->f.output_times[i])) continue;
    if (ahead++ == 0) *next = v->f.output_times[i];
  }
  return ahead;
}

/** The work that is expected where the way ends at a scale factor. In runs without redshifts it is
 * the length of the way.
 * @param length  of the way in ln a */
static double work_until(const struct view *v, double a, double length) {
  if (!*csv_text(&v->f.timings, 0, "dlna")) return length;
  return eta_work(&v->f.universe, a * exp(-length), a);
}

static double step_work(const struct view *v, size_t row) {
  return work_until(v, scale_factor(v, row), step_length(v, row));
}

static double work_ahead(const struct view *v) {
  const double way = way_ahead(v);
  return work_until(v, scale_factor(v, v->rows - 1) * exp(way), way);
}

/** Whether a step has come to the time of an output. */
static bool has_output(const struct view *v, size_t row) {
  for (size_t i = 0; i < v->f.output_time_count; i++)
    if (ahead_of(v, row - 1, v->f.output_times[i]) && !ahead_of(v, row, v->f.output_times[i]))
      return true;
  return false;
}

static void print_eta(const struct view *v) {
  struct eta eta = {0};
  double next;
  char text[CLOCK_DURATION_SIZE] = "-";
  for (size_t row = 1; row < v->rows; row++)
    eta_step(&eta, step_work(v, row), number(v, row, "wall_s"), has_output(v, row));
  eta.output_seconds = v->f.output_seconds;
  eta.outputs = v->f.output_count;
  const double seconds = eta_seconds(&eta, work_ahead(v), outputs_ahead(v, &next));
  if (!isnan(seconds) && !isnan(v->f.end_time)) clock_duration(text, seconds);
  heading(v, "ETA");
  fprintf(v->out, "%s\n", text);
}

struct share {
  const char *stage;
  double seconds;
};

static int larger_first(const void *a, const void *b) {
  const struct share *left = a, *right = b;
  return (left->seconds < right->seconds) - (left->seconds > right->seconds);
}

/** Where the busy time of recent steps went. @param prefix  of the columns of a kind of device */
static void print_shares(const struct view *v, const char *name, const char *prefix) {
  struct share shares[STAGES_MOST];
  const uint32_t count = stage_count();
  double busy = 0.0;
  for (uint32_t i = 0; i < count; i++) {
    char column[96];
    shares[i].stage = stage_name(stage_at(i));
    snprintf(column, sizeof column, "%s%s_s", prefix, shares[i].stage);
    if (v->f.gas && strncmp(shares[i].stage, "gas_", 4) == 0) shares[i].stage += 4;
    const double seconds = recent(v, column, false);
    shares[i].seconds = isnan(seconds) ? 0.0 : seconds;
    busy += shares[i].seconds;
  }
  if (!(busy > 0.0)) return;
  qsort(shares, count, sizeof *shares, larger_first);
  double other = busy;
  heading(v, name);
  for (uint32_t i = 0; i < count && i < LARGEST && shares[i].seconds >= 0.005 * busy; i++) {
    fprintf(v->out, "%s %.0f%%  ", shares[i].stage, 100.0 * shares[i].seconds / busy);
    other -= shares[i].seconds;
  }
  fprintf(v->out, "other %.0f%%\n", 100.0 * fmax(other, 0.0) / busy);
}

static void print_idle(const struct view *v) {
  const double gpus = recent_mean(v, "gpu_idle_share");
  heading(v, "idle");
  fprintf(v->out, "cores %.1f%%", 100.0 * recent_mean(v, "idle_share"));
  if (!isnan(gpus)) fprintf(v->out, ", GPUs %.1f%%", 100.0 * gpus);
  fprintf(v->out, "; imbalance %.1f%%\n", 100.0 * recent_mean(v, "imbalance"));
}

/** Particles by rung at the beginning of the last base step. */
static void print_rungs(const struct view *v) {
  double logs[RUNGS], least = INFINITY, most = 0.0;
  int rungs = 0, fullest = 0;
  if (!(now(v, "sub_steps") > 0.0)) return;
  const char *text = csv_text(&v->f.timings, v->rows - 1, "rung_particles");
  for (char *end; rungs < RUNGS; text = end + (*end == ';')) {
    const double particles = strtod(text, &end);
    if (end == text) break;
    logs[rungs] = particles > 0.0 ? log10(particles) : NAN;
    if (particles > 0.0) least = fmin(least, particles);
    if (particles > most) {
      most = particles;
      fullest = rungs;
    }
    rungs++;
  }
  char name[32];
  snprintf(name, sizeof name, "rungs 0-%d", rungs - 1);
  heading(v, name);
  sparkline_print(v->out, logs, (size_t)rungs, log10(least), log10(most), v->utf8);
  fprintf(v->out, "  log10 of particles, which are %.3g to %.3g, most on rung %d\n", least, most,
          fullest);
}

/** Patches by level after the last step. */
static void print_levels(const struct view *v) {
  if (!v->f.gas) return;
  heading(v, "patches");
  for (const char *c = csv_text(&v->f.timings, v->rows - 1, "level_patches"); *c; c++)
    fputc(*c == ';' ? ' ' : *c, v->out);
  fputs(" by level\n", v->out);
}

static void print_memory(const struct view *v) {
  heading(v, "memory");
  fprintf(v->out, "%.3g GB at most, all processes\n", 1e-9 * now(v, "peak_rss_bytes"));
}

/** By how much the mass of gas, and its energy where nothing expands, have changed since the first
 * step. */
static void print_changes(const struct view *v) {
  static const char *const column[] = {"mass", "energy"};
  const struct csv *t = &v->f.statistics;
  if (t->rows < 2) return;
  heading(v, "statistics");
  for (int i = 0; i < 1 + v->f.clock; i++)
    fprintf(v->out, "%s%s changed by %.3g", i ? ", " : "", column[i],
            csv_number(t, t->rows - 1, column[i]) / csv_number(t, 0, column[i]) - 1.0);
  fputs("\n", v->out);
}

/** The newest row of the statistics with a number in a column; not every step has one. `rows`: none
 * has. */
static size_t newest(const struct csv *t, const char *column) {
  for (size_t row = t->rows; row-- > 0;)
    if (!isnan(csv_number(t, row, column))) return row;
  return t->rows;
}

/** |E - E0|/|E0| of isolated systems, as in figures of the energy: the column layzer_irvine is their
 * total energy with that of escapers. */
static double energy_error(const struct csv *t, size_t row) {
  const double first = csv_number(t, 0, "layzer_irvine");
  return fabs(csv_number(t, row, "layzer_irvine") - first) / fabs(first);
}

/** The newest error of the energy, or of the Layzer-Irvine equation. */
static void print_statistics(const struct view *v) {
  const struct csv *t = &v->f.statistics;
  if (v->f.gas) print_changes(v);
  const size_t row = newest(t, v->f.isolated ? "layzer_irvine" : "layzer_irvine_error");
  if (row == t->rows) return;
  const double error = v->f.isolated ? energy_error(t, row)
                                     : csv_number(t, row, "layzer_irvine_error");
  if (!isfinite(error)) return;
  heading(v, "statistics");
  fprintf(v->out, "%s %.3g at ",
          v->f.isolated ? "energy error |E - E0|/|E0|" : "Layzer-Irvine error", error);
  print_time(v, 4, csv_number(t, row, time_column(v)));
  fputs("\n", v->out);
}

static void print_outputs(const struct view *v) {
  double next;
  const size_t ahead = outputs_ahead(v, &next), written = v->f.outputs_written;
  heading(v, "outputs");
  fprintf(v->out, "%zu written", written);
  if (written > 0) fprintf(v->out, ", the last one is number %03ld", v->f.outputs[written - 1]);
  if (ahead > 0) {
    fprintf(v->out, "; %zu to come, the next at ", ahead);
    print_time(v, 6, next);
  }
  fputs("\n", v->out);
}

/** log10 of k^3 P(k) / (2 pi^2) at a wavenumber, between two of the table. */
static double log_power(const struct run_spectrum *s, double k) {
  size_t i = 1;
  while (i + 1 < s->count && s->k[i] < k) i++;
  const double share = log(k / s->k[i - 1]) / log(s->k[i] / s->k[i - 1]);
  const double low = log10(pow(s->k[i - 1], 3) * s->power[i - 1]);
  const double high = log10(pow(s->k[i], 3) * s->power[i]);
  return low + share * (high - low) - log10(2.0 * M_PI * M_PI);
}

static void print_spectrum(const struct view *v) {
  const struct run_spectrum *s = &v->f.spectrum;
  double curve[CURVE], low = INFINITY, high = -INFINITY;
  if (s->count < 2) return;
  const double first = s->k[0], last = s->k[s->count - 1];
  for (int i = 0; i < CURVE; i++) {
    curve[i] = log_power(s, first * pow(last / first, (double)i / (CURVE - 1)));
    if (!isfinite(curve[i])) curve[i] = NAN;
    low = fmin(low, curve[i]);
    high = fmax(high, curve[i]);
  }
  heading(v, "P(k)");
  sparkline_print(v->out, curve, CURVE, low, high, v->utf8);
  fprintf(v->out, "\n%*sz = %.4g, k from %.3g to %.3g h/Mpc, k^3 P/(2 pi^2) from %.2g to %.2g\n",
          MARGIN, "", s->z, first, last, pow(10.0, low), pow(10.0, high));
}

static void print_messages(const struct view *v) {
  for (int i = RUN_MESSAGES - 1; i >= 0; i--)
    if (v->f.messages[i]) fprintf(v->out, "%s\n", v->f.messages[i]);
}

static void print_steps(const struct view *v) {
  print_progress(v);
  if (v->f.goes_on) print_eta(v);
  print_speed(v);
  print_shares(v, "cores", "");
  print_shares(v, "GPUs", "gpu_");
  print_idle(v);
  print_rungs(v);
  print_levels(v);
  print_memory(v);
}

static void print_view(struct view *v) {
  v->rows = v->f.timings.rows;
  v->first = v->rows > RECENT + 1 ? v->rows - RECENT : v->rows > 1; /* row 0: no step */
  heading(v, "run");
  fprintf(v->out, "%s\n", v->f.path);
  print_state(v);
  if (v->rows > 0)
    print_steps(v);
  else
    fprintf(v->out, "%-*sno step has ended yet\n", MARGIN, "progress");
  print_statistics(v);
  print_outputs(v);
  print_spectrum(v);
  print_messages(v);
}

/** The bytes of a line that have room in so many columns. */
static size_t visible(const char *line, size_t length, int columns) {
  size_t bytes = 0;
  for (int shown = 0; bytes < length; bytes++) {
    const bool begins = (line[bytes] & 0xC0) != 0x80; /* in UTF-8 the others continue a character */
    if (begins && shown++ == columns) break;
  }
  return bytes;
}

/** Print lines in place of what the terminal shows, or only print them. */
static void show(const char *text, bool terminal) {
  const int columns = terminal ? console_columns() : CONSOLE_COLUMNS;
  int rows = terminal ? console_rows() : INT32_MAX;
  if (terminal) fputs("\033[H", stdout); /* the cursor goes to the upper left */
  for (const char *line = text; *line && --rows > 0;) {
    const size_t length = strcspn(line, "\n");
    printf("%.*s%s\n", (int)visible(line, length, columns), line, terminal ? "\033[K" : "");
    line += length + 1;
  }
  if (terminal) fputs("\033[J", stdout); /* erase what is below */
  if (fflush(stdout) != 0 || ferror(stdout))
    fail(EXIT_RUN_FAILED, "cannot write to standard output: %s", strerror(errno));
}

/** @return whether the run goes on */
static bool show_folder(const char *folder, bool terminal) {
  char *text;
  size_t size;
  struct view v = {.out = open_memstream(&text, &size),
                   .utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0};
  if (!v.out) fail(EXIT_RUN_FAILED, "not enough memory for the view of a run");
  run_folder_read(&v.f, folder);
  print_view(&v);
  if (fclose(v.out) != 0) fail(EXIT_RUN_FAILED, "not enough memory for the view of a run");
  show(text, terminal);
  const bool goes_on = v.f.goes_on;
  run_folder_free(&v.f);
  free(text);
  return goes_on;
}

int watch_run(const char *folder) {
  const char *reason;
  comm_started();
  if (comm_rank() > 0) return 0;
  if (!run_folder_valid(folder, &reason)) fail(EXIT_BAD_USAGE, "%s: %s", folder, reason);
  const bool terminal = console_is_terminal();
  setlocale(LC_CTYPE, ""); /* an unknown locale leaves that of C */
  if (terminal) fputs("\033[2J", stdout);
  while (show_folder(folder, terminal) && terminal) sleep(INTERVAL);
  return 0;
}
