/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of linear species: read, checked, and interpolated in ln a and ln k. */
#include "photons/cosmology/species.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_spline.h>
#include <gsl/gsl_spline2d.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "photons/base/error.h"
#include "photons/config/parameters.h"
#include "photons/cosmology/linear_table.h"

enum column { A, K, GROWTH, RATE, RESPONSE, COLUMNS };

struct species {
  const char *path;
  struct linear_table
      table;      /**< ln a, ln k and ln of the growth. Rows of one time are together. ln k of
                                the first time serves all, ln a is one a time */
  double **value; /**< of the table, by column */
  size_t times, waves;
  gsl_spline2d *spline[COLUMNS]; /**< of the last three */
};

/* -- reading ------------------------------------------------------------------------------------ */

static void settle_row(double row[LINEAR_COLUMNS_MAX], const char *place) {
  if (!(row[A] > 0.0 && row[K] > 0.0 && row[GROWTH] > 0.0 && row[RESPONSE] > -1.0))
    fail(EXIT_BAD_INPUT, "%s: a, k and growth must be above 0, the response above -1", place);
  for (enum column c = A; c <= GROWTH; c++) row[c] = log(row[c]);
}

/** Every time must have the same rising k, and times must rise. */
static void find_shape(struct species *s) {
  enum { LEAST = 4 }; /* of cubic splines */
  const double *ln_a = s->value[A], *ln_k = s->value[K], same = 1e-6;
  while (s->waves < s->table.rows && ln_a[s->waves] == ln_a[0]) s->waves++;
  bool sound = s->waves >= LEAST && s->table.rows % s->waves == 0 &&
               s->table.rows >= LEAST * s->waves;
  for (size_t i = 1; sound && i < s->table.rows; i++)
    sound = i < s->waves ? ln_k[i] > ln_k[i - 1]
            : i % s->waves == 0
                ? ln_a[i] > ln_a[i - 1] && fabs(ln_k[i] - ln_k[0]) <= same
                : ln_a[i] == ln_a[i - 1] && fabs(ln_k[i] - ln_k[i % s->waves]) <= same;
  if (!sound)
    fail(EXIT_BAD_INPUT,
         "species table %s: expected rows of rising a, at each of %d or more a the same %d or more "
         "rising k",
         s->path, LEAST, LEAST);
  s->times = s->table.rows / s->waves;
  for (size_t t = 0; t < s->times; t++) s->value[A][t] = ln_a[t * s->waves];
}

/** All of the run must be inside: its longest wave, and the times from z_init to a = 1. */
static void check_range(const struct species *s, const struct parameters *p) {
  const double begin = -log1p(p->ic.z_init), longest = log(2.0 * M_PI / p->box.size), slack = 1e-6;
  if (s->value[A][0] > begin + slack || fabs(s->value[A][s->times - 1]) > slack)
    fail(EXIT_BAD_INPUT,
         "species table %s has z = %g to %g; expected from z_init = %g or earlier to 0", s->path,
         expm1(-s->value[A][0]), expm1(-s->value[A][s->times - 1]) + 0.0, p->ic.z_init);
  if (p->box.size > 0.0 && s->value[K][0] > longest + slack)
    fail(EXIT_BAD_INPUT, "species table %s begins at k = %g h/Mpc; the box of %g Mpc/h needs %g",
         s->path, exp(s->value[K][0]), p->box.size, exp(longest));
}

static gsl_spline2d *spline_of(const struct species *s, const double *value) {
  gsl_spline2d *spline = gsl_spline2d_alloc(gsl_interp2d_bicubic, s->waves, s->times);
  if (!spline) fail(EXIT_RUN_FAILED, "not enough memory for the species table %s", s->path);
  const int status = gsl_spline2d_init(spline, s->value[K], s->value[A], value, s->waves, s->times);
  if (status) fail(EXIT_BAD_INPUT, "species table %s: %s", s->path, gsl_strerror(status));
  return spline;
}

struct species *species_create(const struct parameters *p) {
  if (!p->cosmology.species_file[0]) return NULL;
  struct species *s = allocate(1, sizeof *s, "species table");
  s->path = p->cosmology.species_file;
  s->table = (struct linear_table){
      .heading = {"species table", s->path, p, .z = NAN, .background = true},
      .columns = COLUMNS,
      .expected = "five numbers: a, k [h/Mpc], growth, rate and response",
      .settle = settle_row};
  s->value = s->table.value;
  linear_table_read(&s->table);
  find_shape(s);
  check_range(s, p);
  for (enum column c = GROWTH; c < COLUMNS; c++) s->spline[c] = spline_of(s, s->value[c]);
  return s;
}

void species_free(struct species *s) {
  if (!s) return;
  for (enum column c = GROWTH; c < COLUMNS; c++) gsl_spline2d_free(s->spline[c]);
  linear_table_free(&s->table);
  free(s);
}

/* -- values ------------------------------------------------------------------------------------- */

static double inside(double x, const double *grid, size_t n) {
  return fmin(fmax(x, grid[0]), grid[n - 1]);
}

static double value_at(const struct species *s, enum column c, double a, double k) {
  return gsl_spline2d_eval(s->spline[c], inside(log(k), s->value[K], s->waves),
                           inside(log(a), s->value[A], s->times), NULL, NULL);
}

double species_growth(const struct species *s, double a, double k) {
  return exp(value_at(s, GROWTH, a, k));
}
double species_rate(const struct species *s, double a, double k) { return value_at(s, RATE, a, k); }

struct response {
  gsl_spline *spline; /**< by ln k */
};

struct response *response_create(const struct species *s, double a) {
  struct response *r = allocate(1, sizeof *r, "response of species");
  double *value = allocate(s->waves, sizeof *value, "response of species");
  for (size_t i = 0; i < s->waves; i++) value[i] = value_at(s, RESPONSE, a, exp(s->value[K][i]));
  r->spline = gsl_spline_alloc(gsl_interp_cspline, s->waves);
  if (!r->spline || gsl_spline_init(r->spline, s->value[K], value, s->waves))
    fail(EXIT_RUN_FAILED, "not enough memory for the response of species");
  free(value);
  return r;
}

/* Beyond the table's last k nothing is added: species that stream freely do not cluster there. */
double response_at(const struct response *r, double k) {
  const double ln_k = log(k);
  if (ln_k > r->spline->x[r->spline->size - 1]) return 0.0;
  return gsl_spline_eval(r->spline, fmax(ln_k, r->spline->x[0]), NULL);
}

void response_free(struct response *r) {
  if (!r) return;
  gsl_spline_free(r->spline);
  free(r);
}
