/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/app/type_masses.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/base/parts.h"
#include "photons/cosmology/cosmology.h"
#include "photons/runtime/exact_sums.h"
#include "photons/runtime/loop.h"
#include "photons/step/pair_steps.h"

#define TOLERANCE 0.01 /* of the sum of all masses, relative */

LOOP_STAGE(type_masses, 0x557755, .untimed = true);

/** Masses of a particle of each type: the largest one, and the least with a minus sign. */
struct extremes {
  double largest[PARTICLE_TYPES], least[PARTICLE_TYPES];
};

static struct extremes extremes_create(void) {
  struct extremes e;
  for (int t = 0; t < PARTICLE_TYPES; t++) e.largest[t] = e.least[t] = -HUGE_VAL;
  return e;
}

static void extremes_join(struct extremes *e, const struct extremes *other) {
  for (int t = 0; t < PARTICLE_TYPES; t++) {
    e->largest[t] = fmax(e->largest[t], other->largest[t]);
    e->least[t] = fmax(e->least[t], other->least[t]);
  }
}

/** Particles on their way into sums. */
struct adding {
  const struct particles *particles;
  struct type_masses *sums;
  struct exact_sums mass;    /* [type] */
  struct extremes *extremes; /* [part] */
};

static void add_part(void *context, uint32_t part) {
  const struct adding *a = context;
  const struct particles *s = a->particles;
  const size_t end = block_first(s->count, a->mass.parts, (size_t)part + 1);
  uint64_t count[PARTICLE_TYPES] = {0};
  struct extremes extremes = extremes_create();
  for (size_t i = block_first(s->count, a->mass.parts, part); i < end; i++) {
    const unsigned type = particle_type(s, i);
    const double mass = particle_mass(s, i);
    count[type]++;
    if (particles_have(s, COLUMN_relative_mass))
      exact_add(exact_sums_of(&a->mass, part) + type, mass);
    extremes.largest[type] = fmax(extremes.largest[type], mass);
    extremes.least[type] = fmax(extremes.least[type], -mass);
  }
  a->extremes[part] = extremes;
  for (int t = 0; t < PARTICLE_TYPES; t++)
    __atomic_fetch_add(&a->sums->count[t], count[t], __ATOMIC_RELAXED);
}

/** The extremes of all parts and ranks. */
static void find_extremes(const struct adding *a) {
  struct extremes all = extremes_create();
  for (uint32_t part = 0; part < a->mass.parts; part++) extremes_join(&all, &a->extremes[part]);
  comm_max_double(all.largest, PARTICLE_TYPES);
  comm_max_double(all.least, PARTICLE_TYPES);
  for (int t = 0; t < PARTICLE_TYPES; t++) {
    if (a->sums->count[t] == 0) continue;
    a->sums->largest[t] = all.largest[t];
    a->sums->least[t] = -all.least[t];
  }
}

static void take_one_mass(struct type_masses *m, double mass) {
  for (int t = 0; t < PARTICLE_TYPES; t++) {
    m->mass[t] = (double)m->count[t] * mass;
    m->least[t] = m->largest[t] = m->count[t] > 0 ? mass : 0.0;
  }
}

struct type_masses type_masses_of(const struct particles *s) {
  struct type_masses m = {0};
  struct adding a = {
      .particles = s, .sums = &m, .mass = exact_sums_create(PARTICLE_TYPES, s->count)};
  a.extremes = allocate(a.mass.parts, sizeof *a.extremes, "masses of types");
  for (uint32_t part = 0; part < a.mass.parts; part++) a.extremes[part] = extremes_create();
  if (particles_have(s, COLUMN_type) || particles_have(s, COLUMN_relative_mass))
    loop_run(&type_masses_stage, a.mass.parts, add_part, &a);
  else
    m.count[PARTICLE_HALO] = s->count;
  comm_sum_u64(m.count, PARTICLE_TYPES);
  find_extremes(&a);
  exact_sums_finish(&a.mass, m.mass);
  if (!particles_have(s, COLUMN_relative_mass)) take_one_mass(&m, s->mass);
  free(a.extremes);
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
