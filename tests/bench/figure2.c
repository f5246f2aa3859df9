/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Figure 2 of Wang & Meng (2021) as a table: the largest error of T(x) of the table kernel by
 * Taylor order, in float as it runs, and of the polynomial kernel by degree. make figure2 */
#include <math.h>
#include <stdio.h>

#include "photons/tree/split.h"

#define R_CUT 5.0 /* r_s */
#define SAMPLES 200000

static double polynomial_value(const struct split *s, int unused, double r) {
  (void)unused;
  return split_polynomial_value(s, r);
}

static double largest_error(const struct split *s,
                            double (*value)(const struct split *, int, double), int order) {
  double largest = 0.0;
  for (int i = 0; i <= SAMPLES; i++) {
    double r = s->r_cut * i / SAMPLES;
    largest = fmax(largest, fabs(value(s, order, r) - split_force(s, r)));
  }
  return largest;
}

int main(void) {
  struct split gauss, kaiser;
  split_init(&gauss, SPLIT_GAUSS, 1.0, R_CUT, 8);
  split_init(&kaiser, SPLIT_KAISER, 1.0, R_CUT, 8);
  printf("largest |error of T(x)|, x = r/(2 r_s) <= %.2g (kaiser: beta = %g)\n", 0.5 * R_CUT,
         kaiser.beta);
  printf("%-20s %10s %10s   %s\n", "kernel", "gauss", "kaiser", "coefficients alone");
  for (int q = 0; q <= TABLE_ORDER_MAX; q++)
    printf("table T[0]..T[%d]     %10.2e %10.2e\n", q, largest_error(&gauss, split_table_value, q),
           largest_error(&kaiser, split_table_value, q));
  for (int degree = 6; degree <= P2P_DEGREE_MAX; degree++) {
    split_init(&gauss, SPLIT_GAUSS, 1.0, R_CUT, degree);
    split_init(&kaiser, SPLIT_KAISER, 1.0, R_CUT, degree);
    printf("polynomial degree %-2d %10.2e %10.2e   %.2e %.2e\n", degree,
           largest_error(&gauss, polynomial_value, 0), largest_error(&kaiser, polynomial_value, 0),
           gauss.p2p_error, kaiser.p2p_error);
  }
  return 0;
}
