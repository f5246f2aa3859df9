/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where a halo is: its centre of mass and its density peak. */
#include <math.h>
#include <string.h>

#include "halo_members.h"
#include "photons/analysis/kernels.h"
#include "photons/domain/geometry.h"

#define SHRINK 0.9       /* radius of a sphere over that of the sphere before */
#define PEAK_LEAST 10    /* the last sphere has at least this number of members, */
#define PEAK_SHARE 0.005 /* and at least this fraction of all members */
#define FEW_LEFT 0.6     /* members outside are left out where the others are less than this part */

/** The mean of offsets, rounded. */
static void set_mean(const int64_t sum[3], size_t count, uint32_t mean[3]) {
  for (int c = 0; c < 3; c++) mean[c] = (uint32_t)(int32_t)llrint((double)sum[c] / (double)count);
}

/** The density peak: the centre of mass of ever smaller spheres, each about the last centre (Power et al. 2003, MNRAS
 * 338, 14), of those members that were in all spheres before. A sphere of radius 0 is the last, whatever number of members
 * is at its centre.
 * @param sum  of the offsets of all members */
static void find_peak(struct halo_columns *m, const int64_t sum[3]) {
  const double share = PEAK_SHARE * (double)m->count;
  const size_t least = share > PEAK_LEAST ? (size_t)share : PEAK_LEAST;
  for (int c = 0; c < 3; c++) memcpy(m->left[c], m->x[c], m->count * sizeof *m->left[c]);
  memset(m->inside, -1, m->count * sizeof *m->inside);
  set_mean(sum, m->count, m->peak);
  double radius2 = (double)m->kernels->farthest2(m->count, m->x, m->peak);
  for (size_t left = m->count, count = left; count > least && radius2 >= 1.0;) {
    int64_t here[3];
    radius2 *= SHRINK * SHRINK;
    count = m->kernels->stay_inside(left, m->left, m->peak, (float)radius2, m->inside, here);
    if (count < least) break;
    set_mean(here, count, m->peak);
    if ((double)count < FEW_LEFT * (double)left) left = m->kernels->keep(left, m->left, m->inside);
  }
}

static void sum_offsets(const struct halo_columns *m, int64_t sum[3]) {
  for (int c = 0; c < 3; c++) {
    sum[c] = 0;
    for (size_t i = 0; i < m->count; i++) sum[c] += (int32_t)m->x[c][i];
  }
}

static void set_momentum(struct halo *h, const struct halo_columns *m) {
  const double fastest = (double)m->kernels->fastest(m->count, m->p[0], m->p[1], m->p[2]);
  m->kernels->momenta(m->count, m->p, halo_grid(m->count, fastest), h->momentum);
  for (int c = 0; c < 3; c++) h->momentum[c] /= (double)m->count;
}

void halo_locate(struct halo *h, struct halo_columns *m, double box) {
  int64_t sum[3];
  double offset2 = 0.0;
  sum_offsets(m, sum);
  set_momentum(h, m);
  find_peak(m, sum);
  for (int c = 0; c < 3; c++) {
    const double mean = (double)sum[c] / (double)m->count,
                 turns = (m->reference[c] + mean) * 0x1p-32, apart = mean - (int32_t)m->peak[c];
    h->position[c] = (turns - floor(turns)) * box;
    h->centre[c] = position_from_integer(m->peak[c] + m->reference[c], box);
    offset2 += apart * apart;
  }
  h->offset = sqrt(offset2) * (box / POSITION_TURN);
}
