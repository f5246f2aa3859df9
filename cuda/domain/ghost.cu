/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ghost_cut, ghost_paste: nodes of trees, or their multipoles or masses, that are sent. */
#include "cuda/domain/gpu_domain.h"
#include "cuda/runtime/gpu.cuh"

enum { BLOCK = 256, COPY_BLOCKS = 32 };

/** A run of nodes in words. */
struct word_run {
  uint32_t first, packed, count;
};

static __global__ void __launch_bounds__(BLOCK)
    copy_runs(const struct word_run *run, uint32_t *packed, uint32_t *nodes, bool cut) {
  const struct word_run r = run[blockIdx.y];
  for (uint32_t i = blockIdx.x * BLOCK + threadIdx.x; i < r.count; i += gridDim.x * BLOCK)
    if (cut)
      packed[r.packed + i] = nodes[r.first + i];
    else
      nodes[r.first + i] = packed[r.packed + i];
}

void gpu_copy_nodes(struct gpu *g, const struct node_run *run, uint32_t runs, size_t size,
                    void *packed, void *nodes, bool cut) {
  const uint32_t words = (uint32_t)(size / sizeof(uint32_t));
  struct word_run table[NODE_RUNS_MOST];
  uint32_t done = 0, longest = 0;
  for (uint32_t k = 0; k < runs; k++) {
    table[k] = {run[k].first * words, done, run[k].count * words};
    done += table[k].count;
    longest = table[k].count > longest ? table[k].count : longest;
  }
  struct word_run *on_device = (struct word_run *)gpu_scratch(g, SCRATCH_TABLE,
                                                              runs * sizeof *table);
  gpu_upload(g, on_device, table, runs * sizeof *table);
  const uint32_t wanted = blocks_for(longest, BLOCK),
                 blocks = wanted < (uint32_t)COPY_BLOCKS ? wanted : (uint32_t)COPY_BLOCKS;
  copy_runs<<<dim3(blocks, runs), BLOCK, 0, g->stream>>>(on_device, (uint32_t *)packed,
                                                         (uint32_t *)nodes, cut);
  gpu_launched("copy_nodes");
}
