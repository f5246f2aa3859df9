/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Random phases and amplitudes of initial conditions, drawn in the order of N-GenIC and 2LPTic. */
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ic_displacement.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/config/parameters.h"
#include "photons/cosmology/linear_power.h"
#include "photons/runtime/loop.h"

LOOP_STAGE(initial_conditions, 0x999933, .untimed = true);

static gsl_rng *generator_create(void) {
  gsl_rng *generator = gsl_rng_alloc(gsl_rng_ranlxd1);
  if (!generator) fail(EXIT_RUN_FAILED, "not enough memory for a random number generator");
  return generator;
}

/* Seeds of the columns (i, j) of modes that this rank draws, [j][i], and of their partners (-i, -j). */
struct seeds {
  struct fft_box box;
  size_t n;
  uint32_t *own, *partner;
};

/* The place of the seed of a column; SIZE_MAX: of another rank. Differences wrap to large numbers below the first one of this
 * rank. */
static size_t seed_at(const struct seeds *s, size_t i, size_t j) {
  const size_t x = i - s->box.first[0], y = j - s->box.first[1];
  return x < s->box.count[0] && y < s->box.count[1] ? y * s->box.count[0] + x : SIZE_MAX;
}

/* Seeds are one sequence for all columns: all ranks draw all seeds, and keep the ones that they need. */
static void draw_seed(struct seeds *s, gsl_rng *generator, size_t i, size_t j) {
  const size_t n = s->n, here = seed_at(s, i, j), mirrored = seed_at(s, (n - i) % n, (n - j) % n);
  const uint32_t seed = (uint32_t)(0x7fffffff * gsl_rng_uniform(generator));
  if (here != SIZE_MAX) s->own[here] = seed;
  if (mirrored != SIZE_MAX) s->partner[mirrored] = seed;
}

/* The order is from low to high frequencies, so that a finer mesh has the same large-scale
 * modes. */
static struct seeds seeds_create(const struct fft *f, uint64_t seed) {
  static const char what[] = "random seeds of initial conditions";
  const size_t n = f->size[0], last = n - 1;
  struct seeds s = {.box = fft_columns(f), .n = n};
  const size_t columns = s.box.count[0] * s.box.count[1];
  s.own = allocate(columns, sizeof *s.own, what);
  s.partner = allocate(columns, sizeof *s.partner, what);
  gsl_rng *g = generator_create();
  gsl_rng_set(g, (unsigned long)seed);
  for (size_t i = 0; i < n / 2; i++) {
    for (size_t j = 0; j < i; j++) draw_seed(&s, g, i, j);
    for (size_t j = 0; j <= i; j++) draw_seed(&s, g, j, i);
    for (size_t j = 0; j < i; j++) draw_seed(&s, g, last - i, j);
    for (size_t j = 0; j <= i; j++) draw_seed(&s, g, last - j, i);
    for (size_t j = 0; j < i; j++) draw_seed(&s, g, i, last - j);
    for (size_t j = 0; j <= i; j++) draw_seed(&s, g, j, last - i);
    for (size_t j = 0; j < i; j++) draw_seed(&s, g, last - i, last - j);
    for (size_t j = 0; j <= i; j++) draw_seed(&s, g, last - j, last - i);
  }
  gsl_rng_free(g);
  return s;
}

/* The growth times sqrt(P/L^3)/k^2 by the square of the mode number. The rows of a table are finite, but its
 * spline may overflow between rows. */
static double *amplitude_table(const struct parameters *p, const struct linear_power *power,
                               const struct wave_growth *growth, size_t squares) {
  const double box = p->box.size;
  double *table = allocate(squares, sizeof *table, "amplitudes of initial modes");
  const double fundamental = 2.0 * M_PI / box, volume = box * box * box;
  for (size_t square = 1; square < squares; square++) {
    double k = fundamental * sqrt((double)square);
    table[square] = wave_growth(growth, k) * sqrt(linear_power_at(power, k) / volume) / (k * k);
    if (!isfinite(table[square]))
      fail(p->ic.power_spectrum == POWER_FILE ? EXIT_BAD_INPUT : EXIT_RUN_FAILED,
           "initial conditions: P(k) at k = %g h/Mpc is %g (Mpc/h)^3, beyond what numbers can "
           "hold: %s",
           k, linear_power_at(power, k),
           p->ic.power_spectrum == POWER_FILE ? p->ic.power_spectrum_file
                                              : "see section [cosmology]");
  }
  return table;
}

static void warn_of_missing_power(const double *table, size_t squares, double box) {
  if (comm_rank() > 0 || (table[1] > 0.0 && table[squares - 1] > 0.0)) return;
  warn("initial conditions: the power spectrum is 0 for some modes of this box: k = %g .. %g h/Mpc "
       "are wanted",
       2.0 * M_PI / box, 2.0 * M_PI / box * sqrt((double)(squares - 1)));
}

struct random_modes {
  const struct fft *f;
  struct seeds seeds;
  const double *amplitude; /* by the square of the mode number, below `squares` */
  size_t largest, squares; /* of the mode numbers that are used */
  double sign;
  bool fixed;
};

/* i times the amplitude, with the generator's next phase and size. */
static void draw_mode(const struct random_modes *r, gsl_rng *generator, size_t square,
                      fftw_complex mode) {
  const double phase = 2.0 * M_PI * gsl_rng_uniform(generator);
  double u;
  do u = gsl_rng_uniform(generator);
  while (u <= 0.0);
  const double size = r->sign * r->amplitude[square] * (r->fixed ? 1.0 : sqrt(-log(u)));
  mode[0] = -size * sin(phase);
  mode[1] = size * cos(phase);
}

static void draw_column(void *context, size_t i, size_t j, fftw_complex *column) {
  const struct random_modes *r = context;
  const size_t n = r->f->size[0], half = n / 2, seed = seed_at(&r->seeds, i, j);
  memset(column, 0, (half + 1) * sizeof *column);
  const size_t from_zero_i = i < half ? i : n - i, from_zero_j = j < half ? j : n - j;
  const size_t square_ij = from_zero_i * from_zero_i + from_zero_j * from_zero_j;
  if (from_zero_i > r->largest || from_zero_j > r->largest || square_ij >= r->squares) return;
  gsl_rng *generator = generator_create();
  gsl_rng_set(generator, r->seeds.own[seed]);
  for (size_t k = 0; k <= r->largest && square_ij + k * k < r->squares; k++)
    draw_mode(r, generator, square_ij + k * k, column[k]);
  if (i == 0 ? j >= half : i >= half) {
    /* In the plane k = 0 only half of the modes are independent: a real field has A(-k) =
     * -A(k)*. */
    gsl_rng_set(generator, r->seeds.partner[seed]);
    draw_mode(r, generator, square_ij, column[0]);
    column[0][0] = -column[0][0];
  }
  gsl_rng_free(generator);
}

void ic_random_modes(const struct parameters *p, const struct linear_power *power,
                     const struct wave_growth *growth, const struct fft *f, fftw_complex *modes) {
  const size_t half = f->size[0] / 2, cut = (size_t)p->box.npart_side / 2;
  /* k may be up to `cut` in the cube; in the sphere its square is bounded. Nyquist frequencies are
   * never used. */
  const size_t largest = cut < half ? cut : half - 1;
  const size_t most = p->ic.sphere_mode ? cut * cut : 3 * largest * largest;
  const size_t squares = (most < 3 * largest * largest ? most : 3 * largest * largest) + 1;
  double *amplitude = amplitude_table(p, power, growth, squares);
  warn_of_missing_power(amplitude, squares, p->box.size);
  struct random_modes random = {.f = f,
                                .seeds = seeds_create(f, (uint64_t)p->ic.seed),
                                .amplitude = amplitude,
                                .largest = largest,
                                .squares = squares,
                                .sign = p->ic.paired ? -1.0 : 1.0,
                                .fixed = p->ic.fixed};
  fft_fill(f, (double *)modes, draw_column, &random);
  free(random.seeds.own);
  free(random.seeds.partner);
  free(amplitude);
}
