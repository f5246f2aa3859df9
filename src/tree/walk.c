/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The acceptance criterion, and the storage of interaction lists. */
#include "photons/tree/walk.h"
#include "photons/domain/geometry.h"

#include <math.h>
#include <stdlib.h>

#include "photons/base/error.h"
#include "photons/runtime/pinned.h"

/** |d^n psi/dr^n| / (n-1)! of psi = 1/r - H(r^2), lengths in units of r_cut: the series
 * differentiated term by term. */
static double radial_derivative(const struct split *split, int n, double r) {
  double factorial = 1.0, sum = 0.0; /* (n-1)! */
  for (int i = 2; i < n; i++) factorial *= i;
  for (int k = (n + 1) / 2; k < SPLIT_SERIES; k++) {
    double term = split->series[k] * pow(r, 2 * k - n);
    for (int i = 0; i < n; i++) term *= 2 * k - i;
    sum += term;
  }
  double newton = factorial * n * pow(r, -(n + 1)) * (n % 2 ? -1.0 : 1.0);
  return fabs(newton - sum) / factorial;
}

/** n (n-2) (n-4) ... of an odd number. */
static double double_factorial(int n) { return n > 1 ? n * double_factorial(n - 2) : 1.0; }

void acceptance_init(struct acceptance *a, enum mac_kind kind, double theta, double tolerance,
                     int order, double softening_support, double box, unsigned depth,
                     const struct split *split) {
  /* Units of r_cut; closer nodes would overflow floats at the highest order, which energies may have.
   * In isolated systems n (2p-1)!!/r^(p+1) stays below 1e36 for n = 1e8. */
  const double least = split->kind == SPLIT_NEWTON
                           ? pow(1e-28 * double_factorial(2 * FMM_ORDER_MAX - 1),
                                 1.0 / (FMM_ORDER_MAX + 1)) /
                                 (double)split->unit
                           : 1e-4;
  double separation = softening_support / split->r_cut;
  *a = (struct acceptance){.kind = kind,
                           .theta = (float)theta,
                           .theta_first = (float)fmin(theta, 0.5),
                           .tolerance = (float)tolerance,
                           .order = order,
                           /* |d^(n+1) (1/r) / dr^(n+1)| / n! = (n + 1) / r^(n+2), n = order */
                           .exponent = order,
                           .sum_tolerance = INFINITY,
                           .factor = (float)(order + 1),
                           .separation = (float)fmax(separation, least),
                           .half_box = (float)(0.5 * box / split->r_cut),
                           .scale = (float)(box / POSITION_TURN / split->r_cut),
                           .depth = depth};
  if (kind == MAC_GOTHIC) { /* Miki & Umemura (2017), equation 2 */
    a->exponent = 2;
    a->factor = 1.0f;
  }
  if (split->kind == SPLIT_NEWTON) {
    a->newton = true;
    a->half_box = INFINITY;
    return;
  }
  double envelope = 0.0;
  for (int i = MAC_TABLE; i >= 0; i--) {
    envelope = fmax(envelope, radial_derivative(split, order + 1, fmax(i, 0.5) / MAC_TABLE));
    a->derivative[i] = (float)fmin(envelope, 1e30);
  }
}

void acceptance_bound_sums(struct acceptance *a) {
  if (a->newton && a->kind == MAC_RELATIVE) a->sum_tolerance = 3.0f * a->tolerance;
}

void walk_pairs_reserve(struct walk_pairs *p, int list, size_t n) {
  if (p->count[list] + n <= p->capacity[list]) return;
  p->capacity[list] = (p->count[list] + n) * 2 + 4096;
  p->pair[list] = reallocate(p->pair[list], 2 * p->capacity[list], sizeof(uint32_t),
                             "interaction pairs");
}

void walk_scratch_free(struct walk_scratch *s) {
  for (int i = 0; i < WALK_PARTS; i++)
    for (int list = 0; list < 2; list++) free(s->part[i].pair[list]);
  *s = (struct walk_scratch){0};
}

void walk_check(const struct walk_result *result) {
  if (result->lacks != 0)
    fail(EXIT_RUN_FAILED,
         "internal error: forces need what is below node %u of a source, which is not on this rank",
         result->lacks);
}

void interactions_check(size_t entries) {
  if (entries > UINT32_MAX)
    fail(EXIT_RUN_FAILED,
         "a group has %zu interactions, more than 2^32: make runtime.group_size smaller", entries);
}

void interaction_list_reserve(struct interaction_list *l, uint32_t targets, size_t entries) {
  interactions_check(entries);
  if (l->offset && l->targets == targets && entries <= l->capacity && entries >= l->capacity / 2)
    return;
  interaction_list_free(l);
  l->targets = targets;
  l->capacity = (uint32_t)(entries + entries / 8 + 1 > UINT32_MAX ? entries
                                                                  : entries + entries / 8 + 1);
  const size_t offset_bytes = ((size_t)targets + 1) * sizeof *l->offset,
               entry_bytes = l->capacity * sizeof *l->entry;
  l->offset = pinned_take(l->pool, offset_bytes);
  l->entry = pinned_take(l->pool, entry_bytes);
}

void interaction_list_free(struct interaction_list *l) {
  pinned_give_back(l->pool, l->offset, ((size_t)l->targets + 1) * sizeof *l->offset);
  pinned_give_back(l->pool, l->entry, l->capacity * sizeof *l->entry);
  *l = (struct interaction_list){.pool = l->pool};
}
