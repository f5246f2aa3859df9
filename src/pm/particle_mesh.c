/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Between the particles and the cells of a group: densities of clouds, and forces on them. */
#include <math.h>
#include <string.h>

#include "particle_migrate.h"
#include "photons/pm/cloud_reach.h"
#include "photons/pm/particles.h"
#include "photons/potential/poisson.h"

enum { SIDE = GAS_GROUP_SIDE };

/** The eight cells of a cloud. */
struct cloud {
  int cell[3];      /* the lowest of them, from that of the particle's group */
  double weight[3]; /* of the upper cells along each axis */
};

/** Cells are counted from the group's lowest one, also where the box is periodic and the particle
 * has come out of it on the other side. */
static struct cloud cloud_at(const struct gas *g, int level, const uint32_t place[3],
                             const double position[3]) {
  const double cell = gas_cell(g, level);
  struct cloud cloud;
  for (int c = 0; c < 3; c++) {
    const int64_t side = (int64_t)SIDE * g->topology.root[c] << level;
    const double at = position[c] / cell - 0.5, low = floor(at);
    int64_t i = (int64_t)low - (int64_t)SIDE * place[c];
    if (side > SIDE && i > SIDE + SIDE / 2) i -= side;
    if (side > SIDE && i < -SIDE / 2) i += side;
    cloud.cell[c] = (int)i;
    cloud.weight[c] = at - low;
  }
  return cloud;
}

/** The cloud of a particle of an own group. */
static struct cloud cloud_of(const struct gas *g, int level, uint32_t group,
                             const struct gas_particle *p) {
  return cloud_at(g, level, topology_group(&g->topology, level, group)->place, p->position);
}

/** The share of a cell of the cloud, 0 .. 7. */
static double share_of(const struct cloud *cloud, int k) {
  double share = 1.0;
  for (int c = 0; c < 3; c++) share *= k >> c & 1 ? cloud->weight[c] : 1.0 - cloud->weight[c];
  return share;
}

uint32_t gas_particles_touched(const struct gas *g, int level, uint32_t group,
                               const double position[3]) {
  uint32_t place[3], touched = 0;
  topology_place(&g->topology, level, group, place);
  const struct cloud cloud = cloud_at(g, level, place, position);
  for (int n = 0; n < NEIGHBOURS; n++) {
    const int direction[3] = {n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1};
    bool here = true;
    for (int c = 0; c < 3; c++) {
      const int low = cloud.cell[c] - SIDE * direction[c];
      here = here && low >= -1 && low < SIDE;
    }
    if (here && topology_near(&g->topology, level, group, n) != NO_GROUP) touched |= 1u << n;
  }
  return touched | 1u << MYSELF;
}

/** Add what a cloud has in a group. @param offset  of the particle's group from this one */
static void add_cloud(const struct cloud *cloud, double density, const int offset[3],
                      double *cells) {
  int low[3];
  for (int c = 0; c < 3; c++) {
    low[c] = cloud->cell[c] + offset[c];
    if (low[c] < -1 || low[c] >= SIDE) return;
  }
  for (int k = 0; k < 8; k++) {
    const int x = low[0] + (k & 1), y = low[1] + (k >> 1 & 1), z = low[2] + (k >> 2);
    if (x < 0 || y < 0 || z < 0 || x >= SIDE || y >= SIDE || z >= SIDE) continue;
    cells[(z * SIDE + y) * SIDE + x] += density * share_of(cloud, k);
  }
}

/** A neighbour whose particles may reach into a group. */
struct reaching {
  const struct gas_group *group;
  int offset[3]; /* of its cells from those of the group */
  double volume; /* of a cell */
  struct cloud_reach reach;
};

static struct reaching reaching_of(const struct gas *g, int level, const struct gas_group *group,
                                   int n) {
  const int direction[3] = {n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1},
            place[3] = {(int)group->place[0], (int)group->place[1], (int)group->place[2]};
  return (struct reaching){
      .group = group,
      .offset = {SIDE * direction[0], SIDE * direction[1], SIDE * direction[2]},
      .volume = pow(gas_cell(g, level), 3.0),
      .reach = cloud_reach_of(gas_cell(g, level), place, direction)};
}

/** Add what the cloud at a position has in a group. @param from  whose particle it is */
static void add_cloud_of(const struct gas *g, int level, const struct reaching *from,
                         const double position[3], double mass, double *cells) {
  if (cloud_is_away(&from->reach, position)) return;
  const struct cloud cloud = cloud_at(g, level, from->group->place, position);
  add_cloud(&cloud, mass / from->volume, from->offset, cells);
}

void gas_particles_assign(const struct gas *g, int level, uint32_t group,
                          double density[GAS_GROUP_CELLS]) {
  const struct topology *t = &g->topology;
  const struct particle_level *l = &g->particles->level[level];
  memset(density, 0, GAS_GROUP_CELLS * sizeof *density);
  for (int n = 0; n < NEIGHBOURS; n++) {
    const uint32_t near = topology_group(t, level, group)->near[n];
    if (near == NO_GROUP) continue;
    const struct reaching from = reaching_of(g, level, topology_group(t, level, near), n);
    for (size_t i = particle_first(l, near), end = particle_first(l, near + 1); i < end; i++)
      add_cloud_of(g, level, &from, l->all[i].position, l->all[i].mass, density);
  }
}

void particle_move_on(const struct gas_particle *p, double time, double position[3]) {
  for (int c = 0; c < 3; c++) position[c] = p->position[c] + time * p->velocity[c];
}

void gas_particles_move_on(const struct gas *g, int level, uint32_t group,
                           const struct particle_level *moving, double time,
                           double density[GAS_GROUP_CELLS]) {
  const struct topology *t = &g->topology;
  for (int n = 0; n < NEIGHBOURS; n++) {
    const uint32_t near = topology_group(t, level, group)->near[n];
    if (near == NO_GROUP) continue;
    const struct reaching from = reaching_of(g, level, topology_group(t, level, near), n);
    for (size_t i = particle_first(moving, near), end = particle_first(moving, near + 1); i < end;
         i++) {
      const struct gas_particle *p = &moving->all[i];
      double position[3];
      particle_move_on(p, time, position);
      add_cloud_of(g, level, &from, p->position, -p->mass, density);
      add_cloud_of(g, level, &from, position, p->mass, density);
    }
  }
}

/** The acceleration of a cloud. A particle that has strayed from its level may be more than half a
 * cell outside its group; it is then taken to be half a cell outside. */
static void accelerate(const struct cloud *cloud, const double *potential, double cell,
                       double acceleration[3]) {
  static const int step[3] = {1, WIDE_SIDE, WIDE_SIDE * WIDE_SIDE};
  struct cloud inside = *cloud;
  const double *low = potential;
  for (int c = 0; c < 3; c++) {
    acceleration[c] = 0.0;
    if (inside.cell[c] < -1 || inside.cell[c] >= SIDE) {
      inside.weight[c] = inside.cell[c] < -1 ? 0.0 : 1.0;
      inside.cell[c] = inside.cell[c] < -1 ? -1 : SIDE - 1;
    }
    low += (inside.cell[c] + WIDE_GHOSTS) * step[c];
  }
  for (int k = 0; k < 8; k++) {
    const double *p = low + (k & 1) * step[0] + (k >> 1 & 1) * step[1] + (k >> 2) * step[2];
    const double share = share_of(&inside, k);
    for (int c = 0; c < 3; c++)
      acceleration[c] -= share * (p[step[c]] - p[-step[c]]) / (2.0 * cell);
  }
}

/** Drift along an axis; a periodic box ends where it begins. */
static void drift(const struct gas *g, int c, double way, double *position) {
  const double side = g->cell * SIDE * g->topology.root[c];
  *position += way;
  if (g->topology.boundary[c][0] != GAS_PERIODIC) return;
  *position -= side * floor(*position / side);
  if (*position >= side) *position = 0.0; /* rounding */
}

void gas_particles_push(const struct gas *g, int level, uint32_t group, const double *potential,
                        double dt) {
  const struct particle_level *l = &g->particles->level[level];
  for (size_t i = particle_first(l, group), end = particle_first(l, group + 1); i < end; i++) {
    struct gas_particle *p = &l->all[i];
    const struct cloud cloud = cloud_of(g, level, group, p);
    const double kick = dt > 0.0 ? 0.5 * dt : p->owed;
    double acceleration[3];
    accelerate(&cloud, potential, gas_cell(g, level), acceleration);
    for (int c = 0; c < 3; c++) {
      p->velocity[c] += kick * acceleration[c];
      drift(g, c, dt * p->velocity[c], &p->position[c]);
    }
    p->owed = 0.5 * dt;
  }
}

void gas_particles_feel(const struct gas *g, int level, uint32_t group, const double *potential) {
  const struct particle_level *l = &g->particles->level[level];
  struct particle_sums sums = {0};
  for (size_t i = particle_first(l, group), end = particle_first(l, group + 1); i < end; i++) {
    const struct gas_particle *p = &l->all[i];
    const struct cloud cloud = cloud_of(g, level, group, p);
    double acceleration[3];
    accelerate(&cloud, potential, gas_cell(g, level), acceleration);
    sums.mass += p->mass;
    for (int c = 0; c < 3; c++) {
      sums.momentum[c] += p->mass * p->velocity[c];
      sums.kinetic_energy += 0.5 * p->mass * p->velocity[c] * p->velocity[c];
      sums.speed = fmax(sums.speed, fabs(p->velocity[c]));
      sums.acceleration = fmax(sums.acceleration, fabs(acceleration[c]));
    }
  }
  l->sums[group - l->own_first] = sums;
}
