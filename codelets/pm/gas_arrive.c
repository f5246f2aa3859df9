/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gas_arrive: makes the particles of a new batch, from those of old ones that stay in their groups and
 * those that arrive.
 *
 * writes particles of the new batch
 * reads  particles of old batches */
#include <stdlib.h>

#include "codelets/amr/batches.h"
#include "cuda/pm/gpu_pm.h"
#include "photons/pm/codelets.h"
#include "photons/pm/particles.h"
#include "photons/pm/settling.h"

struct gas_arrive_argument {
  const struct gas_arriving *arriving;
  uint32_t batch;
};
enum { NEW, OLD };

static const struct gas_arrivals *arrivals_of(const struct gas_arrive_argument *a) {
  return &a->arriving->arrivals[a->batch - a->arriving->to->begin];
}

static double gas_arrive_work(const struct gas_arrive_argument *a) {
  return arrivals_of(a)->particles;
}

/** Merge the particles that stay and those that arrive. */
static void arrive_group(const struct gas_arrivals *s, const struct gas_arrival *group,
                         const struct gas_particle *old, struct gas_particle *new) {
  const struct gas_particle *arrival = s->particle + group->arrival,
                            *end = arrival + group->arrivals;
  const uint32_t *leaver = s->leaver + group->leaver, *last = leaver + group->leavers;
  for (uint32_t i = group->old; i < group->old + group->olds; i++) {
    if (leaver < last && *leaver == i) {
      leaver++;
      continue;
    }
    while (arrival < end && arrival->number < old[i].number) *new ++ = *arrival++;
    *new ++ = old[i];
  }
  while (arrival < end) *new ++ = *arrival++;
}

static void gas_arrive_cpu(void *buffers[], const struct gas_arrive_argument *a) {
  (void)buffers;
  const struct gas_arrivals *s = arrivals_of(a);
  const struct particle_level *from = a->arriving->from, *to = a->arriving->to;
  const struct gas *g = a->arriving->gas;
  const struct gas_batch *b = gas_batch(g, a->arriving->level, a->batch);
  for (uint32_t i = 0; i < b->count; i++) {
    const struct gas_arrival *group = &s->group[i];
    const struct gas_particle *old = NULL;
    if (group->olds > 0)
      old = from->all + particle_first(from, s->batch[group->from] * from->batch_groups);
    arrive_group(s, group, old, to->all + particle_first(to, b->first) + group->first);
  }
}

static void gas_arrive_gpu(struct gpu *gpu, void *buffers[], const struct gas_arrive_argument *a) {
  const struct gas_arrivals *s = arrivals_of(a);
  const char **old = slots_addresses(buffers, OLD, s->batches);
  gpu_gas_arrive(gpu, gas_batch(a->arriving->gas, a->arriving->level, a->batch)->count, s, old,
                 VECTOR(struct gas_particle, buffers[NEW]));
  free(old);
}

STAGE(gas_arrive, 0x887766, "gas");

void gas_arrive_submit(const struct gas_arriving *arriving, uint32_t batch) {
  const struct gas_arrivals *s = &arriving->arrivals[batch - arriving->to->begin];
  struct slots slots = slots_of("gas_arrive", arriving->gas, arriving->level, batch);
  slots_add(&slots, particle_handle(arriving->to, batch), STARPU_W);
  for (uint32_t i = 0; i < s->batches; i++)
    slots_add(&slots, particle_handle(arriving->from, s->batch[i]), STARPU_R);
  gas_arrive_insert((struct gas_arrive_argument){arriving, batch},
                    slots_task(&slots, PRIORITY_HIGH));
  free(slots.data);
}
