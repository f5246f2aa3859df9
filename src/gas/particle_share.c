/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "particle_share.h"

#include <math.h>
#include <stdlib.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"

/** A particle in a message. */
struct place {
  uint64_t number;
  uint32_t x[3];
  float relative_mass;
};

/** Whether all particles have the same mass. Collective. */
static bool have_one_mass(const struct gas *g) {
  uint32_t others = 0;
  for (int l = 0; l < GAS_LEVELS_MAX; l++)
    for (size_t k = 0; k < g->particles->level[l].count; k++)
      others |= g->particles->level[l].particle[k].mass != g->refinement.lightest;
  comm_max_u32(&others, 1);
  return others == 0;
}

/** This rank's particles. @param mass  the unit of masses */
static struct place *own_places(const struct gas *g, double box, double mass, size_t *count) {
  *count = 0;
  for (int l = 0; l < GAS_LEVELS_MAX; l++) *count += g->particles->level[l].count;
  struct place *place = allocate(*count, sizeof *place, "a copy of particles"), *next = place;
  for (int l = 0; l < GAS_LEVELS_MAX; l++)
    for (size_t k = 0; k < g->particles->level[l].count; k++, next++) {
      const struct gas_particle *particle = &g->particles->level[l].particle[k];
      next->number = particle->number;
      next->relative_mass = (float)(particle->mass / mass);
      for (size_t c = 0; c < 3; c++) next->x[c] = position_to_integer(particle->position[c], box);
    }
  return place;
}

/** Number of what two ranges have in common. */
static size_t common(size_t first, size_t end, size_t other_first, size_t other_end) {
  const size_t low = first > other_first ? first : other_first,
               high = end < other_end ? end : other_end;
  return low < high ? high - low : 0;
}

/** Send own particles to the ranks that get them. @return [count of this rank's part], to be freed */
static struct place *exchange_places(const struct particles *s, struct place *sent, size_t own) {
  const size_t ranks = (size_t)comm_size(), first = comm_sum_before(own);
  struct place *received = allocate(s->count, sizeof *received, "a copy of particles");
  size_t *bytes_of = allocate(2 * ranks, sizeof *bytes_of, "message sizes");
  for (int r = 0; r < comm_size(); r++)
    bytes_of[r] = sizeof *sent *
                  common(first, first + own, comm_first(s->all, r), comm_first(s->all, r + 1));
  comm_exchange_sizes(bytes_of, bytes_of + ranks);
  comm_exchange(sent, bytes_of, received, bytes_of + ranks);
  free(bytes_of);
  return received;
}

struct particles gas_particles_share(const struct gas *g, double box) {
  const bool one = have_one_mass(g);
  const double mass = one ? g->refinement.lightest
                          : g->particles->mass / (double)g->particles->count;
  struct particles s = particles_create_share(g->particles->count, box, mass);
  size_t own;
  struct place *sent = own_places(g, box, mass, &own);
  struct place *received = exchange_places(&s, sent, own);
  if (!one) particles_add_column(&s, COLUMN_relative_mass);
  for (size_t i = 0; i < s.count; i++) {
    s.id[i] = 1 + received[i].number;
    for (size_t c = 0; c < 3; c++) s.position[c * s.count + i] = received[i].x[c];
    if (!one) s.relative_mass[i] = received[i].relative_mass;
  }
  free(received);
  free(sent);
  return s;
}

double gas_particles_share_memory(size_t particles, double use) {
  const double n = (double)particles, columns = n * (3.0 * sizeof(uint32_t) + sizeof(uint64_t)),
               messages = 2.0 * n * sizeof(struct place);
  return columns + fmax(messages, use);
}
