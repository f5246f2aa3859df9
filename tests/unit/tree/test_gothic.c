/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The criteria of GOTHIC: acceptance by acceleration, and block steps by speed and acceleration. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "photons/base/error.h"
#include "photons/config/parameters.h"
#include "photons/cosmology/cosmology.h"
#include "photons/ic/ic.h"
#include "photons/step/block_step.h"
#include "photons/step/step.h"
#include "support/starpu_fixture.h"

/* Last: it defines a macro fail(). */
#include <cmocka.h>

enum { COUNT = 8000, STRIDE = 40, PROBES = COUNT / STRIDE };

/** @param softening  kpc */
static struct nbody *hernquist(struct parameters *p, const char *settings, double softening) {
  char text[512];
  snprintf(text, sizeof text,
           "[box]\nboundary = isolated\n[ic]\nsource = galaxy\n[galaxy]\nmodel = hernquist\n"
           "particles = %d\n[runtime]\ngroup_size = 2048\n[time]\nend = 100\n%s"
           "[gravity]\nsoftening = %g\nsoftening_kernel = plummer\n",
           COUNT, settings, softening);
  parameters_from_text(p, text, NULL, 0);
  struct nbody *n = nbody_create(p, ic_isolated(p));
  step_first_forces(n);
  return n;
}

/** A vector of each particle by its id, [COUNT][3]. */
static float *by_id(const struct particles *s,
                    float *const *(*component)(const struct particle_block *)) {
  float *out = allocate(3 * COUNT, sizeof *out, "vectors");
  for (size_t k = 0; k < s->blocks; k++) {
    const struct particle_block b = particles_block(s, k);
    float *const *v = component(&b);
    for (size_t i = 0; i < b.count; i++)
      for (size_t c = 0; c < 3; c++) out[3 * (b.id[i] - 1) + c] = v[c][i];
  }
  return out;
}
static float *const *momentum(const struct particle_block *b) { return b->p; }
static float *const *acceleration(const struct particle_block *b) { return b->acc; }

static double size(const float *v) {
  return sqrt((double)v[0] * (double)v[0] + (double)v[1] * (double)v[1] +
              (double)v[2] * (double)v[2]);
}

static int rising(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

#define SOFTENING 0.05 /* kpc */

/** Relative errors of the forces on every STRIDE-th particle against direct sums, sorted. */
static void force_errors(const struct particles *s, double error[PROBES]) {
  double *x = allocate(3 * COUNT, sizeof *x, "positions");
  for (size_t k = 0; k < s->blocks; k++) {
    const struct particle_block b = particles_block(s, k);
    for (size_t i = 0; i < b.count; i++)
      for (size_t c = 0; c < 3; c++)
        x[3 * (b.id[i] - 1) + c] = b.x[c][i] * (s->box / POSITION_TURN);
  }
  float *a = by_id(s, acceleration);
  for (size_t k = 0; k < PROBES; k++) {
    const double *to = x + 3 * STRIDE * k;
    double exact[3] = {0}, difference = 0.0, square = 0.0;
    for (size_t j = 0; j < COUNT; j++) {
      double d[3], r2 = 1e-6 * SOFTENING * SOFTENING;
      for (size_t c = 0; c < 3; c++) d[c] = x[3 * j + c] - to[c], r2 += d[c] * d[c];
      for (size_t c = 0; c < 3; c++) exact[c] += GRAVITY * s->mass * d[c] / (r2 * sqrt(r2));
    }
    for (size_t c = 0; c < 3; c++) {
      difference += pow((double)a[3 * STRIDE * k + c] - exact[c], 2.0);
      square += exact[c] * exact[c];
    }
    error[k] = sqrt(difference / square);
  }
  qsort(error, PROBES, sizeof *error, rising);
  free(x);
  free(a);
}

static void errors_follow_delta_acc(void **state) {
  (void)state;
  double median = 1.0, most = 10.0;
  uint64_t pairs = 0;
  for (int power = 5; power <= 11; power += 3) {
    struct parameters p;
    char settings[128];
    snprintf(settings, sizeof settings, "[gravity]\nmac = gothic\ndelta_acc = %.10g\n",
             ldexp(1.0, -power));
    struct nbody *n = hernquist(&p, settings, SOFTENING);
    const struct work_counts work = short_range_work(&n->short_range);
    double error[PROBES];
    domain_acquire(&n->domain);
    force_errors(&n->domain.particles, error);
    domain_release(&n->domain);
    nbody_free(n);
    print_message("2^-%d: median %.1e, 99 %% %.1e; %.3g pairs, %.3g expansions\n", power,
                  error[PROBES / 2], error[PROBES * 99 / 100], (double)work.pairs,
                  (double)work.interactions);
    assert_true(work.interactions > 0);
    assert_true(work.pairs > pairs);
    assert_true(error[PROBES / 2] < 0.7 * median);
    assert_true(error[PROBES * 99 / 100] < 0.7 * most);
    median = error[PROBES / 2];
    most = error[PROBES * 99 / 100];
    pairs = work.pairs;
  }
  assert_true(median < 1e-3);
}

#define WIDE 1.0 /* kpc: with a long softening accelerations choose many steps */

/** The formula itself, with the largest power of a half that divides the base step. */
static int rung_wanted(double base, double eta, double v, double a, bool *by_speed) {
  const double softening = 1e-3 * WIDE, speed = softening / v, root = sqrt(softening / a);
  *by_speed = speed < root;
  return (int)fmax(ceil(log2(base / (eta * fmin(speed, root)))), 0.0);
}

static void rungs_follow_the_formula(void **state) {
  (void)state;
  const double etas[] = {0.5, 0.125};
  for (size_t e = 0; e < 2; e++) {
    struct parameters p;
    char settings[128];
    snprintf(settings, sizeof settings, "criterion = gothic\ngothic_eta = %g\nmax_step = 8\n",
             etas[e]);
    struct nbody *n = hernquist(&p, settings, WIDE);
    const struct particles *s = &n->domain.particles;
    const struct cosmology c = cosmology_from(&p);
    domain_acquire(&n->domain);
    float *v = by_id(s, momentum), *a = by_id(s, acceleration);
    domain_release(&n->domain);
    block_open(n, &p, &c, 0.0, cosmology_time(8.0));
    size_t speeds = 0, different = 0;
    domain_acquire(&n->domain);
    for (size_t i = 0; i < COUNT; i++) {
      bool by_speed;
      const size_t k = 3 * (s->id[i] - 1);
      const int wanted = rung_wanted(8.0 * MYR, etas[e], size(v + k), size(a + k), &by_speed);
      speeds += by_speed;
      different += s->rung[i] != wanted;
    }
    domain_release(&n->domain);
    print_message("eta %g: %zu steps by speed, %zu by acceleration; %zu differ\n", etas[e], speeds,
                  COUNT - speeds, different);
    assert_true(speeds > COUNT / 50 && speeds < COUNT - COUNT / 50);
    assert_true(different <= 1); /* at a limit, where floats may round to the other side */
    free(v);
    free(a);
    nbody_free(n);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(errors_follow_delta_acc),
      cmocka_unit_test(rungs_follow_the_formula),
  };
  return cmocka_run_group_tests(tests, start, stop);
}
