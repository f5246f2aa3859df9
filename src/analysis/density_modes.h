/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The density contrast of particles as waves, delta(x) = sum over k of delta_k exp(i k x), on a mesh that is
 * distributed over the ranks: from which multipoles, correlation function and bispectrum follow. */
#ifndef PHOTONS_DENSITY_MODES_H
#define PHOTONS_DENSITY_MODES_H

#include "photons/domain/particles.h"
#include "photons/fft/fft.h"

struct density_modes {
  struct fft fft; /**< double precision, as many cells along each axis */
  double box;     /**< Mpc/h */
  double *
      memory; /**< complex delta_k where fft.modes says; 0 where k = 0 and where |k| is not below the
                       Nyquist frequency */
};

/**
 * Deposit particles as power_measure() does: PCS, interlaced, the window deconvolved. Collective.
 * @param s               at least one particle; with @p redshift_space their momenta are read, too
 * @param n               cells a side, >= 4
 * @param redshift_space  what a momentum of 1 km/s along z adds to z, in units of the box; 0: real space
 */
struct density_modes density_modes_create(const struct particles *s, size_t n,
                                          double redshift_space);
void density_modes_free(struct density_modes *d);
/** Memory for the numbers of such a mesh, filled with zeros; fftw_free() it. */
double *density_modes_memory(const struct fft *f);
/** Most bytes that density_modes_create() takes on one rank, and those that one more mesh takes. */
double density_modes_peak(size_t particles, size_t n);
double density_modes_bytes(size_t n);

/** delta_k, or another number of a mesh of modes. @param at  of fft_at() */
static inline double *mode_at(double *memory, size_t at) { return memory + 2 * at; }

/** Bins of |k| one fundamental mode wide: bin i is around i fundamental modes, 0 < i < mode_bins(), bin 0 is
 * empty. All are wholly below the Nyquist frequency. The same bins are of |x| in cells. */
static inline size_t mode_bins(size_t n) { return (n + 1) / 2; }

/**
 * Add what a number contributes to the sums of its bin, to zeros.
 * @param at      place of the number in memory: of fft_at()
 * @param k       frequencies of a mode, or cells from the origin, by axis
 * @param weight  1, or 1/2 for modes of the plane k2 = 0, which has both k and -k
 * @param sums    [kinds]
 */
typedef void bin_work(const void *context, size_t at, const double k[3], double weight,
                      double *sums);

/** Add up all modes by bins, the same bits on any number of ranks and workers. Collective.
 * @param kinds        sums of a bin, 8 at most
 * @param[out] result  [mode_bins()][kinds], on all ranks */
void modes_bin(const struct fft *f, size_t kinds, bin_work *work, const void *context,
               double *result);
/** The same of values, by their distance from the origin of the periodic box. */
void values_bin(const struct fft *f, size_t kinds, bin_work *work, const void *context,
                double *result);

#endif
