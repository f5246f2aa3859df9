/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The expanding background, and the growth of structure in it. */
#include "photons/cosmology/cosmology.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_integration.h>
#include <gsl/gsl_odeiv2.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "photons/base/error.h"
#include "photons/config/parameters.h"

double cosmology_dark_energy(const struct cosmology *c, double a) {
  return c->omega_lambda * dark_energy_density(&c->w, c->w0, c->wa, a);
}

/* Densities of the components over today's critical density. */
struct densities {
  double matter, radiation, curvature, dark_energy, neutrinos;
};

static struct densities densities_at(const struct cosmology *c, double a) {
  return (struct densities){
      .matter = c->omega_m / (a * a * a),
      .radiation = c->omega_r / (a * a * a * a),
      .curvature = c->omega_k / (a * a),
      .dark_energy = cosmology_dark_energy(c, a),
      .neutrinos = neutrinos_density(&c->neutrinos, a),
  };
}

/* (H/H0)^2 */
static double expansion(const struct densities *d, double a) {
  double sum = d->matter + d->radiation + d->curvature + d->dark_energy + d->neutrinos;
  if (!(sum > 0.0))
    fail(EXIT_BAD_USAGE, "cosmology: H^2 is %g H0^2 at a = %g; there is no such universe", sum, a);
  return sum;
}

struct cosmology cosmology_from(const struct parameters *p) {
  const double omega_k = 1.0 - p->cosmology.omega_m - p->cosmology.omega_lambda -
                         p->cosmology.omega_r;
  const struct neutrinos n = neutrinos_of(p->cosmology.m_nu, p->cosmology.m_nu_count,
                                          p->cosmology.h);
  return (struct cosmology){.omega_m = p->cosmology.omega_m - neutrinos_density(&n, 1.0),
                            .omega_lambda = p->cosmology.omega_lambda,
                            .omega_k = omega_k,
                            .omega_r = p->cosmology.omega_r,
                            .w0 = p->cosmology.w0,
                            .wa = p->cosmology.wa,
                            .w = p->cosmology.w,
                            .neutrinos = n,
                            .isolated = p->box.boundary == BOUNDARY_ISOLATED};
}

double cosmology_myr(double time) { return time * (STATIC_CLOCK / MYR); }
double cosmology_time(double myr) { return myr * (MYR / STATIC_CLOCK); }

struct moment_text cosmology_moment(bool isolated, double a) {
  struct moment_text m;
  if (isolated)
    snprintf(m.text, sizeof m.text, "t = %.4g Myr", cosmology_myr(a) + 0.0);
  else
    snprintf(m.text, sizeof m.text, "z = %.4g", 1.0 / a - 1.0);
  return m;
}

double cosmology_printed_curvature(const struct parameters *p) {
  return round(1e12 * cosmology_from(p).omega_k) * 1e-12 + 0.0; /* not -0 */
}

double cosmology_hubble(const struct cosmology *c, double a) {
  if (c->isolated) return 1.0 / STATIC_CLOCK;
  struct densities d = densities_at(c, a);
  return HUBBLE_0 * sqrt(expansion(&d, a));
}

double cosmology_omega_m(const struct cosmology *c, double a) {
  const double hubble = cosmology_hubble(c, a) / HUBBLE_0;
  return c->omega_m / (a * a * a * hubble * hubble);
}

struct expansion_integrand {
  const struct cosmology *cosmology;
  double power;
};

static double integrand(double ln_a, void *context) {
  const struct expansion_integrand *e = context;
  double a = exp(ln_a);
  return pow(a, -e->power) / cosmology_hubble(e->cosmology, a);
}

/** Over a short interval the integrand is smooth to all digits of a fixed rule: with 8 points the
 * error is below 1e-16 where ln(a1/a0) is at most this. Sub-steps need many such integrals. */
#define SHORT_INTERVAL 0.05

/** Gauss-Legendre with 8 points (Abramowitz & Stegun 1964, table 25.4). */
static double integrate_short(struct expansion_integrand *e, double from, double to) {
  static const double point[] = {0.1834346424956498, 0.5255324099163290, 0.7966664774136267,
                                 0.9602898564975363},
                      weight[] = {0.3626837833783620, 0.3137066458778873, 0.2223810344533745,
                                  0.1012285362903763};
  const double middle = 0.5 * (from + to), half = 0.5 * (to - from);
  double sum = 0.0;
  for (int k = 0; k < 4; k++)
    sum += weight[k] *
           (integrand(middle - half * point[k], e) + integrand(middle + half * point[k], e));
  return half * sum;
}

/* int dt/a^power from a0 to a1, with dt = dln a/H */
static double integrate_time(const struct cosmology *c, double power, double a0, double a1) {
  enum { INTERVALS = 1000 };
  struct expansion_integrand context = {c, power};
  if (c->isolated) return STATIC_CLOCK * (a1 - a0);
  if (log(a1 / a0) <= SHORT_INTERVAL) return integrate_short(&context, log(a0), log(a1));
  gsl_function function = {integrand, &context};
  gsl_integration_workspace *workspace = gsl_integration_workspace_alloc(INTERVALS);
  if (!workspace) fail(EXIT_RUN_FAILED, "not enough memory to integrate the expansion");
  double result, error;
  int status = gsl_integration_qag(&function, log(a0), log(a1), 0.0, 1e-11, INTERVALS,
                                   GSL_INTEG_GAUSS61, workspace, &result, &error);
  gsl_integration_workspace_free(workspace);
  if (status)
    fail(EXIT_RUN_FAILED, "integral of the expansion from a = %g to %g: %s", a0, a1,
         gsl_strerror(status));
  return result;
}

double cosmology_kick(const struct cosmology *c, double a0, double a1) {
  return integrate_time(c, 1.0, a0, a1);
}

double cosmology_drift(const struct cosmology *c, double a0, double a1) {
  return integrate_time(c, 2.0, a0, a1);
}

/* Newton's method in ln a. The integral is concave, so that it comes from below and stops where
 * rounding does not let it rise. */
double cosmology_after_drift(const struct cosmology *c, double a0, double drift) {
  double a = a0;
  for (int i = 0; i < 64; i++) {
    const double left = drift - cosmology_drift(c, a0, a);
    const double next = a * exp(left * a * a * cosmology_hubble(c, a));
    if (!(next > a)) break;
    a = next;
  }
  return a;
}

/* State of the growth equations: y = (D1, D1', D2, D2'), ' = d/dln a. */
enum { D1, D1_PRIME, D2, D2_PRIME, GROWTH_SIZE };

/* What acts on growing structures: the friction 2 + dln H/dln a, and 3/2 Omega_m(a). */
struct growth_terms {
  double friction, source;
};

static struct growth_terms growth_terms_at(const struct cosmology *c, double a) {
  struct densities d = densities_at(c, a);
  double total = expansion(&d, a);
  const double w = dark_energy_w(&c->w, c->w0, c->wa, a);
  double hubble_slope = -0.5 *
                        (3.0 * d.matter + 4.0 * d.radiation + 2.0 * d.curvature +
                         3.0 * (1.0 + w) * d.dark_energy + 3.0 * d.neutrinos +
                         neutrinos_pressure(&c->neutrinos, a)) /
                        total;
  return (struct growth_terms){.friction = 2.0 + hubble_slope, .source = 1.5 * d.matter / total};
}

/* D1'' + (2 + dln H/dln a) D1' = 3/2 Omega_m(a) D1, and D2'' + (2 + dln H/dln a) D2' = 3/2
 * Omega_m(a) (D2 - D1^2): Bouchet et al. 1995 (A&A 296, 575), with ln a as time. */
static int growth_derivatives(double ln_a, const double y[], double derivative[], void *context) {
  const struct growth_terms t = growth_terms_at(context, exp(ln_a));
  derivative[D1] = y[D1_PRIME];
  derivative[D1_PRIME] = -t.friction * y[D1_PRIME] + t.source * y[D1];
  derivative[D2] = y[D2_PRIME];
  derivative[D2_PRIME] = -t.friction * y[D2_PRIME] + t.source * (y[D2] - y[D1] * y[D1]);
  return GSL_SUCCESS;
}

/* Growing modes at a start so early that only matter and radiation count, which neutrinos are then. Returns the scale factor
 * of the start. First order: Meszaros 1974, D1 = a + 2/3 a_equality. Second order: -3/7 D1^2 in
 * matter domination; in radiation domination from the source alone, as D2 is small. Errors in the
 * decaying mode have vanished by the time of structure formation. */
static double growth_start(const struct cosmology *c, double y[]) {
  double a = 1e-6;
  const double relativistic = c->omega_r + c->neutrinos.species * c->neutrinos.massless;
  double equality = relativistic / c->omega_m;
  if (equality < 1e-12) { /* matter dominates at all times that are integrated */
    y[D1] = y[D1_PRIME] = a;
    y[D2] = -3.0 / 7.0 * a * a;
    y[D2_PRIME] = 2.0 * y[D2];
    return a;
  }
  a = fmin(a, 1e-4 * equality);
  y[D1] = a + 2.0 / 3.0 * equality;
  y[D1_PRIME] = a;
  y[D2] = y[D2_PRIME] = -1.5 * (a / equality) * y[D1] * y[D1];
  return a;
}

static void growth_advance(gsl_odeiv2_driver *driver, double *ln_a, double target, double y[]) {
  if (target < *ln_a) gsl_odeiv2_driver_reset_hstart(driver, -1e-3);
  int status = gsl_odeiv2_driver_apply(driver, ln_a, target, y);
  if (status)
    fail(EXIT_RUN_FAILED, "growth of structure to a = %g: %s", exp(target), gsl_strerror(status));
}

/** Integrate growth equations from the start to a, and to today.
 * @param[in,out] y  the growing modes at the start, then at a; @param[out] today */
static void growth_integrate(const struct cosmology *c, double start, double a,
                             gsl_odeiv2_system *system, double y[], double today[]) {
  gsl_odeiv2_driver *driver = gsl_odeiv2_driver_alloc_y_new(system, gsl_odeiv2_step_rk8pd, 1e-3,
                                                            0.0, 1e-11);
  if (!driver) fail(EXIT_RUN_FAILED, "not enough memory to integrate the growth of structure");
  double ln_a = log(start);
  /* Where H^2 becomes negative the integration would only fail to go on; cosmology_hubble() reports
   * the reason. */
  for (double at = ln_a; at < 0.0; at += 0.01) cosmology_hubble(c, exp(at));
  if (log(a) < ln_a)
    fail(EXIT_BAD_USAGE,
         "the growth of structure is needed at a = %g, but its integration begins at %g", a,
         exp(ln_a));
  growth_advance(driver, &ln_a, log(a), y);
  memcpy(today, y, system->dimension * sizeof *y);
  growth_advance(driver, &ln_a, 0.0, today);
  gsl_odeiv2_driver_free(driver);
}

struct growth cosmology_growth(const struct cosmology *c, double a) {
  struct cosmology copy = *c; /* GSL's context is not const */
  gsl_odeiv2_system system = {growth_derivatives, NULL, GROWTH_SIZE, &copy};
  double y[GROWTH_SIZE], today[GROWTH_SIZE];
  growth_integrate(c, growth_start(c, y), a, &system, y, today);
  return (struct growth){
      .d1 = y[D1] / today[D1],
      .f1 = y[D1_PRIME] / y[D1],
      .d2 = y[D2] / (today[D1] * today[D1]),
      .f2 = y[D2_PRIME] / y[D2],
  };
}

double cosmology_growth_since_matter(const struct cosmology *c) {
  struct cosmology heavy = *c;
  heavy.omega_m += neutrinos_density(&c->neutrinos, 1.0);
  heavy.neutrinos.species = 0;
  gsl_odeiv2_system system = {growth_derivatives, NULL, GROWTH_SIZE, &heavy};
  double y[GROWTH_SIZE], today[GROWTH_SIZE];
  growth_integrate(&heavy, growth_start(&heavy, y), 1.0, &system, y, today);
  return today[D1];
}

/* More of the state: the third order. */
enum { D3A = GROWTH_SIZE, D3A_PRIME, D3B, D3B_PRIME, D3C, THIRD_SIZE };

/* As above, with -2 D1^3 and 2 (D1^3 - D1 D2) in the places of -D1^2; and D3c' = D1 D2' - D1' D2, which keeps the
 * flow irrotational. */
static int third_derivatives(double ln_a, const double y[], double derivative[], void *context) {
  const struct growth_terms t = growth_terms_at(context, exp(ln_a));
  const double cube = y[D1] * y[D1] * y[D1];
  growth_derivatives(ln_a, y, derivative, context);
  derivative[D3A] = y[D3A_PRIME];
  derivative[D3A_PRIME] = -t.friction * y[D3A_PRIME] + t.source * (y[D3A] - 2.0 * cube);
  derivative[D3B] = y[D3B_PRIME];
  derivative[D3B_PRIME] = -t.friction * y[D3B_PRIME] +
                          t.source * (y[D3B] + 2.0 * cube - 2.0 * y[D1] * y[D2]);
  derivative[D3C] = y[D1] * y[D2_PRIME] - y[D1_PRIME] * y[D2];
  return GSL_SUCCESS;
}

/* Growing modes of third order at the start: those of matter domination, or of radiation domination, where D2 is
 * small and D1 stands nearly still. */
static void third_start(double y[]) {
  const bool matter = y[D1_PRIME] == y[D1];
  const double cube = y[D1] * y[D1] * y[D1], unit = matter ? cube : y[D1] * y[D2];
  y[D3A] = (matter ? -1.0 / 3.0 : 2.0) * unit;
  y[D3B] = (matter ? 10.0 / 21.0 : -2.0) * unit;
  y[D3C] = (matter ? -1.0 / 7.0 : 1.0) * unit;
  y[D3A_PRIME] = (matter ? 3.0 : 1.0) * y[D3A];
  y[D3B_PRIME] = (matter ? 3.0 : 1.0) * y[D3B];
}

struct third_growth cosmology_third_growth(const struct cosmology *c, double a) {
  struct cosmology copy = *c;
  gsl_odeiv2_system system = {third_derivatives, NULL, THIRD_SIZE, &copy};
  double y[THIRD_SIZE], today[THIRD_SIZE];
  const double start = growth_start(c, y);
  third_start(y);
  growth_integrate(c, start, a, &system, y, today);
  const double norm = today[D1] * today[D1] * today[D1];
  return (struct third_growth){.d3a = y[D3A] / norm,
                               .d3b = y[D3B] / norm,
                               .d3c = y[D3C] / norm,
                               .f3 = y[D3A_PRIME] / y[D3A]};
}

/** a^2 dD1/dt */
static double growth_momentum(const struct cosmology *c, double a, const struct growth *g) {
  return a * a * cosmology_hubble(c, a) * g->f1 * g->d1;
}

/* The momentum that drifts from D1(a0) to D1(a1), and the impulses that lead to it and from it. The
 * force is d(a^2 dD1/dt)/dt = (3/2) Omega_m H0^2 D1/a. */
struct kick_factors cosmology_growth_kicks(const struct cosmology *c, double a0, double a1) {
  if (log(a1 / a0) < GROWTH_KICKS_SHORTEST) {
    const double middle = sqrt(a0 * a1);
    return (struct kick_factors){cosmology_kick(c, a0, middle), cosmology_kick(c, middle, a1)};
  }
  const struct growth begin = cosmology_growth(c, a0), end = cosmology_growth(c, a1);
  const double force = 1.5 * c->omega_m * HUBBLE_0 * HUBBLE_0,
               middle = (end.d1 - begin.d1) / cosmology_drift(c, a0, a1);
  return (struct kick_factors){.open = (middle - growth_momentum(c, a0, &begin)) /
                                       (force * begin.d1),
                               .close = (growth_momentum(c, a1, &end) - middle) / (force * end.d1)};
}

/** The scale factor between a0 and a1 at which D1 is d1. Newton's method. */
static double growth_reached(const struct cosmology *c, double a0, double a1, double d1) {
  enum { ITERATIONS = 8 };
  double a = sqrt(a0 * a1);
  for (int i = 0; i < ITERATIONS; i++) {
    const struct growth g = cosmology_growth(c, a);
    const double change = (d1 / g.d1 - 1.0) / g.f1;
    a *= exp(change);
    if (fabs(change) < 1e-10) break;
  }
  return fmax(a0, fmin(a, a1));
}

/** dD2/dD1 */
static double second_slope(const struct growth *g) { return g->f2 * g->d2 / (g->f1 * g->d1); }

/* With D1 as time a velocity is psi1 + D2' psi2, and in the middle of a drift from (D1, D2) the force over
 * (3/2) Omega_m H0^2 D1/a is psi1 + pull psi2. The kick's two factors fit the velocity at the end in both
 * orders. */
struct growth_step cosmology_growth_step(const struct cosmology *c, double a0, double a1) {
  const struct growth begin = cosmology_growth(c, a0), end = cosmology_growth(c, a1);
  const double half = 0.5 * (end.d1 - begin.d1), middle = begin.d1 + half,
               pull = (begin.d2 + second_slope(&begin) * half) / middle - middle,
               kept = (second_slope(&end) - pull) / (second_slope(&begin) - pull),
               before = growth_momentum(c, a0, &begin), after = growth_momentum(c, a1, &end);
  return (struct growth_step){.middle = growth_reached(c, a0, a1, middle),
                              .open = half / before,
                              .close = half / after,
                              .push = after * (1.0 - kept) /
                                      (1.5 * c->omega_m * HUBBLE_0 * HUBBLE_0 * middle),
                              .loss = 1.0 - kept * after / before};
}

double cosmology_particle_mass(const struct cosmology *c, double box, double count) {
  return c->omega_m * RHO_CRITICAL * box * box * box / count;
}
