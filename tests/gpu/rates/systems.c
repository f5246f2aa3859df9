/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rates alone, of a large set: all stages run on the GPUs and in their layout. */
#include <inttypes.h>
#include <starpu.h>
#include <stdio.h>

#include "photons/runtime/engine.h"
#include "photons/step/step.h"
#include "tests/gpu/bench.h"
#include "tests/gpu/rates/rates.h"
#include "tests/gpu/systems.h"

void benchmark_system(const struct setting *setting, bool all) {
  struct universe u = make_universe(setting);
  start_engine(&u.p, true);
  struct nbody *s = nbody_create(&u.p, u.particles);
  step_first_forces(s);
  const double begin = starpu_timing_now();
  step_first_forces(s);
  const double forces = s->short_range.acceptance.kind == MAC_RELATIVE ? 2.0 : 1.0;
  printf("%zu particles in %" PRIu32
         " groups, depth %u, order %d: a force by tasks takes %.3f ms\n",
         s->domain.particles.count, s->domain.group_count, s->domain.depth,
         s->short_range.acceptance.order, 1e-3 * (starpu_timing_now() - begin) / forces);
  domain_acquire(&s->domain);
  struct bench b = bench_create(s);
  if (nbody_has_mesh(s))
    measure_direct(&b, all);
  else
    measure_isolated(&b);
  bench_free(&b);
  domain_release(&s->domain);
  nbody_free(s);
  engine_stop();
}
