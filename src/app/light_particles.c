/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/app/light_particles.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/domain/domain.h"
#include "photons/step/nbody.h"

#define LIGHT 2.0     /* times the least mass: levels of zooms differ by factors of 8 */
#define ROUNDING 1e-5 /* between masses that are meant to be one */

/** The largest of a number over all ranks. */
static double largest(double value) {
  comm_max_double(&value, 1);
  return value;
}

static double least_mass(const struct particles *s) {
  double least = -HUGE_VAL;
  for (size_t i = 0; i < s->count; i++) least = fmax(least, -(double)s->relative_mass[i]);
  return -largest(least);
}

/** The mean of relative masses of light particles. They are whole multiples of a unit, so that their sum has the same bits on any
 * ranks. */
static double mean_mass(const struct particles *light, double least) {
  const double unit = ldexp(1.0, ilogb(least) + 1 - FLT_MANT_DIG);
  uint64_t sum = 0;
  for (size_t i = 0; i < light->count; i++)
    sum += (uint64_t)((double)light->relative_mass[i] / unit);
  comm_sum_u64(&sum, 1);
  if (light->all >> (64 - FLT_MANT_DIG - 1) != 0)
    fail(EXIT_RUN_FAILED, "the masses of %llu light particles do not fit into their sum",
         (unsigned long long)light->all);
  return (double)(float)((double)sum * unit / (double)light->all);
}

/** The light particles of several masses. All count by their mean mass; `relative_mass`, which halos do not use, is
 * still that of all particles, and files have it: particle_mass() of a light particle is not its mass. */
static struct particles select_light(const struct particles *s, double least) {
  bool *keep = allocate(s->count, sizeof *keep, "light particles");
  for (size_t i = 0; i < s->count; i++) keep[i] = (double)s->relative_mass[i] <= LIGHT * least;
  struct particles light = particles_select(s, keep);
  free(keep);
  double heaviest = 0.0;
  for (size_t i = 0; i < light.count; i++)
    heaviest = fmax(heaviest, (double)light.relative_mass[i]);
  const bool same = largest(heaviest) <= (1.0 + ROUNDING) * least;
  light.mass = s->mass * (same ? least : mean_mass(&light, least));
  return light;
}

bool halos_possible(const struct particles *s) {
  double gas = 0.0;
  for (size_t i = 0; i < s->count && gas == 0.0; i++) gas = particle_type(s, i) == 0;
  if (largest(gas) == 0.0) return true;
  if (comm_rank() == 0)
    warn("dark matter has different masses, and there is gas: there are no halos");
  return false;
}

void halos_require_light(const struct parameters *p) {
  if (p->output.halo_power)
    fail(EXIT_BAD_USAGE,
         "%s: particles have different masses, and halos are made of light ones, which fill a part "
         "of the box: halos have no power spectrum; set output.halo_power = no",
         parameter_origin(p, "output", "halo_power").text);
}

struct particles products_heavy(const struct products *products) {
  const struct particles *s = products->particles;
  bool *keep = allocate(s->count, sizeof *keep, "heavy particles");
  for (size_t i = 0; i < s->count; i++) keep[i] = particle_mass(s, i) > products->light_most;
  struct particles heavy = particles_select(s, keep);
  free(keep);
  return heavy;
}

void products_take_light(struct products *products, struct particles *light) {
  const struct particles *s = products->particles;
  const double least = least_mass(s);
  *light = select_light(s, least);
  const struct layout layout = layout_choose(products->parameters, light->all);
  domain_sort_particles(light, &layout.domain);
  products->light = light;
  products->light_depth = layout.domain.depth;
  products->light_most = s->mass * LIGHT * least;
}
