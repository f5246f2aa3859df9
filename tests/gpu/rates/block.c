/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Block time steps: pack (with the tree), walk (both passes) and p2p of the active particles, those
 * with the largest accelerations of the run, as rungs choose them. */
#include <inttypes.h>
#include <math.h>
#include <starpu.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "photons/base/error.h"
#include "tests/gpu/rates/active.h"
#include "tests/gpu/rates/rates.h"

enum { BLOCK_STAGES = 3 };

/** Rungs 1 (active) and 0 of all particles; returns the number of active ones. */
static size_t choose_active(const struct nbody *s, double share, uint8_t *rung) {
  const size_t n = s->domain.particles.count;
  const size_t wanted = (size_t)ceil(share * (double)n);
  float *a2 = allocate(n, sizeof *a2, "accelerations"),
        *sorted = allocate(n, sizeof *sorted, "accelerations");
  for (uint32_t g = 0; g < s->domain.group_count; g++) {
    const struct particle_block p = particles_block(&s->domain.particles, g);
    for (size_t i = 0; i < p.count; i++) a2[p.first + i] = acceleration2(&p, i);
  }
  memcpy(sorted, a2, n * sizeof *sorted);
  qsort(sorted, n, sizeof *sorted, compare_floats);
  size_t active = 0;
  for (size_t i = 0; i < n; i++) active += rung[i] = a2[i] >= sorted[n - wanted];
  free(a2);
  free(sorted);
  return active;
}

/** The groups with active particles, and their number. */
static struct active_group *active_create(const struct nbody *s, const uint8_t *rung,
                                          uint32_t *number) {
  struct active_group *groups = allocate(s->domain.group_count, sizeof *groups, "groups");
  *number = 0;
  for (uint32_t i = 0; i < s->domain.group_count; i++) {
    const struct group *g = &s->domain.groups[i];
    const size_t first = particles_block(&s->domain.particles, i).first;
    uint32_t active = 0;
    for (uint32_t k = 0; k < g->count; k++) active += rung[first + k];
    if (active == 0) continue;
    struct active_group *a = &groups[(*number)++];
    *a = (struct active_group){.g = g, .p = packed_create(s, active)};
    a->offset = device_memory(offsets_of(&a->p.t) * sizeof *a->offset);
    CUDA(cudaMallocHost((void **)&a->result, sizeof *a->result));
    CUDA(cudaMallocHost((void **)&a->pairs, sizeof *a->pairs));
  }
  return groups;
}

static void active_free(struct active_group *groups, uint32_t number) {
  for (struct active_group *a = groups; a < groups + number; a++) {
    packed_free(&a->p);
    CUDA(cudaFree(a->offset));
    CUDA(cudaFree(a->near.entry));
    CUDA(cudaFree(a->far.entry));
    CUDA(cudaFreeHost(a->result));
    CUDA(cudaFreeHost(a->pairs));
  }
  free(groups);
}

/** Adds the seconds of the stages to `seconds`. */
static void time_active(const struct bench *b, struct gpu *const *gpu, unsigned streams,
                        struct active_group *groups, uint32_t number, const uint8_t *rung_out,
                        double seconds[BLOCK_STAGES]) {
  CUDA(cudaDeviceSynchronize());
  double begin = starpu_timing_now();
  for (uint32_t i = 0; i < number; i++)
    gpu_pack_group(b, gpu[i % streams], groups[i].g, rung_out + first_of(b, groups[i].g->index), 1,
                   &groups[i].p);
  seconds[0] = since(begin);
  begin = starpu_timing_now();
  for (uint32_t i = 0; i < number; i++) walk_active(b, gpu[i % streams], &groups[i], false);
  seconds[1] = since(begin);
  for (uint32_t i = 0; i < number; i++) make_lists(&groups[i]);
  CUDA(cudaDeviceSynchronize());
  begin = starpu_timing_now();
  for (uint32_t i = 0; i < number; i++) walk_active(b, gpu[i % streams], &groups[i], true);
  seconds[1] += since(begin);
  begin = starpu_timing_now();
  for (uint32_t i = 0; i < number; i++) p2p_active(b, gpu[i % streams], &groups[i]);
  seconds[2] = since(begin);
}

static void measure_active(const struct bench *b, struct gpu *const *gpu, double share) {
  const struct nbody *s = b->s;
  uint8_t *rung = allocate(s->domain.particles.count, 1, "rungs");
  const size_t active = choose_active(s, share, rung);
  uint8_t *rung_out = to_device(rung, s->domain.particles.count);
  uint32_t number;
  struct active_group *groups = active_create(s, rung, &number);
  printf("  %5.1f %% %10zu in %5" PRIu32 " groups", 100.0 * share, active, number);
  for (unsigned streams = 1; streams <= STREAMS_MOST; streams++) {
    double best[BLOCK_STAGES] = {INFINITY, INFINITY, INFINITY}, total = 0.0;
    for (int turn = 0; turn < 4; turn++) { /* the first one makes the lists and scratch memory */
      double seconds[BLOCK_STAGES];
      time_active(b, gpu, streams, groups, number, rung_out, seconds);
      for (int i = 0; i < BLOCK_STAGES; i++) best[i] = fmin(best[i], seconds[i]);
    }
    for (uint32_t i = 0; i < number; i++) total += (double)groups[i].pairs[0];
    if (streams == 1) printf("  %.3e pairs", total);
    printf("  %8.2f %8.2f %8.2f ms %.2e pairs/s", 1e3 * best[0], 1e3 * best[1], 1e3 * best[2],
           total / best[2]);
  }
  puts("");
  fflush(stdout);
  active_free(groups, number);
  free(rung);
  CUDA(cudaFree(rung_out));
}

void measure_block(const struct bench *b, struct gpu *const *gpu) {
  static const double share[] = {1.0, 0.5, 0.2, 0.05, 0.01, 0.001};
  const struct domain *d = &b->s->domain;
  const size_t n = d->particles.count;
  CUDA(cudaMemcpy(b->nodes, d->nodes,
                  (size_t)d->group_count * tree_nodes(d->depth) * sizeof *b->nodes,
                  cudaMemcpyHostToDevice));
  CUDA(cudaMemcpy(b->acceleration, d->particles.acceleration, 3 * n * sizeof *b->acceleration,
                  cudaMemcpyHostToDevice));
  puts("active particles; pack, walk and p2p on one stream; on two streams:");
  for (size_t i = 0; i < sizeof share / sizeof *share; i++) measure_active(b, gpu, share[i]);
}
