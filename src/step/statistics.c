/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/step/statistics.h"

#include <math.h>
#include <stdlib.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/runtime/message.h"
#include "photons/step/codelets.h"
#include "photons/step/step.h"

/** Each rank fills in its own groups, and all ranks add up all groups in the same order. */
static struct momentum_sum sum_groups(struct nbody *n) {
  const uint32_t groups = n->domain.group_count;
  struct momentum_sum *of = allocate(groups, sizeof *of, "sums of momenta"), all = {0};
  FOR_GROUPS(&n->domain, g) momentum_sum_submit(g, &of[g->index]);
  message_wait();
  comm_sum_double((double *)of, groups * sizeof *of / sizeof(double));
  for (uint32_t g = 0; g < groups; g++) {
    for (int c = 0; c < 3; c++) all.vector[c] += of[g].vector[c];
    all.magnitude += of[g].magnitude;
    all.square += of[g].square;
  }
  free(of);
  return all;
}

static struct moments sum_moments(struct nbody *n) {
  const uint32_t groups = n->domain.group_count;
  struct moments *of = allocate(groups, sizeof *of, "moments"), all = {0};
  FOR_GROUPS(&n->domain, g) moments_submit(&n->domain, g, &of[g->index]);
  message_wait();
  comm_sum_double((double *)of, groups * sizeof *of / sizeof(double));
  for (uint32_t g = 0; g < groups; g++) {
    all.mass += of[g].mass;
    for (int c = 0; c < 3; c++) {
      all.position[c] += of[g].position[c];
      all.angular[c] += of[g].angular[c];
    }
  }
  free(of);
  return all;
}

void statistics_measure_moments(struct nbody *n, struct statistics *s) {
  const struct moments sum = sum_moments(n);
  for (int c = 0; c < 3; c++) {
    s->angular[c] = n->domain.particles.mass * sum.angular[c];
    s->centre[c] = sum.position[c] / sum.mass;
  }
}

struct statistics statistics_measure(struct nbody *n, double a) {
  const struct momentum_sum sum = sum_groups(n); /* of p = a v */
  const double per_a = n->domain.particles.mass / a;
  struct statistics s = {.kinetic = 0.5 * per_a / a * sum.square,
                         .momentum_sum = per_a * sum.magnitude,
                         .acc_max = step_acc_max(n),
                         .potential = NAN,
                         .layzer_irvine = NAN,
                         .layzer_irvine_error = NAN,
                         .angular = {NAN, NAN, NAN},
                         .centre = {NAN, NAN, NAN}};
  for (int c = 0; c < 3; c++) s.momentum[c] = per_a * sum.vector[c];
  return s;
}
