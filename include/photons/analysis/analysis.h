/* What is computed from the particles at an output: power spectrum and pictures. Functions for all processes, each with its share of
 * the particles, unless marked local. */
#ifndef PHOTONS_ANALYSIS_H
#define PHOTONS_ANALYSIS_H

#include "photons/cosmology/cosmology.h"
#include "photons/config/parameters.h"
#include "photons/domain/particles.h"

struct linear_power;

/** One bin of a measured power spectrum. */
struct power_bin {
  double k;     /**< mean |k| of the modes, h/Mpc */
  double power; /**< (Mpc/h)^3, shot noise not subtracted, assignment window deconvolved */
  double modes; /**< independent modes (k and -k count once), > 0; standard error of P: P / sqrt(modes) */
};

/**
 * Measure P(k): PCS on a mesh of `mesh` cells a side, interlaced, window deconvolved, up to three quarters of the mesh's
 * Nyquist frequency; beyond by folding the box (positions shifted left by f bits), the last fold up to its Nyquist
 * frequency. Bins are one fundamental mode wide at the low end, logarithmic above. No empty bins. Tasks over all workers where
 * StarPU runs.
 * @param mesh  cells a side, >= 4
 * @param folds largest f
 * Meshes and particles are dealt out over the processes; results agree to 1e-14 for any number of them, and do not depend on the order of
 * the particles.
 * @param[out] count number of bins
 * @return on every process: bins in order of k; free() it
 */
struct power_bin *power_measure(const struct particles *s, size_t mesh, unsigned folds, size_t *count);

/** Bytes that power_measure() needs at most on a process, at times, beside the particles; 0 where the parameters ask for none. Local. */
double power_memory(const struct parameters *p, size_t particles, size_t mesh);

/** Local. Write powerspec_NNN.txt: k, P, Nmodes, Pshot, Plinear(z), Phalofit(z); header lines give a, z, box, mesh, N, growth.
 * @param linear  NULL: unknown, its columns are 0 */
void power_write(const char *path, const struct power_bin *bins, size_t count, const struct particles *s, size_t mesh,
                 double a, const struct linear_power *linear, const struct cosmology *cosmology);

/**
 * Write a PNG of the log of the density projected along z, with a scale bar; the first process writes it. The same for any number
 * of processes and any order of the particles.
 * @param pixels     a side; 0: chosen from the number of particles
 * @param thickness  over the box: the particles of a slice about its middle; 1: all
 */
void image_write(const char *path, const struct particles *s, size_t pixels, double a, double thickness);

/** Bytes that a picture takes at most on all ranks together; 0 where the parameters ask for none. Local.
 * @param groups  of all ranks */
double image_memory(const struct parameters *p, size_t particles, size_t groups);

#endif
