/* SPDX-License-Identifier: GPL-3.0-or-later */
/* P(k) is evaluated once for all radii, on a grid in ln k. Its integrals by the trapezoidal rule converge fast, since they
 * fall off at both ends. Radii are some steps of that grid apart, so that the window, a function of k r, is evaluated once for all pairs
 * with one product. */
#include "photons/cosmology/linear_sigma.h"

#include <gsl/gsl_spline.h>
#include <math.h>
#include <stdlib.h>

#include "photons/base/error.h"
#include "photons/cosmology/linear_power.h"

#define WAVE_STEP 0.01  /* of ln k, at most */
#define RADIUS_STEP 0.1 /* of ln r, at most */
enum { MARGIN = 3 };    /* radii of the table on either side of those asked for */
/* kr between which is all but 1e-8 of the integral, as linear_power_sigma() has it */
#define PHASE_LOW 1e-7
#define PHASE_HIGH 1e3
#define SIGMA8_RADIUS 8.0
#define SIGMA8_WAVE 0.2 /* h/Mpc: waves that matter most to sigma8 */
#define LEAST 1e-200    /* stands for 0: waves that the spectrum's table does not have */

struct linear_sigma {
  gsl_spline *table; /* ln sigma of ln r */
};

/** dsigma^2 of each wave number, without the window. */
struct waves {
  double *k, *variance;
  size_t count;
  double step; /* of ln k */
};

static struct waves waves_create(const struct linear_theory *t, double low, double high) {
  const struct linear_range range = linear_power_range(t->power);
  const double from = log(fmax(range.low, PHASE_LOW / high)),
               span = fmax(log(fmin(range.high, PHASE_HIGH / low)) - from, 0.0);
  struct waves w = {.count = 2 + (size_t)(span / WAVE_STEP)};
  const double step = w.step = span / (double)(w.count - 1);
  w.k = allocate(w.count, sizeof *w.k, "the variance of the power spectrum");
  w.variance = allocate(w.count, sizeof *w.variance, "the variance of the power spectrum");
  for (size_t i = 0; i < w.count; i++) {
    const double share = i == 0 || i + 1 == w.count ? 0.5 : 1.0;
    w.k[i] = fmin(fmax(exp(from + step * (double)i), range.low), range.high);
    w.variance[i] = share * step * pow(w.k[i], 3.0) * linear_theory_power(t, w.k[i]) /
                    (2.0 * M_PI * M_PI);
  }
  return w;
}

static double window2(double x) {
  const double window = x < 1e-2 ? 1.0 - x * x / 10.0 : 3.0 * (sin(x) - x * cos(x)) / (x * x * x);
  return window * window;
}

static double sigma_of(const struct waves *w, double r) {
  double sum = 0.0;
  for (size_t i = 0; i < w->count && w->k[i] * r <= PHASE_HIGH; i++)
    sum += w->variance[i] * window2(w->k[i] * r);
  return sqrt(sum);
}

static void waves_free(struct waves *w) {
  free(w->k);
  free(w->variance);
}

double linear_theory_sigma(const struct linear_theory *t, double r) {
  if (!t->species) return t->growth.d1 * linear_power_sigma(t->power, r);
  struct waves w = waves_create(t, r, r);
  const double sigma = sigma_of(&w, r);
  waves_free(&w);
  return sigma;
}

/** dln(sigma)/dln a: the mean rate of the waves, weighted by what they add to the variance. */
static double sigma_rate(const struct linear_theory *t, double r) {
  struct waves w = waves_create(t, r, r);
  double sum = 0.0, rates = 0.0;
  for (size_t i = 0; i < w.count; i++) {
    const double part = w.variance[i] * window2(w.k[i] * r);
    sum += part;
    rates += part * linear_theory_rate(t, w.k[i]);
  }
  waves_free(&w);
  return rates / sum;
}

struct growth linear_theory_mean_growth(const struct linear_theory *t) {
  struct growth growth = t->growth;
  if (!t->species) return growth;
  struct linear_theory today = *t;
  today.a = 1.0;
  growth.d1 = t->power ? linear_theory_sigma(t, SIGMA8_RADIUS) /
                             linear_theory_sigma(&today, SIGMA8_RADIUS)
                       : linear_theory_growth(t, SIGMA8_WAVE);
  growth.f1 = t->power ? sigma_rate(t, SIGMA8_RADIUS) : linear_theory_rate(t, SIGMA8_WAVE);
  return growth;
}

/** ln sigma of radii that are `stride` steps of the waves apart. @param first  ln r of the smallest one */
static void fill_sigmas(const struct waves *w, double first, size_t stride, size_t count,
                        double *sigma) {
  const size_t products = w->count + stride * (count - 1);
  const double begin = log(w->k[0]) + first;
  double *window = allocate(products, sizeof *window, "the variance of the power spectrum");
  for (size_t n = 0; n < products; n++) {
    const double x = exp(begin + w->step * (double)n);
    window[n] = x <= PHASE_HIGH ? window2(x) : 0.0;
  }
  for (size_t i = 0; i < count; i++) {
    double sum = 0.0;
    for (size_t k = 0; k < w->count; k++) sum += w->variance[k] * window[k + stride * i];
    sigma[i] = log(fmax(sqrt(sum), LEAST));
  }
  free(window);
}

struct linear_sigma *linear_sigma_create(const struct linear_theory *t, double low, double high) {
  const double margin = exp((MARGIN + 1) * RADIUS_STEP);
  const bool law = linear_power_range(t->power).law && !t->species; /* its integral is known */
  struct waves w = {0};
  if (!law) w = waves_create(t, low / margin, high * margin);
  const size_t stride = w.step > 0.0 ? (size_t)(RADIUS_STEP / w.step) : 0;
  const double step = stride > 0 ? w.step * (double)stride : RADIUS_STEP,
               first = log(low) - MARGIN * step;
  const size_t count = 2 * MARGIN + 2 + (size_t)(log(high / low) / step);
  double *radius = allocate(2 * count, sizeof *radius, "the variance of the power spectrum"),
         *sigma = radius + count;
  for (size_t i = 0; i < count; i++) {
    radius[i] = first + step * (double)i;
    sigma[i] = log(fmax(law ? linear_theory_sigma(t, exp(radius[i])) : 0.0, LEAST));
  }
  if (!law) fill_sigmas(&w, first, stride, count, sigma);
  struct linear_sigma *s = allocate(1, sizeof *s, "the variance of the power spectrum");
  s->table = gsl_spline_alloc(gsl_interp_cspline, count);
  if (!s->table || gsl_spline_init(s->table, radius, sigma, count) != 0)
    fail(EXIT_RUN_FAILED, "not enough memory for the variance of the power spectrum");
  waves_free(&w);
  free(radius);
  return s;
}

static double inside(const struct linear_sigma *s, double r) {
  return fmin(fmax(log(r), s->table->interp->xmin), s->table->interp->xmax);
}

double linear_sigma_at(const struct linear_sigma *s, double r) {
  const double sigma = exp(gsl_spline_eval(s->table, inside(s, r), NULL));
  return sigma > 2.0 * LEAST ? sigma : 0.0;
}

double linear_sigma_slope(const struct linear_sigma *s, double r) {
  return -gsl_spline_eval_deriv(s->table, inside(s, r), NULL);
}

void linear_sigma_free(struct linear_sigma *s) {
  gsl_spline_free(s->table);
  free(s);
}
