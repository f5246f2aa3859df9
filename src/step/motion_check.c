/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "motion_check.h"

#include <math.h>

#include "photons/base/error.h"
#include "photons/cosmology/cosmology.h"

struct particle {
  double acceleration[3], momentum[3];
  uint64_t id;
};

static double length(const double v[3]) { return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

/** The first vector that is not finite, else the longest one. */
static size_t worst(const struct particle_block *b, float *const vector[3]) {
  size_t at = 0;
  double most = -1.0;
  for (size_t i = 0; i < b->count; i++) {
    const double size = length(
        (double[]){(double)vector[0][i], (double)vector[1][i], (double)vector[2][i]});
    if (!isfinite(size)) return i;
    if (size > most) most = size, at = i;
  }
  return at;
}

/** The group's particle with the worst acceleration or momentum. */
static struct particle find(struct nbody *n, const struct group *g, bool by_acceleration) {
  struct domain *d = &n->domain;
  domain_acquire(d);
  const struct particle_block b = particles_block(&d->particles,
                                                  g->index - group_first(d, comm_rank()));
  const size_t i = worst(&b, by_acceleration ? b.acc : b.p);
  struct particle found = {.id = b.id[i]};
  for (int c = 0; c < 3; c++) {
    found.acceleration[c] = (double)b.acc[c][i];
    found.momentum[c] = (double)b.p[c][i];
  }
  domain_release(d);
  return found;
}

#define MOMENT "step %lld, %s, "
#define MOMENT_OF(n) (long long)(n)->step, cosmology_moment(!nbody_has_mesh(n), (n)->a).text

/** The scale factor of lengths; n->a is a time in isolated systems. */
static double scale(const struct nbody *n) { return nbody_has_mesh(n) ? n->a : 1.0; }

static _Noreturn void fail_forces(struct nbody *n, const struct group *g) {
  const struct particle p = find(n, g, true);
  fail(EXIT_RUN_FAILED,
       MOMENT "forces: particle %llu has the acceleration (%g, %g, %g) (km/s)^2/(Mpc/h), "
              "which is not finite or too large for floats; what was written before is good",
       MOMENT_OF(n), (unsigned long long)p.id, p.acceleration[0], p.acceleration[1],
       p.acceleration[2]);
}

static _Noreturn void fail_kick(struct nbody *n, const struct group *g) {
  const struct particle p = find(n, g, false);
  fail(EXIT_RUN_FAILED,
       MOMENT "kick: particle %llu has the momentum a v = (%g, %g, %g) km/s, which is %g times the "
              "speed of light; what was written before is good",
       MOMENT_OF(n), (unsigned long long)p.id, p.momentum[0], p.momentum[1], p.momentum[2],
       length(p.momentum) / (scale(n) * SPEED_OF_LIGHT));
}

static _Noreturn void fail_drift(struct nbody *n, const struct group *g, double drift) {
  const struct particle p = find(n, g, false);
  fail(EXIT_RUN_FAILED,
       MOMENT "drift: particle %llu with the momentum a v = (%g, %g, %g) km/s moves by %g of the "
              "box's side in one step, half of it is too far: take smaller steps; what was written "
              "before is good",
       MOMENT_OF(n), (unsigned long long)p.id, p.momentum[0], p.momentum[1], p.momentum[2],
       length(p.momentum) * drift / n->domain.geometry.box);
}

void motion_check(struct nbody *n, double drift) {
  const double half_box = 0.5 * n->domain.geometry.box;
  /* Causes come before what follows from them. Every comparison is false for NaN. */
  FOR_GROUPS(&n->domain, g) if (!isfinite(g->largest.acceleration)) fail_forces(n, g);
  FOR_GROUPS(&n->domain, g)
  if (!((double)g->largest.momentum < scale(n) * SPEED_OF_LIGHT)) fail_kick(n, g);
  FOR_GROUPS(&n->domain, g)
  if (!((double)g->largest.momentum * drift < half_box)) fail_drift(n, g, drift);
}
