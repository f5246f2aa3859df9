/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/analysis/energy.h"

#include <gsl/gsl_integration.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "photons/base/error.h"
#include "photons/config/parameters.h"
#include "photons/cosmology/cosmology.h"
#include "photons/step/external.h"
#include "photons/step/potential.h"

/* Potential at a point of a cubic lattice of unit masses and unit spacing in a uniform background,
 * all points but itself included (Madelung constant, e.g. Brush, Sahlin & Teller 1966). */
#define LATTICE (-2.8372974794806472)

/** int psi d^3x over the sphere of radius r_cut, lengths in units of r_cut. */
static double mean_pair_potential(const struct split *s) {
  enum { POINTS = 64 };
  gsl_integration_glfixed_table *rule = gsl_integration_glfixed_table_alloc(POINTS);
  if (!rule) fail(EXIT_RUN_FAILED, "not enough memory for the potential energy");
  double sum = 0.0;
  for (size_t i = 0; i < POINTS; i++) {
    double x, weight;
    gsl_integration_glfixed_point(0.0, 1.0, i, &x, &weight, rule);
    sum += weight * x * (1.0 - x * split_series_derivative(s, 0, x * x));
  }
  gsl_integration_glfixed_table_free(rule);
  return 4.0 * M_PI * sum;
}

/** The potential per unit of step_pair_potential() in isolated systems, (km/s)^2. */
static double isolated_unit(const struct nbody *n) {
  return -GRAVITY * n->domain.particles.mass / n->short_range.split.r_cut;
}

void potential_of_particles(struct nbody *n, float *potential) {
  const float unit = (float)isolated_unit(n);
  const size_t count = n->domain.particles.count;
  if (n->parameters->external.self_gravity)
    step_pair_potential(n, true, potential, NULL);
  else
    memset(potential, 0, count * sizeof *potential);
  for (size_t i = 0; i < count; i++) potential[i] *= unit;
  if (n->external) external_add_potentials(n, potential);
}

static double finite_energy(double energy) {
  if (!isfinite(energy)) fail(EXIT_RUN_FAILED, "the potential energy is not a finite number");
  return energy;
}

double potential_energy_of_types(struct nbody *n, double of_types[PARTICLE_TYPES]) {
  const double unit = 0.5 * n->domain.particles.mass * isolated_unit(n);
  for (int t = 0; t < PARTICLE_TYPES; t++) of_types[t] = 0.0;
  if (!n->parameters->external.self_gravity) return 0.0;
  const double sum = finite_energy(step_pair_potential(n, true, NULL, of_types));
  for (int t = 0; t < PARTICLE_TYPES; t++)
    of_types[t] = unit * of_types[t] + 0.0; /* without particles 0, not -0 */
  return unit * sum;
}

/** Energies in the potentials of section [external]. */
static void measure_external(struct nbody *n, struct statistics *s) {
  const struct external_symmetry symmetry = external_symmetry(&n->external->field);
  const struct external_sums sums = external_measure(n);
  const double kpc = 1e3; /* in Mpc */
  s->external = finite_energy(sums.energy);
  s->clausius = sums.clausius;
  if (symmetry.rotates && symmetry.jacobi)
    s->jacobi = s->kinetic + s->potential + s->external - symmetry.pattern * kpc * s->angular[2];
}

void statistics_measure_energy(struct nbody *n, struct statistics *s) {
  double potential[PARTICLE_TYPES];
  s->potential = potential_energy_of_types(n, potential);
  statistics_measure_moments(n, s);
  for (int t = 0; t < PARTICLE_TYPES; t++) s->types[t].potential = potential[t];
  if (n->external) measure_external(n, s);
}

/** Sums over all particles of powers of their masses, in units of the mean. */
struct mass_sums {
  double mass, square, lattice; /* of m, m^2, m^(5/3) */
};

static struct mass_sums sums_of_block(const struct particle_block *b) {
  struct mass_sums sums = {0};
  for (size_t i = 0; i < b->count; i++) {
    const double m = (double)b->relative_mass[i];
    sums.mass += m;
    sums.square += m * m;
    sums.lattice += m * cbrt(m * m);
  }
  return sums;
}

static struct mass_sums mass_sums_of(struct nbody *n) {
  const struct particles *s = &n->domain.particles;
  const double count = (double)s->all;
  if (!particles_have(s, COLUMN_relative_mass)) return (struct mass_sums){count, count, count};
  struct mass_sums *block = allocate(s->blocks, sizeof *block, "sums of masses"), all;
  domain_acquire(&n->domain);
  for (size_t g = 0; g < s->blocks; g++) {
    const struct particle_block b = particles_block(s, g);
    block[g] = sums_of_block(&b);
  }
  domain_release(&n->domain);
  group_sums(&n->domain.particles, (double *)block, sizeof all / sizeof(double), (double *)&all);
  free(block);
  return all;
}

double potential_energy(struct nbody *n, double a) {
  if (!nbody_has_mesh(n)) {
    double of_types[PARTICLE_TYPES];
    return potential_energy_of_types(n, of_types);
  }
  const struct split *split = &n->short_range.split;
  const struct particles *s = &n->domain.particles;
  const struct mass_sums m = mass_sums_of(n);
  const double volume = s->box * s->box * s->box, cut = split->r_cut;
  const double pairs = step_pair_potential(n, false, NULL, NULL) / cut -
                       m.mass * m.mass / volume * cut * cut * mean_pair_potential(split);
  /* The potential on the mesh contains that of each particle's own smoothed cloud. */
  const double self = m.square * split_series_derivative(split, 0, 0.0) / cut;
  /* A smooth universe of these particles: each stands in a cubic lattice of its own mass, whose spacing is
   * that at the mean density. */
  const double lattice = LATTICE * m.lattice * cbrt(m.mass) / s->box;
  return finite_energy(-0.5 * GRAVITY * s->mass * s->mass / a *
                       (pairs + long_range_potential(&n->long_range) - self - lattice));
}
