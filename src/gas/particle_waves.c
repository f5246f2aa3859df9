/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Particles of an expanding universe: displaced from a grid by the waves of the gas. In the units of
 * comoving.h the velocity of a particle, v~ = a^2 dx/dt, is what struct particles calls its
 * momentum. */
#include "particle_waves.h"

#include <math.h>
#include <stdlib.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/config/parameters.h"
#include "photons/cosmology/fluids.h"
#include "photons/cosmology/linear_power.h"
#include "photons/gas/comoving.h"
#include "photons/gas/gas_ic.h"
#include "photons/ic/ic.h"

#define PI 3.14159265358979323846

/** Points of the grid along an axis; they are equally far from each other along all axes. */
static size_t points_along(const struct parameters *p, int axis) {
  return (size_t)((double)p->box.npart_side * p->gas.root[axis] / p->gas.root[0]);
}

size_t waves_particle_count(const struct parameters *p) {
  return points_along(p, 0) * points_along(p, 1) * points_along(p, 2);
}

/** The mass of each of the particles, which are all that is not gas. */
static double mass_of_each(const struct parameters *p) {
  const struct cosmology c = cosmology_from(p);
  const double spacing = p->box.size / (double)p->box.npart_side;
  return (1.0 - comoving_gas_share(p)) * comoving_mean_density(&c) * pow(spacing, 3.0);
}

static struct gas_particle *generate(const struct parameters *p, size_t *count) {
  struct parameters first_order = *p;
  first_order.ic.order = 1;
  const struct cosmology c = cosmology_from(p);
  struct linear_power *power = linear_power_create(p);
  struct fluids *fluids = fluids_create(p);
  struct particles s = ic_generate_cold(&first_order, &c, power, fluids);
  fluids_free(fluids);
  *count = s.count;
  struct gas_particle *particle = allocate(s.count, sizeof *particle, "particles");
  const double mass = mass_of_each(p);
  for (size_t i = 0; i < s.count; i++) {
    particle[i] = (struct gas_particle){.mass = mass, .number = s.id[i] - 1, .type = PARTICLE_HALO};
    for (size_t k = 0; k < 3; k++) {
      particle[i].position[k] = position_from_integer(s.position[k * s.count + i], s.box);
      particle[i].velocity[k] = (double)s.momentum[k * s.count + i];
    }
  }
  particles_free(&s);
  linear_power_free(power);
  return particle;
}

double waves_particle_memory(const struct parameters *p) {
  struct parameters first_order = *p;
  first_order.ic.order = 1;
  const double columns = 3.0 * (sizeof(uint32_t) + sizeof(float)) + sizeof(uint64_t);
  return ic_generate_memory(&first_order) + (double)waves_particle_count(p) * columns;
}

/** A point of the grid. */
static void grid_point(const struct parameters *p, size_t number, double place[3]) {
  const double spacing = p->box.size / (double)p->box.npart_side;
  for (int c = 2; c >= 0; c--) {
    place[c] = spacing * (double)(number % points_along(p, c));
    number /= points_along(p, c);
  }
}

/** A coordinate in a periodic box. */
static double into_box(double x, double side) {
  x -= side * floor(x / side);
  return x < side ? x : 0.0; /* rounding */
}

/** Particles of the plane wave that gas_ic_at() gives the gas. */
static struct gas_particle *make_pancake(const struct parameters *p, size_t *count) {
  const struct pancake wave = pancake_make(p);
  const size_t all = waves_particle_count(p), first = comm_first(all, comm_rank());
  *count = comm_first(all, comm_rank() + 1) - first;
  struct gas_particle *particle = allocate(*count, sizeof *particle, "particles");
  double side[3], k[3], square = 0.0;
  for (int c = 0; c < 3; c++) {
    const bool along = p->ic.direction == GAS_DIAGONAL || (int)p->ic.direction == c;
    side[c] = p->box.size * p->gas.root[c] / p->gas.root[0];
    k[c] = along ? 2.0 * PI / side[c] : 0.0;
    square += k[c] * k[c];
  }
  for (size_t i = 0; i < *count; i++) {
    double q[3], phase = 0.0;
    grid_point(p, first + i, q);
    for (int c = 0; c < 3; c++) phase += k[c] * (q[c] - 0.5 * side[c]);
    particle[i] = (struct gas_particle){
        .mass = mass_of_each(p), .number = first + i, .type = PARTICLE_HALO};
    for (int c = 0; c < 3; c++) {
      particle[i].position[c] = into_box(q[c] - wave.size * sin(phase) * k[c] / square, side[c]);
      particle[i].velocity[c] = wave.velocity * sin(phase) * k[c] / square;
    }
  }
  return particle;
}

struct gas_particle *waves_make_particles(const struct parameters *p, size_t *count) {
  return p->ic.source == IC_PANCAKE ? make_pancake(p, count) : generate(p, count);
}
