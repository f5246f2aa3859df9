/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gas_source: the source of the potential in all batches that a home has of a level finer than the root, which
 * gas_potentials of all homes read: it takes up less than what it is made from.
 *
 * reads  cells, densities of particles, pseudo-mass
 * writes gas_level.source of the home */
#include <stdlib.h>

#include "codelets/potential/potentials.h"
#include "photons/runtime/handle.h"
#include "photons/runtime/owner_computes.h"

struct gas_source_argument {
  struct gas *gas;
  int level;
  uint32_t home;
  double factor; /* gravity_factor() */
  bool massive;  /* with pseudo-mass */
};
enum { SOURCE, BATCHES };
/* Of each batch; then densities of particles and pseudo-mass, if there are any. */
enum { CELLS, OTHERS };

/** Groups of the home. */
static uint32_t groups_of(const struct gas_source_argument *a) {
  return gas_home_group(a->gas, a->level, a->home + 1) - gas_home_group(a->gas, a->level, a->home);
}

static double gas_source_work(const struct gas_source_argument *a) { return groups_of(a); }

/** The batches of the home: number k of them; false: there are no more.
 * @param[out] buffer  the first one of the batch */
static bool next_batch(const struct gas_source_argument *a, uint32_t k,
                       struct batch_argument *batch, size_t *buffer) {
  const uint32_t first = gas_home_batch(a->gas, a->level, a->home);
  *batch = (struct batch_argument){a->gas, a->level, first + k};
  *buffer = BATCHES + k * (OTHERS + matter_slots(a->gas) + a->massive);
  return first + k < gas_home_batch(a->gas, a->level, a->home + 1);
}

/** The source of a batch in that of the home. */
static double *source_of(const struct gas_source_argument *a, const struct batch_argument *batch,
                         void *buffers[]) {
  return nth_potential(buffers[SOURCE],
                       batch_of(batch)->first - gas_home_group(a->gas, a->level, a->home));
}

static void find_batch(const struct gas_source_argument *a, const struct batch_argument *batch,
                       void *buffers[], double *source) {
  const struct gas *g = a->gas;
  for (uint32_t i = 0; i < batch_of(batch)->count; i++, source += GAS_GROUP_CELLS) {
    const double *mass = a->massive ? nth_potential(buffers[OTHERS + matter_slots(g)], i) : NULL;
    g->gravity->kernels->source(nth(buffers[CELLS], gas_group_bytes(g), i), a->factor,
                                gravity_background(g), mass, source);
    add_matter(g, buffers + OTHERS, i, a->factor, source);
  }
}

static void gas_source_cpu(void *buffers[], const struct gas_source_argument *a) {
  struct batch_argument batch;
  size_t first;
  for (uint32_t k = 0; next_batch(a, k, &batch, &first); k++)
    find_batch(a, &batch, buffers + first, source_of(a, &batch, buffers));
}

static void gas_source_gpu(struct gpu *gpu, void *buffers[], const struct gas_source_argument *a) {
  struct batch_argument batch;
  size_t first;
  for (uint32_t k = 0; next_batch(a, k, &batch, &first); k++) {
    const struct gpu_gas g = gpu_gas_of(gpu, &batch);
    void **of_batch = buffers + first;
    const struct gpu_density density = gpu_density_of(
        a->gas, of_batch[CELLS], a->massive ? of_batch[OTHERS + matter_slots(a->gas)] : NULL,
        a->gas->particles ? of_batch[OTHERS] : NULL, a->factor);
    gpu_gas_source(&g, &density, source_of(a, &batch, buffers));
  }
}

STAGE(gas_source, 0x336699, "gas");

/** The home's data of the level, which go to the GPUs of all homes. */
static starpu_data_handle_t data_of(const struct gas_source_argument *a) {
  struct gas *g = a->gas;
  const uint32_t home = a->home - gas_home_begin(g);
  starpu_data_handle_t *source = &g->level[a->level].source[home];
  const size_t room = handle_room(groups_of(a));
  if (*source && starpu_vector_get_nx(*source) == room) return *source;
  handle_drop(source);
  *source = handle_make(room, GAS_GROUP_CELLS * sizeof(double));
  owner_share(*source, home, g->tasks.homes);
  return *source;
}

void gas_source_submit(struct gas *g, int level, uint32_t home, bool massive) {
  const struct gas_source_argument a = {g, level, home, gravity_factor(g, level), massive};
  struct slots slots = slots_of("gas_source", g, level, gas_home_batch(g, level, home));
  struct batch_argument batch;
  size_t first;
  slots_add(&slots, data_of(&a), STARPU_W);
  for (uint32_t k = 0; next_batch(&a, k, &batch, &first); k++) {
    const struct gas_batch *b = batch_of(&batch);
    slots_add(&slots, b->handle[g->level[level].now], STARPU_R);
    matter_slot(&slots, g, level, batch.batch);
    if (massive) slots_add(&slots, b->sheets, STARPU_R);
  }
  gas_source_insert(a, slots_task(&slots, PRIORITY_HIGHEST));
  free(slots.data);
}
