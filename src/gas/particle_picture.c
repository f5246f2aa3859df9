/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "particle_picture.h"

#include <math.h>
#include <stdlib.h>

#include "particle_share.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/config/parameters.h"
#include "src/analysis/image_map.h"
#include "src/analysis/sheet.h"

#define REACH 0.1 /* how far particles move along an axis, over the box: more than in most runs */

bool gas_particles_mapped(const struct gas *g) {
  const uint32_t *root = g->topology.root;
  return g->particles && g->universe.comoving && root[0] == root[1] && root[0] == root[2];
}

/** The side of the lattice that the ids number; 0: there is none. */
static size_t lattice_side(const struct parameters *p) {
  return *p->ic.particles || *p->ic.glass ? 0 : (size_t)p->box.npart_side;
}

/** Let the axes of a picture be x, y and z. */
static void turn(struct particles *s, const int axis[3]) {
  for (size_t i = 0; i < s->count; i++) {
    uint32_t x[3];
    for (size_t c = 0; c < 3; c++) x[c] = s->position[(size_t)axis[c] * s->count + i];
    for (size_t c = 0; c < 3; c++) s->position[c * s->count + i] = x[c];
  }
}

/** From particles in pixels at [x][y] to means of 1 at [y][x]. */
static double *over_mean(const double *map, size_t pixels, double particles) {
  double *value = allocate(pixels * pixels, sizeof *value, "a picture of particles");
  const double mean = particles / (double)(pixels * pixels);
  for (size_t x = 0; x < pixels; x++)
    for (size_t y = 0; y < pixels; y++) value[y * pixels + x] = map[x * pixels + y] / mean;
  return value;
}

double *gas_particles_map(const struct gas *g, const struct parameters *p, const int axis[3],
                          size_t pixels) {
  const struct projection whole = {.pixels = pixels, .extent = UINT32_MAX};
  const size_t lattice = lattice_side(p);
  struct particles s = gas_particles_share(g, p->box.size);
  double *map;
  turn(&s, axis);
  const bool sheet = lattice > 0 && !particles_have(&s, COLUMN_relative_mass);
  if (!sheet || !sheet_project(&s, lattice, 1, &whole, &map)) map = smoothed_project(&s, &whole);
  double *value = over_mean(map, pixels, (double)s.all);
  free(map);
  particles_free(&s);
  return value;
}

double gas_particles_map_memory(const struct parameters *p, size_t particles) {
  const double ranks = comm_size();
  if (!p->gas.comoving || particles == 0) return 0.0;
  const size_t image = p->output.images ? (size_t)p->output.image_pixels : 0,
               frame = p->output.movie > 0 && p->gas.solver == GAS_NONE
                           ? (size_t)p->output.movie_pixels
                           : 0,
               pixels = image > frame ? image : frame;
  if (pixels == 0) return 0.0;
  return gas_particles_share_memory(particles, lattice_side(p) > 0
                                                   ? sheet_memory(particles, pixels, REACH)
                                                   : ranks * smoothed_memory(pixels));
}
