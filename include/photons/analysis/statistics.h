/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Statistics of the density beside P(k): multipoles in redshift space, correlation function, bispectrum, and
 * the power spectrum and bias of halos. All are measured on a mesh that is distributed over the ranks, and are
 * the same, bit by bit, on any number of ranks and workers. Measuring functions are collective, and return
 * the same array on every rank, to be freed with free(). Nothing is subtracted from what they measure. Writing
 * functions are local. */
#ifndef PHOTONS_STATISTICS_H
#define PHOTONS_STATISTICS_H

#include <stddef.h>

#include "photons/analysis/halo.h"
#include "photons/config/parameters.h"
#include "photons/cosmology/cosmology.h"
#include "photons/cosmology/linear_theory.h"
#include "photons/domain/particles.h"

struct provenance;
struct density_modes;

/** Cells a side of their mesh: analysis.statistics_mesh, or as many as @p mesh has, 256 at most. */
size_t statistics_mesh(const struct parameters *p, size_t mesh);
/** Whether the parameters ask for one of them. Local. */
bool statistics_wanted(const struct parameters *p);
/** Most bytes that they need on one rank besides the particles. Local. @param mesh  of statistics_mesh() */
double statistics_memory(const struct parameters *p, size_t particles, size_t mesh);

/** What all of their files say of the state. */
struct statistics_state {
  double box;                          /**< Mpc/h */
  size_t mesh;                         /**< cells a side */
  size_t number;                       /**< of particles */
  struct linear_theory linear;         /**< without a spectrum theory is 0 */
  const struct provenance *provenance; /**< NULL: is not written */
};

/** One bin of multipoles in redshift space, seen along z from far away. */
struct multipole_bin {
  double k;        /**< mean |k|, h/Mpc */
  double power[3]; /**< P0, P2, P4, (Mpc/h)^3 */
  double theory
      [3]; /**< the same of linear theory for the same waves, P(k) (1 + f mu^2)^2 (Kaiser 1987, MNRAS 227, 1); 0
                         without a spectrum */
  double modes; /**< k and -k count once */
};

/** Measure P_l(k) = (2 l + 1) <P(k) L_l(k_z/|k|)> of particles in redshift space, which need momenta. Bins
 * are one fundamental mode wide. @param mesh  cells a side, >= 4 */
struct multipole_bin *multipoles_measure(const struct particles *s,
                                         const struct linear_theory *linear, size_t mesh,
                                         size_t *count);
/** Write multipoles_NNN.txt. */
void multipoles_write(const char *path, const struct multipole_bin *bins, size_t count,
                      const struct statistics_state *state);

/** One bin of separations. */
struct correlation_bin {
  double r;     /**< mean separation, Mpc/h */
  double xi;    /**< mean correlation of the density contrast */
  double pairs; /**< of cells: separations on the mesh in the bin */
};

/** Measure xi(r), the transform of |delta_k|^2, in bins one cell wide. @p modes stay as they are. */
struct correlation_bin *correlation_measure(const struct density_modes *modes, size_t *count);
/** Write correlation_NNN.txt, beside linear theory. */
void correlation_write(const char *path, const struct correlation_bin *bins, size_t count,
                       const struct statistics_state *state);

/** The mean of all triangles whose sides are in three shells. */
struct bispectrum_bin {
  double k[3];            /**< mean |k| in each shell, h/Mpc */
  double power[3];        /**< of each shell, (Mpc/h)^3 */
  double bispectrum;      /**< (Mpc/h)^6 */
  double triangles;       /**< with k and -k, and with their sides in all orders */
  double low[3], high[3]; /**< of each shell, low <= |k| < high, fundamental modes */
};

/**
 * Measure the bispectrum of equilateral triangles, then of squeezed ones, whose first side is in the shell of
 * 1 .. 3 fundamental modes, and is at most a quarter of the others. Triangles are counted and summed by
 * Fourier transforms (Scoccimarro 2015, Phys. Rev. D 92, 083532). Shells are as wide as a fundamental mode or
 * a fifth of k, and end at a third of the mesh's cells, above which periodic images would make triangles.
 */
struct bispectrum_bin *bispectrum_measure(const struct density_modes *modes, size_t *count);
/** Linear theory of a bin. */
struct bispectrum_theory {
  double power[3];   /**< mean of each shell, (Mpc/h)^3 */
  double bispectrum; /**< mean of linear_theory_bispectrum() over the triangles, (Mpc/h)^6 */
};

/** The mean over triangles whose sides have all directions. That of isosceles ones would be wrong by half where the long
 * wave is shorter than the other shell is wide. */
struct bispectrum_theory bispectrum_theory_of(const struct linear_theory *linear, double box,
                                              const struct bispectrum_bin *bin);
/** Write bispectrum_NNN.txt, beside this theory. */
void bispectrum_write(const char *path, const struct bispectrum_bin *bins, size_t count,
                      const struct statistics_state *state);

/** One bin of the power of halos and matter. */
struct halo_power_bin {
  double k;                    /**< mean |k|, h/Mpc */
  double halos, cross, matter; /**< of halos, of halos with matter, of matter: (Mpc/h)^3 */
  double modes;                /**< k and -k count once */
};

/** Measure the power of halos, each of them a point of equal weight at its centre of mass.
 * @param modes  of all matter
 * @param[out] count  0: there is no halo */
struct halo_power_bin *halo_power_measure(const struct density_modes *modes,
                                          const struct halo_catalogue *halos, size_t *count);
/** The mean bias of these halos by Tinker et al. 2010, of their friends-of-friends masses; 0 without halos or
 * @p linear. Collective; the same bits on any number of ranks. */
double halo_mean_bias(const struct halo_catalogue *halos, const struct linear_theory *linear);
/** Write halopower_NNN.txt, beside linear_theory_bias(). @param halos  of the run @param bias  of halo_mean_bias() */
void halo_power_write(const char *path, const struct halo_power_bin *bins, size_t count,
                      size_t halos, double bias, const struct statistics_state *state);

#endif
