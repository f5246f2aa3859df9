/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Generated initial conditions against 2LPTic's particles, against their input spectrum, and
 * against perturbation theory, on any number of ranks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <complex.h> /* before fftw3.h */
#include <fftw3.h>
#include <math.h>
#include <starpu.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "photons/base/error.h" /* before cmocka.h, which has a macro fail() */
#include "photons/config/parameters.h"
#include "photons/cosmology/linear_power.h"
#include "photons/ic/ic.h"
#include "src/ic/ic_lattice_growth.h"

#include <cmocka.h>

#include "support/assert_near.h"
#include "support/failure.h"
#include "support/gathered.h"
#include "support/test_files.h"

static const double box = 100.0;
static const struct cosmology lambda_cdm = {.omega_m = 0.308, .omega_lambda = 0.692, .w0 = -1.0};
static const struct cosmology einstein_de_sitter = {.omega_m = 1.0, .w0 = -1.0};

static struct parameters *parameters(int64_t side, double z, int64_t order) {
  static struct parameters p;
  p = (struct parameters){
      .cosmology = {.omega_m = 0.308,
                    .omega_lambda = 0.692,
                    .omega_b = 0.0484,
                    .h = 0.678,
                    .n_s = 0.968,
                    .sigma8 = 0.815,
                    .w0 = -1.0},
      .box = {.size = box, .npart_side = side},
      .ic = {.z_init = z, .order = order, .seed = 12345, .sphere_mode = true, .normalise = true}};
  return &p;
}

static struct particles generate(const struct parameters *p, const struct cosmology *c) {
  struct linear_power *power = linear_power_create(p);
  struct particles s = gather_particles(ic_generate(p, c, power, NULL));
  linear_power_free(power);
  return s;
}

/* Displacements from the grid or from other particles, three components, Mpc/h. */
static double *displacement(const struct particles *s, const struct particles *from, size_t n) {
  double *psi = allocate(3 * s->count, sizeof *psi, "displacements");
  for (size_t c = 0; c < 3; c++) {
    for (size_t i = 0; i < s->count; i++) {
      const size_t place[3] = {i / (n * n), i / n % n, i % n};
      const uint32_t q = from ? from->position[c * s->count + i]
                              : position_to_integer((double)place[c] / (double)n * box, box);
      psi[c * s->count + i] = (int32_t)(s->position[c * s->count + i] - q) * (box / 4294967296.0);
    }
  }
  return psi;
}

static double rms(const double *x, size_t count) {
  double sum = 0.0;
  for (size_t i = 0; i < count; i++) sum += x[i] * x[i];
  return sqrt(sum / (double)count);
}

static double rms_difference(const double *x, const double *y, size_t count) {
  double sum = 0.0;
  for (size_t i = 0; i < count; i++) sum += (x[i] - y[i]) * (x[i] - y[i]);
  return sqrt(sum / (double)count);
}

/* Fourier series of a field on n^3 points: n x n x (n/2 + 1). */
static double complex *fourier(const double *field, size_t n) {
  double *in = fftw_alloc_real(n * n * n);
  double complex *out = fftw_alloc_complex(n * n * (n / 2 + 1));
  fftw_plan plan = fftw_plan_dft_r2c_3d((int)n, (int)n, (int)n, in, out, FFTW_ESTIMATE);
  memcpy(in, field, n * n * n * sizeof *in);
  fftw_execute(plan);
  for (size_t i = 0; i < n * n * (n / 2 + 1); i++) out[i] /= (double)(n * n * n);
  fftw_destroy_plan(plan);
  fftw_free(in);
  return out;
}

static double *inverse_fourier(double complex *modes, size_t n) {
  double *out = fftw_alloc_real(n * n * n);
  fftw_plan plan = fftw_plan_dft_c2r_3d((int)n, (int)n, (int)n, modes, out, FFTW_ESTIMATE);
  fftw_execute(plan);
  fftw_destroy_plan(plan);
  fftw_free(modes);
  return out;
}

/* Mode m of fourier(): its wave numbers; false where one is the Nyquist frequency. */
static bool wave_numbers(size_t m, size_t n, double k[3]) {
  const size_t row = n / 2 + 1, index[3] = {m / row / n, m / row % n, m % row};
  bool below_nyquist = true;
  for (int c = 0; c < 3; c++) {
    k[c] = index[c] < n / 2 ? (double)index[c] : (double)index[c] - (double)n;
    below_nyquist = below_nyquist && index[c] != n / 2;
  }
  return below_nyquist;
}

/* -div psi, in Fourier space, of modes below the Nyquist frequency: at first order the density
 * contrast. */
static double complex *convergence(const double *psi, size_t n) {
  double complex *sum = fftw_alloc_complex(n * n * (n / 2 + 1));
  memset(sum, 0, n * n * (n / 2 + 1) * sizeof *sum);
  for (size_t c = 0; c < 3; c++) {
    double complex *modes = fourier(psi + c * n * n * n, n);
    for (size_t m = 0; m < n * n * (n / 2 + 1); m++) {
      double k[3];
      if (wave_numbers(m, n, k)) sum[m] -= I * (2.0 * M_PI / box) * k[c] * modes[m];
    }
    fftw_free(modes);
  }
  return sum;
}

static double *momenta(const struct particles *s) {
  double *p = allocate(3 * s->count, sizeof *p, "momenta");
  for (size_t i = 0; i < 3 * s->count; i++) p[i] = s->momentum[i];
  return p;
}

/* 2LPTic's particles, of which tests/data has 64 cubes of 2^3 neighbours; see the README there. */

enum { SAMPLE = 512 };

static struct particles read_2lptic(int order) {
  struct parameters *p = parameters(32, 49.0, order);
  snprintf(p->ic.file, sizeof p->ic.file, "%s",
           source_data(order == 2 ? "2lptic_2lpt_sample.gadget2" : "2lptic_za_sample.gadget2"));
  return gather_particles(ic_read_gadget(p));
}

static struct particles generate_2lptic(int order) {
  struct parameters *p = parameters(32, 49.0, order);
  p->ic.power_spectrum = POWER_FILE;
  snprintf(p->ic.power_spectrum_file, sizeof p->ic.power_spectrum_file, "%s",
           source_data("planck2015_pk_z0.txt"));
  return generate(p, &lambda_cdm);
}

/* The particles of a sample: displacements from the grid in Mpc/h and momenta, [SAMPLE][3]. */
struct sample {
  double displacement[3 * SAMPLE], momentum[3 * SAMPLE];
};

/* Take the particles with the ids of a sample. The id gives the place on the grid. */
static void take_sample(const struct particles *s, const struct particles *ids,
                        struct sample *out) {
  size_t found = 0;
  for (size_t i = 0; i < s->count && found < SAMPLE; i++) {
    if (s->id[i] != ids->id[found]) continue;
    const uint64_t site = s->id[i] - 1;
    const uint32_t place[3] = {(uint32_t)(site / 1024), (uint32_t)(site / 32 % 32),
                               (uint32_t)(site % 32)};
    for (size_t c = 0; c < 3; c++) {
      const uint32_t q = place[c] << 27; /* 2^32/32 = 2^27 */
      out->displacement[3 * found + c] = (int32_t)(s->position[c * s->count + i] - q) *
                                         (box / 4294967296.0);
      out->momentum[3 * found + c] = (double)s->momentum[c * s->count + i];
    }
    found++;
  }
  assert_int_equal(found, SAMPLE);
}

/* Second-order parts of the momenta, summed over the cube of neighbours whose first particle is at
 * (8a, 8b, 8c). In a sum of two neighbours along an axis, a mode of the Nyquist frequency along
 * that axis vanishes. */
static void sum_cubes(const struct sample *first, const struct sample *second, const uint64_t *id,
                      double sum[3 * 64]) {
  memset(sum, 0, 3 * 64 * sizeof *sum);
  for (size_t i = 0; i < SAMPLE; i++) {
    const uint64_t site = id[i] - 1, cube = site / 8192 * 16 + site / 256 % 4 * 4 + site / 8 % 4;
    for (size_t c = 0; c < 3; c++)
      sum[3 * cube + c] += second->momentum[3 * i + c] - first->momentum[3 * i + c];
  }
}

static void test_same_universe_as_2lptic(void **state) {
  (void)state;
  struct sample ours[2], theirs[2]; /* [order - 1] */
  uint64_t id[SAMPLE];
  for (int order = 1; order <= 2; order++) {
    struct particles sample = read_2lptic(order), all = generate_2lptic(order);
    struct sample *we = &ours[order - 1], *they = &theirs[order - 1];
    assert_int_equal(sample.count, SAMPLE);
    assert_int_equal(all.count, 32768);
    /* theirs with G = 43.0071 and rounded constants */
    assert_near(sample.mass / 64.0 / all.mass, 1.0, 1e-3);
    take_sample(&sample, &sample, they);
    take_sample(&all, &sample, we);
    memcpy(id, sample.id, sizeof id);
    /* Errors: interpolation of the table, 2e-5; their floats near 100, 4e-6 of 0.1; f1 =
     * Omega^(5/9), 1e-5; at second order, derivatives at the Nyquist frequency, 3e-4 in positions
     * and twice that in velocities. */
    const double bound = order == 1 ? 1e-4 : 1e-3;
    assert_true(rms_difference(we->displacement, they->displacement, 3 * SAMPLE) <
                bound * rms(we->displacement, 3 * SAMPLE));
    assert_true(rms_difference(we->momentum, they->momentum, 3 * SAMPLE) <
                bound * rms(we->momentum, 3 * SAMPLE));
    particles_free(&sample);
    particles_free(&all);
  }
  /* The second order alone, 0.9 % of the velocities, without modes at the Nyquist frequency.
   * Errors: the table, twice: 4e-5; f2 = 2 Omega^(6/11): 2e-5; their floats: 2e-5. */
  double we[3 * 64], they[3 * 64];
  sum_cubes(&ours[0], &ours[1], id, we);
  sum_cubes(&theirs[0], &theirs[1], id, they);
  const double difference = rms_difference(we, they, 3 * 64) / rms(we, 3 * 64);
  print_message("second order alone differs from 2LPTic's by %.1e\n", difference);
  assert_true(difference < 1e-3);
}

/* The spectrum. */

/* delta|^2 over its expected mean, for the modes (each of a pair k, -k once) with |k| <= n/2. */
static size_t power_ratios(const struct parameters *p, const struct cosmology *c, double **ratios,
                           double **numbers) {
  const size_t n = (size_t)p->box.npart_side, modes = n * n * (n / 2 + 1);
  struct linear_power *power = linear_power_create(p);
  struct particles s = gather_particles(ic_generate(p, c, power, NULL));
  const double growth = cosmology_growth(c, 1.0 / (1.0 + p->ic.z_init)).d1;
  double *psi = displacement(&s, NULL, n);
  double complex *delta = convergence(psi, n);
  *ratios = allocate(modes, sizeof **ratios, "ratios");
  *numbers = allocate(modes, sizeof **numbers, "wave numbers");
  size_t count = 0;
  for (size_t m = 0; m < modes; m++) {
    double k[3];
    if (!wave_numbers(m, n, k) || (k[2] == 0.0 && (k[1] < 0.0 || (k[1] == 0.0 && k[0] <= 0.0))))
      continue;
    const double number = sqrt(k[0] * k[0] + k[1] * k[1] + k[2] * k[2]);
    const double size = pow(cabs(delta[m]), 2.0) * pow(box, 3) / (growth * growth);
    const double expected = linear_power_at(power, 2.0 * M_PI / box * number);
    if (2.0 * number > (double)n) {
      assert_near(size / expected, 0.0, 1e-6); /* beyond the sphere all modes are zero */
      continue;
    }
    (*ratios)[count] = size / expected;
    (*numbers)[count++] = number;
  }
  free(psi);
  fftw_free(delta);
  particles_free(&s);
  linear_power_free(power);
  return count;
}

/* Of a Gaussian field, |delta|^2/P is distributed as exp(-x): mean 1, variance 1, P(x > 1) =
 * 1/e. */
static void test_power_spectrum(void **state) {
  (void)state;
  double *ratio, *number;
  const size_t count = power_ratios(parameters(32, 9.0, 1), &lambda_cdm, &ratio, &number);
  assert_true(count > 8000); /* half of 4/3 pi 16^3 */
  enum { SHELLS = 16 };
  double sum[SHELLS + 1] = {0}, members[SHELLS + 1] = {0}, mean = 0.0, variance = 0.0, above = 0.0;
  for (size_t i = 0; i < count; i++) {
    mean += ratio[i] / (double)count;
    variance += pow(ratio[i] - 1.0, 2.0) / (double)count;
    above += (ratio[i] > 1.0) / (double)count;
    sum[(size_t)number[i]] += ratio[i];
    members[(size_t)number[i]] += 1.0;
  }
  const double sigma = 1.0 / sqrt((double)count);
  assert_near(mean, 1.0, 4.0 * sigma);
  assert_near(variance, 1.0, 4.0 * sqrt(8.0) * sigma); /* the fourth central moment is 9 */
  assert_near(above, exp(-1.0), 4.0 * sqrt(exp(-1.0) * (1.0 - exp(-1.0))) * sigma);
  /* Shell means: chi^2 of 15 degrees of freedom, spread sqrt(30), and a little more as low shells
   * have few members. */
  double chi2 = 0.0;
  for (int shell = 1; shell < SHELLS; shell++)
    chi2 += pow(sum[shell] / members[shell] - 1.0, 2.0) * members[shell];
  assert_near(chi2, 15.0, 4.0 * sqrt(30.0));
  free(ratio);
  free(number);
}

static void test_fixed_amplitudes(void **state) {
  (void)state;
  struct parameters *p = parameters(16, 9.0, 1);
  p->ic.fixed = true;
  double *ratio, *number;
  const size_t count = power_ratios(p, &lambda_cdm, &ratio, &number);
  /* Positions are rounded to 2e-8 Mpc/h, a white noise of 1e-8/sqrt(16^3) for each mode of
   * displacement, whose smallest have some 1e-3. */
  for (size_t i = 0; i < count; i++) assert_near(ratio[i], 1.0, 1e-6);
  free(ratio);
  free(number);
}

/* Convergence of generated particles, which are freed. */
static double complex *generated_modes(const struct parameters *p, size_t n) {
  struct particles s = generate(p, &lambda_cdm);
  double *psi = displacement(&s, NULL, n);
  double complex *modes = convergence(psi, n);
  free(psi);
  particles_free(&s);
  return modes;
}

static void test_fixed_amplitudes_keep_phases(void **state) {
  (void)state;
  enum { N = 16 };
  struct parameters *p = parameters(N, 9.0, 1);
  double complex *random = generated_modes(p, N);
  p->ic.fixed = true;
  double complex *fixed = generated_modes(p, N);
  size_t compared = 0;
  for (size_t m = 0; m < N * N * (N / 2 + 1); m++) {
    const double size = cabs(random[m]), typical = cabs(fixed[m]);
    if (size < 0.01 * typical || typical < 1e-6) continue; /* e^-0.0001: nearly all are larger */
    /* The sine and cosine of the angle between both; rounded positions turn a mode by 1e-6 times
     * its typical over its own size. */
    const double complex turn = random[m] * conj(fixed[m]) / (size * typical);
    assert_near(cimag(turn), 0.0, 2e-6 * (1.0 + typical / size));
    assert_true(creal(turn) > 0.0);
    compared++;
  }
  assert_true(compared > 1000); /* half of 4/3 pi 8^3 */
  fftw_free(random);
  fftw_free(fixed);
}

/* A wave begins with the amplitude from which it grows as on the grid to what it is in a fluid, here on a mesh that is
 * finer than the grid. */
static void test_waves_of_a_grid(void **state) {
  (void)state;
  enum { N = 16 };
  const double growth = 5.0;
  struct parameters *p = parameters(N, 9.0, 1);
  p->ic.fixed = true;
  p->ic.mesh = 2 * N;
  double complex *fluid = generated_modes(p, N);
  p->ic.lattice_growth = growth;
  double complex *grid = generated_modes(p, N);
  struct lattice_growth *l = lattice_growth_create();
  size_t compared = 0;
  for (int m = 0; m < N * N * (N / 2 + 1); m++) {
    const int i = m / (N / 2 + 1) / N, j = m / (N / 2 + 1) % N, k = m % (N / 2 + 1);
    const double q[3] = {i < N / 2 ? i : i - N, j < N / 2 ? j : j - N, k};
    if (i == N / 2 || j == N / 2 || k == N / 2 || cabs(fluid[m]) < 1e-6) continue;
    const double expected = pow(growth, 1.0 - lattice_growth_of(l, q, N).rate);
    assert_near(cabs(grid[m] / fluid[m] - expected), 0.0, 1e-4); /* rounded positions */
    compared++;
  }
  assert_true(compared > 500);
  free(l);
  fftw_free(fluid);
  fftw_free(grid);
}

static void test_pair_is_opposite(void **state) {
  (void)state;
  struct parameters *p = parameters(16, 9.0, 1);
  struct particles one = generate(p, &lambda_cdm);
  p->ic.paired = true;
  struct particles other = generate(p, &lambda_cdm);
  double *a = displacement(&one, NULL, 16), *b = displacement(&other, NULL, 16);
  for (size_t i = 0; i < 3 * one.count; i++) {
    assert_near(a[i], -b[i], 1.01 * box / 4294967296.0); /* both are rounded */
    assert_true(one.momentum[i] == -other.momentum[i]);
  }
  assert_true(rms(a, 3 * one.count) > 0.1);
  free(a);
  free(b);
  particles_free(&one);
  particles_free(&other);
}

/* Perturbation theory. */

/* p = a^2 H f1 Psi for each particle; in Einstein-de Sitter f1 = 1 and a^2 H = 100 sqrt(a). */
static void test_velocities_are_of_the_growing_mode(void **state) {
  (void)state;
  struct particles s = generate(parameters(16, 24.0, 1), &einstein_de_sitter);
  double *psi = displacement(&s, NULL, 16), *p = momenta(&s);
  for (size_t i = 0; i < 3 * s.count; i++) psi[i] *= 100.0 / 5.0;
  /* Floats, 6e-8, and growth rates, 1e-9. */
  assert_true(rms_difference(psi, p, 3 * s.count) < 1e-7 * rms(p, 3 * s.count));
  free(psi);
  free(p);
  particles_free(&s);
}

/* Difference of second- and first-order positions. */
static double *second_order(const struct cosmology *c, double z, double **first) {
  struct particles za = generate(parameters(16, z, 1), c), lpt = generate(parameters(16, z, 2), c);
  if (first) *first = displacement(&za, NULL, 16);
  double *psi = displacement(&lpt, &za, 16);
  particles_free(&za);
  particles_free(&lpt);
  return psi;
}

/* Einstein-de Sitter: the second order grows as a^2. */
static void test_growth_of_second_order(void **state) {
  (void)state;
  const size_t count = 3 * 16 * 16 * 16;
  double *today = second_order(&einstein_de_sitter, 0.0, NULL),
         *early = second_order(&einstein_de_sitter, 3.0, NULL);
  for (size_t i = 0; i < count; i++) early[i] *= 16.0;
  /* Rounded positions, 1e-8 Mpc/h and 16 times that, of about 1 Mpc/h. */
  assert_true(rms(today, count) > 0.3);
  assert_true(rms_difference(today, early, count) < 1e-6 * rms(today, count));
  free(today);
  free(early);
}

/* div Psi2 = D2/D1^2 S, S = ((div Psi1)^2 - sum_ab Psi1_a,b Psi1_b,a)/2: Bouchet et al. 1995, with
 * derivatives taken here from the particles. Einstein-de Sitter: D2/D1^2 = -3/7. */
static void test_second_order_source(void **state) {
  (void)state;
  const size_t n = 16, count = n * n * n, modes = n * n * (n / 2 + 1);
  double *first, *second = second_order(&einstein_de_sitter, 0.0, &first);
  double *gradient[3][3];
  for (size_t a = 0; a < 3; a++) {
    for (size_t b = 0; b < 3; b++) {
      double complex *wave = fourier(first + a * count, n);
      for (size_t m = 0; m < modes; m++) {
        double k[3];
        wave[m] *= wave_numbers(m, n, k) ? I * (2.0 * M_PI / box) * k[b] : 0.0;
      }
      gradient[a][b] = inverse_fourier(wave, n);
    }
  }
  double *source = allocate(count, sizeof *source, "source");
  for (size_t i = 0; i < count; i++) {
    const double divergence = gradient[0][0][i] + gradient[1][1][i] + gradient[2][2][i];
    source[i] = divergence * divergence;
    for (size_t ab = 0; ab < 9; ab++)
      source[i] -= gradient[ab / 3][ab % 3][i] * gradient[ab % 3][ab / 3][i];
    source[i] /= 2.0;
  }
  double complex *expected = fourier(source, n), *found = convergence(second, n);
  double error = 0.0, size = 0.0;
  for (size_t m = 1; m < modes; m++) {
    double k[3];
    if (!wave_numbers(m, n, k)) continue;
    /* convergence() is minus the divergence */
    error += pow(cabs(found[m] - 3.0 / 7.0 * expected[m]), 2.0);
    size += pow(cabs(found[m]), 2.0);
  }
  assert_true(sqrt(error / size) < 1e-6); /* rounded positions, 1e-8 of 1 Mpc/h */
  for (size_t ab = 0; ab < 9; ab++) fftw_free(gradient[ab / 3][ab % 3]);
  free(first);
  free(second);
  free(source);
  fftw_free(expected);
  fftw_free(found);
}

/* Local non-Gaussianity. */

/* D1 today of a flat universe with D1 = a in matter domination, (5/2) Omega_m int da/(a E)^3 (Heath 1977), with x =
 * a^(1/2) as variable, whose integrand is smooth. */
static double growth_today(double omega_m) {
  enum { STEPS = 1000 };
  double sum = 0.0;
  for (int i = 0; i < STEPS; i++) {
    const double x = (i + 0.5) / STEPS, a = x * x;
    sum += 2.0 * x * pow(a / (omega_m + (1.0 - omega_m) * a * a * a), 1.5) / STEPS;
  }
  return 2.5 * omega_m * sum;
}

/* p: of one mode, |delta|^2; m: delta over the primordial potential; both by the square of the mode number. */
static void tables_of(const struct parameters *p, double *power, double *m, size_t squares) {
  struct linear_power *linear = linear_power_create(p);
  const double d1 = cosmology_growth(&lambda_cdm, 1.0 / (1.0 + p->ic.z_init)).d1;
  for (size_t s = 1; s < squares; s++) {
    const double k = 2.0 * M_PI / box * sqrt((double)s);
    power[s] = d1 * d1 * linear_power_at(linear, k) / pow(box, 3);
    m[s] = 2.0 * pow(SPEED_OF_LIGHT * k / HUBBLE_0, 2.0) * linear_power_transfer(linear, k) *
           growth_today(lambda_cdm.omega_m) * d1 / (3.0 * lambda_cdm.omega_m);
  }
  linear_power_free(linear);
}

/* <delta^3> at tree level for f_nl = 1: the sum over triangles of 6 p1 p2 m3/(m1 m2), all three in the sphere. */
static double tree_skewness(const struct parameters *p, int most) {
  enum { SQUARES = 65 };
  double power[SQUARES], m[SQUARES], sum = 0.0;
  assert_true(most * most < SQUARES);
  tables_of(p, power, m, SQUARES);
  const int side = 2 * most + 1, modes = side * side * side;
  for (int one = 0; one < modes; one++)
    for (int two = 0; two < modes; two++) {
      const int a[3] = {one / side / side - most, one / side % side - most, one % side - most},
                b[3] = {two / side / side - most, two / side % side - most, two % side - most};
      int square[3] = {0};
      for (int c = 0; c < 3; c++) {
        square[0] += a[c] * a[c];
        square[1] += b[c] * b[c];
        square[2] += (a[c] + b[c]) * (a[c] + b[c]);
      }
      bool inside = true;
      for (int i = 0; i < 3; i++) inside = inside && square[i] > 0 && square[i] <= most * most;
      if (inside)
        sum += 6.0 * power[square[0]] * power[square[1]] * m[square[2]] /
               (m[square[0]] * m[square[1]]);
    }
  return sum;
}

/* The mean of delta^3 of both of a pair, whose Gaussian parts have opposite signs: of delta = +-g + f s what is left
 * is 3 f g^2 s and f^3 s^3, 1e-4 of that. */
static double pair_skewness(struct parameters *p, size_t n) {
  double sum = 0.0;
  for (int paired = 0; paired <= 1; paired++) {
    p->ic.paired = paired;
    double *delta = inverse_fourier(generated_modes(p, n), n);
    for (size_t i = 0; i < n * n * n; i++) sum += 0.5 * pow(delta[i], 3.0) / pow((double)n, 3.0);
    fftw_free(delta);
  }
  return sum;
}

/* Amplitudes are fixed, so that the scatter is that of phases alone. */
static void test_local_non_gaussianity(void **state) {
  (void)state;
  enum { N = 16, SEEDS = 6 };
  const double f_nl = 1000.0;
  struct parameters *p = parameters(N, 9.0, 1);
  p->ic.fixed = true;
  p->ic.mesh = 2 * N; /* no product of two waves is taken for another wave */
  const double expected = f_nl * tree_skewness(p, N / 2);
  assert_near(pair_skewness(p, N), 0.0, 1e-3 * expected); /* rounded positions */
  p->ic.f_nl = f_nl;
  double mean = 0.0;
  for (p->ic.seed = 1; p->ic.seed <= SEEDS; p->ic.seed++) mean += pair_skewness(p, N) / SEEDS;
  print_message("skewness over that of the tree level: %.3f\n", mean / expected);
  assert_near(mean / expected, 1.0, 0.05); /* 0.05 is the scatter of one pair */
}

/* Meshes and glasses. */

/* P = 1000 (Mpc/h)^3 for modes of low .. high, in units of the fundamental one. */
static void use_flat_power(struct parameters *p, double low, double high) {
  FILE *file = fopen(scratch("power.txt"), "w");
  assert_non_null(file);
  for (int i = 0; i <= 4; i++)
    fprintf(file, "%.15g 1000\n", 2.0 * M_PI / box * (low + i / 4.0 * (high - low)));
  assert_int_equal(fclose(file), 0);
  p->ic.power_spectrum = POWER_FILE;
  p->ic.normalise = false;
  strcpy(p->ic.power_spectrum_file, scratch("power.txt"));
}

/* Waves up to number 16/5, products of two up to 32/5 < 8: all meshes from 16 on represent them. */
static double *long_waves(int64_t mesh) {
  struct parameters *p = parameters(16, 9.0, 2);
  p->ic.mesh = mesh;
  use_flat_power(p, 0.5, 16.0 / 5.0);
  struct particles s = generate(p, &einstein_de_sitter);
  double *psi = displacement(&s, NULL, 16);
  particles_free(&s);
  return psi;
}

static void test_mesh_does_not_matter(void **state) {
  (void)state;
  const size_t count = 3 * 16 * 16 * 16;
  double *same = long_waves(0), *finer = long_waves(32), *between = long_waves(24);
  assert_true(rms(same, count) > 0.1);
  /* both rounded */
  for (size_t i = 0; i < count; i++) assert_near(finer[i], same[i], 1.01 * box / 4294967296.0);
  /* A quarter of the particles are at mesh points, an eighth in the middle of cells. There
   * interpolation lowers the wave by (kh)^2/8, and the window's mean raises it everywhere by
   * (kh)^2/12, kh = 2 pi 16/5/24. */
  assert_true(rms_difference(between, same, count) <
              pow(2.0 * M_PI * 16.0 / 5.0 / 24.0, 2.0) / 12.0 * rms(same, count));
  free(same);
  free(finer);
  free(between);
}

static void write_record(FILE *file, const void *data, uint32_t size) {
  assert_true(fwrite(&size, 4, 1, file) == 1);
  assert_true(fwrite(data, size, 1, file) == 1);
  assert_true(fwrite(&size, 4, 1, file) == 1);
}

/* A "glass" of 8^3 particles on a grid, Gadget-2 binary, 40 Mpc/h wide. */
static void write_glass(void) {
  struct {
    int32_t count[6];
    double mass[6], time, redshift;
    int32_t sfr, feedback;
    uint32_t total[6];
    int32_t cooling, files;
    double box, omega_m, omega_lambda, h;
    char rest[96];
  } header = {.count = {0, 512},
              .time = 1.0,
              .total = {0, 512},
              .files = 1,
              .box = 40.0,
              .omega_m = 0.308,
              .omega_lambda = 0.692,
              .h = 0.678};
  assert_int_equal(sizeof header, 256);
  header.mass[1] = cosmology_particle_mass(&lambda_cdm, 40.0, 512.0);
  float x[512][3], v[512][3] = {{0}};
  uint32_t id[512];
  for (uint32_t i = 0; i < 512; i++) {
    id[i] = i + 1;
    const uint32_t place[3] = {i / 64, i / 8 % 8, i % 8};
    for (int c = 0; c < 3; c++) x[i][c] = 5.0f * (float)place[c];
  }
  FILE *file = fopen(scratch("glass"), "wb");
  assert_non_null(file);
  write_record(file, &header, sizeof header);
  write_record(file, x, sizeof x);
  write_record(file, v, sizeof v);
  write_record(file, id, sizeof id);
  assert_int_equal(fclose(file), 0);
}

static void generate_any(void *p) {
  struct particles s = generate(p, &lambda_cdm);
  particles_free(&s);
}

/* Waves of number 2 along one axis, read by cloud-in-cell at mesh points and raised by the window's
 * mean there, (x/sin x)^2 with x = pi 2/16. Particle (i, j, k) of the grid is found in one of eight
 * tiles. */
static void test_glass(void **state) {
  (void)state;
  write_glass();
  struct parameters *p = parameters(16, 9.0, 1);
  use_flat_power(p, 1.9, 2.1);
  struct particles grid = generate(p, &lambda_cdm);
  strcpy(p->ic.glass, scratch("glass"));
  struct particles glass = generate(p, &lambda_cdm);
  double *psi = displacement(&grid, NULL, 16);
  assert_int_equal(glass.count, grid.count);
  const double window = pow(M_PI / 8.0 / sin(M_PI / 8.0), 2.0);
  for (size_t i = 0; i < glass.count; i++) {
    const size_t tile = i / 512, in = i % 512;
    const size_t place[3] = {8 * (tile / 4) + in / 64, 8 * (tile / 2 % 2) + in / 8 % 8,
                             8 * (tile % 2) + in % 8};
    const size_t same = (place[0] * 16 + place[1]) * 16 + place[2];
    assert_int_equal(glass.id[i], i + 1);
    for (size_t c = 0; c < 3; c++) {
      const uint32_t q = (uint32_t)place[c] << 28;
      const double found = (int32_t)(glass.position[c * glass.count + i] - q) *
                           (box / 4294967296.0);
      /* both rounded */
      assert_near(found, window * psi[c * grid.count + same], 3.0 * box / 4294967296.0);
    }
  }
  assert_true(rms(psi, 3 * grid.count) > 0.01);
  free(psi);
  particles_free(&grid);
  particles_free(&glass);
  p->box.npart_side = 12;
  if (comm_size() == 1)
    expect_failure(generate_any, p, EXIT_BAD_INPUT, "512 particles; box.npart_side^3 = 1728");
}

/* A table whose waves in the box have this power. */
static void use_power(struct parameters *p, const char *value) {
  use_flat_power(p, 0.1, 40.0);
  FILE *file = fopen(scratch("power.txt"), "w");
  assert_non_null(file);
  /* up to k = 1 h/Mpc: not the scales of sigma8, which is then not compared */
  for (int i = -6; i <= 0; i++) fprintf(file, "1e%d %s\n", i, value);
  assert_int_equal(fclose(file), 0);
}

/* Generated particles are checked as those of files are. A child process of expect_failure() has no
 * StarPU workers, so this test comes after StarPU's end, when loops run without tasks. */
static void test_impossible_displacements(void **state) {
  (void)state;
  for (int order = 1; order <= 2; order++) {
    struct parameters *p = parameters(8, 0.0, order);
    use_power(p, "1e12"); /* waves of 10^5 Mpc/h */
    expect_failure(generate_any, p, EXIT_BAD_INPUT, "no more than half the box of 100 Mpc/h");
    expect_failure(generate_any, p, EXIT_BAD_INPUT, "power.txt");
    expect_failure(generate_any, p, EXIT_BAD_INPUT, "initial conditions: the particle with id ");
    use_power(p, "1e300"); /* the second order overflows */
    expect_failure(generate_any, p, EXIT_BAD_INPUT, "no more than half the box of 100 Mpc/h");
  }
  struct parameters *p = parameters(8, 0.0, 1);
  use_power(p, "1e308"); /* between rows of 1e308 and 1e-300 the spline is larger */
  FILE *file = fopen(scratch("power.txt"), "a");
  fputs("200 1e-300\n300 1e308\n400 1e308\n", file);
  fclose(file);
  p->box.size = 0.1;
  expect_failure(generate_any, p, EXIT_BAD_INPUT, "power.txt");
  /* No table: much more structure than a box of this size can have. */
  p = parameters(8, 0.0, 2);
  p->box.size = 1.0;
  p->cosmology.sigma8 = 10.0;
  expect_failure(generate_any, p, EXIT_RUN_FAILED, "sigma8 = 10 at z = 0");
}

/* Displacements of 10^5 Mpc/h fit into a box of 10^6, but their speeds, 50 km/s a Mpc/h, are too
 * high. */
static void test_speed_of_light(void **state) {
  (void)state;
  struct parameters *p = parameters(8, 0.0, 1);
  p->box.size = 1e6;
  use_power(p, "3e16");
  expect_failure(generate_any, p, EXIT_BAD_INPUT, "speed of light");
}

static void test_potential_needs_long_waves(void **state) {
  (void)state;
  struct parameters *p = parameters(8, 9.0, 1);
  use_flat_power(p, 0.5, 8.0);
  p->ic.f_nl = 1.0;
  expect_failure(generate_any, p, EXIT_BAD_INPUT, "does not reach down to k = 0.01 h/Mpc");
  FILE *file = fopen(scratch("power.txt"), "a");
  assert_non_null(file);
  fprintf(file, "# running = 0.01\n");
  fclose(file);
  expect_failure(generate_any, p, EXIT_BAD_INPUT, "it has running = 0.01");
}

static void test_growth_on_a_grid_takes_time(void **state) {
  (void)state;
  struct parameters *p = parameters(8, 9.0, 1); /* to z = 0 */
  p->ic.lattice_growth = 20.0;
  expect_failure(generate_any, p, EXIT_BAD_USAGE, "no more than the growth from ic.z_init = 9");
}

static void generate_curved(void *p) {
  const struct cosmology open = {
      .omega_m = 0.308, .omega_lambda = 0.5, .omega_k = 0.192, .w0 = -1.0};
  struct particles s = generate(p, &open);
  particles_free(&s);
}

static void test_warning_of_curvature(void **state) {
  (void)state;
  expect_warning(generate_any, parameters(8, 9.0, 1), "");
  expect_warning(generate_curved, parameters(8, 9.0, 1),
                 "generated initial conditions: Omega_k = 0.192: ");
}

static void test_glass_with_nan(void **state) {
  (void)state;
  const float nan_value = NAN;
  write_glass();
  FILE *file = fopen(scratch("glass"), "r+b");
  assert_int_equal(fseek(file, 264 + 4 + 12 * 100, SEEK_SET), 0);
  assert_int_equal(fwrite(&nan_value, 4, 1, file), 1);
  assert_int_equal(fclose(file), 0);
  struct parameters *p = parameters(16, 9.0, 1);
  strcpy(p->ic.glass, scratch("glass"));
  expect_failure(generate_any, p, EXIT_BAD_INPUT,
                 "glass: block POS: x of particle 100 (id 101) is nan");
}

/* A grid whose points are not mesh points, with second order and every mode of the cube: odd
 * numbers, which no number of ranks divides. */
static void test_grid_beside_mesh(void **state) {
  (void)state;
  struct parameters *p = parameters(17, 9.0, 2);
  p->ic.mesh = 26;
  p->ic.sphere_mode = false;
  struct particles coarse = generate(p, &lambda_cdm);
  p->ic.mesh = 52;
  struct particles fine = generate(p, &lambda_cdm);
  double *psi = displacement(&coarse, NULL, 17), *error = displacement(&fine, &coarse, 17);
  for (size_t i = 0; i < coarse.count; i++) assert_int_equal(coarse.id[i], i + 1);
  /* Interpolation error: at most (kh)^2/8 of a wave in each direction and as much again by
   * deconvolution, kh = 2 pi 8/26; much less on average, because long waves are the largest. */
  assert_true(rms(psi, 3 * coarse.count) > 0.3);
  assert_true(rms(error, 3 * coarse.count) <
              pow(2.0 * M_PI * 8.0 / 26.0, 2.0) / 8.0 * rms(psi, 3 * coarse.count));
  free(psi);
  free(error);
  particles_free(&coarse);
  particles_free(&fine);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_same_universe_as_2lptic),
      cmocka_unit_test(test_power_spectrum),
      cmocka_unit_test(test_fixed_amplitudes),
      cmocka_unit_test(test_fixed_amplitudes_keep_phases),
      cmocka_unit_test(test_waves_of_a_grid),
      cmocka_unit_test(test_pair_is_opposite),
      cmocka_unit_test(test_velocities_are_of_the_growing_mode),
      cmocka_unit_test(test_growth_of_second_order),
      cmocka_unit_test(test_second_order_source),
      cmocka_unit_test(test_local_non_gaussianity),
      cmocka_unit_test(test_mesh_does_not_matter),
      cmocka_unit_test(test_glass),
      cmocka_unit_test(test_grid_beside_mesh),
  };
  const struct CMUnitTest refusing[] = {
      cmocka_unit_test(test_impossible_displacements),
      cmocka_unit_test(test_speed_of_light),
      cmocka_unit_test(test_potential_needs_long_waves),
      cmocka_unit_test(test_growth_on_a_grid_takes_time),
      cmocka_unit_test(test_warning_of_curvature),
      cmocka_unit_test(test_glass_with_nan),
  };
  comm_start(&argc, &argv);
  if (starpu_init(NULL) != 0) return 1;
  int failed = cmocka_run_group_tests(tests, scratch_make, scratch_remove);
  starpu_shutdown();
  if (comm_size() == 1) failed += cmocka_run_group_tests(refusing, scratch_make, scratch_remove);
  comm_end();
  return failed;
}
