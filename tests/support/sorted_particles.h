/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Particles in the order of groups and trees, without a whole simulation. */
#ifndef PHOTONS_TESTS_SORTED_PARTICLES_H
#define PHOTONS_TESTS_SORTED_PARTICLES_H

#include <starpu.h>
#include <stdlib.h>

#include "photons/base/error.h"
#include "photons/domain/simulation.h"

/** Rearrange @p particles into @p groups blocks with trees of this depth. */
static inline void sort_particles(struct particles *particles, uint32_t groups, unsigned depth) {
  static const struct parameters parameters;
  struct simulation s = {.parameters = &parameters, .particles = *particles, .group_count = groups, .depth = depth};
  s.worker_count = starpu_worker_get_count();
  s.workers = allocate(s.worker_count, sizeof *s.workers, "worker scratch");
  domain_rebuild(&s);
  *particles = s.particles;
  free(s.workers);
}

static inline void start_workers(int count) {
  struct starpu_conf conf;
  starpu_conf_init(&conf);
  unsetenv("STARPU_NCPU"); /* it would win */
  conf.sched_policy_name = "lws";
  conf.ncpus = count;
  conf.ncuda = 0;
  if (starpu_init(&conf) != 0) exit(99);
}

#endif
