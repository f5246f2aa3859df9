/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Particles of the initial conditions. */
#include <math.h>
#include <stdlib.h>

#include "particle_waves.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/config/parameters.h"
#include "photons/gas/comoving.h"
#include "photons/gas/create.h"
#include "photons/pm/particles.h"
#include "src/io/hdf5_util.h"
#include "src/io/hdf5_virtual.h"

/** Two unit masses around the middle of the box, on a circle around each other; rank 0 has them. */
static void add_point_masses(struct gas *g, const struct parameters *p) {
  const double distance = p->ic.separation * p->gas.length;
  const double speed = sqrt(p->gas.newton_constant / (2.0 * distance));
  struct gas_particle particle[2];
  for (int i = 0; i < 2; i++) {
    const double side = i == 0 ? -1.0 : 1.0;
    particle[i] = (struct gas_particle){.mass = 1.0, .number = (uint64_t)i, .type = PARTICLE_HALO};
    for (int c = 0; c < 3; c++)
      particle[i].position[c] = 0.5 * g->cell * GAS_GROUP_SIDE * g->topology.root[c];
    particle[i].position[0] += 0.5 * side * distance;
    particle[i].velocity[1] = side * speed;
  }
  gas_particles_add(g, particle, comm_rank() == 0 ? 2 : 0);
}

/** This rank's part of a dataset of numbers, [rows][columns]; columns 1: one dimension.
 * @param rows  in and out: of the whole dataset; 0: not known */
static double *read_numbers(hid_t file, const char *path, const char *name, size_t columns,
                            size_t *rows) {
  hsize_t shape[2] = {0, 1};
  if (H5Lexists(file, name, H5P_DEFAULT) <= 0)
    fail(EXIT_BAD_INPUT, "%s: there is no dataset %s; needed: position, velocity and mass", path,
         name);
  const hid_t dataset = hdf5_open_dataset(file, path, name);
  const hid_t space = hdf5_reading(H5Dget_space(dataset), path, name);
  const int dimensions = H5Sget_simple_extent_ndims(space);
  if (dimensions == (columns == 1 ? 1 : 2)) H5Sget_simple_extent_dims(space, shape, NULL);
  if (shape[0] == 0 || shape[1] != columns)
    fail(EXIT_BAD_INPUT, "%s: %s must have a row for each particle, of %zu number%s", path, name,
         columns, columns == 1 ? "" : "s");
  if (comm_rank() == 0) hdf5_check_readable(dataset, path, name);
  comm_barrier();
  if (*rows > 0 && *rows != shape[0])
    fail(EXIT_BAD_INPUT, "%s: %s has %zu rows, and position %zu", path, name, (size_t)shape[0],
         *rows);
  *rows = shape[0];
  const size_t first = comm_first(*rows, comm_rank()),
               own = comm_first(*rows, comm_rank() + 1) - first;
  double *values = allocate(own * columns, sizeof *values, "particles");
  if (own > 0)
    hdf5_read_rows(dataset, path, name, H5T_NATIVE_DOUBLE, first, own, columns, values, NULL);
  H5Sclose(space);
  H5Dclose(dataset);
  return values;
}

/** Side of the box along an axis. */
static double side_of(const struct parameters *p, int c) {
  return gas_length(p) * p->gas.root[c] / p->gas.root[0];
}

/** A position in a periodic box: one that was wrapped in double and then rounded to float may be on
 * the box's far side, or outside of it by rounding. */
static double wrapped(const struct parameters *p, double x, int c) {
  const double side = side_of(p, c), rounding = 1e-6 * side;
  if (p->gas.boundary[c][0] != GAS_PERIODIC || x < -rounding || x > side + rounding) return x;
  const double inside = x < 0.0 ? x + side : x >= side ? x - side : x;
  return inside < side ? inside : 0.0;
}

/** This rank's part of the types; NULL: the file has none. */
static double *read_types(hid_t file, const char *path, size_t *rows) {
  return H5Lexists(file, "type", H5P_DEFAULT) > 0 ? read_numbers(file, path, "type", 1, rows)
                                                  : NULL;
}

/** A particle's type. @param type  of this rank's particles in the file; NULL: there are none */
static uint8_t type_of(const char *path, const double *type, size_t i, size_t number) {
  if (!type) return PARTICLE_HALO;
  for (int k = 0; k < PARTICLE_TYPES; k++)
    if (type[i] == k) return (uint8_t)k;
  fail(EXIT_BAD_INPUT, "%s: the type of particle %zu is %g; allowed: 0 to %d, as in Gadget", path,
       number, type[i], PARTICLE_TYPES - 1);
}

/** End the program where a particle cannot be. */
static void check_particle(const char *path, const struct parameters *p,
                           const struct gas_particle *particle) {
  for (int c = 0; c < 3; c++) {
    const double x = particle->position[c], v = particle->velocity[c];
    const double side = side_of(p, c);
    if (!(x >= 0.0 && x < side))
      fail(EXIT_BAD_INPUT, "%s: %c of particle %llu is %g; allowed: 0 to less than %g", path,
           "xyz"[c], (unsigned long long)particle -> number, x, side);
    if (!isfinite(v))
      fail(EXIT_BAD_INPUT, "%s: velocity %c of particle %llu is %g", path, "xyz"[c],
           (unsigned long long)particle -> number, v);
  }
  if (!(particle->mass > 0.0 && isfinite(particle->mass)))
    fail(EXIT_BAD_INPUT, "%s: the mass of particle %llu is %g; allowed: more than 0", path,
         (unsigned long long)particle->number, particle->mass);
}

/** End the program if gas and particles of all ranks are not all matter. */
static void check_universe(const char *path, const struct parameters *p,
                           const struct gas_particle *particle, size_t count) {
  const struct cosmology c = cosmology_from(p);
  const double side = p->box.size, share = 1.0 - comoving_gas_share(p);
  const double volume = side * side * side * p->gas.root[1] * p->gas.root[2] /
                        (p->gas.root[0] * p->gas.root[0]);
  double mass = 0.0;
  for (size_t i = 0; i < count; i++) mass += particle[i].mass;
  comm_sum_double(&mass, 1);
  const double found = mass / (volume * comoving_mean_density(&c));
  if (fabs(found - share) > 1e-3 * share)
    fail(EXIT_BAD_INPUT,
         "%s: the particles are Omega = %g, and must be %g: what is not gas of Omega_m = %g", path,
         found * c.omega_m, share * c.omega_m, c.omega_m);
}

/** This rank's part of the particles of a file. */
static struct gas_particle *read_particles(const struct parameters *p, size_t *count) {
  const char *path = p->ic.particles;
  const hid_t file = hdf5_open(path);
  size_t all = 0;
  double *position = read_numbers(file, path, "position", 3, &all),
         *velocity = read_numbers(file, path, "velocity", 3, &all),
         *mass = read_numbers(file, path, "mass", 1, &all), *type = read_types(file, path, &all);
  H5Fclose(file);
  const size_t first = comm_first(all, comm_rank());
  *count = comm_first(all, comm_rank() + 1) - first;
  struct gas_particle *particle = allocate(*count, sizeof *particle, "particles");
  for (size_t i = 0; i < *count; i++) {
    particle[i].mass = mass[i];
    particle[i].number = first + i;
    particle[i].type = type_of(path, type, i, first + i);
    for (int c = 0; c < 3; c++) {
      particle[i].position[c] = wrapped(p, position[3 * i + (size_t)c], c);
      particle[i].velocity[c] = velocity[3 * i + (size_t)c];
    }
    check_particle(path, p, &particle[i]);
  }
  free(position);
  free(velocity);
  free(mass);
  free(type);
  if (p->gas.comoving) check_universe(path, p, particle, *count);
  return particle;
}

void gas_particles_begin(struct gas *g, const struct parameters *p) {
  size_t count;
  if (p->ic.source == IC_POINT_MASSES) {
    add_point_masses(g, p);
    return;
  }
  struct gas_particle *particle = *p->ic.particles ? read_particles(p, &count)
                                                   : waves_make_particles(p, &count);
  gas_particles_add(g, particle, count);
  free(particle);
}

size_t gas_particles_look(const struct parameters *p) {
  size_t count;
  if (p->ic.source == IC_POINT_MASSES) return 2;
  if (p->box.npart_side > 0) return waves_particle_count(p);
  free(read_particles(p, &count));
  uint64_t all = count;
  comm_sum_u64(&all, 1);
  return all;
}
