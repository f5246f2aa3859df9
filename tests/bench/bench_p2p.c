/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rate of direct forces on one core, for each instruction set, beside the core's measured peak
 * of fused multiply-adds (FMA): PHOTONS_BENCH_SNAPSHOT, a Gadget snapshot, else the force sets and,
 * for Newton's forces of isolated systems, a Plummer sphere. All take short turns of less than a
 * millisecond in each task, of which the fastest counts, so that other work on the machine disturbs
 * little.
 *
 * Machines can be compared by the time of a vector of pairs in units of the time of one FMA
 * instruction at the peak: `slots`. The share of these slots that the pair loop fills with
 * arithmetic is the use of the processor; finding the pairs and reading the targets take the rest.
 * Processors that add beside their FMA instructions can have a share above 100 %. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "build_config.h"
#include "photons/base/clock.h"
#include "photons/base/error.h"
#include "photons/config/parameters.h"
#include "photons/domain/geometry.h"
#include "photons/ic/ic.h"
#include "photons/runtime/message.h"
#include "photons/step/step.h"
#include "src/step/forces.h"
#include "support/force_set.h"

#ifdef HAVE_X86_KERNELS
#include <immintrin.h>
#endif

enum {
  TURNS = 40,
  SUMS = 12,          /* independent ones in the loop that measures the peak */
  PEAK_LOOPS = 10000, /* 30 microseconds */
  SAMPLE = 64         /* every so many particles count their pairs within r_cut */
};

/* A loop of independent FMA instructions on full registers. */
#define PEAK_LOOP(attributes, name, vector, set, fma)                                     \
  attributes static float name(void) {                                                    \
    vector sum[SUMS], a = set(0.999f), b = set(1e-3f);                                    \
    for (int k = 0; k < SUMS; k++) sum[k] = set((float)k);                                \
    for (int i = 0; i < PEAK_LOOPS; i++)                                                  \
      _Pragma("GCC unroll 12") for (int k = 0; k < SUMS; k++) sum[k] = fma(sum[k], a, b); \
    float result = 0.0f;                                                                  \
    for (int k = 0; k < SUMS; k++) result += ((const float *)&sum[k])[0];                 \
    return result;                                                                        \
  }

#ifdef HAVE_X86_KERNELS
PEAK_LOOP(__attribute__((target("avx512f"))), peak_avx512, __m512, _mm512_set1_ps, _mm512_fmadd_ps)
PEAK_LOOP(__attribute__((target("avx2,fma"))), peak_avx2, __m256, _mm256_set1_ps, _mm256_fmadd_ps)
#endif

static const struct variant {
  enum isa isa;
  const char *name; /* as in PHOTONS_ISA */
  int lanes;
  /** Instructions of arithmetic for one vector of pairs with a polynomial of degree 6: 3
   * differences, 3 for their squares, 4 for Newton's force less the long range (5 where the estimate
   * of the root is rougher), 7 for the polynomial, 3 sums. */
  int periodic;
  /** The same for Newton's force: Plummer's softening, one, takes the polynomial's place. */
  int newton;
  float (*peak)(void);
} variants[] = {
#ifdef HAVE_X86_KERNELS
    {ISA_AVX512, "avx512", 16, 20, 14, peak_avx512},
    {ISA_AVX2, "avx2", 8, 21, 15, peak_avx2},
#endif
};
enum { VARIANTS = sizeof variants / sizeof *variants };
static const struct tree_kernels *kernels[VARIANTS + 1]; /* NULL: this processor lacks them */

struct rates {
  double peak,
      p2p; /* FMA instructions a second, the most; seconds of all groups, the least of each */
  uint64_t pairs;
};
static struct rates rates[VARIANTS + 1];

/** FMA instructions a second. */
static double measure_peak(const struct variant *v) {
  static volatile float sink;
  const double start = wall_clock();
  sink = v->peak();
  (void)sink;
  return (double)SUMS * PEAK_LOOPS / (wall_clock() - start);
}

static void choose(struct nbody *n, struct group *g, void *unused) {
  (void)unused;
  targets_all(&n->short_range, g, false);
}

/** In the place of the kernel: all variants in turn. */
static uint64_t take_turns(const struct p2p_law *law, const struct p2p_target *target,
                           struct p2p_scratch *scratch, float *acceleration) {
  double least[VARIANTS + 1];
  uint64_t pairs = 0;
  for (int turn = 0; turn < TURNS; turn++)
    for (int i = 0; i < VARIANTS; i++) {
      if (!kernels[i]) continue;
      rates[i].peak = fmax(rates[i].peak, measure_peak(&variants[i]));
      const double start = wall_clock();
      pairs = kernels[i]->p2p.p2p(law, target, scratch, acceleration);
      const double seconds = wall_clock() - start;
      if (turn == 0 || seconds < least[i]) least[i] = seconds;
    }
  for (int i = 0; i < VARIANTS; i++) {
    if (!kernels[i]) continue;
    rates[i].p2p += least[i];
    rates[i].pairs += pairs;
  }
  return pairs;
}

/** Mean number of sources within r_cut of a particle, from a sample of targets. */
static double pairs_within(const struct nbody *n) {
  const struct particles *s = &n->domain.particles;
  const double scale = (double)n->domain.geometry.scale;
  uint64_t within = 0, targets = 0;
  for (size_t g = 0; g < s->blocks; g++) {
    const struct particle_block target = particles_block(s, g);
    for (size_t i = 0; i < target.count; i += SAMPLE, targets++)
      for (size_t h = 0; h < s->blocks; h++) {
        const struct particle_block source = particles_block(s, h);
        for (size_t j = 0; j < source.count; j++) {
          double u = 0.0;
          for (int c = 0; c < 3; c++) {
            const double d = scale * position_difference(source.x[c][j], target.x[c][i]);
            u += d * d;
          }
          within += u < 1.0;
        }
      }
  }
  return (double)within / (double)targets;
}

static void measure_turns(struct nbody *n) {
  struct tree_kernels turns = *n->short_range.kernels;
  turns.p2p.p2p = take_turns;
  n->short_range.kernels = &turns;
  memset(rates, 0, sizeof rates);
  forces_submit(n, false, choose, NULL);
  message_wait();
}

static void print_rates(double particles, bool newton) {
  printf(
      "             pairs a particle  pairs/s  FMA peak, Gflop/s  slots  share of the peak used\n");
  for (int i = 0; i < VARIANTS; i++) {
    if (!kernels[i]) continue;
    const struct variant *v = &variants[i];
    const double rate = (double)rates[i].pairs / rates[i].p2p,
                 slots = rates[i].peak * v->lanes / rate;
    printf("%-8s %20.0f %8.3g %18.1f %6.1f %16.0f %%\n", v->name,
           (double)rates[i].pairs / particles, rate, 2e-9 * v->lanes * rates[i].peak, slots,
           100.0 * (newton ? v->newton : v->periodic) / slots);
  }
}

static void measure(const char *snapshot) {
  struct parameters p;
  struct nbody *n = solver_of_gadget_file(snapshot, &p);
  step_first_forces(n);
  domain_acquire(&n->domain);
  const double all = (double)n->domain.particles.all, within = pairs_within(n);
  domain_release(&n->domain);
  measure_turns(n);
  printf("%.0f particles of %s: %.0f sources within r_cut of a particle\n", all, snapshot, within);
  print_rates(all, false);
  nbody_free(n);
}

static void measure_newton(void) {
  struct parameters p;
  parameters_from_text(&p,
                       "[box]\nboundary = isolated\n[ic]\nsource = galaxy\n"
                       "[galaxy]\nmodel = plummer\nparticles = 32768\n"
                       "[gravity]\nsoftening = 0.1\nsoftening_kernel = plummer\n[time]\nend = 1\n",
                       NULL, 0);
  struct nbody *n = nbody_create(&p, ic_isolated(&p));
  step_first_forces(n);
  measure_turns(n);
  const double all = (double)n->domain.particles.all;
  printf("%.0f particles of a Plummer sphere, Newton's forces\n", all);
  print_rates(all, true);
  nbody_free(n);
}

int main(void) {
  const char *snapshot = getenv("PHOTONS_BENCH_SNAPSHOT");
  setenv("STARPU_NCPU", "1", 1);
  unsetenv("PHOTONS_ISA");
  const enum isa best = isa_select();
  for (int i = 0; i < VARIANTS; i++) {
    if (variants[i].isa > best) continue;
    setenv("PHOTONS_ISA", variants[i].name, 1);
    kernels[i] = tree_kernels_select();
  }
  unsetenv("PHOTONS_ISA");
  start_starpu_for_tests();
  if (snapshot && *snapshot) {
    measure(snapshot);
  } else {
    measure(force_set_path("early.hdf5"));
    measure(force_set_path("late.hdf5"));
    measure_newton();
  }
  engine_stop();
  return 0;
}
