/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Measurements on the particles at an output: power spectrum and pictures. Functions are
 * collective, with each rank's own particles, unless marked local. */
#ifndef PHOTONS_ANALYSIS_H
#define PHOTONS_ANALYSIS_H

#include <stdbool.h>

#include "photons/config/parameters.h"
#include "photons/cosmology/cosmology.h"
#include "photons/domain/particles.h"

struct fft;
struct linear_power;
struct linear_theory;
struct provenance;

/** One bin of a measured power spectrum. */
struct power_bin {
  double k;     /**< mean |k| of the modes, h/Mpc */
  double power; /**< (Mpc/h)^3, shot noise not subtracted, assignment window deconvolved */
  double modes; /**< independent modes (k and -k count once), > 0; standard error of P: P /
                     sqrt(modes) */
};

/**
 * Measure P(k) of the mass: PCS on a mesh of `mesh` cells a side, interlaced, window deconvolved, up to three
 * quarters of the mesh's Nyquist frequency. Larger k are measured by folding the box (positions
 * shifted left by f bits), the last fold up to its Nyquist frequency. Bins are one fundamental mode
 * wide at the low end and logarithmic above. No bin is empty. With StarPU running, the work is done
 * in tasks on all workers. Meshes and particles are distributed over the ranks. Results agree to
 * 1e-14 for any number of ranks and do not depend on the order of the particles.
 * @param mesh   cells a side, >= 4
 * @param folds  largest f
 * @param[out] count  number of bins
 * @return on every rank: bins in order of k, to be freed with free()
 */
struct power_bin *power_measure(const struct particles *s, size_t mesh, unsigned folds,
                                size_t *count);

/**
 * Measure P(k) of a density on a cube of cells, whose window is deconvolved, up to the Nyquist
 * frequency. Bins are one fundamental mode wide. The bits are the same on any number of ranks.
 * Collective.
 * @param f       of the cells, in double precision, not padded
 * @param memory  values of the density, in any unit; lost
 * @return on every rank: bins in order of k, to be freed with free()
 */
struct power_bin *power_measure_cells(const struct fft *f, double *memory, double box,
                                      size_t *count);

/** The number of particles of one mass that would have the same shot noise, (sum of m)^2 / sum of
 * m^2: N itself where all have one mass. Rounding depends on the number of ranks. */
double power_effective_number(const struct particles *s);

/** Where P(k) of a run is measured. */
struct power_range {
  size_t mesh; /**< cells a side */
  unsigned folds;
};
/** The mesh of the forces, and two folds; with forces of the mesh alone, which are smooth beyond the particles'
 * Nyquist frequency, as many cells a side as particles, and none.
 * @param mesh  cells a side of the forces */
struct power_range power_range_of(const struct parameters *p, size_t particles, size_t mesh);

/** Most bytes that power_measure() needs on one rank besides the particles; 0 if the parameters ask
 * for no power spectrum. Local. */
double power_memory(const struct parameters *p, size_t particles, size_t mesh);

/** Write powerspec_NNN.txt: k, P, Nmodes, Pshot, Plinear(z), Phalofit(z). Header lines give a, z,
 * box, mesh, N, growth and, with @p regular, k_noise: below this wave number P has no shot noise.
 * Local.
 * @param s           its box and number of particles; 0: there is no shot noise
 * @param effective   power_effective_number() of them
 * @param regular     the particles began on a grid or a glass; false: not known
 * @param linear      without a spectrum its columns are 0
 * @param provenance  NULL: is not written */
void power_write(const char *path, const struct power_bin *bins, size_t count,
                 const struct particles *s, double effective, bool regular, size_t mesh,
                 const struct linear_theory *linear, const struct provenance *provenance);

/** A picture of the density projected along z. */
struct image {
  const char *path;
  size_t pixels;  /**< a side, 64 .. 4096 */
  size_t lattice; /**< side of the lattice whose points the ids number, as those of ic_generate()
                         do; 0: not known */
  double a;       /**< scale factor, for the label */
  double
      thickness; /**< of the slice about the middle of the box that is drawn, over the box; 1: all */
  double low, high; /**< log10 of the density over the mean, drawn black and brightest; chosen from
                         the picture where low >= high */
};

enum { IMAGES_MOST = 2 };

/**
 * Write PNGs of the logarithm of the projected density over the mean, with redshift, depth, a
 * scale bar and a colour bar; rank 0 writes. With a lattice the density is that of the phase-space
 * sheet; without one, or if the ids are not those of the lattice, particles are smoothed as widely
 * as those about them are apart. The pictures are the same for any number of ranks and workers, and
 * any order of the particles.
 * @param image  [count <= IMAGES_MOST], of one lattice and with the same number of pixels
 */
void images_write(const struct particles *s, const struct image *image, size_t count);

/**
 * Write a PNG of the surface density of an isolated system, of all particles but those of the halo
 * if there are others: face-on, along z, above edge-on, along y. Both show a cube about the origin
 * of snapshots, of the second the middle half. Colours follow from mass and side alone, so that all
 * frames of a movie have the same. Collective; rank 0 writes.
 * @param side    of the cube, kpc
 * @param pixels  across
 * @param moment  text, such as "t = 100 Myr"
 */
void image_write_isolated(const struct particles *s, const char *path, double side, size_t pixels,
                          const char *moment);

/** Bytes that the pictures of an output take on all ranks together; 0 where there are none.
 * Local. */
double image_memory(const struct parameters *p, size_t particles);

#endif
