/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Local primordial non-Gaussianity (Komatsu & Spergel 2001, Phys. Rev. D 63, 063002): Phi = phi + f_NL (phi^2 -
 * <phi^2>) with a Gaussian phi.
 *
 * Phi is Bardeen's potential while matter dominates, 3/5 of the curvature zeta on large scales, and positive where
 * the density is high. This is the convention of the microwave background, in which Planck gives f_NL. That of
 * the large-scale structure, with the potential of today, has values that are larger by a over D1(a), about 1.3.
 * From Poisson's equation
 *
 *   delta(k, a) = M(k, a) Phi(k),  M = 2 c^2 k^2 T(k) D1(a)/(3 Omega_m H0^2),  D1 = a while matter dominates
 */
#include <fftw3.h>
#include <math.h>
#include <stdlib.h>

#include "ic_displacement.h"
#include "photons/base/error.h"
#include "photons/config/parameters.h"
#include "photons/cosmology/linear_power.h"
#include "photons/cosmology/linear_theory.h"
#include "photons/runtime/loop.h"

struct local_term {
  const struct fft *f;
  fftw_complex *modes, *potential;
  const double *ratio; /* k^2/M, by the square of the mode number */
  double f_nl;
};

static size_t square_of(const struct fft *f, size_t i, size_t j, size_t k) {
  const double x = fft_frequency(i, f->size[0]), y = fft_frequency(j, f->size[0]),
               z = fft_frequency(k, f->size[0]);
  return (size_t)(x * x + y * y + z * z);
}

/* A table's T is 1 only on scales that entered the horizon after matter began to dominate. */
static void check_table(const struct parameters *p, const struct linear_power *power) {
  static const double first = 0.01; /* h/Mpc */
  if (!(linear_power_at(power, first) > 0.0))
    fail(EXIT_BAD_INPUT,
         "power spectrum table %s does not reach down to k = %g h/Mpc, where ic.f_nl needs it to "
         "know the primordial potential",
         p->ic.power_spectrum_file, first);
}

/* k^2/M at the growth of a mode; 0 where there is no spectrum. */
static double *ratio_table(const struct linear_power *power, const struct wave_growth *growth,
                           const struct cosmology *c, double box, size_t squares) {
  const double unit = linear_potential_unit(c);
  double *table = allocate(squares, sizeof *table, "potentials of initial modes");
  for (size_t square = 1; square < squares; square++) {
    const double k = 2.0 * M_PI / box * sqrt((double)square);
    const double transfer = linear_power_transfer(power, k);
    table[square] = transfer > 0.0 ? unit / (transfer * wave_growth(growth, k)) : 0.0;
  }
  return table;
}

/* phi = delta/M = -i k^2 A/M. */
static void potential_line(void *context, uint32_t line) {
  const struct local_term *t = context;
  const struct fft_box *b = &t->f->modes;
  for (size_t i = 0; i < t->f->size[0]; i++)
    for (size_t k = 0, m = fft_at(b, i, line, 0); k < b->count[2]; k++, m++) {
      const double ratio = t->ratio[square_of(t->f, i, b->first[1] + line, b->first[2] + k)];
      t->potential[m][0] = ratio * t->modes[m][1];
      t->potential[m][1] = -ratio * t->modes[m][0];
    }
}

static void square_plane(void *context, uint32_t plane) {
  const struct local_term *t = context;
  const size_t step = t->f->values.step[0], first = plane * step;
  double *value = (double *)t->potential;
  for (size_t i = first; i < first + step; i++) value[i] *= t->f_nl * value[i];
}

/* A = i M Phi/k^2. The mode k = 0, which has the mean of phi^2, is among those that stay 0. */
static void add_line(void *context, uint32_t line) {
  const struct local_term *t = context;
  const struct fft_box *b = &t->f->modes;
  const double n = (double)t->f->size[0], cells = n * n * n;
  for (size_t i = 0; i < t->f->size[0]; i++)
    for (size_t k = 0, m = fft_at(b, i, line, 0); k < b->count[2]; k++, m++) {
      const double ratio = t->ratio[square_of(t->f, i, b->first[1] + line, b->first[2] + k)];
      if (!(ratio > 0.0) || (t->modes[m][0] == 0.0 && t->modes[m][1] == 0.0)) continue;
      t->modes[m][0] -= t->potential[m][1] / (ratio * cells);
      t->modes[m][1] += t->potential[m][0] / (ratio * cells);
    }
}

void ic_add_local_term(const struct parameters *p, const struct linear_power *power,
                       const struct wave_growth *growth, const struct cosmology *c,
                       const struct fft *f, fftw_complex *modes, double *scratch) {
  const size_t half = f->size[0] / 2, squares = 3 * half * half + 1;
  check_table(p, power);
  double *ratio = ratio_table(power, growth, c, p->box.size, squares);
  struct local_term t = {.f = f,
                         .modes = modes,
                         .potential = (fftw_complex *)scratch,
                         .ratio = ratio,
                         .f_nl = p->ic.f_nl};
  loop_run(&initial_conditions_stage, (uint32_t)f->modes.count[1], potential_line, &t);
  fft_backward(f, scratch);
  loop_run(&initial_conditions_stage, (uint32_t)f->values.count[0], square_plane, &t);
  fft_forward(f, scratch);
  loop_run(&initial_conditions_stage, (uint32_t)f->modes.count[1], add_line, &t);
  free(ratio);
}
