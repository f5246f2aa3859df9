/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gas_push: kicks the particles of a batch by the gradient of the potential, and drifts them; or finds
 * their largest acceleration. The gas of the batch is accelerated in the same task, as by gas_kick or gas_work. Drifted
 * particles that leave their groups are listed, as by gas_leave.
 *
 * reads   potentials of the batch, its neighbours, and of the next coarser level; links on GPUs; what gas_work reads
 * updates particles; cells
 * writes  particle_level.sums; gas_leaving.leaver and leavers
 *
 * The task reads particle_level.first without its `readers`: before particles settle, which replaces this table, the host
 * waits for the lists of those that leave. Batches without particles have no tasks. */
#include <stdlib.h>

#include "codelets/pm/clouds.h"
#include "codelets/pm/leave.h"
#include "codelets/potential/kick.h"
#include "codelets/potential/work.h"
#include "photons/base/error.h"
#include "photons/pm/particles.h"

struct gas_push_argument {
  struct batch_argument batch;
  struct push_task how;
};
/* Then what gas_kick or gas_work have of the gas; potentials; links; tables of the particles. */
enum { PARTICLES, GAS };

static double gas_push_work(const struct gas_push_argument *a) { return batch_work(&a->batch); }

/** Whether gas is accelerated where a step opens or closes. */
static bool has_gas(const struct gas_push_argument *a, enum push_kind kind) {
  const struct gas *g = a->batch.gas;
  return a->how.kind == kind && g->gravity && !g->scheme.particles_alone;
}

static struct gas_kick_argument kick_of(const struct gas_push_argument *a) {
  return (struct gas_kick_argument){a->batch, 0.5 * a->how.step.dt, a->how.step.end};
}
static struct gas_work_argument work_of(const struct gas_push_argument *a) {
  return (struct gas_work_argument){a->batch, a->how.step.dt, a->how.step.begin, a->how.step.end};
}

/** The first slot of the potentials that particles feel. */
static size_t first_potential(const struct gas_push_argument *a) {
  const struct gas_work_argument work = work_of(a);
  const struct surroundings begin = surroundings_of_work(&work, POTENTIAL_BEGIN);
  if (has_gas(a, PUSH_CLOSES)) return GAS + WORK_POTENTIALS + surroundings_count(&begin);
  return GAS + (has_gas(a, PUSH_OPENS) ? KICK_POTENTIALS : 0);
}

/** The step of particles: 0 where it closes. */
static double drift_time(const struct gas_push_argument *a) {
  return a->how.kind == PUSH_OPENS ? a->how.step.dt : a->how.kind == PUSH_CLOSES ? 0.0 : -1.0;
}

static void push_on_cpu(void *buffers[], const struct gas_push_argument *a) {
  const struct gas *g = a->batch.gas;
  const struct gas_batch *b = batch_of(&a->batch);
  const struct particle_level *l = &g->particles->level[a->batch.level];
  const char **addresses;
  const struct surroundings around = surroundings_of_kick(&a->batch, a->how.step.end);
  const struct potential_sources sources = surroundings_of(&around, buffers, first_potential(a),
                                                           &addresses);
  for (uint32_t group = b->first; group < b->first + b->count; group++) {
    double potential[WIDE_CELLS];
    if (particle_first(l, group) == particle_first(l, group + 1)) continue;
    potential_wide(&sources, group, potential);
    if (a->how.kind == PUSH_MEASURES)
      gas_particles_feel(g, a->batch.level, group, potential);
    else
      gas_particles_push(g, a->batch.level, group, potential, drift_time(a));
  }
  free(addresses);
}

static void gas_push_cpu(void *buffers[], const struct gas_push_argument *a) {
  const struct gas_kick_argument kick = kick_of(a);
  const struct gas_work_argument work = work_of(a);
  const struct gas_leave_argument leave = {a->how.leaving, a->batch.batch};
  if (has_gas(a, PUSH_OPENS)) gas_kick_cpu(buffers + GAS, &kick);
  if (has_gas(a, PUSH_CLOSES)) gas_work_cpu(buffers + GAS, &work);
  push_on_cpu(buffers, a);
  if (leave.leaving) gas_leave_cpu(buffers, &leave);
}

static void push_on_gpu(struct gpu *gpu, void *buffers[], const struct gas_push_argument *a) {
  const struct batch_argument *batch = &a->batch;
  const struct gas_batch *b = batch_of(batch);
  const struct particle_level *l = &batch->gas->particles->level[batch->level];
  const struct gpu_gas g = gpu_gas_of(gpu, batch);
  const struct gpu_particle_box box = particle_box_of(batch->gas, batch->level);
  const struct surroundings around = surroundings_of_kick(&a->batch, a->how.step.end);
  const size_t potentials = first_potential(a), links = potentials + surroundings_count(&around);
  const char **addresses;
  const struct gpu_potentials from = gpu_potentials_of(&around, buffers, potentials, links,
                                                       &addresses);
  uint32_t *first = allocate(b->count + 1, sizeof *first, "particles of groups");
  for (uint32_t i = 0; i <= b->count; i++)
    first[i] = (uint32_t)(particle_first(l, b->first + i) - particle_first(l, b->first));
  gpu_gas_push(&g, &box, drift_time(a), from.links, first, gpu_gas_potential_wide(&g, &from),
               VECTOR(struct gas_particle, buffers[PARTICLES]), l->sums + b->first - l->own_first);
  free(first);
  free(addresses);
}

static void gas_push_gpu(struct gpu *gpu, void *buffers[], const struct gas_push_argument *a) {
  const struct gas_kick_argument kick = kick_of(a);
  const struct gas_work_argument work = work_of(a);
  const struct gas_leave_argument leave = {a->how.leaving, a->batch.batch};
  if (has_gas(a, PUSH_OPENS)) gas_kick_gpu(gpu, buffers + GAS, &kick);
  if (has_gas(a, PUSH_CLOSES)) gas_work_gpu(gpu, buffers + GAS, &work);
  push_on_gpu(gpu, buffers, a);
  if (leave.leaving) gas_leave_gpu(gpu, buffers, &leave);
}

STAGE(gas_push, 0xddaa22, "gas");

/** Slots of the gas before potentials at the end of the step. */
static void add_gas(struct slots *s, const struct gas_push_argument *a) {
  const struct gas_level *l = &a->batch.gas->level[a->batch.level];
  const struct gas_batch *b = batch_of(&a->batch);
  const struct gas_work_argument work = work_of(a);
  const struct surroundings begin = surroundings_of_work(&work, POTENTIAL_BEGIN);
  if (has_gas(a, PUSH_OPENS) || has_gas(a, PUSH_CLOSES)) slots_add(s, b->handle[l->now], STARPU_RW);
  if (!has_gas(a, PUSH_CLOSES)) return;
  slots_add(s, b->handle[1 - l->now], STARPU_R);
  slots_add(s, b->mass, STARPU_R);
  surroundings_slots(s, &begin);
}

void gas_push_submit(struct gas *g, int level, uint32_t batch, struct push_task how) {
  const struct gas_push_argument a = {{g, level, batch}, how};
  const struct particle_level *l = &g->particles->level[level];
  const struct surroundings around = surroundings_of_kick(&a.batch, how.step.end);
  struct slots slots = slots_of("gas_push", g, level, batch);
  slots_require(&slots, l->settled == g->topology.level[level].changes, "particles", level);
  slots_add(&slots, gas_batch(g, level, batch)->particles, STARPU_RW);
  add_gas(&slots, &a);
  surroundings_slots(&slots, &around);
  slots_add_links(&slots, gas_batch(g, level, batch));
  if (how.leaving) slots_add(&slots, l->readers, STARPU_R);
  gas_push_insert(a, slots_task(&slots, PRIORITY_MIDDLE));
  free(slots.data);
}
