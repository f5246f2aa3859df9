/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stages on active particles, which may be all. */
#include "tests/gpu/rates/active.h"

#include <starpu.h>

void walk_active(const struct bench *b, struct gpu *gpu, struct active_group *a, bool fill) {
  const struct acceptance *acceptance = &b->s->short_range.acceptance;
  const struct target_set *t = &a->p.t;
  const uint32_t n = a->g->near.count;
  const struct node *tree[n];
  uint32_t count[n];
  const float *node_mass[n];
  const float *const *mass = source_trees(b, a->g, tree, count, node_mass);
  if (fill)
    gpu_walk_fill(gpu, acceptance, t->count, t->depth, t->first_out, t->nodes_out, n, tree, count,
                  mass, NULL, a->offset, a->result, a->near.entry, a->far.entry);
  else
    gpu_walk(gpu, acceptance, t->count, t->depth, t->first_out, t->nodes_out, n, tree, count, mass,
             NULL, a->offset, &(struct list_room){0}, a->result);
}

void make_lists(struct active_group *a) {
  if (a->near.entry) return;
  a->near = (struct interaction_list){.offset = a->offset,
                                      .entry = device_memory(a->result->entries * 4),
                                      .entries = (uint32_t)a->result->entries,
                                      .on_gpu = true};
  a->far = (struct interaction_list){.offset = a->offset + (1u << a->p.t.depth) + 1,
                                     .entry = device_memory(a->result->interactions * 4),
                                     .entries = (uint32_t)a->result->interactions,
                                     .on_gpu = true};
}

void p2p_active(const struct bench *b, struct gpu *gpu, struct active_group *a) {
  const struct nbody *s = b->s;
  struct p2p_sources sources = sources_of(b, a->g);
  struct p2p_target target = target_of(s, a->g, &a->p.t, true, &sources);
  target.near = &a->near;
  gpu_p2p(gpu, b->split, &s->short_range.law, &target, a->g->near.count, false,
          a->p.acceleration_out, a->pairs);
  sources_free(&sources);
}

double since(double begin) {
  CUDA(cudaDeviceSynchronize());
  return 1e-6 * (starpu_timing_now() - begin);
}
