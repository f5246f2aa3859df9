/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The output times of all parameters that name some, as redshifts, or as times of systems without them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "output_times_file.h"

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

/** @return false, with a problem reported, if there are too many */
static bool add_time(struct parameters *p, struct parameter_problems *problems,
                     const struct parameter *row, double time) {
  if (p->output.time_count == PARAMETER_LIST_MAX) {
    problem_with(problems, row, p, NULL, "more than %d output times in all", PARAMETER_LIST_MAX);
    return false;
  }
  p->output.times[p->output.time_count++] = time;
  return true;
}

static void add_file(struct parameters *p, struct parameter_problems *problems) {
  const struct parameter *row = parameter_find("output", "times_file");
  struct times_file file;
  if (*p->output.times_file && times_file_read(p, problems, &file))
    for (size_t i = 0; i < file.count; i++) {
      const double value = file.value[i];
      if (!(file.kind == LIST_OF_TIMES           ? add_time(p, problems, row, value)
            : file.kind == LIST_OF_SCALE_FACTORS ? add(p, problems, row, redshift_of(p, value))
                                                 : add(p, problems, row, value)))
        break;
    }
  parameter_reset(row, "", p);
}

static int compare_falling(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x < y) - (x > y);
}

static int compare_rising(const void *a, const void *b) { return compare_falling(b, a); }

/** Those of isolated systems and of gas: output.times, those of the file, and the multiples of output.interval. */
static void collect_times(struct parameters *p, struct parameter_problems *problems) {
  add_file(p, problems);
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
  if (!run_has_redshifts(p)) {
    collect_times(p, problems);
    return;
  }
  add_scale_factors(p, problems);
  add_file(p, problems);
  double *z = p->output.redshifts;
  size_t count = p->output.redshift_count, kept = 0;
  if (!count) z[count++] = p->time.z_end; /* 0 where that is not given */
  qsort(z, count, sizeof *z, compare_falling);
  for (size_t i = 0; i < count; i++)
    if (!kept || z[i] < z[kept - 1]) z[kept++] = z[i];
  memset(z + kept, 0, (count - kept) * sizeof *z);
  p->output.redshift_count = kept;
  /* The initial conditions alone are no run. */
  if (!parameter_given(p, "time", "z_end") && (start_is_automatic(p) || z[kept - 1] < p->ic.z_init))
    p->time.z_end = z[kept - 1];
}
