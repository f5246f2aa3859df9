/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/app/type_masses.h"

#include <inttypes.h>
#include <math.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/base/parts.h"
#include "photons/cosmology/cosmology.h"
#include "photons/runtime/exact_sums.h"
#include "photons/runtime/loop.h"
#include "photons/step/pair_steps.h"

#define TOLERANCE 0.01 /* of the sum of all masses, relative */

LOOP_STAGE(type_masses, 0x557755, .untimed = true);

/** Particles on their way into sums. */
struct adding {
  const struct particles *particles;
  struct type_masses *sums;
  struct exact_sums mass; /* [type] */
};

static void add_part(void *context, uint32_t part) {
  const struct adding *a = context;
  const struct particles *s = a->particles;
  const size_t end = block_first(s->count, a->mass.parts, (size_t)part + 1);
  uint64_t count[PARTICLE_TYPES] = {0};
  for (size_t i = block_first(s->count, a->mass.parts, part); i < end; i++) {
    const unsigned type = particle_type(s, i);
    count[type]++;
    if (particles_have(s, COLUMN_relative_mass))
      exact_add(exact_sums_of(&a->mass, part) + type, particle_mass(s, i));
  }
  for (int t = 0; t < PARTICLE_TYPES; t++)
    __atomic_fetch_add(&a->sums->count[t], count[t], __ATOMIC_RELAXED);
}

struct type_masses type_masses_of(const struct particles *s) {
  struct type_masses m = {0};
  struct adding a = {s, &m, exact_sums_create(PARTICLE_TYPES, s->count)};
  if (particles_have(s, COLUMN_type) || particles_have(s, COLUMN_relative_mass))
    loop_run(&type_masses_stage, a.mass.parts, add_part, &a);
  else
    m.count[PARTICLE_HALO] = s->count;
  exact_sums_finish(&a.mass, m.mass);
  comm_sum_u64(m.count, PARTICLE_TYPES);
  for (int t = 0; t < PARTICLE_TYPES && !particles_have(s, COLUMN_relative_mass); t++)
    m.mass[t] = (double)m.count[t] * s->mass;
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
