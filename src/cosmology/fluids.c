/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of two fluids: read, checked, and interpolated in ln k. */
#include "photons/cosmology/fluids.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_spline.h>
#include <math.h>
#include <stdlib.h>

#include "photons/base/error.h"
#include "photons/config/parameters.h"
#include "photons/cosmology/linear_table.h"

enum column { K, CONTRAST, FLOW = CONTRAST + FLUIDS, COLUMNS = FLOW + FLUIDS };

struct fluids {
  gsl_spline *spline[COLUMNS]; /**< by ln k; of K none */
};

static void settle_row(double row[LINEAR_COLUMNS_MAX], const char *place) {
  if (!(row[K] > 0.0 && row[CONTRAST] > 0.0 && row[CONTRAST + FLUID_COLD] > 0.0))
    fail(EXIT_BAD_INPUT, "%s: k and the ratios of contrasts must be above 0", place);
  row[K] = log(row[K]);
}

/** The means over both fluids are 1, or else the power spectrum would not be that of all matter. */
static void check_means(const struct linear_table *t, const struct parameters *p) {
  const double share = p->cosmology.omega_b / p->cosmology.omega_m, most = 1e-3;
  for (size_t i = 0; i < t->rows; i++)
    for (enum column c = CONTRAST; c < COLUMNS; c += FLUIDS) {
      const double mean = share * t->value[c + FLUID_BARYONS][i] +
                          (1.0 - share) * t->value[c + FLUID_COLD][i];
      if (!(fabs(mean - 1.0) <= most))
        fail(EXIT_BAD_INPUT,
             "transfer table %s: at k = %g h/Mpc the mean of both fluids by mass is %g times all "
             "matter, expected 1",
             t->heading.path, exp(t->value[K][i]), mean);
    }
}

static void check_range(const struct linear_table *t, const struct parameters *p) {
  enum { LEAST = 3 }; /* of a cubic spline */
  const double longest = log(2.0 * M_PI / p->box.size), slack = 1e-6;
  bool rises = t->rows >= LEAST;
  for (size_t i = 1; i < t->rows; i++) rises &= t->value[K][i] > t->value[K][i - 1];
  if (!rises)
    fail(EXIT_BAD_INPUT, "transfer table %s: expected %d or more rows of rising k", t->heading.path,
         LEAST);
  if (t->value[K][0] > longest + slack)
    fail(EXIT_BAD_INPUT, "transfer table %s begins at k = %g h/Mpc; the box of %g Mpc/h needs %g",
         t->heading.path, exp(t->value[K][0]), p->box.size, exp(longest));
}

static gsl_spline *spline_of(const struct linear_table *t, enum column c) {
  gsl_spline *spline = gsl_spline_alloc(gsl_interp_cspline, t->rows);
  if (!spline || gsl_spline_init(spline, t->value[K], t->value[c], t->rows))
    fail(EXIT_RUN_FAILED, "not enough memory for the transfer table %s", t->heading.path);
  return spline;
}

struct fluids *fluids_create(const struct parameters *p) {
  if (!p->ic.transfer_file[0]) return NULL;
  struct linear_table t = {
      .heading = {"transfer table", p->ic.transfer_file, p, .z = p->ic.z_init},
      .columns = COLUMNS,
      .expected = "five numbers: k [h/Mpc], and of baryons and cold dark matter the ratios of the "
                  "density contrast and of its change to those of all matter",
      .settle = settle_row};
  linear_table_read(&t);
  check_range(&t, p);
  check_means(&t, p);
  struct fluids *f = allocate(1, sizeof *f, "transfer table");
  for (enum column c = CONTRAST; c < COLUMNS; c++) f->spline[c] = spline_of(&t, c);
  linear_table_free(&t);
  return f;
}

void fluids_free(struct fluids *f) {
  for (enum column c = CONTRAST; f && c < COLUMNS; c++) gsl_spline_free(f->spline[c]);
  free(f);
}

static double value_at(const gsl_spline *s, double k) {
  return gsl_spline_eval(s, fmin(fmax(log(k), s->x[0]), s->x[s->size - 1]), NULL);
}

double fluids_contrast(const struct fluids *f, enum fluid fluid, double k) {
  return value_at(f->spline[CONTRAST + fluid], k);
}

double fluids_flow(const struct fluids *f, enum fluid fluid, double k) {
  return value_at(f->spline[FLOW + fluid], k);
}
