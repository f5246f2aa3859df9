/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The net force and the net torque that the particles of an isolated system exert on themselves. Both are
 * 0 for exact forces, and are therefore errors of the forces: expansions conserve momentum, but their
 * forces need not point from node to node (Marcello 2017, AJ 154, 92). Of all changes of the
 * accelerations that remove both, one is the least in the sum of m |change|^2/|a|^2:
 *   a -= |a|^2 (push + turn x (r - centre))
 * with the centre of the weights m |a|^2. The exact accelerations are among those without net force and
 * torque, so that this change never makes that sum of errors larger. Relative to a it falls
 * outwards as a does: where all errors are equal parts of a, far particles change no more than others. */
#ifndef PHOTONS_STEP_NET_FORCE_H
#define PHOTONS_STEP_NET_FORCE_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "photons/domain/geometry.h"

struct nbody;

/** Sums over particles with masses m in units of particles.mass, positions r about the middle of the
 * frame in Mpc, accelerations a in (km/s)^2/Mpc, and weights w = m |a|^2. */
struct net_force_sums {
  double weight;                  /**< w */
  double first[3];                /**< w r */
  double second[6];               /**< w r r: xx, yy, zz, yz, zx, xy */
  double force[3], torque[3];     /**< m a, m r x a */
  double force_size, torque_size; /**< m |a|, m |r x a| */
};

/** The change of the accelerations, as above. */
struct net_force_change {
  double centre[3], push[3], turn[3];
};

/** The particles of a group. Component c of an array stands at array + c * count. */
struct net_force_arrays {
  uint32_t count;
  double unit; /**< of length, a position unit, Mpc */
  const uint32_t *position;
  const float *mass; /**< NULL: all are 1 */
  float *acceleration;
};

/** What forces on all particles had before it was removed: |sum of m a| over the sum of m |a|, and |sum of
 * m r x a| over the sum of m |r x a|, r from the middle of the frame. NAN: there were no such forces. */
struct net_force {
  double force, torque;
};

/** c = a x b. */
static HOST_DEVICE inline void net_force_cross(const double a[3], const double b[3], double c[3]) {
  c[0] = a[1] * b[2] - a[2] * b[1];
  c[1] = a[2] * b[0] - a[0] * b[2];
  c[2] = a[0] * b[1] - a[1] * b[0];
}

static HOST_DEVICE inline double net_force_square(const double v[3]) {
  return v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
}

/** A particle's position and acceleration. */
static HOST_DEVICE inline void net_force_particle(const struct net_force_arrays *p, size_t i,
                                                  double r[3], double a[3]) {
  for (size_t c = 0; c < 3; c++) {
    r[c] = p->unit * position_difference(p->position[c * p->count + i], FRAME_MIDDLE);
    a[c] = (double)p->acceleration[c * p->count + i];
  }
}

/** Add particle i. */
static HOST_DEVICE inline void net_force_add(const struct net_force_arrays *p, size_t i,
                                             struct net_force_sums *s) {
  const double m = p->mass ? (double)p->mass[i] : 1.0;
  double r[3], a[3], torque[3];
  net_force_particle(p, i, r, a);
  net_force_cross(r, a, torque);
  const double a2 = net_force_square(a), w = m * a2;
  s->weight += w;
  for (int c = 0; c < 3; c++) {
    s->first[c] += w * r[c];
    s->second[c] += w * r[c] * r[c];
    s->second[3 + c] += w * r[(c + 1) % 3] * r[(c + 2) % 3];
    s->force[c] += m * a[c];
    s->torque[c] += m * torque[c];
  }
  s->force_size += m * sqrt(a2);
  s->torque_size += m * sqrt(net_force_square(torque));
}

/** Change the acceleration of particle i. */
static HOST_DEVICE inline void net_force_remove_from(const struct net_force_arrays *p, size_t i,
                                                     const struct net_force_change *change) {
  double r[3], a[3], turned[3];
  net_force_particle(p, i, r, a);
  const double a2 = net_force_square(a);
  for (int c = 0; c < 3; c++) r[c] -= change->centre[c];
  net_force_cross(change->turn, r, turned);
  for (size_t c = 0; c < 3; c++)
    p->acceleration[c * p->count + i] = (float)(a[c] - a2 * (change->push[c] + turned[c]));
}

/** The change that removes the net force and the net torque. Where the weights lie on a line, or nearly, the
 * torque stays. Where an acceleration is not finite, or all vanish, there is no change. */
struct net_force_change net_force_change_of(const struct net_force_sums *sums);

/** Remove the net force and the net torque of the targets' accelerations, which are those of all particles
 * of an isolated system by themselves alone, and note them in n->net_force. Waits for all tasks.
 * On cores the bits depend neither on workers nor on ranks. Collective. */
void net_force_remove(struct nbody *n);

#endif
