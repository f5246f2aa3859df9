/* The force split: phi = long range (mesh) + short range (tree), for two families.
 *
 * Everything below r_cut is described by one even power series. With x = r / r_cut and u = x^2 the
 * short-range potential of a unit mass is psi(x) = 1/x - H(u), the force is -(1/x^2) T, T = 1 - x^3 h(u), h = -2 dH/du.
 *  gauss:  psi = erfc(r/2 r_s)/r, mesh factor exp(-k^2 r_s^2); not zero at r_cut: the force is truncated there.
 *  kaiser: the smoothing cloud is a Kaiser-Bessel window of radius r_cut, so that the short-range force ends at r_cut by itself:
 *          psi = (1 - W(x))/x, W = int_0^x w / int_0^1 w, w = I0(beta sqrt(1-x^2)); mesh factor
 *          S(k) = (beta/sinh beta) sinh(sqrt(beta^2 - k^2 r_cut^2))/sqrt(...), beta = (r_cut/r_s)^2/2, which near k = 0 is
 *          exp(-k^2 r_s^2). T jumps only by beta/sinh(beta) at r_cut (Gaussian with r_cut = 5 r_s: 5.9e-3; here 9e-5). */
#ifndef PHOTONS_SPLIT_H
#define PHOTONS_SPLIT_H

#include "photons/config/choices.h"

#define SPLIT_SERIES 64   /**< terms of the power series of H */
#define FMM_DEGREE 16     /**< of the polynomials for the derivatives in M2L: float accuracy over fmm_range */
#define TABLE_ENTRIES 512 /**< of the paper's table kernel */

struct split {
  enum split_kind kind;
  double r_s, r_cut;           /**< Mpc/h */
  double beta;                 /**< kaiser only */
  double series[SPLIT_SERIES]; /**< H(u) = sum series[k] u^k, u = (r/r_cut)^2 in [0, 1] */
  double middle[SPLIT_SERIES]; /**< about u = 1/2, where no digits cancel: H(u) = sum middle[k] t^k, t = 2u - 1 */
  int p2p_degree;
  /** h(u) ~ sum p2p[k] t^k, t = 2u - 1, minimax with weight x^3 (so that T is what is fitted). */
  float p2p[P2P_DEGREE_MAX + 1];
  double p2p_error; /**< largest error of T of that polynomial over [0, 1], in double arithmetic */
  /** 2^n d^n H/du^n ~ sum fmm[n][k] t^k, t = 2u / fmm_range - 1, near-minimax (Chebyshev), n = 0 .. FMM_ORDER_MAX.
   * Nodes whose centres lie beyond r_cut may hold particles within it, so psi is continued analytically to u = fmm_range =
   * max(1, (8 r_s / r_cut)^2), where erfc has fallen to 2e-8; M2L takes psi = 0 from there on. */
  float fmm_range;
  float fmm[FMM_ORDER_MAX + 1][FMM_DEGREE + 1];
  /** Paper's table: Taylor coefficients d^q T/dx'^q / q! about the entry's centre, x' = r/(2 r_s) in [0, x'_max]; see split_table_value(). */
  double table_step; /**< width of an entry in x' */
  float table[TABLE_ENTRIES][TABLE_ORDER_MAX + 1];
};

/**
 * @param kind, r_s, r_cut  family and radii, Mpc/h
 * @param p2p_degree        1 .. P2P_DEGREE_MAX
 */
void split_init(struct split *s, enum split_kind kind, double r_s, double r_cut, int p2p_degree);

/** Force factor T at distance r (Mpc/h), double precision: T(0) = 1, 0 beyond r_cut. */
double split_force(const struct split *s, double r);
/** n-th derivative of H with respect to u at u in [0, 1], from the series, double precision. */
double split_series_derivative(const struct split *s, int n, double u);
/** Mesh factor S(k): phi_long(k) = -4 pi G rho(k)/k^2 S(k); k in h/Mpc. */
double split_mesh_factor(const struct split *s, double k);
/** T from the table by Taylor expansion of the given order (0..4), as the paper does it: its figure 2. */
double split_table_value(const struct split *s, int order, double r);
/** T from the float polynomial, float arithmetic. */
double split_polynomial_value(const struct split *s, double r);

#endif
