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

/** Each rank fills in its own groups, and all ranks add up all groups in the same order. */
struct external_sums external_measure(struct nbody *n) {
  const uint32_t groups = n->domain.group_count;
  struct external_sums *of = allocate(groups, sizeof *of, "energies in potentials"), all = {0};
  FOR_GROUPS(&n->domain, g) external_sum_submit(n, g, &of[g->index], NULL);
  message_wait();
  comm_sum_double((double *)of, groups * sizeof *of / sizeof(double));
  for (uint32_t g = 0; g < groups; g++) {
    all.energy += n->domain.particles.mass * of[g].energy;
    all.clausius += n->domain.particles.mass * of[g].clausius;
  }
  free(of);
  return all;
}

void external_add_potentials(struct nbody *n, float *potential) {
  const struct particles *p = &n->domain.particles;
  struct external_sums *of = allocate(n->domain.group_count, sizeof *of, "energies in potentials");
  FOR_GROUPS(&n->domain, g)
  external_sum_submit(n, g, &of[g->index],
                      potential + particles_block(p, g->index - p->first_block).first);
  message_wait();
  free(of);
}
