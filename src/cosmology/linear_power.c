/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The linear power spectrum: Eisenstein & Hu (1998), a table or a power law, and its variance in
 * top-hat spheres. */
#include "photons/cosmology/linear_power.h"

#include <errno.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_integration.h>
#include <gsl/gsl_sf_gamma.h>
#include <gsl/gsl_spline.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/base/input_file.h"
#include "photons/config/parameters.h"
#include "photons/cosmology/linear_table.h"

/* Eisenstein & Hu 1998 (ApJ 496, 605), with their equation numbers and units: wavenumbers in 1/Mpc,
 * lengths in Mpc. */
struct eisenstein_hu {
  double h, n_s, baryon_fraction;
  double k_equality, sound_horizon, k_silk;
  double alpha_c, beta_c, alpha_b, beta_b, beta_node;
};

struct linear_power {
  double amplitude, table_sigma8; /* table_sigma8: before it is scaled; 0: not known */
  gsl_spline *table;              /* ln P of ln k; NULL: Eisenstein & Hu, or a power law */
  bool power_law;                 /* P ~ k^n_s */
  char path[PARAMETER_PATH_MAX];  /* of the table */
  double k_min, k_max;
  struct eisenstein_hu fit;
};

/** End the program because of values that no computation can use: bad input, if the spectrum is
 * from a table. */
__attribute__((format(printf, 2, 3))) _Noreturn static void
fail_spectrum(const struct linear_power *power, const char *format, ...) {
  char what[256];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(what, sizeof what, format, arguments);
  va_end(arguments);
  if (power->table) fail(EXIT_BAD_INPUT, "power spectrum table %s: %s", power->path, what);
  fail(EXIT_RUN_FAILED, "power spectrum: %s", what);
}

static struct eisenstein_hu eisenstein_hu_create(double omega_m, double omega_b, double h,
                                                 double n_s) {
  const double temperature = 2.7255 / 2.7; /* of the CMB: Fixsen 2009 (ApJ 707, 916), over 2.7 K */
  const double t2 = temperature * temperature, t4 = t2 * t2;
  /* The fit has no closed-form limit without baryons; a fraction of 1e-6 makes no difference. */
  const double baryon_fraction = fmin(1.0, fmax(omega_b / omega_m, 1e-6));
  const double cdm_fraction = 1.0 - baryon_fraction;
  const double matter = omega_m * h * h, baryons = baryon_fraction * matter;

  const double z_equality = 2.5e4 * matter / t4;   /* (2) */
  const double k_equality = 7.46e-2 * matter / t2; /* (3) */
  const double drag1 = 0.313 * pow(matter, -0.419) * (1.0 + 0.607 * pow(matter, 0.674));
  const double drag2 = 0.238 * pow(matter, 0.223);
  const double z_drag = 1291.0 * pow(matter, 0.251) / (1.0 + 0.659 * pow(matter, 0.828)) *
                        (1.0 + drag1 * pow(baryons, drag2));      /* (4) */
  const double ratio_drag = 31.5 * baryons / t4 * (1e3 / z_drag); /* (5) */
  const double ratio_equality = 31.5 * baryons / t4 * (1e3 / z_equality);
  const double sound_horizon = 2.0 / (3.0 * k_equality) * sqrt(6.0 / ratio_equality) *
                               log((sqrt(1.0 + ratio_drag) + sqrt(ratio_drag + ratio_equality)) /
                                   (1.0 + sqrt(ratio_equality))); /* (6) */
  const double k_silk = 1.6 * pow(baryons, 0.52) * pow(matter, 0.73) *
                        (1.0 + pow(10.4 * matter, -0.95)); /* (7) */

  const double a1 = pow(46.9 * matter, 0.670) * (1.0 + pow(32.1 * matter, -0.532)); /* (11) */
  const double a2 = pow(12.0 * matter, 0.424) * (1.0 + pow(45.0 * matter, -0.582));
  const double b1 = 0.944 / (1.0 + pow(458.0 * matter, -0.708)); /* (12) */
  const double b2 = pow(0.395 * matter, -0.0266);
  const double y = (1.0 + z_equality) / (1.0 + z_drag);
  const double root = sqrt(1.0 + y);
  const double g = y *
                   (-6.0 * root + (2.0 + 3.0 * y) * log((root + 1.0) / (root - 1.0))); /* (15) */
  return (struct eisenstein_hu){
      .h = h,
      .n_s = n_s,
      .baryon_fraction = baryon_fraction,
      .k_equality = k_equality,
      .sound_horizon = sound_horizon,
      .k_silk = k_silk,
      .alpha_c = pow(a1, -baryon_fraction) * pow(a2, -pow(baryon_fraction, 3.0)),
      .beta_c = 1.0 / (1.0 + b1 * (pow(cdm_fraction, b2) - 1.0)),
      .alpha_b = 2.07 * k_equality * sound_horizon * pow(1.0 + ratio_drag, -0.75) * g, /* (14) */
      .beta_b = 0.5 + baryon_fraction +
                (3.0 - 2.0 * baryon_fraction) * sqrt(pow(17.2 * matter, 2.0) + 1.0), /* (24) */
      .beta_node = 8.41 * pow(matter, 0.435),                                        /* (23) */
  };
}

/* T0 of equations 19 and 20. q: k over 13.41 k_equality, equation 10. */
static double transfer_pressureless(double q, double alpha, double beta) {
  double logarithm = log(M_E + 1.8 * beta * q);
  double c = 14.2 / alpha + 386.0 / (1.0 + 69.9 * pow(q, 1.08));
  return logarithm / (logarithm + c * q * q);
}

/* Equations 16 to 24; k in 1/Mpc. */
static double eisenstein_hu_transfer(const struct eisenstein_hu *e, double k) {
  const double q = k / (13.41 * e->k_equality);
  const double ks = k * e->sound_horizon;

  const double f = 1.0 / (1.0 + pow(ks / 5.4, 4.0)); /* (18) */
  const double cdm = f * transfer_pressureless(q, 1.0, e->beta_c) +
                     (1.0 - f) * transfer_pressureless(q, e->alpha_c, e->beta_c);

  const double s_shifted = e->sound_horizon / cbrt(1.0 + pow(e->beta_node / ks, 3.0)); /* (22) */
  const double sphere = k * s_shifted < 1e-8 ? 1.0 : sin(k * s_shifted) / (k * s_shifted);
  const double baryons = sphere * (transfer_pressureless(q, 1.0, 1.0) / (1.0 + pow(ks / 5.2, 2.0)) +
                                   e->alpha_b / (1.0 + pow(e->beta_b / ks, 3.0)) *
                                       exp(-pow(k / e->k_silk, 1.4)));
  return e->baryon_fraction * baryons + (1.0 - e->baryon_fraction) * cdm;
}

/* Rows of a table as they stand in the file. */
struct rows {
  double *k, *power;
  size_t count, capacity;
};

static void rows_append(struct rows *rows, double k, double power) {
  if (rows->count == rows->capacity) {
    rows->capacity = rows->capacity ? 2 * rows->capacity : 1024;
    rows->k = reallocate(rows->k, rows->capacity, sizeof *rows->k, "power spectrum table");
    rows->power = reallocate(rows->power, rows->capacity, sizeof *rows->power,
                             "power spectrum table");
  }
  rows->k[rows->count] = k;
  rows->power[rows->count++] = power;
}

/* Read one line into ln k and ln P. A negative first k in the table means that columns are
 * log10. */
static void parse_line(struct rows *rows, bool *logarithmic, char *line, const char *path,
                       size_t number) {
  line[strcspn(line, "#\r\n")] = '\0';
  const char *text = line + strspn(line, " \t");
  if (*text == '\0') return;
  char *after_k, *after_power;
  double k = strtod(text, &after_k);
  double power = strtod(after_k, &after_power);
  if (after_k == text || after_power == after_k || after_power[strspn(after_power, " \t")] != '\0')
    fail(EXIT_BAD_INPUT,
         "%s:%zu: expected two numbers, k [h/Mpc] and P [(Mpc/h)^3] or their log10, found \"%s\"",
         path, number, text);
  if (!isfinite(k) || !isfinite(power))
    fail(EXIT_BAD_INPUT, "%s:%zu: \"%s\" is not finite", path, number, text);
  if (rows->count == 0) *logarithmic = k < 0.0;
  if (!*logarithmic && (k <= 0.0 || power <= 0.0))
    fail(EXIT_BAD_INPUT,
         "%s:%zu: k and P must be above 0 (columns count as log10 where the first k is negative): "
         "\"%s\"",
         path, number, text);
  if (*logarithmic && !isnormal(pow(10.0, power)))
    fail(EXIT_BAD_INPUT, "%s:%zu: P = 10^%g is beyond what numbers can hold", path, number, power);
  double ln_k = *logarithmic ? k * M_LN10 : log(k);
  if (rows->count > 0 && ln_k <= rows->k[rows->count - 1])
    fail(EXIT_BAD_INPUT, "%s:%zu: k must rise from row to row, but %g is not above the row before",
         path, number, k);
  rows_append(rows, ln_k, *logarithmic ? power * M_LN10 : log(power));
}

/* A spline swings far beyond rows that are close together in k and far apart in P. Between these
 * limits P can be integrated without overflow. */
static void check_spline(const struct linear_power *power, const char *path) {
  enum { PLACES = 16, MOST = 300 }; /* places between two rows: the spline is a cubic there */
  const gsl_spline *table = power->table;
  for (size_t i = 0; i + 1 < table->size; i++)
    for (int place = 0; place <= PLACES; place++) {
      const double low = table->x[i], high = table->x[i + 1];
      const double ln_k = fmin(low + (high - low) * place / PLACES, high);
      const double log_power = (gsl_spline_eval(table, ln_k, NULL) + log(power->amplitude)) /
                               M_LN10;
      if (!(fabs(log_power) <= MOST)) /* false for NaN, too */
        fail(EXIT_BAD_INPUT,
             "power spectrum table %s: the spline through its rows is 10^%.4g at k = 10^%.4g, "
             "expected 10^-%d .. 10^%d",
             path, log_power, ln_k / M_LN10, MOST, MOST);
    }
}

static void table_read(struct linear_power *power, const struct parameters *p) {
  const char *path = power->path;
  const struct linear_heading heading = {"power spectrum table", path, p, .scaled = true};
  const char *reason;
  FILE *file = input_open(path, &reason);
  if (!file) fail(EXIT_BAD_INPUT, "power spectrum table %s: %s", path, reason);
  struct rows rows = {0};
  bool logarithmic = false;
  char *line = NULL;
  size_t size = 0;
  errno = 0;
  for (size_t number = 1; getline(&line, &size, file) >= 0; number++) {
    char *text = number == 1 ? input_text(line) : line;
    if (*text == '#') linear_heading_check(&heading, text);
    parse_line(&rows, &logarithmic, text, path, number);
  }
  if (ferror(file)) fail(EXIT_BAD_INPUT, "power spectrum table %s: %s", path, strerror(errno));
  free(line);
  fclose(file);

  enum { FEWEST_ROWS = 3 }; /* of a cubic spline */
  if (rows.count < FEWEST_ROWS)
    fail(EXIT_BAD_INPUT, "power spectrum table %s has %zu rows; at least %d are needed", path,
         rows.count, FEWEST_ROWS);
  power->k_min = exp(rows.k[0]);
  power->k_max = exp(rows.k[rows.count - 1]);
  power->table = gsl_spline_alloc(gsl_interp_cspline, rows.count);
  if (!power->table)
    fail(EXIT_RUN_FAILED, "not enough memory for the power spectrum table %s", path);
  int status = gsl_spline_init(power->table, rows.k, rows.power, rows.count);
  if (status) fail(EXIT_BAD_INPUT, "power spectrum table %s: %s", path, gsl_strerror(status));
  check_spline(power, path);
  free(rows.k);
  free(rows.power);
}

/* 99 % of sigma8^2 comes from these k for CDM-like spectra. */
#define SIGMA8_LOW 0.01
#define SIGMA8_HIGH 2.0

static bool covers(const struct linear_power *power, double low, double high) {
  return power->k_min <= low && power->k_max >= high;
}

/* To be normalised, a table must cover the scales of sigma8. */
static void check_range(const struct linear_power *power, const char *path) {
  if (!covers(power, SIGMA8_LOW, SIGMA8_HIGH))
    fail(EXIT_BAD_INPUT,
         "power spectrum table %s covers k = %g .. %g h/Mpc; to scale it to sigma8 it must cover "
         "%g .. %g: extend it "
         "or set "
         "ic.normalise = no",
         path, power->k_min, power->k_max, SIGMA8_LOW, SIGMA8_HIGH);
}

#define EXPECTED "expected are k [h/Mpc] and P [(Mpc/h)^3] of z = 0, or their log10"

/* Warn, but not twice of the same: a run makes its spectrum several times. */
__attribute__((format(printf, 2, 3))) static void doubt(const struct linear_power *power,
                                                        const char *format, ...) {
  static char said[1024];
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (strcmp(text, said) != 0 && comm_rank() == 0)
    warn("power spectrum table %s: %s", power->path, text);
  memcpy(said, text, sizeof said);
}

/* How sigma falls with scale tells k in 1/Mpc, which sigma8 alone does not tell from a larger
 * amplitude.
 * @return sigma in spheres of 2 Mpc/h over that of 32 Mpc/h */
static double slope(const struct linear_power *power) {
  return linear_power_sigma(power, 2.0) / linear_power_sigma(power, 32.0);
}

/* The same of Eisenstein & Hu's spectrum; 0: not known. */
static double expected_slope(const struct parameters *p) {
  if (!(p->cosmology.omega_m > 0.0 && p->cosmology.h > 0.0)) return 0.0;
  const struct linear_power fit = {.amplitude = 1.0,
                                   .k_max = HUGE_VAL,
                                   .fit = eisenstein_hu_create(p->cosmology.omega_m,
                                                               p->cosmology.omega_b, p->cosmology.h,
                                                               p->cosmology.n_s)};
  return slope(&fit);
}

/* Compare what a table is with what is asked for. */
static void compare(const struct linear_power *power, const struct parameters *p) {
  const double found = power->table_sigma8, asked = p->cosmology.sigma8;
  const double off = fmax(found / asked, asked / found);
  const double near = 1.05, most = 2.0, most_slope = 0.1; /* a tilt of 0.05 is 5 % */
  if (!p->ic.normalise && !(off <= most))
    fail(EXIT_BAD_INPUT,
         "power spectrum table %s: its sigma8 is %.4g, and cosmology.sigma8 is %.4g: " EXPECTED
         "; give the table's sigma8, or scale the table by ic.normalise = yes",
         power->path, found, asked);
  /* both spheres must be covered as sigma8's is */
  const double expected = covers(power, 0.003, 5.0) ? expected_slope(p) : 0.0;
  const char *what = p->ic.normalise ? "it is scaled to cosmology.sigma8 ="
                                     : "it is taken as it is, and cosmology.sigma8 is";
  if (expected > 0.0 && !(fabs(slope(power) / expected - 1.0) <= most_slope))
    doubt(power,
          "its sigma8 is %.4g; %s %.4g; its sigma in spheres of 2 Mpc/h is %.4g times that of 32 "
          "Mpc/h, and by Eisenstein & Hu (1998) %.4g times: " EXPECTED
          "; k in 1/Mpc, natural logarithms and Delta^2 look like this",
          found, what, asked, slope(power), expected);
  else if (!(off <= (p->ic.normalise ? most : near)))
    doubt(power, "its sigma8 is %.4g; %s %.4g: " EXPECTED, found, what, asked);
}

struct linear_power *linear_power_create(const struct parameters *p) {
  struct linear_power *power = allocate(1, sizeof *power, "power spectrum");
  power->amplitude = 1.0;
  power->fit = eisenstein_hu_create(p->cosmology.omega_m, p->cosmology.omega_b, p->cosmology.h,
                                    p->cosmology.n_s);
  const bool from_file = p->ic.power_spectrum == POWER_FILE;
  if (from_file) {
    memcpy(power->path, p->ic.power_spectrum_file, sizeof power->path);
    table_read(power, p);
    if (p->ic.normalise) check_range(power, power->path);
    if (covers(power, SIGMA8_LOW, SIGMA8_HIGH)) {
      power->table_sigma8 = linear_power_sigma(power, 8.0);
      compare(power, p);
    }
    if (!p->ic.normalise) return power;
  } else {
    power->k_max = HUGE_VAL;
    power->power_law = p->ic.power_spectrum == POWER_LAW;
  }
  const double sigma = linear_power_sigma(power, 8.0);
  power->amplitude = pow(p->cosmology.sigma8 / sigma, 2.0);
  if (!isnormal(power->amplitude))
    fail_spectrum(power, "cannot be scaled from sigma8 = %g to %g: beyond what numbers can hold",
                  sigma, p->cosmology.sigma8);
  if (from_file) check_spline(power, power->path);
  return power;
}

double linear_power_table_sigma8(const struct linear_power *power) { return power->table_sigma8; }

struct linear_range linear_power_range(const struct linear_power *power) {
  return (struct linear_range){power->k_min, power->k_max, power->power_law};
}

double linear_power_at(const struct linear_power *power, double k) {
  if (!(k > 0.0) || k < power->k_min || k > power->k_max) return 0.0;
  if (power->table) {
    double ln_k = fmin(fmax(log(k), power->table->interp->xmin), power->table->interp->xmax);
    return power->amplitude * exp(gsl_spline_eval(power->table, ln_k, NULL));
  }
  const double transfer = power->power_law ? 1.0
                                           : eisenstein_hu_transfer(&power->fit, k * power->fit.h);
  return power->amplitude * pow(k, power->fit.n_s) * transfer * transfer;
}

/** P over k^n_s, which is in proportion to T^2. */
static double untilted(const struct linear_power *power, double k) {
  return linear_power_at(power, k) / pow(k, power->fit.n_s);
}

double linear_power_transfer(const struct linear_power *power, double k) {
  if (!power->table) return eisenstein_hu_transfer(&power->fit, k * power->fit.h);
  const double first = eisenstein_hu_transfer(&power->fit, power->k_min * power->fit.h);
  return first * sqrt(untilted(power, k) / untilted(power, power->k_min));
}

struct variance_integrand {
  const struct linear_power *power;
  double radius;
};

/* dsigma^2/dln k = k^3 P W^2/(2 pi^2) with the top hat W = 3 (sin x - x cos x)/x^3 */
static double variance_at(double ln_k, void *context) {
  const struct variance_integrand *v = context;
  double k = exp(ln_k), x = k * v->radius;
  double window = x < 1e-2 ? 1.0 - x * x / 10.0 : 3.0 * (sin(x) - x * cos(x)) / (x * x * x);
  return k * k * k * linear_power_at(v->power, k) * window * window / (2.0 * M_PI * M_PI);
}

/** sigma of P = amplitude k^n in spheres of radius r: with W = 3 j_1(x)/x the integral of x^(n+2) W^2 is one
 * of squares of Bessel functions (Gradshteyn & Ryzhik, 6.574.2). */
static double power_law_sigma(double amplitude, double n, double r) {
  const double integral = 4.5 * M_PI * pow(2.0, n - 1.0) * gsl_sf_gamma(1.0 - n) *
                          gsl_sf_gamma(1.5 + 0.5 * n) /
                          (pow(gsl_sf_gamma(1.0 - 0.5 * n), 2.0) * gsl_sf_gamma(2.5 - 0.5 * n));
  return sqrt(amplitude * integral / (2.0 * M_PI * M_PI)) * pow(r, -0.5 * (n + 3.0));
}

double linear_power_sigma(const struct linear_power *power, double r) {
  enum { INTERVALS = 2000 };
  if (power->power_law) return power_law_sigma(power->amplitude, power->fit.n_s, r);
  /* W^2 < 9/x^4, so that less than 1e-8 of the integral lies beyond kr = 1000; the EH98 spectrum is
   * negligible below 1e-7/r. */
  double from = fmax(power->k_min, 1e-7 / r), to = fmin(power->k_max, 1e3 / r);
  if (!(from < to)) return 0.0;
  struct variance_integrand context = {power, r};
  gsl_function function = {variance_at, &context};
  gsl_integration_workspace *workspace = gsl_integration_workspace_alloc(INTERVALS);
  if (!workspace) fail(EXIT_RUN_FAILED, "not enough memory to integrate the power spectrum");
  double variance, error;
  int status = gsl_integration_qag(&function, log(from), log(to), 0.0, 1e-8, INTERVALS,
                                   GSL_INTEG_GAUSS61, workspace, &variance, &error);
  gsl_integration_workspace_free(workspace);
  if (status)
    fail_spectrum(
        power,
        "cannot integrate its variance in spheres of %g Mpc/h (%s): P(k) is too large or jumps", r,
        gsl_strerror(status));
  return sqrt(variance);
}

void linear_power_free(struct linear_power *power) {
  if (!power) return;
  gsl_spline_free(power->table);
  free(power);
}
