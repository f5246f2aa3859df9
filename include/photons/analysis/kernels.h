/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Kernels that find candidates for friends-of-friends links, and potentials and neighbours in halos. struct
 * fof_kernels and struct halo_kernels are tables of them; each instruction set has one of each. */
#ifndef PHOTONS_ANALYSIS_KERNELS_H
#define PHOTONS_ANALYSIS_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#include "photons/runtime/isa.h"

/** The array `index` has room for n numbers. Both functions return the number of candidates. */
struct fof_kernels {
  /** Particles at a squared distance <= limit2 (position units, float rounding). */
  uint32_t (*near_point)(uint32_t n, const uint32_t *x, const uint32_t *y, const uint32_t *z,
                         const uint32_t point[3], float limit2, uint32_t *index);
  /** Particles in the periodic box [low, low + extent]. */
  uint32_t (*near_box)(uint32_t n, const uint32_t *x, const uint32_t *y, const uint32_t *z,
                       const uint32_t low[3], const uint32_t extent[3], uint32_t *index);
};

/** The table for the instruction set of isa_select(). */
const struct fof_kernels *fof_kernels_select(void);

struct halo_tree;
enum {
  HALO_AXES = 6,         /**< of phase space: three of position and three of velocity */
  HALO_POINTS = 32,      /**< whose potentials are found at a time: near each other that is fast */
  HALO_NEAREST_MOST = 20 /**< most particles that a search for the nearest ones finds */
};

/** Points in a halo. */
struct halo_points {
  double x[3][HALO_POINTS]; /**< all numbers are finite, those behind `count`, too */
  double sum[HALO_POINTS];
  int count;
};

/** Particles among which the nearest ones to a point are looked for: those of consecutive places in a tree. */
struct halo_range {
  uint32_t first, end;
};
enum {
  HALO_SINGLE_PADDING = 16
}; /**< floats behind those of the last particle, which are read, too */

struct halo_crowd {
  const double (*x)[HALO_AXES];   /**< [place]; finite */
  const float *single[HALO_AXES]; /**< [place] the same rounded */
  double rounding; /**< at least what rounding changes of the distance of two particles */
  const struct halo_range *range; /**< [ranges] by rising place */
  uint32_t ranges;
};

/** A particle near a point. */
struct neighbour {
  double distance2;
  uint32_t index; /**< its place */
};

struct halo_kernels {
  /** sum[k] = sum 1/sqrt(r^2 + softening^2) over the particles of a tree (src/analysis/halo_tree.h). Nodes that are seen
   * at less than a certain angle act as their mass at their centre. */
  void (*potentials)(const struct halo_tree *t, double softening, struct halo_points *p);
  /** The nearest to a point among the particles of a crowd that are no further than a distance: by rising distance,
   * particles at one distance by rising place.
   * @param most        at most HALO_NEAREST_MOST
   * @param[out] found  [most]; undefined where there are fewer
   * @return their number, at most @p most */
  uint32_t (*nearest)(const struct halo_crowd *c, const double point[HALO_AXES], double limit2,
                      uint32_t most, struct neighbour *found);
  /** Keep the points in a sphere, in their order. Coordinates are position units from a reference, as signed numbers.
   * @param[out] sum  of the coordinates of those kept
   * @return their number */
  size_t (*keep_inside)(size_t n, uint32_t *const position[3], const uint32_t centre[3],
                        double radius2, int64_t sum[3]);
  /** Squared distances of particles to a point, position units, those above a limit left out.
   * @param[out] distance2  has room for n numbers, and is written there beyond those that are found, too
   * @return their number */
  uint32_t (*distances)(uint32_t n, const uint32_t *x, const uint32_t *y, const uint32_t *z,
                        const uint32_t point[3], double limit2, double *distance2);
};
const struct halo_kernels *halo_kernels_select(void);

#ifdef KERNEL_ISA
KERNEL_FUNCTION(halo_kernels, potentials, halo_potentials);
KERNEL_FUNCTION(halo_kernels, nearest, halo_nearest);
KERNEL_FUNCTION(halo_kernels, keep_inside, halo_keep_inside);
KERNEL_FUNCTION(halo_kernels, distances, halo_distances);
KERNEL_FUNCTION(fof_kernels, near_point, fof_near_point);
KERNEL_FUNCTION(fof_kernels, near_box, fof_near_box);
#endif

#endif
