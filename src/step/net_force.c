/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/step/net_force.h"

#include <string.h>

#include "photons/domain/codelets.h"
#include "photons/runtime/engine.h"
#include "photons/runtime/message.h"
#include "photons/runtime/pinned.h"
#include "photons/step/codelets.h"

/** Weights lie on a line where the determinant of their inertia is below this part of its trace cubed. */
#define ON_A_LINE 1e-9
/** Weights are at one place where no more than this part of their inertia about the origin is left about their centre, which is
 * what rounding leaves. */
#define AT_ONE_PLACE 1e-12

/** The inertia of the weights about their centre: xx, yy, zz, yz, zx, xy; zero where they are at one place. */
static void inertia_of(const struct net_force_sums *s, const double centre[3], double inertia[6]) {
  double second[6];
  for (int c = 0; c < 3; c++) {
    const int d = (c + 1) % 3, e = (c + 2) % 3;
    second[c] = s->second[c] - s->weight * centre[c] * centre[c];
    second[3 + c] = s->second[3 + c] - s->weight * centre[d] * centre[e];
  }
  const double trace = second[0] + second[1] + second[2],
               most = s->second[0] + s->second[1] + s->second[2];
  const bool spread = trace > AT_ONE_PLACE * most;
  for (int c = 0; c < 3; c++) {
    inertia[c] = spread ? trace - second[c] : 0.0;
    inertia[3 + c] = spread ? -second[3 + c] : 0.0;
  }
}

/** Solve inertia x = torque by Cramer's rule; x = 0 where the inertia is nearly singular. */
static void solve(const double inertia[6], const double torque[3], double x[3]) {
  const double row[3][3] = {{inertia[0], inertia[5], inertia[4]},
                            {inertia[5], inertia[1], inertia[3]},
                            {inertia[4], inertia[3], inertia[2]}};
  const double trace = inertia[0] + inertia[1] + inertia[2];
  double minors[3][3], determinant = 0.0;
  for (int c = 0; c < 3; c++) net_force_cross(row[(c + 1) % 3], row[(c + 2) % 3], minors[c]);
  for (int c = 0; c < 3; c++) determinant += row[0][c] * minors[0][c];
  const bool solvable = determinant > ON_A_LINE * trace * trace * trace;
  for (int c = 0; c < 3; c++) {
    x[c] = 0.0;
    for (int k = 0; k < 3 && solvable; k++) x[c] += minors[k][c] * torque[k] / determinant;
  }
}

struct net_force_change net_force_change_of(const struct net_force_sums *s) {
  struct net_force_change change = {{0}, {0}, {0}};
  double inertia[6], moved[3], torque[3];
  if (!(s->weight > 0.0) || !isfinite(s->weight))
    return change; /* motion_check() tells of the particle */
  for (int c = 0; c < 3; c++) {
    change.centre[c] = s->first[c] / s->weight;
    change.push[c] = s->force[c] / s->weight;
  }
  net_force_cross(change.centre, s->force, moved);
  for (int c = 0; c < 3; c++) torque[c] = s->torque[c] - moved[c];
  inertia_of(s, change.centre, inertia);
  solve(inertia, torque, change.turn);
  return change;
}

static struct net_force_sums sum_groups(struct nbody *n) {
  const size_t bytes = n->domain.particles.blocks * sizeof(struct net_force_sums);
  struct net_force_sums *of = memset(pinned_take(engine_pool(), bytes), 0, bytes), all;
  FOR_GROUPS(&n->domain, g) net_force_submit(n, g, &of[group_place(&n->domain, g)]);
  message_wait();
  group_sums(&n->domain.particles, (double *)of, sizeof all / sizeof(double), (double *)&all);
  pinned_give_back(engine_pool(), of, bytes);
  return all;
}

void net_force_remove(struct nbody *n) {
  const struct net_force_sums sums = sum_groups(n);
  const struct net_force_change change = net_force_change_of(&sums);
  n->net_force = (struct net_force){sqrt(net_force_square(sums.force)) / sums.force_size,
                                    sqrt(net_force_square(sums.torque)) / sums.torque_size};
  FOR_GROUPS(&n->domain, g) net_force_remove_submit(n, g, &change);
}
