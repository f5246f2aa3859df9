/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Energies of particles in the potentials of section [external]. */
#include <math.h>
#include <stdlib.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/cosmology/cosmology.h"
#include "photons/runtime/message.h"
#include "photons/step/codelets.h"
#include "photons/step/external.h"

struct external_sums external_measure(struct nbody *n) {
  const struct domain *d = &n->domain;
  struct external_sums *of = allocate(d->particles.blocks, sizeof *of, "energies in potentials");
  struct external_sums all;
  FOR_GROUPS(d, g) external_sum_submit(n, g, &of[group_place(d, g)], NULL);
  message_wait();
  group_sums(&d->particles, (double *)of, sizeof all / sizeof(double), (double *)&all);
  all.energy *= d->particles.mass;
  all.clausius *= d->particles.mass;
  free(of);
  return all;
}

void external_add_potentials(struct nbody *n, float *potential) {
  const struct particles *p = &n->domain.particles;
  struct external_sums *of = allocate(p->blocks, sizeof *of, "energies in potentials");
  FOR_GROUPS(&n->domain, g)
  external_sum_submit(n, g, &of[group_place(&n->domain, g)],
                      potential + particles_block(p, g->index - p->first_block).first);
  message_wait();
  free(of);
}
