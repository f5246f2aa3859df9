/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The force split: phi = long range (mesh) + short range (tree), for two families of splits.
 *
 * Everything below r_cut is described by one even power series, with x = r / r_cut and u = x^2. The
 * short-range potential of a unit mass is psi(x) = 1/x - H(u). The force is -(1/x^2) T, where
 * T = 1 - x^3 h(u) and h = -2 dH/du.
 *
 * gauss:  psi = erfc(r/2 r_s)/r; mesh factor exp(-k^2 r_s^2). The force is not zero at r_cut, where
 *         it is truncated.
 * kaiser: the smoothing cloud is a Kaiser-Bessel window of radius r_cut, so that the short-range
 *         force ends at r_cut by itself: psi = (1 - W(x))/x, W = int_0^x w / int_0^1 w, with
 *         w = I0(beta sqrt(1-x^2)). Mesh factor
 *         S(k) = (beta/sinh beta) sinh(sqrt(beta^2 - k^2 r_cut^2))/sqrt(beta^2 - k^2 r_cut^2),
 *         beta = (r_cut/r_s)^2/2, which near k = 0 is exp(-k^2 r_s^2). T jumps only by
 *         beta/sinh(beta) at r_cut (for r_cut = 5 r_s by 9e-5; gauss by 5.9e-3). newton: isolated
 * systems. There is no mesh: H = 0. r_cut is the side of the frame, beyond which no
 *         particle is, so that nothing is dropped. */
#ifndef PHOTONS_SPLIT_H
#define PHOTONS_SPLIT_H

#include <stdbool.h>

#include "photons/config/choices.h"

#define SPLIT_SERIES 64   /**< terms of the power series of H */
#define FMM_DEGREE 16     /**< degree of the polynomials for derivatives in M2L: float accuracy */
#define TABLE_ENTRIES 512 /**< entries of the table kernel of PhotoNs-GPU */

struct split {
  enum split_kind kind;
  double r_s, r_cut; /**< Mpc/h */
  double beta;       /**< kaiser only */
  float unit;        /**< r_cut in units of lengths in expansions, a power of 2: 1 but for newton */
  float plummer2;    /**< newton only: square of Plummer's softening in expansions, in their
                      *   unit (short_range.h); 0: none */
  double series[SPLIT_SERIES]; /**< H(u) = sum series[k] u^k, u = (r/r_cut)^2 in [0, 1] */
  double middle[SPLIT_SERIES]; /**< series about u = 1/2, which loses no digits:
                                *   H(u) = sum middle[k] t^k, t = 2u - 1 */
  int p2p_degree;
  /** h(u) ~ sum p2p[k] t^k, t = 2u - 1, minimax with weight x^2: the error of T/x, which lets near
   * pairs err less than T itself would. They are more than elsewhere where particles cluster, and one of
   * them alone makes a force: with weight x^3 a polynomial needs one degree more for the same
   * errors. */
  float p2p[P2P_DEGREE_MAX + 1];
  /** The same polynomial, if its degree is 6, with half of the multiplications (Knuth 1962, Commun. ACM 5,
   * 595): z = u (u + a[0]) + a[1], w = (u + a[2]) z + a[3], h = a[6] ((w + z + a[4]) w + a[5]). */
  bool adapts; /**< there is such a form whose rounding in floats changes T by less than 1e-6 */
  double adapted[7];
  double p2p_error; /**< largest error of T by that polynomial over [0, 1], in double arithmetic */
  /** 2^n d^n H/du^n ~ sum fmm[n][k] t^k, t = 2u / fmm_range - 1, near-minimax (Chebyshev), for
   * n = 0 .. FMM_ORDER_MAX. Nodes whose centres lie beyond r_cut may hold particles within it, so
   * psi is continued analytically to u = fmm_range = max(1, (8 r_s / r_cut)^2), where erfc has
   * fallen to 2e-8. M2L takes psi = 0 beyond. */
  float fmm_range;
  float fmm[FMM_ORDER_MAX + 1][FMM_DEGREE + 1];
  /** H(u) ~ sum potential[k] t^k, t = 2u - 1, likewise; zero above potential_degree. */
  int potential_degree;
  float potential[FMM_DEGREE + 1];
  /** The table of PhotoNs-GPU (Wang & Meng 2021, RAA 21, 281): Taylor coefficients d^q T/dx'^q / q!
   * about the entry's centre, for x' = r/(2 r_s) in [0, x'_max]; see split_table_value(). */
  double table_step; /**< width of an entry in x' */
  float table[TABLE_ENTRIES][TABLE_ORDER_MAX + 1];
};

/**
 * Set up a split with all its polynomials and tables.
 * @param kind, r_s, r_cut  family; radii in Mpc/h
 * @param p2p_degree        1 .. P2P_DEGREE_MAX
 */
void split_init(struct split *s, enum split_kind kind, double r_s, double r_cut, int p2p_degree);

/** Set up Newton's gravity, without a long-range part: H = 0, T = 1 at all distances.
 * @param unit  unit of length, Mpc/h; all distances are below it */
void split_init_newton(struct split *s, double unit);

/** Force factor T at distance r (Mpc/h) in double precision: T(0) = 1, T = 0 beyond r_cut. */
double split_force(const struct split *s, double r);
/** n-th derivative of H with respect to u, u in [0, 1], from the series in double precision. */
double split_series_derivative(const struct split *s, int n, double u);
/** Mesh factor S(k): phi_long(k) = -4 pi G rho(k)/k^2 S(k); k in h/Mpc. */
double split_mesh_factor(const struct split *s, double k);
/** T at distance r (Mpc/h) from the table of PhotoNs-GPU, by Taylor expansion of order
 * 0 .. TABLE_ORDER_MAX (figure 2 of Wang & Meng 2021). */
double split_table_value(const struct split *s, int order, double r);
/** T at distance r (Mpc/h) from the polynomial p2p, in float arithmetic. */
double split_polynomial_value(const struct split *s, double r);

#endif
