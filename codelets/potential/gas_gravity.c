/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gas_gravity: all that finds potentials of levels, on the GPU of one home (gas_tasks.together): a chain of the tasks of
 * gas_density, gas_root_solve, gas_potentials, gas_share and gas_sheet. Other homes find their densities (gas_density), and
 * get the potentials that their tasks read. Where there is one home, gas_deposit, gas_ahead and gas_collect come first.
 *
 * reads, writes, changes  what these tasks do; self_gravity.order */
#include <stdlib.h>

#include "codelets/potential/potentials.h"
#include "codelets/runtime/chain.h"
#include "photons/base/error.h"

struct gas_gravity_argument {
  struct task_chain *chain;
};
enum { ORDER, CHAIN };

static double gas_gravity_work(const struct gas_gravity_argument *a) {
  return (double)chain_length(a->chain);
}

static void gas_gravity_gpu(struct gpu *gpu, void *buffers[],
                            const struct gas_gravity_argument *a) {
  (void)gpu;
  chain_run(a->chain, buffers + CHAIN);
}

STAGE_ON_GPU(gas_gravity, 0x332244, "gas");

void gas_gravity_open(struct gas *g) {
  if (g->tasks.together && g->tasks.homes == 1) g->tasks.chain = chain_begin();
}

void gas_gravity_begin(struct gas *g, int first, int last) {
  const uint32_t mine = gas_home_end(g) - 1;
  if (!g->tasks.together) return;
  const bool densities = reads_densities(g);
  for (uint32_t home = gas_home_begin(g); densities && home < mine; home++)
    gas_density_submit(g, first, last, home);
  if (!g->tasks.chain) g->tasks.chain = chain_begin();
  if (densities) gas_density_submit(g, first, last, mine);
}

void gas_gravity_end(struct gas *g) {
  struct task_chain *chain = g->tasks.chain;
  size_t count;
  g->tasks.chain = NULL;
  if (!chain) return;
  struct starpu_data_descr *of_chain = chain_data(chain, &count);
  struct slots slots = slots_of("gas_gravity", g, 0, 0);
  slots_add(&slots, g->gravity->order, STARPU_W);
  for (size_t i = 0; i < count; i++) slots_add(&slots, of_chain[i].handle, of_chain[i].mode);
  struct task task = slots_task(&slots, PRIORITY_HIGHEST);
  task.ended = chain_free;
  task.context = chain;
  gas_gravity_insert((struct gas_gravity_argument){chain}, task);
  free(slots.data);
  free(of_chain);
}
