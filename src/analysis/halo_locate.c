/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where a halo is: its centre of mass and its density peak. */
#include <math.h>
#include <stdlib.h>

#include "halo_members.h"
#include "photons/analysis/kernels.h"
#include "photons/base/error.h"
#include "photons/domain/geometry.h"

#define SHRINK 0.9       /* radius of a sphere over that of the sphere before */
#define PEAK_LEAST 10    /* the last sphere has at least this number of members, */
#define PEAK_SHARE 0.005 /* and at least this fraction of all members */

/** Members relative to the first one, position units as signed numbers. Halos may reach around the box. */
struct offsets {
  size_t count;
  uint32_t *x[3];
  int64_t sum[3]; /* of the offsets */
};

static struct offsets offsets_of(size_t n, const struct halo_member *member) {
  struct offsets o = {n, {allocate(3 * n, sizeof **o.x, "halo members")}, {0}};
  for (size_t c = 0; c < 3; c++) {
    o.x[c] = o.x[0] + c * n;
    for (size_t i = 0; i < n; i++) {
      o.x[c][i] = member[i].x[c] - member[0].x[c];
      o.sum[c] += (int32_t)o.x[c][i];
    }
  }
  return o;
}

/** The mean of the offsets, rounded. */
static void set_mean(const struct offsets *o, uint32_t mean[3]) {
  for (int c = 0; c < 3; c++)
    mean[c] = (uint32_t)(int32_t)llrint((double)o->sum[c] / (double)o->count);
}

/** The largest squared distance from a point. */
static double largest_distance2(const struct offsets *o, const uint32_t point[3]) {
  double most = 0.0;
  for (size_t i = 0; i < o->count; i++) {
    const double x = (double)position_difference(o->x[0][i], point[0]),
                 y = (double)position_difference(o->x[1][i], point[1]),
                 z = (double)position_difference(o->x[2][i], point[2]),
                 distance2 = x * x + y * y + z * z;
    most = distance2 > most ? distance2 : most;
  }
  return most;
}

/** The density peak: the centre of mass of ever smaller spheres, each about the last centre (Power et al. 2003, MNRAS
 * 338, 14). A sphere of radius 0 is the last, whatever number of members is at its centre. Leaves only some of the
 * offsets. */
static void find_peak(struct offsets *o, uint32_t centre[3]) {
  const struct halo_kernels *kernels = halo_kernels_select();
  const double share = PEAK_SHARE * (double)o->count;
  const size_t least = share > PEAK_LEAST ? (size_t)share : PEAK_LEAST;
  set_mean(o, centre);
  double radius2 = largest_distance2(o, centre);
  while (o->count > least && radius2 >= 1.0) {
    radius2 *= SHRINK * SHRINK;
    const size_t inside = kernels->keep_inside(o->count, o->x, centre, radius2, o->sum);
    if (inside < least) break;
    o->count = inside;
    set_mean(o, centre);
  }
}

void halo_locate(struct halo *h, const struct halo_member *member, double box, uint32_t peak[3]) {
  const double n = (double)h->count;
  double momentum[3] = {0.0};
  for (size_t i = 0; i < h->count; i++)
    for (size_t c = 0; c < 3; c++) momentum[c] += (double)member[i].p[c];
  struct offsets o = offsets_of(h->count, member);
  for (size_t c = 0; c < 3; c++) {
    const double turns = (member[0].x[c] + (double)o.sum[c] / n) * 0x1p-32;
    h->position[c] = (turns - floor(turns)) * box;
    h->momentum[c] = momentum[c] / n;
  }
  find_peak(&o, peak);
  free(o.x[0]);
  for (size_t c = 0; c < 3; c++) {
    peak[c] += member[0].x[c];
    h->centre[c] = position_from_integer(peak[c], box);
  }
}
