/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Displacement fields of generated initial conditions: random phases, second order, reading at a point. Meshes are distributed
 * over the processes as slab_fft.h has it, and the same whatever their number.
 *
 * Of the modes of the mesh, one scalar A each is kept, from which the displacement comes as Psi_k = k A_k, k in h/Mpc;
 * the rest of a mode's story (which are used, their order) is N-GenIC's and 2LPTic's. */
#ifndef PHOTONS_IC_DISPLACEMENT_H
#define PHOTONS_IC_DISPLACEMENT_H

#include <fftw3.h>
#include <stdbool.h>
#include <stddef.h>

#include "photons/cosmology/cosmology.h"
#include "photons/mesh/slab_fft.h"
#include "photons/runtime/stage.h"

/** Loops of initial conditions. */
extern struct stage initial_conditions_stage;

struct parameters;
struct linear_power;

/**
 * Random first-order modes: A_k = i delta_k/k^2 with |delta_k|^2 L^3 = -P(k) ln(u) d1^2 (or P(k) d1^2: ic.fixed).
 * Zero at k = 0, where a component is the mesh's Nyquist frequency, and beyond the particles' Nyquist frequency.
 * @param f           the mesh's share of this process
 * @param d1          growth factor to scale P(k) of z = 0 with
 * @param[out] modes  [ky here][kx][kz]
 */
void ic_random_modes(const struct parameters *p, const struct linear_power *power, const struct slab_fft *f, double d1,
                     fftw_complex *modes);

struct displacement {
  struct slab_fft fft;
  double scale;           /**< h/Mpc of the fundamental mode */
  bool between;           /**< particles stand between mesh points */
  double *window;         /**< by index along a side: the inverse window of the interpolation, or 1 */
  fftw_complex *modes[2]; /**< A of first and second order, [ky here][kx][kz]; [1] is NULL with ic.order = 1 */
  double *field[2];       /**< one component of the displacement, Mpc/h: [x here, and the next if `between`][y][2 kz] */
};

/**
 * The displacement fields at the redshift whose growth is @p g. On every process, as displacement_transform().
 * @param mesh     cells a side, even
 * @param between  particles will stand between mesh points: undo the smoothing of cloud-in-cell interpolation, whose
 *                 window is the mean over all places in a cell
 */
struct displacement displacement_create(const struct parameters *p, const struct linear_power *power,
                                        const struct growth *g, size_t mesh, bool between);
/** Compute component @p axis of first and second order into field[]. */
void displacement_transform(struct displacement *d, unsigned axis);
/** The component of all orders at a point given in mesh cells (0 <= q < mesh), by cloud-in-cell; exact at mesh points.
 * The plane x = floor(q[0]) must be this process's. */
void displacement_read(const struct displacement *d, const double q[3], double psi[2]);
void displacement_free(struct displacement *d);

#endif
