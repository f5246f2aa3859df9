/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The expanding background: H(a), kick and drift integrals, growth of structure.
 * Units: lengths Mpc/h, velocities km/s, so times are in (Mpc/h)/(km/s) and H0 = 100. */
#ifndef PHOTONS_COSMOLOGY_H
#define PHOTONS_COSMOLOGY_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "photons/config/dark_energy.h"

#define HUBBLE_0 100.0            /**< km/s/(Mpc/h) */
#define GRAVITY 43.0071           /**< G in (km/s)^2 (Mpc/h) / (1e10 Msun/h) */
#define SPEED_OF_LIGHT 299792.458 /**< km/s */
#define RHO_CRITICAL           \
  (3.0 * HUBBLE_0 * HUBBLE_0 / \
   (8.0 * 3.14159265358979323846 * GRAVITY)) /**< 1e10 Msun/h/(Mpc/h)^3 */

/** 1 Myr in (Mpc/h)/(km/s) with h = 1. */
#define MYR 1.0227121650537077e-6

/** The unit of time in systems that do not expand: 1 Gyr. */
#define STATIC_CLOCK (1000.0 * MYR)

enum { NEUTRINOS_MOST = 3 };

struct cosmology {
  double omega_m; /**< of the matter that particles are: cold dark matter and baryons, without
                       massive neutrinos */
  double omega_lambda, omega_k, omega_r, w0, wa;
  struct w_table w; /**< with rows: in the place of w0 and wa */
  struct neutrinos {
    unsigned species;             /**< of those with mass */
    double heavy[NEUTRINOS_MOST]; /**< m c^2/(k T) today */
    double massless;              /**< what one species would have without mass, over the critical
                                       density today */
  } neutrinos;
  bool isolated; /**< no expansion: what functions call `a` is the time, and ln a, too, in units of
                      STATIC_CLOCK. Comoving lengths are physical ones */
};

struct parameters;
/** The universe of section [cosmology]; curvature makes the densities add up to 1. */
struct cosmology cosmology_from(const struct parameters *p);

/** Omega_k without the rounding of the sum of the other densities. */
double cosmology_printed_curvature(const struct parameters *p);

/** Growth of linear and second-order perturbations at one time. */
struct growth {
  double d1; /**< D1(a)/D1(1) */
  double f1; /**< dln D1/dln a */
  double d2; /**< second-order growth, D2 = -(3/7) D1^2 in Einstein-de Sitter, with D1 normalised as
                  above */
  double f2; /**< dln D2/dln a */
};

/** Growth of the three terms of third order, with D1 normalised as above (Bouchet et al. 1995, A&A 296, 575). In
 * Einstein-de Sitter they are -1/3, 10/21 and -1/7 times D1^3. */
struct third_growth {
  double d3a; /**< of the determinant of the first order's slopes */
  double d3b; /**< of the product of first and second order */
  double d3c; /**< of the rotation */
  double f3;  /**< dln D3a/dln a, near that of all three */
};

/** The scale factor of lengths: a, or 1 in isolated systems. */
static inline double cosmology_scale(const struct cosmology *c, double a) {
  return c->isolated ? 1.0 : a;
}
/** Time in Myr of an isolated system, and the reverse. */
double cosmology_myr(double time);
double cosmology_time(double myr);

/* Moments of a run: scale factors or, where `is_time`, times. Intervals are in ln a, or of time. */
static inline double moment_interval(bool is_time, double from, double to) {
  return is_time ? to - from : log(to / from);
}
static inline double moment_after(bool is_time, double from, double interval) {
  return is_time ? from + interval : from * exp(interval);
}
/** The middle of an interval. */
static inline double moment_middle(bool is_time, double from, double to) {
  return is_time ? 0.5 * (from + to) : sqrt(from * to);
}
/** The same as moment_after() for a small interval. */
static inline double moment_soon(bool is_time, double from, double interval) {
  return is_time ? from + interval : from * (1.0 + interval);
}

/** "z = 3.2", or in isolated systems "t = 125 Myr", with %.4g. */
struct moment_text {
  char text[40];
};
struct moment_text cosmology_moment(bool isolated, double a);

/** Density of massive neutrinos at a, over today's critical density. */
double neutrinos_density(const struct neutrinos *n, double a);
/** Three times their pressure over c^2, in the same unit. */
double neutrinos_pressure(const struct neutrinos *n, double a);
/** Neutrinos of these masses in eV, at most NEUTRINOS_MOST of them, at the temperature that gives them sum(m)/93.14 eV = Omega h^2. */
struct neutrinos neutrinos_of(const double *mass, size_t species, double h);

/** Density of dark energy at a, over the critical density today. */
double cosmology_dark_energy(const struct cosmology *c, double a);
/** H(a) = d ln a/dt in km/s/(Mpc/h). */
double cosmology_hubble(const struct cosmology *c, double a);
/** Omega_m(a): the density of matter over the critical density at a. */
double cosmology_omega_m(const struct cosmology *c, double a);
/** int dt/a from a0 to a1, in (Mpc/h)/(km/s). Times -grad(phi) (comoving) it gives the change of p
 * = a^2 dx/dt. */
double cosmology_kick(const struct cosmology *c, double a0, double a1);
/** int dt/a^2 from a0 to a1, in (Mpc/h)/(km/s). Times p it gives the change of the comoving
 * position. */
double cosmology_drift(const struct cosmology *c, double a0, double a1);
/** The scale factor a1 for which cosmology_drift(a0, a1) is @p drift, which ends before expansion
 * makes such a drift impossible. */
double cosmology_after_drift(const struct cosmology *c, double a0, double drift);
/** Growth factors at a, integrated from early times (matter perturbations, smooth dark energy and
 * radiation). */
struct growth cosmology_growth(const struct cosmology *c, double a);
/** D1 today, where D1 = a while matter dominates. Neutrinos with mass count as matter, which they are on the
 * scales that are larger than they stream. */
double cosmology_growth_since_matter(const struct cosmology *c);
/** Integrates the growth of third order; errors as cosmology_growth(). */
struct third_growth cosmology_third_growth(const struct cosmology *c, double a);
/** Factors of the kicks that begin and end a step kick-drift-kick. */
struct kick_factors {
  double open, close; /**< (Mpc/h)/(km/s) */
};
/** Growth kicks of a shorter step in ln a are int dt/a over its halves. Their error in D1 is then below
 * 1e-5 for each unit of ln a. */
#define GROWTH_KICKS_SHORTEST 0.01
/** Kick factors with which a step follows linear growth exactly, however long it is. The growing mode
 * with displacement D1(a0) and momentum a^2 dD1/dt becomes that at a1. The drift factor stays
 * cosmology_drift(). This is the condition of FastPM (Feng et al. 2016, MNRAS 463, 2273), fulfilled by
 * the kicks alone; compare Rampf, List & Hahn 2025 (JCAP 02, 020). Of an expanding universe. */
struct kick_factors cosmology_growth_kicks(const struct cosmology *c, double a0, double a1);
/** A step drift-kick-drift of an expanding universe. */
struct growth_step {
  double middle; /**< scale factor of the forces */
  double open,
      close; /**< factors of the drifts before and after the kick, (Mpc/h)/(km/s): times p they give
                           the change of the comoving position */
  double push,
      loss; /**< the kick adds push times the acceleration to p, and takes loss times p from it */
};
/** The step BullFrog (Rampf, List & Hahn 2025, JCAP 02, 020): a particle that follows Lagrangian
 * perturbation theory of second order has its velocity after the step, however long, and its position but for
 * the curvature of the second order's growth over the step. The first order is exact. */
struct growth_step cosmology_growth_step(const struct cosmology *c, double a0, double a1);
/** Particle mass in 1e10 Msun/h for N particles in a box of L Mpc/h. */
double cosmology_particle_mass(const struct cosmology *c, double box, double count);

#endif
