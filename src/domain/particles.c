/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/domain/particles.h"

#include <stdlib.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"

static struct particles allocate_particles(struct particles s) {
  s.count = block_first(s.all, s.all_blocks, s.first_block + s.blocks) - particles_first(&s);
  s.position = allocate(3 * s.count, sizeof(uint32_t), "particle positions");
  s.momentum = allocate(3 * s.count, sizeof(float), "particle momenta");
  s.acceleration = allocate(3 * s.count, sizeof(float), "particle accelerations");
  s.id = allocate(s.count, sizeof(uint64_t), "particle ids");
  return s;
}

struct particles particles_create(size_t n, double box, double mass) {
  return allocate_particles((struct particles){.all = n, .all_blocks = 1, .blocks = 1, .box = box, .mass = mass});
}

struct particles particles_create_blocks(size_t n, size_t blocks, double box, double mass) {
  const size_t first = comm_first(blocks, comm_rank()), end = comm_first(blocks, comm_rank() + 1);
  return allocate_particles((struct particles){
      .all = n, .all_blocks = blocks, .first_block = first, .blocks = end - first, .box = box, .mass = mass});
}

struct particles particles_create_share(size_t n, double box, double mass) {
  return particles_create_blocks(n, (size_t)comm_size(), box, mass);
}

void particles_free(struct particles *s) {
  free(s->position);
  free(s->momentum);
  free(s->acceleration);
  free(s->id);
  *s = (struct particles){0};
}
