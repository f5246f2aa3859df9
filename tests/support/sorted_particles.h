/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Particles in the order of groups and trees, without a solver. */
#ifndef PHOTONS_TESTS_SORTED_PARTICLES_H
#define PHOTONS_TESTS_SORTED_PARTICLES_H

#include <starpu.h>
#include <stdlib.h>

#include "photons/base/error.h"
#include "photons/domain/domain.h"

/** Sort @p particles into @p groups groups with trees of the given depth. */
static inline void sort_particles(struct particles *particles, uint32_t groups, unsigned depth) {
  domain_sort_particles(particles, &(struct domain_layout){.group_count = groups, .depth = depth});
}

static inline void start_workers(int count) {
  struct starpu_conf conf;
  starpu_conf_init(&conf);
  unsetenv("STARPU_NCPU"); /* STARPU_NCPU would take precedence */
  conf.sched_policy_name = "lws";
  conf.ncpus = count;
  conf.ncuda = 0;
  if (starpu_init(&conf) != 0) exit(99);
}

#endif
