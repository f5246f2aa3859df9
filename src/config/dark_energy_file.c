/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dark_energy_file.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "photons/base/input_file.h"

struct table {
  struct w_table *d;
  enum { NOT_NAMED, SCALE_FACTORS, REDSHIFTS } column; /* the first one */
};

/** The heading "# a w" or "# z w" of the columns. */
static void take_comment(struct table *t, const char *line) {
  char first[8], second[8];
  if (sscanf(line, "# %7s %7s", first, second) != 2 || strcmp(second, "w") != 0) return;
  if (strcmp(first, "a") == 0) t->column = SCALE_FACTORS;
  if (strcmp(first, "z") == 0) t->column = REDSHIFTS;
}

/** Two numbers and nothing else. */
static bool read_row(const char *line, double value[2]) {
  char *first_end, *end;
  value[0] = strtod(line, &first_end);
  value[1] = strtod(first_end, &end);
  return first_end != line && end != first_end && end[strspn(end, " \t\r\n")] == '\0' &&
         isfinite(value[0]) && isfinite(value[1]);
}

/** Why a row cannot be taken, or NULL. */
static const char *take_row(struct table *t, const char *line) {
  struct w_table *d = t->d;
  double value[2];
  if (t->column == NOT_NAMED) return "is not behind a heading \"# a w\" or \"# z w\"";
  if (!read_row(line, value)) return "is not two numbers";
  if (d->rows == DARK_ENERGY_ROWS) return "is beyond the most rows, 256";
  const double a = t->column == REDSHIFTS ? 1.0 / (1.0 + value[0]) : value[0];
  if (!(a > 0.0 && a <= 1.0)) return "is not of the past; allowed: a above 0 to 1, z from 0 on";
  if (!(value[1] >= -10.0 && value[1] <= 1.0)) return "has no w of -10 .. 1";
  d->a[d->rows] = a;
  d->w[d->rows++] = value[1];
  return NULL;
}

/** Rows of rising z become rows of rising a. */
static void turn(struct w_table *d) {
  for (size_t i = 0, j = d->rows - 1; i < j; i++, j--) {
    const double a = d->a[i], w = d->w[i];
    d->a[i] = d->a[j];
    d->w[i] = d->w[j];
    d->a[j] = a;
    d->w[j] = w;
  }
}

/** Why the rows as a whole are no table, or NULL. */
static const char *settle(struct w_table *d) {
  if (d->rows == 0) return "it has no rows";
  if (d->a[0] > d->a[d->rows - 1]) turn(d);
  for (size_t i = 1; i < d->rows; i++)
    if (!(d->a[i] > d->a[i - 1])) return "its first column neither rises nor falls all the way";
  if (d->a[d->rows - 1] < 1.0) return "it has no row of today, a = 1 or z = 0";
  if (d->w[0] > 0.0) return "w is above 0 at first: dark energy would rule the early universe";
  w_table_integrate(d);
  return NULL;
}

/** @return false: `reason` says why */
static bool take_lines(struct table *t, FILE *file, char *reason, size_t length) {
  char *line = NULL;
  size_t size = 0;
  const char *wrong = NULL;
  errno = 0;
  for (int number = 1; !wrong && getline(&line, &size, file) >= 0; number++) {
    const char *text = number == 1 ? input_text(line) : line;
    text += strspn(text, " \t\r\n");
    if (*text == '#')
      take_comment(t, text);
    else if (*text && (wrong = take_row(t, text)))
      snprintf(reason, length, "line %d, \"%.*s\", %s", number, (int)strcspn(text, "\r\n"), text,
               wrong);
  }
  const bool broken = !wrong && ferror(file);
  if (broken) snprintf(reason, length, "cannot read it: %s", strerror(errno));
  free(line);
  return !wrong && !broken;
}

bool w_table_read(struct w_table *d, const char *path, char *reason, size_t length) {
  struct table t = {.d = d};
  const char *refusal;
  *d = (struct w_table){0};
  FILE *file = input_open(path, &refusal);
  if (!file) {
    snprintf(reason, length, "cannot read it: %s", refusal);
    return false;
  }
  bool sound = take_lines(&t, file, reason, length);
  fclose(file);
  const char *wrong = sound ? settle(d) : NULL;
  if (wrong) snprintf(reason, length, "%s", wrong);
  return sound && !wrong;
}

void dark_energy_collect(struct parameters *p, struct parameter_problems *problems) {
  char reason[256];
  if (!p->cosmology.w_table[0]) return;
  if (!w_table_read(&p->cosmology.w, p->cosmology.w_table, reason, sizeof reason))
    problem_with(problems, parameter_find("cosmology", "w_table"), p, NULL, "%s", reason);
}
