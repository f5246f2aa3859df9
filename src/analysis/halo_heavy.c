/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Heavy particles within halos that are made of light ones. The halos of one rank after the other are known
 * to all ranks, each of which looks for its own heavy particles in them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "photons/analysis/halo.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"

#define MASS_STEPS \
  1048576.0 /* of the mean mass, in which masses are added up: sums have no rounding */
enum { CELLS_MOST = 64 }; /* along an axis */

/** A sphere, and what is in it. */
struct sphere {
  uint32_t centre[3];
  uint64_t radius2; /* position units */
  uint64_t count, mass;
};

/** Spheres by the cells that they touch: cells are as wide as the largest radius, or wider. */
struct sphere_cells {
  size_t side, count; /* cells along an axis; spheres */
  struct sphere *sphere;
  size_t *first, *next; /* [cell], [sphere]: index of a sphere of the cell + 1, 0: no more */
};

static size_t cell_along(const struct sphere_cells *m, uint32_t x) {
  return (size_t)((uint64_t)x * m->side >> 32);
}

static size_t cell_of(const struct sphere_cells *m, const size_t cell[3]) {
  return (cell[0] * m->side + cell[1]) * m->side + cell[2];
}

static struct sphere_cells sort_spheres(struct sphere *sphere, size_t count) {
  double widest = 0.0;
  for (size_t i = 0; i < count; i++) widest = fmax(widest, sqrt((double)sphere[i].radius2));
  const double cells = widest > 0.0 ? floor(POSITION_TURN / (widest + 1.0)) : CELLS_MOST;
  struct sphere_cells m = {
      .side = (size_t)fmax(1.0, fmin(CELLS_MOST, cells)), .count = count, .sphere = sphere};
  m.first = allocate(m.side * m.side * m.side, sizeof *m.first, "contamination of halos");
  m.next = allocate(count, sizeof *m.next, "contamination of halos");
  for (size_t i = 0; i < count; i++) {
    size_t cell[3];
    for (int c = 0; c < 3; c++) cell[c] = cell_along(&m, sphere[i].centre[c]);
    m.next[i] = m.first[cell_of(&m, cell)];
    m.first[cell_of(&m, cell)] = i + 1;
  }
  return m;
}

/** The cells along an axis whose spheres can reach a place: fewer than three in a coarse division.
 * @return their number */
static size_t cells_about(const struct sphere_cells *m, uint32_t x, size_t near[3]) {
  const size_t cell = cell_along(m, x), number = m->side < 3 ? m->side : 3;
  for (size_t k = 0; k < number; k++) near[k] = (cell + m->side + k - (number > 1)) % m->side;
  return number;
}

static void count_in_cell(const struct sphere_cells *m, size_t cell, const uint32_t x[3],
                          uint64_t mass) {
  for (size_t i = m->first[cell]; i > 0; i = m->next[i - 1]) {
    struct sphere *s = &m->sphere[i - 1];
    if (distance2(x[0], x[1], x[2], s->centre[0], s->centre[1], s->centre[2]) > s->radius2)
      continue;
    s->count++;
    s->mass += mass;
  }
}

static void count_particle(const struct sphere_cells *m, const uint32_t x[3], uint64_t mass) {
  size_t near[3][3], number[3];
  for (int c = 0; c < 3; c++) number[c] = cells_about(m, x[c], near[c]);
  for (size_t i = 0; i < number[0]; i++)
    for (size_t j = 0; j < number[1]; j++)
      for (size_t k = 0; k < number[2]; k++)
        count_in_cell(m, cell_of(m, (const size_t[3]){near[0][i], near[1][j], near[2][k]}), x,
                      mass);
}

/** Add the heavy particles of this rank. */
static void count_particles(const struct sphere_cells *m, const struct particles *s,
                            double light_most) {
  for (size_t g = 0; g < s->blocks; g++) {
    const struct particle_block b = particles_block(s, g);
    for (size_t i = 0; i < b.count; i++) {
      const double mass = b.relative_mass ? (double)b.relative_mass[i] : 1.0;
      if (mass * s->mass <= light_most) continue;
      count_particle(m, (const uint32_t[3]){b.x[0][i], b.x[1][i], b.x[2][i]},
                     (uint64_t)(mass * MASS_STEPS + 0.5));
    }
  }
}

static struct sphere sphere_of(const struct halo *h, double box) {
  const double radius = h->sphere[CRIT_200].radius / box * POSITION_TURN;
  struct sphere s = {.radius2 = (uint64_t)(radius * radius)};
  for (int c = 0; c < 3; c++) s.centre[c] = position_to_integer(h->centre[c], box);
  return s;
}

static void add_ranks(struct sphere *sphere, size_t count) {
  uint64_t *sums = allocate(2 * count, sizeof *sums, "contamination of halos");
  for (size_t i = 0; i < count; i++) {
    sums[2 * i] = sphere[i].count;
    sums[2 * i + 1] = sphere[i].mass;
  }
  comm_sum_u64(sums, 2 * count);
  for (size_t i = 0; i < count; i++) {
    sphere[i].count = sums[2 * i];
    sphere[i].mass = sums[2 * i + 1];
  }
  free(sums);
}

/** The halos of one rank. */
static void count_in_halos_of(int rank, struct halo_catalogue *c, const struct particles *s,
                              double light_most) {
  uint64_t count = rank == comm_rank() ? c->count : 0;
  comm_broadcast(&count, sizeof count, rank);
  if (count == 0) return;
  struct sphere *sphere = allocate(count, sizeof *sphere, "contamination of halos");
  for (size_t i = 0; i < count && rank == comm_rank(); i++)
    sphere[i] = sphere_of(&c->halo[i], s->box);
  comm_broadcast(sphere, count * sizeof *sphere, rank);
  struct sphere_cells m = sort_spheres(sphere, count);
  count_particles(&m, s, light_most);
  add_ranks(sphere, count);
  for (size_t i = 0; i < count && rank == comm_rank(); i++) {
    c->halo[i].heavy_count = sphere[i].count;
    c->halo[i].heavy_mass = (double)sphere[i].mass / MASS_STEPS * s->mass;
  }
  free(m.first);
  free(m.next);
  free(sphere);
}

void halo_count_heavy(struct halo_catalogue *c, const struct particles *s, double light_most) {
  for (int rank = 0; rank < comm_size(); rank++) count_in_halos_of(rank, c, s, light_most);
  c->heavy = true;
}
