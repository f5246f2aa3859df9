/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lists of the particles of a batch that have left their groups, which gas_leave makes, or gas_push behind a drift. */
#ifndef PHOTONS_CODELETS_PM_LEAVE_H
#define PHOTONS_CODELETS_PM_LEAVE_H

#include <stdlib.h>
#include <string.h>

#include "codelets/amr/batches.h"
#include "cuda/pm/gpu_pm.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/pm/codelets.h"
#include "photons/pm/particles.h"
#include "photons/pm/settling.h"

struct gas_leave_argument {
  const struct gas_leaving *leaving;
  uint32_t batch;
};
enum { LEAVE_PARTICLES };

/** The groups of the batch, and what comes before them. */
struct leave_range {
  uint32_t first, count;
  const size_t *particles; /* of particle_level.first, from the batch's first group on */
  size_t before;           /* particles of this rank before those of the batch */
};

static inline struct leave_range leave_range_of(const struct gas_leave_argument *a) {
  const struct particle_level *l = a->leaving->from;
  const uint32_t first = a->batch * l->batch_groups, left = l->own_end - first;
  return (struct leave_range){.first = first,
                              .count = left < l->batch_groups ? left : l->batch_groups,
                              .particles = l->first + particle_place(l, first),
                              .before = particle_first(l, first) - (size_t)(l->particle - l->all)};
}

/** Which groups beside a group this rank has: a bit for each of NEIGHBOURS. */
static inline uint32_t leave_own_groups(const struct gas *g, int level,
                                        const struct gas_group *me) {
  uint32_t own = me->there;
  if (comm_size() == 1) return own;
  for (uint32_t left = own; left; left &= left - 1) {
    const int n = __builtin_ctz(left);
    if (gas_owner(g, level, me->near[n]) != comm_rank()) own &= ~(1u << n);
  }
  return own;
}

/** What tells which particles stay in a group of particle_level. */
static inline struct gas_fence leave_fence_of(const struct gas_leaving *s, uint32_t group) {
  const struct gas *g = s->gas;
  const uint32_t now = s->now[group - s->from->own_first];
  struct gas_fence fence = {.open = now == NO_GROUP || gas_owner(g, s->level, now) != comm_rank()};
  if (fence.open) return fence;
  const struct gas_group *me = topology_group(&g->topology, s->level, now);
  memcpy(fence.place, me->place, sizeof fence.place);
  fence.open = s->level > 0 && me->outside != 0; /* clouds of coarser levels may reach outside */
  fence.inside = leave_own_groups(g, s->level, me);
  for (int p = 0; p < GAS_PATCHES && s->level < s->last; p++)
    if (me->son[p] != NO_GROUP)
      fence.finer[p] = topology_there(&g->topology, s->level + 1, me->son[p]);
  return fence;
}

static inline void gas_leave_cpu(void *buffers[], const struct gas_leave_argument *a) {
  (void)buffers;
  const struct gas_leaving *s = a->leaving;
  const struct leave_range r = leave_range_of(a);
  uint32_t *leavers = s->leavers + r.first - s->from->own_first;
  const double cell = gas_cell(s->gas, s->level);
  for (uint32_t k = 0; k < r.count; k++) {
    const struct gas_fence fence = leave_fence_of(s, r.first + k);
    const size_t begin = r.particles[k] - r.particles[0], end = r.particles[k + 1] - r.particles[0];
    struct gas_leaver *next = s->leaver + r.before + begin;
    for (size_t i = begin; i < end; i++) {
      const struct gas_particle *p = &s->from->all[r.particles[0] + i];
      if (may_leave_till(&fence, cell, s->time, p)) *next++ = (struct gas_leaver){*p, i};
    }
    leavers[k] = (uint32_t)(next - (s->leaver + r.before + begin));
  }
}

static inline void gas_leave_gpu(struct gpu *gpu, void *buffers[],
                                 const struct gas_leave_argument *a) {
  const struct gas_leaving *s = a->leaving;
  const struct leave_range r = leave_range_of(a);
  struct gas_fence *fence = allocate(r.count, sizeof *fence, "particles of groups");
  uint32_t *first = allocate(r.count + 1, sizeof *first, "particles of groups");
  for (uint32_t k = 0; k < r.count; k++) fence[k] = leave_fence_of(s, r.first + k);
  for (uint32_t k = 0; k <= r.count; k++) first[k] = (uint32_t)(r.particles[k] - r.particles[0]);
  gpu_gas_leave(gpu, r.count, gas_cell(s->gas, s->level), s->time, fence, first,
                VECTOR(const struct gas_particle, buffers[LEAVE_PARTICLES]), s->leaver + r.before,
                s->leavers + r.first - s->from->own_first);
  free(first);
  free(fence);
}

#endif
