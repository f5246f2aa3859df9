/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Random phases and amplitudes of initial conditions, drawn in the order of N-GenIC and 2LPTic. */
#include <complex.h> /* first: makes fftw_complex a C complex number */

#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "ic_displacement.h"
#include "photons/error.h"
#include "photons/linear_power.h"
#include "photons/parameters.h"

static gsl_rng *generator_create(void) {
  gsl_rng *generator = gsl_rng_alloc(gsl_rng_ranlxd1);
  if (!generator) fail(EXIT_RUN_FAILED, "not enough memory for a random number generator");
  return generator;
}

static uint32_t draw_seed(gsl_rng *generator) { return (uint32_t)(0x7fffffff * gsl_rng_uniform(generator)); }

/* A seed for each column (i, j) of modes. The order is from low to high frequencies, so that a finer mesh has the same
 * large-scale modes. */
static uint32_t *column_seeds(gsl_rng *generator, uint64_t seed, size_t n) {
  uint32_t *seeds = allocate(n * n, sizeof *seeds, "random seeds of initial conditions");
  gsl_rng_set(generator, (unsigned long)seed);
  for (size_t i = 0; i < n / 2; i++) {
    const size_t last = n - 1;
    for (size_t j = 0; j < i; j++) seeds[i * n + j] = draw_seed(generator);
    for (size_t j = 0; j <= i; j++) seeds[j * n + i] = draw_seed(generator);
    for (size_t j = 0; j < i; j++) seeds[(last - i) * n + j] = draw_seed(generator);
    for (size_t j = 0; j <= i; j++) seeds[(last - j) * n + i] = draw_seed(generator);
    for (size_t j = 0; j < i; j++) seeds[i * n + (last - j)] = draw_seed(generator);
    for (size_t j = 0; j <= i; j++) seeds[j * n + (last - i)] = draw_seed(generator);
    for (size_t j = 0; j < i; j++) seeds[(last - i) * n + (last - j)] = draw_seed(generator);
    for (size_t j = 0; j <= i; j++) seeds[(last - j) * n + (last - i)] = draw_seed(generator);
  }
  return seeds;
}

/* d1 sqrt(P/L^3)/k^2 by the square of the mode number. */
static double *amplitude_table(const struct linear_power *power, double box, double d1, size_t squares) {
  double *table = allocate(squares, sizeof *table, "amplitudes of initial modes");
  const double fundamental = 2.0 * M_PI / box, volume = box * box * box;
  for (size_t square = 1; square < squares; square++) {
    double k = fundamental * sqrt((double)square);
    table[square] = d1 * sqrt(linear_power_at(power, k) / volume) / (k * k);
  }
  return table;
}

static void warn_of_missing_power(const double *table, size_t squares, double box) {
  if (table[1] > 0.0 && table[squares - 1] > 0.0) return;
  warn("initial conditions: the power spectrum is 0 for some modes of this box: k = %g .. %g h/Mpc are wanted",
       2.0 * M_PI / box, 2.0 * M_PI / box * sqrt((double)(squares - 1)));
}

void ic_random_modes(const struct parameters *p, const struct linear_power *power, size_t mesh, double d1,
                     fftw_complex *modes) {
  const size_t half = mesh / 2, row = half + 1;
  const size_t cut = (size_t)p->box.npart_side / 2;
  /* k may be up to `cut` in the cube; in the sphere its square is bounded. Nyquist frequencies are never used. */
  const size_t largest = cut < half ? cut : half - 1;
  const size_t most = p->ic.sphere_mode ? cut * cut : 3 * largest * largest;
  const size_t squares = (most < 3 * largest * largest ? most : 3 * largest * largest) + 1;
  double *amplitude = amplitude_table(power, p->box.size, d1, squares);
  warn_of_missing_power(amplitude, squares, p->box.size);
  const double sign = p->ic.paired ? -1.0 : 1.0;

  gsl_rng *generator = generator_create();
  uint32_t *seeds = column_seeds(generator, (uint64_t)p->ic.seed, mesh);
  for (size_t m = 0; m < mesh * mesh * row; m++) modes[m] = 0.0;
  for (size_t i = 0; i < mesh; i++) {
    for (size_t j = 0; j < mesh; j++) {
      const size_t from_zero_i = i < half ? i : mesh - i, from_zero_j = j < half ? j : mesh - j;
      const size_t square_ij = from_zero_i * from_zero_i + from_zero_j * from_zero_j;
      if (from_zero_i > largest || from_zero_j > largest || square_ij >= squares) continue;
      gsl_rng_set(generator, seeds[i * mesh + j]);
      for (size_t k = 0; k <= largest && square_ij + k * k < squares; k++) {
        const double phase = 2.0 * M_PI * gsl_rng_uniform(generator);
        double u;
        do u = gsl_rng_uniform(generator);
        while (u <= 0.0);
        const double size = amplitude[square_ij + k * k] * (p->ic.fixed ? 1.0 : sqrt(-log(u)));
        const double complex a = sign * I * size * cexp(I * phase);
        if (k > 0) {
          modes[(i * mesh + j) * row + k] = a;
        } else if (i == 0 ? j < half : i < half) {
          /* Of the plane k = 0 a half is free: a real field has A(-k) = -A(k)*. */
          modes[(i * mesh + j) * row] = a;
          modes[((mesh - i) % mesh * mesh + (mesh - j) % mesh) * row] = -conj(a);
        }
      }
    }
  }
  free(seeds);
  free(amplitude);
  gsl_rng_free(generator);
}
