/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Migration: groups that change owners, with all columns of their particles. */
#include <stdlib.h>
#include <string.h>

#include "groups.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/domain/domain.h"

/** Send a column, `size` bytes per particle, to the new owners of its groups. Frees `old`. */
static void *hand_over(void *old, const size_t *particles, size_t count, size_t size) {
  const size_t processes = (size_t)comm_size();
  size_t *bytes = allocate(2 * processes, sizeof *bytes, "message sizes");
  for (size_t i = 0; i < 2 * processes; i++) bytes[i] = particles[i] * size;
  void *new = allocate(count, size, "particles of this rank");
  comm_exchange(old, bytes, new, bytes + processes);
  free(bytes);
  free(old);
  return new;
}

/** Particles that two ranges of groups have in common. */
static size_t common(const struct domain *d, uint32_t first, uint32_t end, uint32_t other_first,
                     uint32_t other_end) {
  const uint32_t low = first > other_first ? first : other_first,
                 high = end < other_end ? end : other_end;
  if (low >= high) return 0;
  const struct particles *p = &d->particles;
  return block_first(p->all, p->all_blocks, high) - block_first(p->all, p->all_blocks, low);
}

void domain_migrate(struct domain *d, const uint32_t *owner_first) {
  struct particles *p = &d->particles;
  const int processes = comm_size(), me = comm_rank();
  size_t *moved = allocate(2 * (size_t)processes, sizeof *moved, "message sizes");
  for (int r = 0; r < processes; r++) {
    moved[r] = common(d, group_first(d, me), group_first(d, me + 1), owner_first[r],
                      owner_first[r + 1]);
    moved[processes + r] = common(d, group_first(d, r), group_first(d, r + 1), owner_first[me],
                                  owner_first[me + 1]);
  }
  groups_leave(d);
  p->first_block = owner_first[me];
  p->blocks = owner_first[me + 1] - owner_first[me];
  p->count = block_first(p->all, p->all_blocks, owner_first[me + 1]) - particles_first(p);
  FOR_PARTICLE_COLUMNS(p, k)
  particles_set_column(p, k,
                       hand_over(particles_column(p, k), moved, p->count,
                                 particle_column_bytes(&particle_columns[k])));
  free(moved);
  if (!d->owner_first)
    d->owner_first = allocate((size_t)processes + 1, sizeof *d->owner_first, "owners of groups");
  memcpy(d->owner_first, owner_first, ((size_t)processes + 1) * sizeof *owner_first);
  groups_take(d);
}
