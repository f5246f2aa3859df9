/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/step/statistics.h"

#include <math.h>
#include <string.h>

#include "photons/runtime/engine.h"
#include "photons/runtime/message.h"
#include "photons/runtime/pinned.h"
#include "photons/step/codelets.h"
#include "photons/step/step.h"

static struct momentum_sum sum_groups(struct nbody *n) {
  const size_t bytes = n->domain.particles.blocks * sizeof(struct momentum_sum);
  struct momentum_sum *of = memset(pinned_take(engine_pool(), bytes), 0, bytes), all;
  FOR_GROUPS(&n->domain, g) momentum_sum_submit(n, g, &of[group_place(&n->domain, g)]);
  message_wait();
  group_sums(&n->domain.particles, (double *)of, sizeof all / sizeof(double), (double *)&all);
  pinned_give_back(engine_pool(), of, bytes);
  return all;
}

static void add_moments(struct moments *sum, const struct moments *more) {
  sum->mass += more->mass;
  sum->square += more->square;
  for (int c = 0; c < 3; c++) {
    sum->position[c] += more->position[c];
    sum->angular[c] += more->angular[c];
  }
}

static void sum_moments(struct nbody *n, struct moments of_types[PARTICLE_TYPES]) {
  const size_t bytes = n->domain.particles.blocks * PARTICLE_TYPES * sizeof(struct moments);
  struct moments *of = memset(pinned_take(engine_pool(), bytes), 0, bytes);
  FOR_GROUPS(&n->domain, g)
  moments_submit(&n->domain, g, &of[(size_t)group_place(&n->domain, g) * PARTICLE_TYPES]);
  message_wait();
  group_sums(&n->domain.particles, (double *)of, PARTICLE_TYPES * sizeof *of / sizeof(double),
             (double *)of_types);
  pinned_give_back(engine_pool(), of, bytes);
}

static struct component component_of(const struct moments *sum, double mass) {
  struct component c = {.mass = mass * sum->mass, .kinetic = 0.5 * mass * sum->square};
  for (int k = 0; k < 3; k++) {
    c.angular[k] = mass * sum->angular[k];
    c.centre[k] = sum->position[k] / sum->mass; /* NAN: 0/0 */
  }
  return c;
}

void statistics_measure_moments(struct nbody *n, struct statistics *s) {
  const double mass = n->domain.particles.mass;
  struct moments of_types[PARTICLE_TYPES] = {0}, sum = {0};
  sum_moments(n, of_types);
  for (int t = 0; t < PARTICLE_TYPES; t++) {
    s->types[t] = component_of(&of_types[t], mass);
    add_moments(&sum, &of_types[t]);
  }
  const struct component all = component_of(&sum, mass);
  memcpy(s->angular, all.angular, sizeof s->angular);
  memcpy(s->centre, all.centre, sizeof s->centre);
}

struct statistics statistics_measure(struct nbody *n, double a) {
  const struct momentum_sum sum = sum_groups(n); /* of p = a v */
  const double per_a = n->domain.particles.mass / a;
  struct statistics s = {.kinetic = 0.5 * per_a / a * sum.square,
                         .momentum_sum = per_a * sum.magnitude,
                         .acc_max = step_acc_max(n),
                         .potential = NAN,
                         .external = NAN,
                         .clausius = NAN,
                         .net_force = n->net_force,
                         .jacobi = NAN,
                         .layzer_irvine = NAN,
                         .layzer_irvine_error = NAN,
                         .angular = {NAN, NAN, NAN},
                         .centre = {NAN, NAN, NAN}};
  for (int c = 0; c < 3; c++) s.momentum[c] = per_a * sum.vector[c];
  return s;
}
