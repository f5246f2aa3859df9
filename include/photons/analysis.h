/* What is computed from the particles at an output: power spectrum and pictures. */
#ifndef PHOTONS_ANALYSIS_H
#define PHOTONS_ANALYSIS_H

#include "photons/parameters.h"
#include "photons/particles.h"

struct linear_power;

/** One bin of a measured power spectrum. */
struct power_bin {
  double k;     /**< mean |k| of the modes, h/Mpc */
  double power; /**< (Mpc/h)^3, shot noise not subtracted, assignment window deconvolved */
  double modes; /**< independent modes (k and -k count once), > 0; standard error of P: P / sqrt(modes) */
};

/**
 * Measure P(k): PCS on a mesh of `mesh` cells a side, interlaced, window deconvolved; beyond half the mesh's Nyquist
 * frequency by folding the box (positions shifted left by f bits), 0 <= f <= folds. Bins are one fundamental mode wide at
 * the low end, logarithmic above; each uses the fold in which the mesh is accurate. No empty bins.
 * @param mesh  cells a side, >= 4
 * @param[out] count number of bins
 * @return bins in order of k; free() it
 */
struct power_bin *power_measure(const struct particles *s, size_t mesh, unsigned folds, size_t *count);

/** Write powerspec_NNN.txt: k, P, Nmodes, Pshot, Plinear(z); header lines give a, z, box, mesh, N. */
void power_write(const char *path, const struct power_bin *bins, size_t count, const struct particles *s, size_t mesh,
                 double a, const struct linear_power *linear, double growth_d1);

/** Write a PNG of the log of the density projected along z, `pixels` a side, with a scale bar. */
void image_write(const char *path, const struct particles *s, size_t pixels, double a);

#endif
