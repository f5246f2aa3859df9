/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which pairs of nodes CUDA's walk of an isolated system accepts, beside formulas: as tests/unit/tree/test_walk.c. */
#include <stdio.h>
#include <stdlib.h>

#include "cuda/tree/gpu_tree.h"
#include "photons/base/error.h"
#include "support/judged_pairs.h"
#include "tests/gpu/checks.h"
#include "tests/gpu/compare.h"

enum {
  OFFSETS = (1 << PAIRS_DEPTH) + 1 + PAIRS_NODES + 1,
  ENTRIES = PAIRS_SLOTS * PAIRS_NODES * PAIRS_NODES
};

/** Walk on the GPU. @param[out] offset, far  of all lists; entries of the far lists */
static void walk_pairs(struct gpu *gpu, cudaStream_t stream, const struct judged_pairs *p,
                       uint32_t *offset, uint32_t *far) {
  const struct node *source[PAIRS_SLOTS], *target = to_device(p->target, sizeof p->target);
  struct node *sources = to_device(p->source, sizeof p->source);
  const uint32_t *first = p->count < PAIRS_GROUP ? to_device(p->first, sizeof p->first) : NULL;
  uint32_t *offset_out = device_memory(OFFSETS * sizeof *offset_out),
           *far_out = device_memory(ENTRIES * sizeof *far_out),
           *near_out = device_memory(ENTRIES * sizeof *near_out);
  struct walk_result *result;
  CUDA(cudaMallocHost((void **)&result, sizeof *result));
  for (int slot = 0; slot < PAIRS_SLOTS; slot++)
    source[slot] = sources + (size_t)slot * PAIRS_NODES;
  gpu_walk(gpu, &p->acceptance, p->count, PAIRS_DEPTH, first, target, PAIRS_SLOTS, source,
           p->source_count, NULL, NULL, offset_out, &(struct list_room){0}, result);
  CUDA(cudaStreamSynchronize(stream));
  if (result->entries > ENTRIES || result->interactions > ENTRIES)
    fail(EXIT_RUN_FAILED, "a walk of %d slots has too many entries", PAIRS_SLOTS);
  gpu_walk_fill(gpu, &p->acceptance, p->count, PAIRS_DEPTH, first, target, PAIRS_SLOTS, source,
                p->source_count, NULL, NULL, offset_out, result, near_out, far_out);
  CUDA(cudaStreamSynchronize(stream));
  CUDA(cudaMemcpy(offset, offset_out, OFFSETS * sizeof *offset, cudaMemcpyDeviceToHost));
  CUDA(cudaMemcpy(far, far_out, ENTRIES * sizeof *far, cudaMemcpyDeviceToHost));
  void *device[] = {(void *)target, sources, (void *)first, offset_out, far_out, near_out};
  for (size_t i = 0; i < sizeof device / sizeof *device; i++) CUDA(cudaFree(device[i]));
  CUDA(cudaFreeHost(result));
}

void check_judged_pairs(void) {
  static struct judged_pairs p;
  cudaStream_t stream;
  CUDA(cudaStreamCreate(&stream));
  struct gpu *gpu = gpu_create(stream, NULL);
  uint32_t offset[OFFSETS], *far = allocate(ENTRIES, sizeof *far, "far lists");
  for (int w = 0; w < PAIRS_WALKS; w++) {
    uint32_t wrong = 0, counts[4] = {0};
    for (uint64_t draw = 0; draw < PAIRS_DRAWS; draw++) {
      pairs_draw(&p, draw, pairs_walks[w].count, pairs_walks[w].bounded);
      walk_pairs(gpu, stream, &p, offset, far);
      wrong += pairs_differ(&p, offset + (1 << PAIRS_DEPTH) + 1, far, counts);
    }
    char what[100];
    snprintf(what, sizeof what, "pairs of nodes, %u of %d targets, %u opened by sums",
             pairs_walks[w].count, PAIRS_GROUP, counts[PAIR_OF_SUM]);
    report_whether(what, wrong == 0 && counts[PAIR_ACCEPTED] > 100 &&
                             (!pairs_walks[w].bounded || counts[PAIR_OF_SUM] > 100));
  }
  free(far);
  gpu_free(gpu);
  CUDA(cudaStreamDestroy(stream));
}
