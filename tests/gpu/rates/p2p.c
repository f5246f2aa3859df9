/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rate of P2P with lists on the host, as in a run. The groups take turns on one stream, or on
 * two as for a run's workers. */
#include <math.h>
#include <starpu.h>
#include <stdio.h>
#include <string.h>

#include "tests/gpu/rates/rates.h"
#include "tests/gpu/tree/tree.h"

/** Seconds from the first call to the end of the last group. */
static double time_p2p(const struct bench *b, struct gpu *const *gpu, unsigned streams,
                       const struct p2p_law *law, bool double_precision, float *acceleration,
                       uint64_t *pairs) {
  const struct nbody *s = b->s;
  CUDA(cudaDeviceSynchronize());
  const double begin = starpu_timing_now();
  for (uint32_t i = 0; i < s->domain.group_count; i++) {
    const struct group *g = &s->domain.groups[i];
    const struct target_set all = all_of(b, g);
    struct p2p_sources sources = sources_of(b, g);
    struct p2p_target target = target_of(s, g, &all, true, &sources);
    gpu_p2p(gpu[i % streams], b->split, law, &target, g->near.count, double_precision,
            acceleration + P2P_SUMS * first_of(b, i), &pairs[i]);
    sources_free(&sources);
  }
  CUDA(cudaDeviceSynchronize());
  return 1e-6 * (starpu_timing_now() - begin);
}

static void measure_p2p(const struct bench *b, struct gpu *const *gpu, const char *name,
                        enum p2p_kind kind, int table_order, bool double_precision) {
  const struct nbody *s = b->s;
  struct p2p_law law = s->short_range.law;
  law.kind = kind;
  law.table_order = table_order;
  uint64_t *pairs;
  CUDA(cudaMallocHost((void **)&pairs, s->domain.group_count * sizeof *pairs));
  float *acceleration = device_memory(P2P_SUMS * s->domain.particles.count * sizeof *acceleration);
  double best[STREAMS_MOST], total = 0.0;
  for (unsigned streams = 1; streams <= STREAMS_MOST; streams++) {
    best[streams - 1] = INFINITY;
    for (int turn = 0; turn < 3; turn++) /* the first one makes scratch memory */
      best[streams - 1] = fmin(best[streams - 1], time_p2p(b, gpu, streams, &law, double_precision,
                                                           acceleration, pairs));
  }
  for (uint32_t i = 0; i < s->domain.group_count; i++) total += (double)pairs[i];
  printf("  %-12s %s  %7.1f pairs/particle", name, double_precision ? "f64" : "f32",
         total / (double)s->domain.particles.count);
  for (int i = 0; i < STREAMS_MOST; i++)
    printf("  %8.2f ms %.3e pairs/s", 1e3 * best[i], total / best[i]);
  puts("");
  fflush(stdout);
  CUDA(cudaFree(acceleration));
  CUDA(cudaFreeHost(pairs));
}

void measure_direct(const struct bench *b, bool all) {
  struct nbody *s = b->s;
  struct walk_scratch scratch = {0};
  for (uint32_t i = 0; i < s->domain.group_count; i++) { /* the trees are in the GPU's memory */
    const struct particle_block p = particles_block(&s->domain.particles, i);
    s->short_range.kernels->walk.refit(s->domain.groups[i].count, s->domain.depth, NULL, 1,
                                       s->domain.geometry.scale, 1.0f / s->short_range.factor,
                                       s->short_range.acceptance.newton, p.x[0], p.acc[0],
                                       s->domain.groups[i].nodes);
  }
  for (uint32_t i = 0; i < s->domain.group_count; i++) {
    const struct target_set targets = all_of(b, &s->domain.groups[i]);
    walk_group(b, &s->domain.groups[i], &targets, &scratch);
  }
  walk_scratch_free(&scratch);
  printf("direct forces of %zu particles in %u groups, depth %u:\n", s->domain.particles.count,
         s->domain.group_count, s->domain.depth);
  puts("                                              one stream                      two streams");
  cudaStream_t second;
  CUDA(cudaStreamCreate(&second));
  struct gpu *gpu[STREAMS_MOST] = {b->gpu, gpu_create(second, NULL)};
  for (int precision = 0; precision < 2; precision++) {
    if (!all && precision == 1) break;
    measure_p2p(b, gpu, "polynomial", P2P_POLYNOMIAL, 0, precision);
    if (!all) continue;
    measure_p2p(b, gpu, "table 2", P2P_TABLE, 2, precision);
    measure_p2p(b, gpu, "table 4", P2P_TABLE, 4, precision);
    measure_p2p(b, gpu, "exact", P2P_EXACT, 0, precision);
  }
  measure_block(b, gpu);
  gpu_free(gpu[1]);
  CUDA(cudaStreamDestroy(second));
  for (uint32_t i = 0; i < s->domain.group_count; i++) {
    interaction_list_free(&s->short_range.groups[i].lists.host[LIST_NEAR]);
    interaction_list_free(&s->short_range.groups[i].lists.host[LIST_FAR]);
  }
}
