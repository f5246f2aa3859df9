/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Kernels that find candidates for friends-of-friends links, potentials and neighbours in halos, and that deposit particles
 * for power spectra. struct fof_kernels, struct halo_kernels and struct power_kernels are tables of them; each instruction
 * set has one of each. */
#ifndef PHOTONS_ANALYSIS_KERNELS_H
#define PHOTONS_ANALYSIS_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "photons/runtime/isa.h"

enum { FOF_PADDING = 16 }; /**< numbers behind those that are listed, which may be written, too */
/** The array `index` has room for n numbers and FOF_PADDING more. The first two functions return the number of candidates. */
struct fof_kernels {
  /** Particles at a squared distance <= limit2 (position units, float rounding). FOF_PADDING numbers follow the coordinates. */
  uint32_t (*near_point)(uint32_t n, const uint32_t *x, const uint32_t *y, const uint32_t *z,
                         const uint32_t point[3], float limit2, uint32_t *index);
  /** Particles in the periodic box [low, low + extent], float rounding. */
  uint32_t (*near_box)(uint32_t n, const uint32_t *x, const uint32_t *y, const uint32_t *z,
                       const uint32_t low[3], const uint32_t extent[3], uint32_t *index);
  /** The periodic box [low, low + extent] around n > 0 particles, each less than half the box from the first one. */
  void (*measure_box)(uint32_t n, const uint32_t *x, const uint32_t *y, const uint32_t *z,
                      uint32_t low[3], uint32_t extent[3]);
};

/** The table for the instruction set of isa_select(). */
const struct fof_kernels *fof_kernels_select(void);

struct halo_sources;
enum {
  HALO_AXES = 6,         /**< of phase space: three of position and three of velocity */
  HALO_POINTS = 32,      /**< whose potentials are found at a time: near each other that is fast */
  HALO_PAIRS = 1024,     /**< most particles of which all pairs are summed, a multiple of 16 */
  HALO_NEAREST_MOST = 20 /**< most particles that a search for the nearest ones finds */
};

/** Points in a halo. */
struct halo_points {
  float x[3][HALO_POINTS]; /**< all numbers are finite, those behind `count`, too */
  double sum[HALO_POINTS];
  int count;
};

enum {
  HALO_SINGLE_PADDING = 16
}; /**< floats behind those of the last particle, which are read, too */

/** Particles of consecutive places in a tree. */
struct halo_range {
  uint32_t first, end;
};

/** A box in phase space. */
struct halo_box {
  float middle[HALO_AXES], half[HALO_AXES];
};

/** Boxes of rounded coordinates. HALO_SINGLE_PADDING numbers follow each list. */
struct halo_boxes {
  float *middle[HALO_AXES], *half[HALO_AXES];
  uint32_t count;
  double rounding; /**< at least what rounding changes of the distance of two of them */
};

/** Particles of a crowd that a word of marks has bits for. */
enum { HALO_CROWD_MARKED = 64 };

/** Particles among which the nearest ones to points in a box are looked for. HALO_SINGLE_PADDING numbers follow each list. */
struct halo_crowd {
  const double (*x)[HALO_AXES]; /**< [place in a tree]; finite */
  float *single[HALO_AXES];     /**< [count] rounded coordinates */
  uint32_t *place;              /**< [count] rising */
  float *distance2; /**< [count, and up to a multiple of HALO_CROWD_MARKED] of a search */
  uint64_t *marked; /**< [words of all particles] a bit for each, of a search */
  uint32_t count;
  double rounding; /**< at least what rounding changes of the distance of two particles */
};

/** A particle near a point. */
struct neighbour {
  double distance2;
  uint32_t index; /**< its place */
};

/** What sums over the members of a halo are about: those in a sphere about a point, and their momenta less one. Grids are
 * those of halo_grid() for the sizes of positions, their squares and so on. */
struct halo_frame {
  uint32_t centre[3];
  double radius2; /**< position units */
  double momentum[3];
  double grid_x, grid_xx, grid_p, grid_pp, grid_xp;
};

/** Sums of count 1, x, x_i x_j (xx, yx, yy, zx, zy, zz), p, p.p, x.p and x cross p; x in position units about the centre,
 * p less the momentum of the frame. */
struct halo_sums {
  double count, x[3], xx[6], p[3], pp, xp, cross[3];
};

struct halo_kernels {
  /** sum[k] = sum 1/sqrt(r^2 + softening^2) over the particles of a tree (src/analysis/halo_sources.h). Nodes that are seen
   * at less than a certain angle act as their mass at their centre. */
  void (*potentials)(const struct halo_sources *s, float softening, struct halo_points *p);
  /** The same sums at the places of the sources themselves, over all pairs and each particle itself. They need no tree.
   * @param s  at most HALO_PAIRS sources */
  void (*pairs)(const struct halo_sources *s, float softening, double *sum);
  /** List boxes that are no further than a distance from a box, by rising number.
   * @param[out] index  has room for all boxes and HALO_SINGLE_PADDING more
   * @return their number */
  uint32_t (*boxes_near)(const struct halo_boxes *b, const struct halo_box *from, double reach,
                         uint32_t *index);
  /** Make a crowd of those particles of ranges that are no further than a distance from a box.
   * @param single  [axis][place] rounded coordinates
   * @param range   by rising place */
  void (*crowd_fill)(struct halo_crowd *c, float *const single[HALO_AXES], uint32_t ranges,
                     const struct halo_range *range, const struct halo_box *from, double reach);
  /** The nearest to a point among the particles of a crowd that are no further than a distance: by rising distance,
   * particles at one distance by rising place.
   * @param limit2      a squared distance within which they may be
   * @param reach2      the largest, squared
   * @param most        at most HALO_NEAREST_MOST
   * @param[out] found  [most]; undefined where there are fewer
   * @return their number, at most @p most */
  uint32_t (*nearest)(const struct halo_crowd *c, const double point[HALO_AXES], double limit2,
                      double reach2, uint32_t most, struct neighbour *found);
  /** The density at a point of phase space, in an arbitrary unit: a cubic spline (Monaghan & Lattanzio 1985, A&A 149, 135)
   * as wide as the distance of the last neighbour, summed over all of these. HUGE_VAL: they are at one place.
   * @param n     1 .. HALO_NEAREST_MOST
   * @param near  [n] by rising distance */
  double (*smoothed)(uint32_t n, const struct neighbour *near);
  /* Points whose coordinates are position units from a reference, as signed numbers: */
  /** The largest squared distance from a point, float rounding. */
  float (*farthest2)(size_t n, uint32_t *const position[3], const uint32_t centre[3]);
  /** Which of the points that were inside before are in a sphere, too.
   * @param inside    [n] -1: inside, 0: not
   * @param[out] sum  of the coordinates of those inside
   * @return their number */
  size_t (*stay_inside)(size_t n, uint32_t *const position[3], const uint32_t centre[3],
                        float radius2, int32_t *inside, int64_t sum[3]);
  /** Leave only the points inside, in their order. @return their number */
  size_t (*keep)(size_t n, uint32_t *const position[3], int32_t *inside);
  /** Distances of particles to a point, position units, those above a limit left out.
   * @param limit2         squared
   * @param[out] distance  has room for n numbers, and is written there beyond those that are found, too
   * @return their number */
  uint32_t (*distances)(uint32_t n, const uint32_t *x, const uint32_t *y, const uint32_t *z,
                        const uint32_t point[3], double limit2, double *distance);
  /** The largest size of a component. */
  float (*fastest)(size_t n, const float *x, const float *y, const float *z);
  /** Sums that do not depend on the order. @param grid  of halo_grid() */
  void (*momenta)(size_t n, float *const momentum[3], double grid, double sum[3]);
  void (*sums)(size_t n, uint32_t *const position[3], float *const momentum[3],
               const struct halo_frame *f, struct halo_sums *out);
};
const struct halo_kernels *halo_kernels_select(void);

/** Where particles are deposited for a power spectrum: two meshes, the second shifted by half a cell. */
struct power_target {
  int32_t *mesh[2];
  size_t n; /**< cells a side of the whole mesh */
  /** Where planes begin in memory, in bytes, the same of rows, and of the first cells along z: power_places(). */
  const size_t *plane, *row, *column;
  float per_unit; /**< deposits are multiples of 1 over this many mean masses */
};

enum { POWER_ROWS = 16 };
struct power_kernels {
  /** Deposit particles on both meshes, to the bits of power_spline() (src/analysis/power_deposit.h).
   * @param x     [count] positions, the box is 2^32; all of their cells are in memory
   * @param mass  [count] over the mean; NULL: 1
   * @return whether a cell became negative: it holds more than an integer can represent */
  bool (*deposit)(const struct power_target *t, size_t count, const uint32_t (*x)[3],
                  const float *mass);
  /** Make complex numbers of POWER_ROWS rows of n cells of both meshes, less a mean. What was deposited on the three cells behind a
   * row belongs to the first three.
   * @param row         [mesh][POWER_ROWS] are read up to a multiple of four cells, n + 6 at most
   * @param[out] lines  [n][POWER_ROWS] complex numbers, and up to n + 6 are written */
  void (*weave)(size_t n, const int32_t *const row[2][POWER_ROWS], int32_t mean, float *lines);
};
const struct power_kernels *power_kernels_select(void);

#ifdef KERNEL_ISA
KERNEL_FUNCTION(halo_kernels, potentials, halo_potentials);
KERNEL_FUNCTION(halo_kernels, pairs, halo_pairs);
KERNEL_FUNCTION(halo_kernels, boxes_near, halo_boxes_near);
KERNEL_FUNCTION(halo_kernels, crowd_fill, halo_crowd_fill);
KERNEL_FUNCTION(halo_kernels, nearest, halo_nearest);
KERNEL_FUNCTION(halo_kernels, smoothed, halo_smoothed);
KERNEL_FUNCTION(halo_kernels, farthest2, halo_farthest2);
KERNEL_FUNCTION(halo_kernels, stay_inside, halo_stay_inside);
KERNEL_FUNCTION(halo_kernels, keep, halo_keep);
KERNEL_FUNCTION(halo_kernels, distances, halo_distances);
KERNEL_FUNCTION(halo_kernels, fastest, halo_fastest);
KERNEL_FUNCTION(halo_kernels, momenta, halo_momenta);
KERNEL_FUNCTION(halo_kernels, sums, halo_sums);
KERNEL_FUNCTION(fof_kernels, near_point, fof_near_point);
KERNEL_FUNCTION(fof_kernels, near_box, fof_near_box);
KERNEL_FUNCTION(fof_kernels, measure_box, fof_measure_box);
KERNEL_FUNCTION(power_kernels, deposit, power_deposit_points);
KERNEL_FUNCTION(power_kernels, weave, power_weave);
#endif

#endif
