/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The output times of all parameters that name some, as redshifts. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "photons/base/error.h"
#include "photons/base/input_file.h"
#include "photons/config/parameter_table.h"

/** The redshift of a scale factor; times of the run itself are met exactly. */
static double redshift_of(const struct parameters *p, double a) {
  const double z = 1.0 / a - 1.0, near = 1e-12 / a;
  if (fabs(z - p->time.z_end) < near) return p->time.z_end;
  return fabs(z - p->ic.z_init) < near ? p->ic.z_init : z;
}

/** @return false, with a problem reported, if there are too many */
static bool add(struct parameters *p, struct parameter_problems *problems,
                const struct parameter *row, double z) {
  if (p->output.redshift_count == PARAMETER_LIST_MAX) {
    problem_with(problems, row, p, NULL, "more than %d output times in all", PARAMETER_LIST_MAX);
    return false;
  }
  p->output.redshifts[p->output.redshift_count++] = z;
  return true;
}

static void add_scale_factors(struct parameters *p, struct parameter_problems *problems) {
  const struct parameter *row = parameter_find("output", "scale_factors");
  for (size_t i = 0; i < p->output.scale_factor_count; i++)
    if (!add(p, problems, row, redshift_of(p, p->output.scale_factors[i]))) break;
  parameter_reset(row, "", p);
}

enum line { TIME, NO_TIME, WRONG };

/** What a line is: a number, nothing but a comment, or something else. */
static enum line read_line(const char *line, double *value) {
  char *end;
  while (isspace((unsigned char)*line)) line++;
  if (!*line || *line == '#') return NO_TIME;
  *value = strtod(line, &end);
  while (isspace((unsigned char)*end)) end++;
  return !*end || *end == '#' ? TIME : WRONG;
}

/** Whether a comment is the heading of a list of scale factors. */
static bool names_scale_factors(const char *line) {
  line += strspn(line, "# \t");
  return strncasecmp(line, "scale factor", 12) == 0;
}

static void add_lines(struct parameters *p, struct parameter_problems *problems,
                      const struct parameter *row, FILE *file) {
  char line[256];
  bool scale_factors = false;
  for (int number = 1; fgets(line, sizeof line, file); number++) {
    double value = 0.0;
    if (number == 1) scale_factors = names_scale_factors(line);
    const enum line kind = read_line(line, &value);
    const double a = scale_factors ? value : 1.0 / (1.0 + value);
    if (kind == WRONG || (kind == TIME && !(a >= 1e-4 && a <= 1.0))) {
      line[strcspn(line, "\r\n")] = 0;
      problem_with(problems, row, p, NULL, "line %d, \"%.60s\", is not a %s; allowed: %s", number,
                   line, scale_factors ? "scale factor" : "redshift",
                   scale_factors ? "1e-4 .. 1" : "0 .. 9999");
      return;
    }
    if (kind == TIME && !add(p, problems, row, scale_factors ? redshift_of(p, value) : value))
      return;
  }
  if (ferror(file)) problem_with(problems, row, p, NULL, "cannot read it: %s", strerror(errno));
}

static void add_file(struct parameters *p, struct parameter_problems *problems) {
  const struct parameter *row = parameter_find("output", "times_file");
  const char *reason;
  if (!*p->output.times_file) return;
  FILE *file = input_open(p->output.times_file, &reason);
  if (file)
    add_lines(p, problems, row, file);
  else
    problem_with(problems, row, p, NULL, "cannot open it: %s", reason);
  if (file) fclose(file);
  parameter_reset(row, "", p);
}

static int compare_falling(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x < y) - (x > y);
}

static int compare_rising(const void *a, const void *b) { return compare_falling(b, a); }

/** Those of isolated systems and of gas: output.times and the multiples of output.interval. */
static void collect_times(struct parameters *p, struct parameter_problems *problems) {
  double *t = p->output.times;
  size_t count = p->output.time_count, kept = 0;
  const double interval = p->output.interval;
  for (double k = 0.0; interval > 0.0 && k * interval <= p->time.end * (1.0 + 1e-12); k++) {
    if (count == PARAMETER_LIST_MAX) {
      problem_with(problems, parameter_find("output", "interval"), p, NULL,
                   "more than %d output times in all", PARAMETER_LIST_MAX);
      return;
    }
    t[count++] = fmin(k * interval, p->time.end);
  }
  if (!count) t[count++] = p->time.end;
  qsort(t, count, sizeof *t, compare_rising);
  for (size_t i = 0; i < count; i++) /* 3 times 0.1 is not 0.3 */
    if (!kept || t[i] > t[kept - 1] * (1.0 + 1e-12)) t[kept++] = t[i];
  memset(t + kept, 0, (count - kept) * sizeof *t);
  p->output.time_count = kept;
  p->output.interval = 0.0;
}

void output_times_collect(struct parameters *p, struct parameter_problems *problems) {
  if (p->run.system == SYSTEM_GAS ? !p->gas.comoving : p->box.boundary == BOUNDARY_ISOLATED) {
    collect_times(p, problems);
    return;
  }
  add_scale_factors(p, problems);
  add_file(p, problems);
  double *z = p->output.redshifts;
  size_t count = p->output.redshift_count, kept = 0;
  if (!count) z[count++] = p->time.z_end;
  qsort(z, count, sizeof *z, compare_falling);
  for (size_t i = 0; i < count; i++)
    if (!kept || z[i] < z[kept - 1]) z[kept++] = z[i];
  memset(z + kept, 0, (count - kept) * sizeof *z);
  p->output.redshift_count = kept;
}
