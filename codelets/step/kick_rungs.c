/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kick_rungs: kicks the targets of a group by rungs (rungs.h), and finds the same largest numbers
 * as kick.
 *
 * reads   mesh_accelerations; the targets' own accelerations, tides or rates, and index, if they have any; where there are
 *         black holes (holes.h), their table, and the targets' positions and masses
 * updates momenta, accelerations, rungs
 * writes  group.largest, nbody.rungs */
#include "codelets/runtime/task.h"
#include "cuda/step/gpu_step.h"
#include "photons/cosmology/cosmology.h"
#include "photons/step/codelets.h"
#include "photons/step/holes.h"

struct kick_rungs_argument {
  const struct step_kernels *kernels;
  struct group *g;
  struct group_rungs *rungs;
  uint32_t active;
  bool packed, own, tide,
      rates; /* the targets have an index, accelerations of their own, tides, rates */
  uint8_t
      holes; /* the slot of the black holes, which those of positions and masses follow; 0: none */
  bool masses; /* they differ */
  struct pair_units units;
  struct rung_kick kick;
};
enum { MOMENTUM, ACCELERATION, RUNG, MESH, GIVEN, INDEX, PACKED_SLOTS, SLOTS = PACKED_SLOTS + 3 };

static double kick_rungs_work(const struct kick_rungs_argument *a) { return a->active; }

static void unwrap_holes(void *buffers[], const struct kick_rungs_argument *a,
                         struct rung_arrays *arrays) {
  arrays->holes = VECTOR(const struct holes, buffers[a->holes]);
  arrays->position = VECTOR(const uint32_t, buffers[a->holes + 1]);
  arrays->mass = a->masses ? VECTOR(const float, buffers[a->holes + 2]) : NULL;
  arrays->units = a->units;
}

static struct rung_arrays unwrap(void *buffers[], const struct kick_rungs_argument *a) {
  struct rung_arrays arrays = {
      .count = a->g->count,
      .active = a->active,
      .index = a->packed ? VECTOR(const uint32_t, buffers[INDEX]) : NULL,
      .given = a->own ? VECTOR(const float, buffers[GIVEN]) : NULL,
      .tide = a->tide ? VECTOR(const float, buffers[GIVEN]) + 3 * (size_t)a->active : NULL,
      .rate = a->rates ? VECTOR(const float, buffers[GIVEN]) + 3 * (size_t)a->active : NULL,
      .mesh = VECTOR(const float, buffers[MESH]),
      .acceleration = VECTOR(float, buffers[ACCELERATION]),
      .momentum = VECTOR(float, buffers[MOMENTUM]),
      .rung = VECTOR(uint8_t, buffers[RUNG]),
  };
  if (a->holes) unwrap_holes(buffers, a, &arrays);
  return arrays;
}

static void kick_rungs_cpu(void *buffers[], const struct kick_rungs_argument *a) {
  const struct rung_arrays arrays = unwrap(buffers, a);
  uint32_t rungs[RUNGS];
  a->g->largest = a->kernels->kick_rungs(&a->kick, &arrays, rungs);
  for (int k = a->kick.top; k < RUNGS; k++) a->rungs->particles[k] = rungs[k];
}

static void kick_rungs_gpu(struct gpu *gpu, void *buffers[], const struct kick_rungs_argument *a) {
  const struct rung_arrays arrays = unwrap(buffers, a);
  gpu_kick_rungs(gpu, &a->kick, &arrays, a->rungs->particles, &a->g->largest);
}

STAGE(kick_rungs, 0xeebbaa, NULL);

/** Add the slots of black holes. @return the number of slots */
static size_t add_holes(const struct nbody *n, const struct group *g, const struct targets *t,
                        struct kick_rungs_argument *a, struct starpu_data_descr *data,
                        size_t count) {
  a->holes = (uint8_t)count;
  a->masses = particles_have(&n->domain.particles, COLUMN_relative_mass);
  a->units = (struct pair_units){.length = n->domain.geometry.box / POSITION_TURN,
                                 .mass = GRAVITY * n->domain.particles.mass,
                                 .softening2 = n->holes->softening2};
  data[count++] = (struct starpu_data_descr){n->holes->table, STARPU_R};
  data[count++] = (struct starpu_data_descr){t->position, STARPU_R};
  if (a->masses)
    data[count++] = (struct starpu_data_descr){g->column[COLUMN_relative_mass], STARPU_R};
  return count;
}

void kick_rungs_submit(struct nbody *n, struct group *g, const struct rung_kick *kick) {
  const struct targets *t = &expansions_of(&n->short_range, g)->targets;
  struct starpu_data_descr data[SLOTS] = {
      [MOMENTUM] = {g->column[COLUMN_momentum], STARPU_RW},
      [ACCELERATION] = {g->column[COLUMN_acceleration], STARPU_RW},
      [RUNG] = {g->column[COLUMN_rung], STARPU_RW},
      [MESH] = {g->column[COLUMN_mesh_acceleration], STARPU_R},
      [GIVEN] = {t->acceleration, STARPU_R},
      [INDEX] = {t->index, STARPU_R}};
  const bool packed = t->index, own = t->acceleration != g->column[COLUMN_acceleration];
  size_t count = packed ? PACKED_SLOTS : own ? INDEX : GIVEN;
  struct kick_rungs_argument argument = {.kernels = n->kernels,
                                         .g = g,
                                         .rungs = rungs_of(n, g),
                                         .active = t->count,
                                         .packed = packed,
                                         .own = own,
                                         .tide = t->tide,
                                         .rates = t->rates,
                                         .kick = *kick};
  if (n->holes) count = add_holes(n, g, t, &argument, data, count);
  kick_rungs_insert(
      argument,
      (struct task){.data = data, .count = count, .priority = PRIORITY_LOW, .owner = &g->index});
}
