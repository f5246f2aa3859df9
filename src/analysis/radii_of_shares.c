/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Radii that hold shares of the mass, without a sort: floats above 0 are in the order of their bits,
 * of which each pass over the particles finds eleven. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "members.h"
#include "photons/base/error.h"

enum { DIGIT = 11, BINS = 1 << DIGIT, PASSES = 3 };
enum { MASS_BITS = 61 }; /* of the sum of all masses as whole numbers */

/** What is known of the bits of the radii. */
struct search {
  const struct body_frame *frame;
  body_distance distance;
  int unit; /* masses are whole numbers of 2^-unit */
  size_t count;
  uint32_t key[SHARES_MOST]; /* the leading bits */
  unsigned shift;            /* bits behind those that this pass finds */
};

static uint32_t bits_of(double distance) {
  const float number = (float)distance;
  uint32_t bits;
  memcpy(&bits, &number, sizeof bits);
  return bits;
}

static void add_mass(const void *context, const struct body *b, double *sum) {
  (void)context;
  *sum += b->mass;
}

/** Add the mass of a particle to the bin of its digit, for each share whose leading bits it has. */
static void add_to_bins(const void *context, const struct body *b, uint64_t *sum) {
  const struct search *s = context;
  const uint32_t bits = bits_of(s->distance(s->frame, b));
  const uint32_t digit = bits >> s->shift & (BINS - 1);
  const uint64_t mass = (uint64_t)ldexp(b->mass, s->unit);
  for (size_t k = 0; k < s->count; k++)
    if ((uint64_t)bits >> (s->shift + DIGIT) == s->key[k]) sum[k * BINS + digit] += mass;
}

/** The bin in which the mass from the centre outwards reaches what is wanted, of which the mass in the bins
 * before is taken. */
static uint32_t find_bin(const uint64_t *mass, uint64_t *wanted) {
  uint32_t last = 0;
  for (uint32_t i = 0; i < BINS; i++) {
    if (mass[i] == 0) continue;
    last = i;
    if (mass[i] >= *wanted) break;
    *wanted -= mass[i];
  }
  return last;
}

/** Find eleven more bits of each radius. @param[in,out] wanted  mass beyond that with lower leading bits */
static void pass(const struct members *m, struct search *s, uint64_t *wanted, const double *share) {
  uint64_t *mass = allocate(s->count * BINS, sizeof *mass, "masses of a galaxy");
  const bool first = s->shift == DIGIT * (PASSES - 1);
  members_count(m, add_to_bins, s, s->count * BINS, mass);
  for (size_t k = 0; k < s->count; k++) {
    uint64_t all = 0;
    for (size_t i = 0; i < BINS && first; i++) all += mass[k * BINS + i];
    if (first) wanted[k] = (uint64_t)(share[k] * (double)all * (1.0 - 1e-12)); /* rounding */
    s->key[k] = s->key[k] << DIGIT | find_bin(mass + k * BINS, &wanted[k]);
  }
  free(mass);
}

void radii_of_shares(const struct members *m, const struct body_frame *frame,
                     body_distance distance, size_t count, const double *share, double *radius) {
  struct search s = {.frame = frame, .distance = distance, .count = count};
  uint64_t wanted[SHARES_MOST];
  double all;
  members_sum(m, add_mass, NULL, 1, &all);
  if (all > 0.0) s.unit = MASS_BITS - 1 - ilogb(all);
  for (int k = PASSES - 1; k >= 0; k--) {
    s.shift = (unsigned)(DIGIT * k);
    pass(m, &s, wanted, share);
  }
  for (size_t k = 0; k < count; k++) {
    float number;
    memcpy(&number, &s.key[k], sizeof number);
    radius[k] = (double)number;
  }
}
