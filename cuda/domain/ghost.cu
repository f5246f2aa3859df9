/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ghost_cut, ghost_paste: elements of arrays that are sent. */
#include <stdlib.h>

#include "cuda/domain/gpu_domain.h"
#include "cuda/runtime/gpu.cuh"
#include "photons/base/error.h"

/* COPY_BLOCKS: of the longest run at most; BLOCKS_MOST: of all runs, if there are not more runs */
enum { BLOCK = 256, COPY_BLOCKS = 32, BLOCKS_MOST = 8192 };

/** A run of elements in words. */
struct word_run {
  uint32_t first, packed, count;
};

static __global__ void __launch_bounds__(BLOCK)
    copy_runs(const struct word_run *run, uint32_t *packed, uint32_t *array, bool cut) {
  const struct word_run r = run[blockIdx.x];
  for (uint32_t i = blockIdx.y * BLOCK + threadIdx.x; i < r.count; i += gridDim.y * BLOCK)
    if (cut)
      packed[r.packed + i] = array[r.first + i];
    else
      array[r.first + i] = packed[r.packed + i];
}

void gpu_copy_runs(struct gpu *g, const struct array_run *run, uint32_t runs, size_t size,
                   void *packed, void *array, bool cut) {
  if (runs == 0) return;
  const uint32_t words = (uint32_t)(size / sizeof(uint32_t));
  const size_t bytes = runs * sizeof(struct word_run);
  struct word_run *table = (struct word_run *)allocate(runs, sizeof *table, "runs of elements");
  uint32_t done = 0, longest = 0;
  for (uint32_t k = 0; k < runs; k++) {
    table[k] = {run[k].first * words, done, run[k].count * words};
    done += table[k].count;
    longest = table[k].count > longest ? table[k].count : longest;
  }
  struct word_run *on_device = (struct word_run *)gpu_scratch(g, SCRATCH_TABLE, bytes);
  gpu_upload(g, on_device, table, bytes);
  free(table);
  const uint32_t wanted = blocks_for(longest, BLOCK),
                 room = runs < BLOCKS_MOST ? BLOCKS_MOST / runs : 1,
                 most = room < (uint32_t)COPY_BLOCKS ? room : (uint32_t)COPY_BLOCKS,
                 blocks = wanted < most ? wanted : most;
  copy_runs<<<dim3(runs, blocks), BLOCK, 0, g->stream>>>(on_device, (uint32_t *)packed,
                                                         (uint32_t *)array, cut);
  gpu_launched("copy_runs");
}
