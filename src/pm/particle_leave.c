/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lists of the particles that may leave their groups. */
#include <stdlib.h>
#include <string.h>

#include "particle_migrate.h"
#include "photons/base/comm.h"
#include "photons/pm/codelets.h"
#include "photons/runtime/handle.h"

static size_t leavers_bytes(const struct particle_level *l) {
  return l->count * sizeof(struct gas_leaver);
}

static uint32_t own_groups(const struct particle_level *l) { return l->own_end - l->own_first; }

void leaving_begin(struct gas_leaving *s) {
  const struct particle_level *l = s->from;
  if (!l->first) return;
  s->leaver = gas_shared_room(leavers_bytes(l), "particles");
  s->leavers = gas_shared_array(own_groups(l), sizeof *s->leavers, "particles");
  for (uint32_t b = l->begin; b < l->begin + l->batches; b++)
    if (particle_batch_count(l, b) > 0) gas_leave_submit(s, b);
}

size_t leaving_count(const struct gas_leaving *s) {
  const struct particle_level *l = s->from;
  size_t count = 0;
  if (!l->first) return l->count;
  for (uint32_t b = 0; b < l->batches; b++) handle_wait(l->handle[b]);
  for (uint32_t k = 0; k < l->copies; k++) handle_wait(l->copy[k].handle);
  for (uint32_t i = 0; i < own_groups(l); i++) count += s->leavers[i];
  return count;
}

const struct gas_leaver *leaving_of(const struct gas_leaving *s, uint32_t group) {
  return s->leaver + particle_first(s->from, group) - particle_first(s->from, s->from->own_first);
}

void leaving_end(struct gas_leaving *s) {
  gas_free_shared(s->leavers, own_groups(s->from) * sizeof *s->leavers);
  gas_free_shared(s->leaver, leavers_bytes(s->from));
  free(s->now);
  *s = (struct gas_leaving){0};
}
