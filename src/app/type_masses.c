/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/app/type_masses.h"

#include <inttypes.h>
#include <math.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/cosmology/cosmology.h"
#include "photons/step/pair_steps.h"

#define TOLERANCE 0.01 /* of the sum of all masses, relative */

struct type_masses type_masses_of(const struct particles *s) {
  struct type_masses m = {0};
  for (size_t i = 0; i < s->count; i++) {
    m.count[particle_type(s, i)]++;
    m.mass[particle_type(s, i)] += particle_mass(s, i);
  }
  comm_sum_u64(m.count, PARTICLE_TYPES);
  comm_sum_double(m.mass, PARTICLE_TYPES);
  return m;
}

void type_masses_print(FILE *out, const struct parameters *p, const struct type_masses *m) {
  const struct cosmology c = cosmology_from(p);
  const double all = cosmology_particle_mass(&c, p->box.size, 1.0);
  const char *separator = "";
  double sum = 0.0;
  int types = 0;
  for (int t = 0; t < PARTICLE_TYPES; t++) types += m->count[t] > 0;
  if (types < 2) return;
  fprintf(out, "  masses      ");
  for (int t = 0; t < PARTICLE_TYPES; t++) {
    if (m->count[t] == 0) continue;
    fprintf(out, "%stype %d: %" PRIu64 " particles, %.4g of all matter", separator, t, m->count[t],
            m->mass[t] / all);
    sum += m->mass[t] / all;
    separator = "\n              ";
  }
  fprintf(out, "%stogether %.5g\n", separator, sum);
  if (fabs(sum - 1.0) > TOLERANCE)
    warn("particles are %.4g times the matter of the box, Omega_m rho_crit L^3: check masses, "
         "units and Omega_m",
         sum);
}

void type_masses_require_holes(const struct parameters *p, const struct type_masses *m) {
  const uint64_t holes = m->count[p->time.pair_type];
  if (p->time.pair_type == 0 || (holes > 0 && holes <= HOLES_MOST)) return;
  fail(EXIT_BAD_USAGE,
       "%s = %" PRIi64 ": there are %" PRIu64
       " particles of this type; expected 1 to %d black holes",
       parameter_origin(p, "time", "pair_type").text, p->time.pair_type, holes, HOLES_MOST);
}
