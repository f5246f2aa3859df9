/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gas_deposit: densities that particles give to the cells of a batch.
 *
 * reads  particles of the batch and its neighbours, of these copies where they are of other ranks;
 *        densities of the next coarser level; links on GPUs
 * writes densities; those of finer levels are 0, or stay if the level is ahead of these */
#include <stdlib.h>
#include <string.h>

#include "codelets/pm/clouds.h"
#include "photons/amr/matter.h"
#include "photons/base/error.h"

struct gas_deposit_argument {
  struct batch_argument batch;
  bool ahead; /* of finer levels, whose densities stay */
};
enum { MATTER, COARSE };

static double gas_deposit_work(const struct gas_deposit_argument *a) {
  return batch_work(&a->batch);
}

/** What refines a patch gets the density of the patch's cells. */
static void add_coarse(const double *coarse, int patch, double *density) {
  for (int i = 0; i < GAS_GROUP_CELLS; i++) {
    int at = 0;
    for (int c = 2; c >= 0; c--)
      at = GAS_GROUP_SIDE * at + GAS_PATCH_SIDE * (patch >> c & 1) + (i >> 4 * c & 15) / 2;
    density[i] += coarse[at];
  }
}

/** Densities of batch i of the next coarser level; NULL: it is of another home, and not needed. */
static starpu_data_handle_t coarse_matter(const struct batch_argument *a, uint32_t i) {
  const uint32_t home = gas_home_of_batch(a->gas, a->level, a->batch);
  const struct gas_batch *b = gas_seen(a->gas, a->level - 1, home, batch_of(a)->coarse.batch[i]);
  return b ? b->matter : NULL;
}

/** Particles of batch i of the level; NULL: they are of another rank, and there are no copies for
 * GPUs. */
static starpu_data_handle_t near_particles(const struct batch_argument *a, uint32_t i) {
  return particle_handle(&a->gas->particles->level[a->level], batch_of(a)->near.batch[i]);
}

/** What a list's batches have; NULL where they have nothing. free() it.
 * @param[in,out] slot  the first, and what follows */
static const char **
addresses(void *buffers[], const struct batch_argument *a, uint32_t count,
          starpu_data_handle_t (*of)(const struct batch_argument *a, uint32_t i), size_t *slot) {
  const char **address = allocate(count, sizeof *address, "task data");
  for (uint32_t i = 0; i < count; i++)
    if (of(a, i)) address[i] = VECTOR(const char, buffers[(*slot)++]);
  return address;
}

static void gas_deposit_cpu(void *buffers[], const struct gas_deposit_argument *argument) {
  const struct batch_argument *a = &argument->batch;
  const struct gas *g = a->gas;
  const struct gas_batch *b = batch_of(a);
  const struct topology *t = &g->topology;
  size_t slot = COARSE;
  const char **address = addresses(buffers, a, b->coarse.count, coarse_matter, &slot);
  const struct batch_cells coarse = {&b->coarse, address};
  for (uint32_t i = 0; i < b->count; i++) {
    struct gas_matter *m = VECTOR(struct gas_matter, buffers[MATTER]) + i;
    const uint32_t group = b->first + i;
    gas_particles_assign(g, a->level, group, m->own);
    memcpy(m->coarse, m->own, sizeof m->own);
    if (a->level > 0)
      add_coarse(matter_of(&coarse, topology_group(t, a->level, group)->father)->coarse,
                 topology_patch(t, a->level, group), m->coarse);
    if (!argument->ahead) memset(m->fine, 0, sizeof m->fine);
  }
  free(address);
}

static void gas_deposit_gpu(struct gpu *gpu, void *buffers[],
                            const struct gas_deposit_argument *argument) {
  const struct batch_argument *a = &argument->batch;
  const struct gas_batch *b = batch_of(a);
  const struct gpu_gas g = gpu_gas_of(gpu, a);
  size_t slot = COARSE;
  const char **coarse = addresses(buffers, a, b->coarse.count, coarse_matter, &slot),
             **near = addresses(buffers, a, b->near.count, near_particles, &slot);
  struct cloud_tables tables = clouds_near(a, near);
  gpu_gas_deposit(&g, &tables.clouds, VECTOR(const struct gas_links, buffers[slot]), coarse,
                  b->coarse.count, argument->ahead, VECTOR(struct gas_matter, buffers[MATTER]));
  cloud_tables_free(&tables);
  free(near);
  free(coarse);
}

STAGE(gas_deposit, 0xccaa55, "gas");

void gas_deposit_submit(struct gas *g, int level, uint32_t batch, bool ahead) {
  const struct batch_argument a = {g, level, batch};
  const struct gas_batch *b = batch_of(&a);
  struct slots slots = slots_of("gas_deposit", g, level, batch);
  slots_require(&slots, g->particles->level[level].settled == g->topology.level[level].changes,
                "particles", level);
  slots_add(&slots, b->matter, ahead ? STARPU_RW : STARPU_W);
  for (uint32_t i = 0; i < b->coarse.count; i++)
    if (coarse_matter(&a, i)) slots_add(&slots, coarse_matter(&a, i), STARPU_R);
  for (uint32_t i = 0; i < b->near.count; i++)
    if (near_particles(&a, i)) slots_add(&slots, near_particles(&a, i), STARPU_R);
  slots_add_links(&slots, b);
  slots_add(&slots, g->particles->level[level].readers, STARPU_R);
  gas_deposit_insert((struct gas_deposit_argument){a, ahead}, slots_task(&slots, PRIORITY_HIGH));
  free(slots.data);
}
