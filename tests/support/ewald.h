/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Exact accelerations of particles in a periodic box, by Ewald summation in double precision.
 * Independent of the solver's code. Newton's attraction is split with erf(alpha r): the short-range
 * part is summed over nearest images, the rest over plane waves. The result does not depend on
 * alpha, which moves work from one part to the other. */
#ifndef PHOTONS_TESTS_EWALD_H
#define PHOTONS_TESTS_EWALD_H

#include <complex.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* The sums are truncated at alpha r = 6 and at waves with pi m/alpha = 6, where the rest is about
 * e^-36 = 2e-16 of G m/L^2. With alpha >= 12/L only nearest images are within that distance. */
#define EWALD_TAIL 6.0
#define EWALD_ALPHA_MIN 12.0
enum { EWALD_WAVES_MAX = 48, EWALD_SIDE = 2 * EWALD_WAVES_MAX + 1 };

/** e^(2 pi i m x) of the three components, m = -EWALD_WAVES_MAX .. EWALD_WAVES_MAX. */
struct ewald_phases {
  double re[3][EWALD_SIDE], im[3][EWALD_SIDE];
};

static inline void ewald_find_phases(const double *x, struct ewald_phases *p) {
  enum { ZERO = EWALD_WAVES_MAX };
  for (int c = 0; c < 3; c++) {
    const double complex one = cexp(2.0 * M_PI * I * x[c]);
    double complex power = 1.0;
    for (int m = 0; m <= EWALD_WAVES_MAX; m++, power *= one) {
      p->re[c][ZERO + m] = p->re[c][ZERO - m] = creal(power);
      p->im[c][ZERO + m] = cimag(power);
      p->im[c][ZERO - m] = -cimag(power);
    }
  }
}

/** The density's waves in the half m_0 >= 0 of the sphere |m| <= waves. The other half is the
 * complex conjugate. */
struct ewald_waves {
  int waves;
  double re[EWALD_WAVES_MAX + 1][EWALD_SIDE][EWALD_SIDE],
      im[EWALD_WAVES_MAX + 1][EWALD_SIDE][EWALD_SIDE];
};

/** Largest |m_2| in the sphere; -1 outside of it. */
static inline int ewald_row(int waves, int m0, int m1) {
  const int rest = waves * waves - m0 * m0 - m1 * m1;
  return rest < 0 ? -1 : (int)sqrt(rest);
}

/** Compute the waves of the density, times the factors of their part of an acceleration. */
static inline struct ewald_waves *ewald_waves_create(const double *x, size_t n, double alpha) {
  enum { ZERO = EWALD_WAVES_MAX };
  struct ewald_waves *w = calloc(1, sizeof *w);
  if (!w) abort();
  w->waves = (int)ceil(EWALD_TAIL * alpha / M_PI);
  if (alpha < EWALD_ALPHA_MIN || w->waves > EWALD_WAVES_MAX) abort();
  for (size_t j = 0; j < n; j++) {
    struct ewald_phases p;
    ewald_find_phases(x + 3 * j, &p);
    for (int m0 = 0; m0 <= w->waves; m0++)
      for (int m1 = -w->waves; m1 <= w->waves; m1++) {
        const double a = p.re[0][ZERO + m0], b = p.im[0][ZERO + m0], c = p.re[1][ZERO + m1],
                     d = p.im[1][ZERO + m1];
        const double re = a * c - b * d, im = a * d + b * c, *re2 = &p.re[2][ZERO],
                     *im2 = &p.im[2][ZERO];
        double *re_row = &w->re[m0][ZERO + m1][ZERO], *im_row = &w->im[m0][ZERO + m1][ZERO];
        const int end = ewald_row(w->waves, m0, m1);
        for (int m2 = -end; m2 <= end; m2++) {
          re_row[m2] += re * re2[m2] - im * im2[m2];
          im_row[m2] -= re * im2[m2] + im * re2[m2];
        }
      }
  }
  for (int m0 = 0; m0 <= w->waves; m0++)
    for (int m1 = -w->waves; m1 <= w->waves; m1++) {
      const int end = ewald_row(w->waves, m0, m1);
      for (int m2 = -end; m2 <= end; m2++) {
        const double square = m0 * m0 + m1 * m1 + m2 * m2;
        double factor = (m0 > 0 ? 4.0 : 2.0) * exp(-M_PI * M_PI * square / (alpha * alpha)) /
                        square;
        if (square == 0.0) factor = 0.0; /* the mean density does not attract */
        w->re[m0][ZERO + m1][ZERO + m2] *= factor;
        w->im[m0][ZERO + m1][ZERO + m2] *= factor;
      }
    }
  return w;
}

/** Add the waves' part of the acceleration at x. */
static inline void ewald_add_waves(const struct ewald_waves *w, const double *x, double *a) {
  enum { ZERO = EWALD_WAVES_MAX };
  struct ewald_phases p;
  ewald_find_phases(x, &p);
  for (int m0 = 0; m0 <= w->waves; m0++)
    for (int m1 = -w->waves; m1 <= w->waves; m1++) {
      const double b = p.re[0][ZERO + m0], c = p.im[0][ZERO + m0], d = p.re[1][ZERO + m1],
                   e = p.im[1][ZERO + m1];
      const double re = b * d - c * e, im = b * e + c * d, *re2 = &p.re[2][ZERO],
                   *im2 = &p.im[2][ZERO];
      const double *re_row = &w->re[m0][ZERO + m1][ZERO], *im_row = &w->im[m0][ZERO + m1][ZERO];
      const int end = ewald_row(w->waves, m0, m1);
      double sum = 0.0, moment = 0.0;
      for (int m2 = -end; m2 <= end; m2++) {
        const double wave_im = re_row[m2] * (re * im2[m2] + im * re2[m2]) +
                               im_row[m2] * (re * re2[m2] - im * im2[m2]);
        sum += wave_im;
        moment += wave_im * m2;
      }
      a[0] -= m0 * sum;
      a[1] -= m1 * sum;
      a[2] -= moment;
    }
}

/** Softened attraction over distance, F/d: Gadget's spline of support h = 2.8 epsilon (Springel,
 * Yoshida & White 2001), integrated from its density, or Plummer's law. */
static inline double softened_attraction(double r, double epsilon, int plummer) {
  if (plummer) return pow(r * r + epsilon * epsilon, -1.5);
  double q = r / (2.8 * epsilon);
  if (epsilon <= 0.0 || q >= 1.0) return 1.0 / (r * r * r);
  /* mass inside q of the density 8/pi (1 - 6 q^2 + 6 q^3) to q = 1/2, 16/pi (1 - q)^3 beyond */
  double mass = q < 0.5 ? 32.0 * (q * q * q / 3.0 - 1.2 * pow(q, 5) + pow(q, 6))
                        : 64.0 * (q * q * q / 3.0 - 0.75 * pow(q, 4) + 0.6 * pow(q, 5) -
                                  pow(q, 6) / 6.0) -
                              1.0 / 15.0;
  return r > 0.0 ? mass / (r * r * r) : 32.0 / 3.0 / pow(2.8 * epsilon, 3);
}

/* The waves' part of Newton's attraction over distance is (erf(x) - 2 x e^(-x^2)/sqrt(pi))/r^3 with
 * x = alpha r. This is 4 alpha^3/sqrt(pi) F_1(x^2) with Boys' function F_m(t) = int_0^1 u^(2m)
 * e^(-t u^2) du. Because F_m' = -F_(m+1), a table of F_m at a point has all derivatives there. The
 * Taylor series about a point at most 1/32 away is truncated below 1e-15. */
enum { BOYS_TERMS = 7, BOYS_POINTS = 16 /* for each unit of t */ };
struct boys {
  double coefficient[36 * BOYS_POINTS + 1][BOYS_TERMS];
};

/** F_m(t) = e^(-t) sum_i (2t)^i/((2m+1)(2m+3) ... (2m+2i+1)): all terms are positive. */
static inline double boys_series(int m, double t) {
  double sum = 0.0, term = 1.0 / (2 * m + 1);
  for (int i = 1; term > 1e-17 * sum; i++) {
    sum += term;
    term *= 2.0 * t / (2 * m + 2 * i + 1);
  }
  return exp(-t) * sum;
}

static inline struct boys *boys_create(void) {
  struct boys *b = malloc(sizeof *b);
  if (!b) abort();
  for (size_t i = 0; i < sizeof b->coefficient / sizeof *b->coefficient; i++) {
    double factor = 1.0; /* (-1)^k/k! */
    for (int k = 0; k < BOYS_TERMS; factor /= -++k)
      b->coefficient[i][k] = factor * boys_series(1 + k, (double)i / BOYS_POINTS);
  }
  return b;
}

/** F_1(t), 0 <= t <= EWALD_TAIL^2. */
static inline double boys_1(const struct boys *b, double t) {
  const int i = (int)(t * BOYS_POINTS + 0.5);
  const double d = t - (double)i / BOYS_POINTS, *c = b->coefficient[i];
  return c[0] + d * (c[1] + d * (c[2] + d * (c[3] + d * (c[4] + d * (c[5] + d * c[6])))));
}

/**
 * Accelerations of the particles 0, stride, 2 stride ... for G m = L = 1.
 * @param x       [n][3] positions in [0, 1)
 * @param alpha   of the split, at least EWALD_ALPHA_MIN; more is faster for many targets
 * @param epsilon softening (the same length unit) of the nearest image
 * @param[out] a  [3] for each target
 */
static inline void ewald_accelerations(const double *x, size_t n, size_t stride, double alpha,
                                       double epsilon, int plummer, double *a) {
  struct ewald_waves *waves = ewald_waves_create(x, n, alpha);
  struct boys *boys = boys_create();
  const double alpha2 = alpha * alpha, smooth = 2.0 * M_2_SQRTPI * alpha2 * alpha,
               tail2 = EWALD_TAIL * EWALD_TAIL;
  const int all = stride == 1; /* each pair is summed once, for both particles */
  memset(a, 0, (n + stride - 1) / stride * 3 * sizeof *a);
  for (size_t i = 0; i < n; i += stride) {
    double *target = a + i / stride * 3;
    ewald_add_waves(waves, x + 3 * i, target);
    for (size_t j = all ? i + 1 : 0; j < n; j++) {
      double d[3], r2 = 0.0;
      for (size_t c = 0; c < 3; c++) {
        d[c] = x[3 * j + c] - x[3 * i + c];
        d[c] += (d[c] < -0.5) - (d[c] > 0.5);
        r2 += d[c] * d[c];
      }
      const int near = alpha2 * r2 < tail2;
      /* Plummer's law differs from Newton's at all distances */
      if (r2 == 0.0 || !(near || plummer)) continue;
      const double r = sqrt(r2),
                   waves_part = near ? smooth * boys_1(boys, alpha2 * r2) : 1.0 / (r2 * r),
                   factor = softened_attraction(r, epsilon, plummer) - waves_part;
      for (size_t c = 0; c < 3; c++) {
        target[c] += factor * d[c];
        if (all) a[3 * j + c] -= factor * d[c];
      }
    }
  }
  free(boys);
  free(waves);
}

/** Softened 1/r, whose derivative is softened_attraction(): Springel et al. (2001), or Plummer. */
static inline double softened_potential(double r, double epsilon, int plummer) {
  if (plummer) return 1.0 / sqrt(r * r + epsilon * epsilon);
  const double h = 2.8 * epsilon, q = r / h;
  if (epsilon <= 0.0 || q >= 1.0) return 1.0 / r;
  /* from the outside: 1/h + int_r^h F dr by Simpson's rule */
  enum { STEPS = 400 };
  double sum = 0.0;
  for (int i = 0; i <= STEPS; i++) {
    const double x = r + (h - r) * i / STEPS;
    const double weight = i == 0 || i == STEPS ? 1.0 : i % 2 ? 4.0 : 2.0;
    sum += weight * x * softened_attraction(x, epsilon, 0);
  }
  return 1.0 / h + sum * (h - r) / (3 * STEPS);
}

/** sum_i sum_j m_i m_j/r_ij over all pairs, images of a particle of its own included, in a
 * neutralising background, for m = L = 1: -2 W/(G m^2/L). Arguments as ewald_accelerations(). */
static inline double ewald_potential(const double *x, size_t n, double alpha, double epsilon,
                                     int plummer) {
  struct ewald_waves *w = ewald_waves_create(x, n, alpha);
  double sum = 0.0;
  for (size_t i = 0; i < n; i++) {
    enum { ZERO = EWALD_WAVES_MAX };
    struct ewald_phases p;
    ewald_find_phases(x + 3 * i, &p);
    for (int m0 = 0; m0 <= w->waves; m0++)
      for (int m1 = -w->waves; m1 <= w->waves; m1++) {
        const double complex phase = (p.re[0][ZERO + m0] + I * p.im[0][ZERO + m0]) *
                                     (p.re[1][ZERO + m1] + I * p.im[1][ZERO + m1]);
        const int end = ewald_row(w->waves, m0, m1);
        for (int m2 = -end; m2 <= end; m2++) /* the waves have a factor for accelerations */
          sum += creal(phase * (p.re[2][ZERO + m2] + I * p.im[2][ZERO + m2]) *
                       (w->re[m0][ZERO + m1][ZERO + m2] + I * w->im[m0][ZERO + m1][ZERO + m2])) /
                 (2.0 * M_PI);
      }
    for (size_t j = 0; j < n; j++) {
      double r2 = 0.0;
      for (size_t c = 0; c < 3; c++) {
        const double d = x[3 * j + c] - x[3 * i + c], nearest = d + (d < -0.5) - (d > 0.5);
        r2 += nearest * nearest;
      }
      const double r = sqrt(r2);
      if (j != i)
        sum += softened_potential(r, epsilon, plummer) -
               (r > 0.0 ? erf(alpha * r) / r : M_2_SQRTPI * alpha);
    }
    sum -= M_2_SQRTPI * alpha + M_PI * (double)n / (alpha * alpha);
  }
  free(w);
  return sum;
}

#endif
