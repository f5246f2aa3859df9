/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The stress of gravity on the faces of cells, and the force on cells beside refined patches that follows from it, on
 * cores and GPUs alike.
 *
 * Where the potential p obeys sum of six neighbours - 6 p = 4 pi G cell^2 (density - mean), the three-point force
 * -density grad p of cells is what stresses on their faces differ by, exactly:
 * - on a face along its normal: (D_n^2 - sum over t of the mean of D_t D_t' on both sides)/(8 pi G cell^2) + mean p,
 * - along t: D_n times the mean of the three-point differences along t, over the same,
 * where D are differences of p from cell to cell, and ' is the cell across the face. Forces in a periodic box are
 * therefore zero in sum. At the edge of a level the stresses of finer and coarser cells on the same face differ
 * by their truncation; the coarse cell gets that of the finer ones, as it gets their fluxes of gas.
 *
 * A step of the coarser level has two kicks, at its ends; the finer level has kicks in between, too. In the second kick the
 * coarse cell gets what is left of the time integral of the finer stress over all of these.
 *
 * Here stresses are in units of 1/(8 pi G cell^2). */
#ifndef PHOTONS_POTENTIAL_STRESS_H
#define PHOTONS_POTENTIAL_STRESS_H

#include <math.h>
#include <stdbool.h>

#include "photons/amr/cells.h"
#include "photons/base/host_device.h"
#include "photons/potential/poisson.h"

/** A face of a cell, seen from the cell. */
struct stress_face {
  int axis, along[2]; /**< of the normal, and the others, the later one last */
  bool upper;
};

/** What the finer level says about a face. */
struct finer_face {
  double slope;     /**< poisson_share.slope */
  double stress[3]; /**< poisson_share.stress */
};

/** Which of the finer level's kicks in a step of the coarser level. */
enum stress_part { STRESS_FIRST, STRESS_BETWEEN, STRESS_LAST };
/** A kick of the finer level. */
struct stress_kick {
  enum stress_part part;
  double
      time; /**< over gravity_factor(); of the first one less that of the coarser level's first kick */
  double
      back; /**< of the last one: gravity_factor() over the time of the coarser level's second kick */
};

/** Add what the stress on a face does in a kick. @param closing  of poisson_share, set by the last kick */
static HOST_DEVICE inline void stress_add(struct stress_kick kick, double stress, double *sum,
                                          double *closing) {
  const double all = (kick.part == STRESS_FIRST ? 0.0 : *sum) + kick.time * stress;
  if (kick.part == STRESS_LAST)
    *closing = kick.back * all;
  else
    *sum = all;
}

static HOST_DEVICE inline struct stress_face stress_face_of(int face) {
  const int axis = face / 2;
  const struct stress_face f = {axis, {axis == 0 ? 1 : 0, axis == 2 ? 1 : 2}, (face & 1) != 0};
  return f;
}

static HOST_DEVICE inline int stress_step(int axis) {
  return axis == 0 ? 1 : axis == 1 ? WIDE_SIDE : WIDE_SIDE * WIDE_SIDE;
}

/** From a cell to that across the face. */
static HOST_DEVICE inline int stress_across(const struct stress_face *f) {
  return f->upper ? stress_step(f->axis) : -stress_step(f->axis);
}

/** Where a cell of a group is among wide potentials. */
static HOST_DEVICE inline int stress_place(const int cell[3]) {
  return ((cell[2] + WIDE_GHOSTS) * WIDE_SIDE + cell[1] + WIDE_GHOSTS) * WIDE_SIDE + cell[0] +
         WIDE_GHOSTS;
}

/** @param p           the cell among wide potentials
 * @param background  8 pi G cell^2 times the mean density */
static HOST_DEVICE inline void gravity_stress(const double *p, const struct stress_face *f,
                                              double background, double stress[3]) {
  const double *q = p + stress_across(f);
  const double normal = f->upper ? q[0] - p[0] : p[0] - q[0];
  stress[0] = normal * normal + 0.5 * background * (p[0] + q[0]);
  for (int t = 0; t < 2; t++) {
    const int step = stress_step(f->along[t]);
    stress[0] -= 0.5 *
                 ((p[step] - p[0]) * (q[step] - q[0]) + (p[0] - p[-step]) * (q[0] - q[-step]));
    stress[1 + t] = 0.5 * normal * (p[step] - p[-step] + q[step] - q[-step]);
  }
}

/** A tenuous cell at the edge of a level gets at most this part of its own acceleration: the stress is that of all
 * the mass inside. */
#define BORDER_MOST 0.5

/** What a cell beside a refined patch is to be accelerated by, besides the gradient of its potential, so that the stress on
 * the face between them is the finer one: in the units of differences of the potential over two cells.
 * @param f           of the coarse cell
 * @param source      4 pi G cell^2 times its density
 * @param pull        along the axes of the face: normal, along */
static HOST_DEVICE inline void border_pull(const double *p, const struct stress_face *f,
                                           const struct finer_face *finer, double background,
                                           double source, double pull[3]) {
  const double missing = p[0] - p[stress_across(f)] - 2.0 * finer->slope; /* pseudo-mass */
  double stress[3], own = 0.0, more = 0.0;
  gravity_stress(p, f, background, stress);
  for (int c = 0; c < 3; c++) {
    const int step = stress_step(c == 0 ? f->axis : f->along[c - 1]);
    const double difference = p[step] - p[-step], change = stress[c] - 4.0 * finer->stress[c];
    pull[c] = ((f->upper ? change : -change) + missing * difference) / source;
    own += difference * difference;
    more += pull[c] * pull[c];
  }
  const double most = BORDER_MOST * BORDER_MOST * own;
  const double part = more > most ? sqrt(most / more) : 1.0;
  for (int c = 0; c < 3; c++) pull[c] *= part;
}

#endif
