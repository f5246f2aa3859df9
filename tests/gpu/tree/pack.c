/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Packed targets of block time steps. */
#include <stdlib.h>
#include <string.h>

#include "photons/base/error.h"
#include "photons/tree/targets.h"
#include "tests/gpu/tree/pack.h"

float acceleration2(const struct particle_block *p, size_t i) {
  float sum = 0.0f;
  for (int c = 0; c < 3; c++) sum += p->acc[c][i] * p->acc[c][i];
  return sum;
}

int compare_floats(const void *a, const void *b) {
  const float x = *(const float *)a, y = *(const float *)b;
  return (x > y) - (x < y);
}

/** Mark the active particles of a group. */
static bool *choose_in_group(const struct nbody *s, const struct group *g,
                             enum active_choice choice, uint32_t active) {
  const struct particle_block p = particles_block(&s->domain.particles, g->index);
  float *sorted = allocate(g->count, sizeof *sorted, "accelerations");
  bool *chosen = allocate(g->count, sizeof *chosen, "active particles");
  for (uint32_t i = 0; i < g->count; i++) sorted[i] = acceleration2(&p, i);
  qsort(sorted, g->count, sizeof *sorted, compare_floats);
  const float least = sorted[g->count - active];
  uint32_t equal = 0; /* active particles whose acceleration is `least` */
  for (uint32_t i = g->count - active; i < g->count; i++) equal += sorted[i] <= least;
  for (uint32_t i = 0; i < g->count; i++) {
    const float a2 = acceleration2(&p, i);
    chosen[i] = choice == STRONGEST && (a2 > least || (a2 >= least && equal > 0));
    if (chosen[i] && a2 <= least) equal--;
  }
  for (uint32_t k = 0; k < active && choice == TOGETHER; k++)
    chosen[(g->count - active) / 3 + k] = true;
  for (uint32_t k = 0; k < active && choice == APART; k++)
    chosen[(uint64_t)g->count * k / active] = true;
  free(sorted);
  return chosen;
}

uint8_t *rungs_for(const struct nbody *s, const struct group *g, enum active_choice choice,
                   uint32_t active, uint8_t top) {
  bool *chosen = choose_in_group(s, g, choice, active);
  uint8_t *rung = allocate(g->count, sizeof *rung, "rungs");
  for (uint32_t i = 0; i < g->count; i++)
    rung[i] = (uint8_t)(chosen[i] ? top + i % (RUNGS - top) : i % top);
  free(chosen);
  return rung;
}

struct packed_set packed_create(const struct nbody *s, uint32_t active) {
  struct packed_set p = {
      .t = {.count = active, .depth = targets_depth(active, s->domain.depth, 32)}};
  const size_t n = active, nodes = tree_nodes(p.t.depth), leaves = nodes / 2;
  p.t.first = allocate(leaves + 1, sizeof *p.t.first, "leaves");
  p.t.first_out = device_memory((leaves + 1) * sizeof *p.t.first);
  p.t.x = allocate(3 * n, sizeof *p.t.x, "targets");
  p.t.x_out = device_memory(3 * n * sizeof *p.t.x);
  p.t.nodes = allocate(nodes, sizeof *p.t.nodes, "nodes");
  p.t.nodes_out = device_memory(nodes * sizeof *p.t.nodes);
  p.index = allocate(n, sizeof *p.index, "targets");
  p.index_out = device_memory(n * sizeof *p.index);
  p.t.index = p.index;
  p.t.index_out = p.index_out;
  p.acceleration = allocate(3 * n, sizeof *p.acceleration, "targets");
  p.acceleration_out = device_memory(P2P_SUMS * n * sizeof *p.acceleration);
  return p;
}

void packed_free(struct packed_set *p) {
  void *host[] = {p->t.first, p->t.x, p->t.nodes, p->index, p->acceleration},
       *device[] = {p->t.first_out, p->t.x_out, p->t.nodes_out, p->index_out, p->acceleration_out};
  for (size_t i = 0; i < sizeof host / sizeof *host; i++) free(host[i]);
  for (size_t i = 0; i < sizeof device / sizeof *device; i++) CUDA(cudaFree(device[i]));
}

void gpu_pack_group(const struct bench *b, struct gpu *gpu, const struct group *g,
                    const uint8_t *rung_out, uint8_t top, const struct packed_set *p) {
  const struct nbody *s = b->s;
  gpu_pack(gpu, g->count, rung_out, top, position_on_device(b, g->index),
           b->acceleration + 3 * first_of(b, g->index), p->t.count, p->t.depth, p->index_out,
           p->t.first_out, p->t.x_out, p->acceleration_out);
  gpu_refit(gpu, p->t.count, p->t.depth, p->t.first_out, s->domain.geometry.scale,
            1.0f / s->short_range.factor, s->short_range.acceptance.newton, p->t.x_out,
            p->acceleration_out, p->t.nodes_out, 0, NULL);
}

void check_pack(const struct bench *b, const struct group *g, const uint8_t *rung, uint8_t top,
                struct packed_set *p, struct block_difference *d) {
  const struct nbody *s = b->s;
  const struct particle_block all = particles_block(&s->domain.particles, g->index);
  const struct walk_kernels *walk = &s->short_range.kernels->walk;
  const size_t n = p->t.count;
  const uint32_t nodes = tree_nodes(p->t.depth), leaves = nodes / 2;
  const uint32_t found = walk->pack(g->count, rung, top, all.x[0], all.acc[0], p->t.count,
                                    p->t.depth, p->index, p->t.first, p->t.x, p->acceleration);
  walk->refit(p->t.count, p->t.depth, p->t.first, 1, s->domain.geometry.scale,
              1.0f / s->short_range.factor, s->short_range.acceptance.newton, p->t.x,
              p->acceleration, p->t.nodes);
  uint8_t *rung_out = to_device(rung, g->count);
  gpu_pack_group(b, b->gpu, g, rung_out, top, p);
  d->pack_wrong += found != p->t.count || !same_bytes(b, p->index, p->index_out, n * 4) ||
                   !same_bytes(b, p->t.first, p->t.first_out, (leaves + 1) * sizeof *p->t.first) ||
                   !same_bytes(b, p->t.x, p->t.x_out, 3 * n * 4) ||
                   !same_bytes(b, p->acceleration, p->acceleration_out, 3 * n * 4);
  d->packed += n;
  struct node *gpu = allocate(nodes, sizeof *gpu, "nodes");
  to_host(b, gpu, p->t.nodes_out, nodes * sizeof *gpu);
  for (uint32_t i = 1; i < nodes; i++) {
    const uint32_t targets = node_targets(&p->t, i);
    if (targets > 0) compare(&d->refit, p->t.nodes[i].half, gpu[i].half, 5);
    if (i < leaves) continue;
    d->leaves++;
    d->empty += targets == 0;
    d->largest = targets > d->largest ? targets : d->largest;
  }
  CUDA(cudaMemcpy(p->t.nodes_out, p->t.nodes, nodes * sizeof *gpu, cudaMemcpyHostToDevice));
  free(gpu);
  CUDA(cudaFree(rung_out));
}
