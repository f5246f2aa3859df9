/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/cosmology/linear_table.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/base/input_file.h"
#include "photons/config/parameters.h"

/* -- heading ------------------------------------------------------------------------------------ */

/** @param warned  whether this value of a table that is scaled was warned of: a run reads it several times */
static void other_value(const struct linear_heading *h, const char *name, double found,
                        double expected, bool *warned) {
  if (strcmp(name, "z") == 0)
    fail(EXIT_BAD_INPUT, "%s %s: it is of z = %g, expected %g", h->what, h->path, found, expected);
  static const char text[] = "%s %s: it is of a universe with %s = %g, and the run has %g";
  if (!h->scaled) fail(EXIT_BAD_INPUT, text, h->what, h->path, name, found, expected);
  if (comm_rank() == 0 && !*warned) warn(text, h->what, h->path, name, found, expected);
  *warned = true;
}

static void check_number(const struct linear_heading *h, const char *name, double value) {
  const struct parameters *p = h->parameters;
  if (!(p->cosmology.omega_m > 0.0))
    return; /* a file that is not read yet says of which universe it is */
  if (strcmp(name, "running") == 0 && value != 0.0 && p->ic.f_nl != 0.0)
    fail(EXIT_BAD_INPUT,
         "%s %s: it has running = %g, with which it does not tell the primordial potential that "
         "ic.f_nl needs",
         h->what, h->path, value);
  double mass = 0.0;
  for (size_t i = 0; i < p->cosmology.m_nu_count; i++) mass += p->cosmology.m_nu[i];
  const struct {
    const char *name;
    double value, tolerance;
    bool counts;
  } known[] = {{"Omega_m", p->cosmology.omega_m, 1e-4, true},
               {"Omega_b", p->cosmology.omega_b, 1e-4, true},
               {"h", p->cosmology.h, 1e-4, true},
               {"sum_m_nu", mass, 1e-3, !h->scaled || mass > 0.0},
               {"n_s", p->cosmology.n_s, 1e-4, h->scaled},
               {"Omega_r", p->cosmology.omega_r, 1e-6, h->background},
               {"w0", p->cosmology.w0, 1e-4, h->background},
               {"wa", p->cosmology.wa, 1e-4, h->background},
               {"z", h->z, 1e-5 * (1.0 + h->z), !isnan(h->z)}};
  static bool warned[sizeof known / sizeof *known];
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (known[i].counts && strcmp(name, known[i].name) == 0 &&
        !(fabs(value - known[i].value) <= known[i].tolerance))
      other_value(h, name, value, known[i].value, &warned[i]);
}

static void check_word(const struct linear_heading *h, const char *name, const char *value) {
  static const char *const known[][2] = {{"gauge", "N-body"}, {"unit_of_k", "h/Mpc"}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (strcmp(name, known[i][0]) == 0 && strcmp(value, known[i][1]) != 0)
      fail(EXIT_BAD_INPUT, "%s %s: it has %s = %s, expected %s", h->what, h->path, name, value,
           known[i][1]);
}

void linear_heading_check(const struct linear_heading *h, const char *line) {
  char name[32], value[32], *end;
  if (sscanf(line, "# %31[A-Za-z0-9_] = %31s", name, value) != 2) return;
  const double number = strtod(value, &end);
  if (*end == '\0')
    check_number(h, name, number);
  else
    check_word(h, name, value);
}

/* -- rows --------------------------------------------------------------------------------------- */

/** Whether a line has these numbers and nothing else. */
static bool read_numbers(const char *line, double *row, size_t columns) {
  for (size_t c = 0; c < columns; c++) {
    char *end;
    row[c] = strtod(line, &end);
    if (end == line || !isfinite(row[c])) return false;
    line = end;
  }
  return line[strspn(line, " \t\r\n")] == '\0';
}

static void make_room(struct linear_table *t) {
  if (t->rows < t->capacity) return;
  t->capacity = t->capacity ? 2 * t->capacity : 4096;
  for (size_t c = 0; c < t->columns; c++)
    t->value[c] = reallocate(t->value[c], t->capacity, sizeof **t->value, t->heading.what);
}

static void add_row(struct linear_table *t, const char *line, size_t number) {
  double row[LINEAR_COLUMNS_MAX];
  char place[PARAMETER_PATH_MAX + 32];
  snprintf(place, sizeof place, "%s:%zu", t->heading.path, number);
  if (!read_numbers(line, row, t->columns))
    fail(EXIT_BAD_INPUT, "%s: expected %s", place, t->expected);
  t->settle(row, place);
  make_room(t);
  for (size_t c = 0; c < t->columns; c++) t->value[c][t->rows] = row[c];
  t->rows++;
}

void linear_table_read(struct linear_table *t) {
  const char *reason;
  FILE *file = input_open(t->heading.path, &reason);
  if (!file) fail(EXIT_BAD_INPUT, "%s %s: %s", t->heading.what, t->heading.path, reason);
  char *line = NULL;
  size_t size = 0;
  errno = 0;
  for (size_t number = 1; getline(&line, &size, file) >= 0; number++) {
    const char *text = number == 1 ? input_text(line) : line;
    if (*text == '#')
      linear_heading_check(&t->heading, text);
    else if (text[strspn(text, " \t\r\n")] != '\0')
      add_row(t, text, number);
  }
  if (ferror(file))
    fail(EXIT_BAD_INPUT, "%s %s: %s", t->heading.what, t->heading.path, strerror(errno));
  free(line);
  fclose(file);
}

void linear_table_free(struct linear_table *t) {
  for (size_t c = 0; c < t->columns; c++) free(t->value[c]);
}
