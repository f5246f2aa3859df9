/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Displacement fields of generated initial conditions: random phases, second and third order, interpolation
 * to a point. Meshes are distributed over the ranks as described in photons/fft/fft.h. The fields are the
 * same for any number of ranks.
 *
 * For each mode of the mesh one scalar A is stored, from which the displacement follows as Psi_k =
 * k A_k, k in h/Mpc. Which modes are used, and the order in which their random numbers are drawn,
 * are those of N-GenIC and 2LPTic. */
#ifndef PHOTONS_IC_DISPLACEMENT_H
#define PHOTONS_IC_DISPLACEMENT_H

#include <fftw3.h>
#include <stdbool.h>
#include <stddef.h>

#include "ic_wave_growth.h"
#include "photons/cosmology/cosmology.h"
#include "photons/fft/fft.h"
#include "photons/runtime/stage.h"

/** Loops of initial conditions. */
extern struct stage initial_conditions_stage;

struct parameters;
struct linear_power;

/**
 * Random first-order modes: A_k = i delta_k/k^2 with |delta_k|^2 L^3 = -P(k) ln(u) d1^2 (or P(k)
 * d1^2: ic.fixed), where d1 is wave_growth(). Zero at k = 0, where a component is the mesh's Nyquist frequency, and beyond the
 * particles' Nyquist frequency. Collective.
 * @param f           mesh and the modes of this rank
 * @param[out] modes  where f->modes says
 */
void ic_random_modes(const struct parameters *p, const struct linear_power *power,
                     const struct wave_growth *growth, const struct fft *f, fftw_complex *modes);

/**
 * Give first-order modes local non-Gaussianity: the primordial potential phi that belongs to them becomes
 * phi + ic.f_nl (phi^2 - <phi^2>). Modes that are 0 stay so. Collective.
 * @param growth  of the modes
 * @param modes  of ic_random_modes()
 * @param scratch  [fft_bytes(f)]
 */
void ic_add_local_term(const struct parameters *p, const struct linear_power *power,
                       const struct wave_growth *growth, const struct cosmology *c,
                       const struct fft *f, fftw_complex *modes, double *scratch);

/** Displacements of each order, and what the first becomes in a unit of ln a, over f1: the same
 * where all waves grow alike. */
enum displacement_field { FIRST_ORDER, SECOND_ORDER, THIRD_ORDER, FIRST_RATE, DISPLACEMENT_FIELDS };

struct lattice_growth;

struct displacement {
  struct fft fft;
  double scale;   /**< h/Mpc of the fundamental mode */
  bool between;   /**< particles lie between mesh points */
  double *window; /**< by index along a side: inverse of the interpolation window, or 1 */
  /** A of each field, where fft.modes says; NULL: SECOND_ORDER with ic.order = 1, THIRD_ORDER, FIRST_RATE
   * where all waves grow alike. */
  fftw_complex *modes[DISPLACEMENT_FIELDS];
  /** The third order is no gradient: the modes of its components; NULL with ic.order < 3. */
  fftw_complex *third[3];
  /** One component of the displacement, Mpc/h, where fft.values says; if `between`, the row behind the last
   * one of this rank follows in each plane, and the plane behind the last one. NULL: there is no such displacement. */
  double *field[DISPLACEMENT_FIELDS];
  /** NULL: the first order grows as that of a fluid. Else displacement_transform() makes it so that it does by the
   * time when D1 is `growth` times as large, and has directions and rates of waves on a grid of particles. */
  struct lattice_growth *lattice;
  double growth, particles; /**< particles: along the box */
};

/** The most meshes of the mesh's size that are in use at a time. */
size_t displacement_meshes(const struct parameters *p);

/**
 * Make the modes of the displacement fields of first and second order at the scale factor of @p waves, with the growth
 * factors @p g. Collective.
 * @param mesh     cells a side, even
 * @param between  particles will lie between mesh points: the modes are divided by the window of
 *         cloud-in-cell interpolation, averaged over all positions in a cell
 */
struct displacement displacement_create(const struct parameters *p,
                                        const struct linear_power *power,
                                        const struct wave_growth *waves, const struct growth *g,
                                        size_t mesh, bool between);
/** Make the modes of one order from those of the orders below. Collective. The third order is apart: it is to be
 * made after displacement_create() with ic.order = 3. */
void second_order_modes(struct displacement *d, const struct growth *g);
void third_order_modes(struct displacement *d, const struct growth *g,
                       const struct third_growth *third);
/** Allocate numbers or modes without touching the memory: tasks touch it first. fftw_free() it.
 * @param next  with room for one more plane */
void *displacement_planes(const struct displacement *d, bool next);
/** Wavenumber for derivatives, in units of the fundamental mode. The slope of a wave at the Nyquist
 * frequency vanishes at mesh points, hence 0. (2LPTic has -mesh/2 there. At z = 49 that changes the
 * second-order displacement by 7 % and the whole displacement by 3e-4.) */
double displacement_frequency(const struct displacement *d, size_t i);
/** Compute dPsi_a/dq_b of the first or second order where fft.values says. Collective. */
double *displacement_gradient(const struct displacement *d, enum displacement_field order,
                              unsigned a, unsigned b, double *field);
/** Give the mesh cells in the place of points: from now on fields are means over those cells of which
 * the points are the lowest corners. */
void displacement_average(struct displacement *d);
/** Compute minus the divergence of the first-order displacement, the density contrast of linear
 * theory, into field[0]. Collective. */
void displacement_contrast(struct displacement *d);
/** Compute component @p axis of all fields. Collective. */
void displacement_transform(struct displacement *d, unsigned axis);
/** Receive the row behind this rank's rows, and the plane behind its planes, of a component. Collective. */
void displacement_fetch_edges(const struct displacement *d, double *field);
/** Interpolate the component of all fields to a point given in mesh cells (0 <= q < mesh), by
 * cloud-in-cell; exact at mesh points. The plane floor(q[0]) and its row floor(q[1]) must be of this rank. */
void displacement_read(const struct displacement *d, const double q[3],
                       double psi[DISPLACEMENT_FIELDS]);
void displacement_free(struct displacement *d);

#endif
