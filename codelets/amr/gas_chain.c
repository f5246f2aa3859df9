/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gas_chain: tasks on a GPU that are too short to be submitted one by one (codelets/runtime/chain.h), as those that measure a batch.
 *
 * reads, writes, changes  what these tasks do */
#include <stdlib.h>

#include "codelets/amr/batches.h"
#include "codelets/runtime/chain.h"
#include "photons/amr/codelets.h"

struct gas_chain_argument {
  struct task_chain *chain;
};

static double gas_chain_work(const struct gas_chain_argument *a) {
  return (double)chain_length(a->chain);
}

static void gas_chain_gpu(struct gpu *gpu, void *buffers[], const struct gas_chain_argument *a) {
  (void)gpu;
  chain_run(a->chain, buffers);
}

STAGE_ON_GPU(gas_chain, 0x667788, "gas");

bool gas_chain_begin(struct gas *g) {
  if (!engine_gpu() || g->tasks.chain) return false;
  g->tasks.chain = chain_begin();
  return true;
}

bool gas_chain_begin_levels(struct gas *g) {
  return g->tasks.together && g->tasks.homes == 1 && gas_chain_begin(g);
}

void gas_chain_end(struct gas *g, bool begun) {
  struct task_chain *chain = g->tasks.chain;
  if (!begun) return;
  g->tasks.chain = NULL;
  if (chain_length(chain) == 0) {
    chain_free(chain);
    return;
  }
  struct task task = {.priority = PRIORITY_HIGH, .ended = chain_free, .context = chain};
  struct starpu_data_descr *data = chain_data(chain, &task.count);
  task.data = data;
  gas_chain_insert((struct gas_chain_argument){chain}, task);
  free(data);
}
