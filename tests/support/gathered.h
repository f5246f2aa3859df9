/* SPDX-License-Identifier: GPL-3.0-or-later */
/* All particles on every rank, so that a test makes the same comparisons on one rank and on
 * several. */
#ifndef PHOTONS_TESTS_GATHERED_H
#define PHOTONS_TESTS_GATHERED_H

#include <stdlib.h>

#include "checksum.h"
#include "photons/base/comm.h"
#include "photons/domain/particles.h"

static inline void gather_array(const struct particles *s, size_t size, const void *mine,
                                void *all) {
  size_t *bytes = calloc((size_t)comm_size(), sizeof *bytes);
  for (int r = 0; r < comm_size(); r++)
    bytes[r] = (comm_first(s->all, r + 1) - comm_first(s->all, r)) * size;
  comm_gather_all_sizes(mine, bytes, all);
  free(bytes);
}

/** All particles of the run in one piece, for particles in one piece per rank. Frees @p s and
 * prints a checksum. Collective. */
static inline struct particles gather_particles(struct particles s) {
  struct particles g = particles_create(s.all, s.box, s.mass);
  for (size_t c = 0; c < 3; c++) {
    gather_array(&s, sizeof *s.position, s.position + c * s.count, g.position + c * g.count);
    gather_array(&s, sizeof *s.momentum, s.momentum + c * s.count, g.momentum + c * g.count);
  }
  gather_array(&s, sizeof *s.id, s.id, g.id);
  particles_free(&s);
  uint64_t sum = 0;
  for (size_t i = 0; i < g.count; i++) sum += checksum_term(i, g.id[i]);
  for (size_t i = 0; i < 3 * g.count; i++) {
    uint32_t momentum;
    memcpy(&momentum, &g.momentum[i], sizeof momentum);
    sum += checksum_term(g.count + i, (uint64_t)g.position[i] << 32 | momentum);
  }
  checksum_print("particles", comm_rank() == 0 ? sum : 0);
  return g;
}

#endif
