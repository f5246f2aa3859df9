/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Isolated systems: seconds of each stage of the forces on all particles. The lists stay on the
 * GPU, as in a run. In a run with GPUs the host's trees are not fitted: the first stage fits those
 * on the GPU. The forces go to memory of their own, so that each refit reads the same
 * accelerations and each walk finds lists of the lengths for which there is room. */
#include <math.h>
#include <starpu.h>
#include <stdio.h>
#include <stdlib.h>

#include "photons/base/error.h"
#include "tests/gpu/rates/active.h"
#include "tests/gpu/rates/rates.h"

enum force_stage { REFIT, P2M, M2M, WALK, P2P, M2L, L2L, L2P, FORCE_STAGES };
static const char *const force_stages[] = {"refit", "p2m", "m2m", "walk",
                                           "p2p",   "m2l", "l2l", "l2p"};

static struct active_group *whole_create(const struct bench *b) {
  const struct domain *d = &b->s->domain;
  struct active_group *groups = allocate(d->group_count, sizeof *groups, "groups");
  for (uint32_t i = 0; i < d->group_count; i++) {
    struct active_group *a = &groups[i];
    *a = (struct active_group){.g = &d->groups[i], .p = {.t = all_of(b, &d->groups[i])}};
    a->p.acceleration_out = device_memory(3 * (size_t)a->g->count * sizeof(float));
    a->offset = device_memory(offsets_of(&a->p.t) * sizeof *a->offset);
    CUDA(cudaMallocHost((void **)&a->result, sizeof *a->result));
    CUDA(cudaMallocHost((void **)&a->pairs, sizeof *a->pairs));
  }
  return groups;
}

static void whole_free(struct active_group *groups, uint32_t number) {
  for (struct active_group *a = groups; a < groups + number; a++) {
    void *memory[] = {a->p.acceleration_out, a->offset, a->near.entry, a->far.entry};
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++) CUDA(cudaFree(memory[i]));
    CUDA(cudaFreeHost(a->result));
    CUDA(cudaFreeHost(a->pairs));
  }
  free(groups);
}

/** Queue a stage of one group. The lists must have memory. */
static void force_stage(const struct bench *b, struct active_group *a, enum force_stage stage) {
  const struct nbody *s = b->s;
  const struct target_set *t = &a->p.t;
  const int order = s->short_range.acceptance.order;
  const float scale = expansion_scale(&s->short_range);
  const size_t row = (size_t)a->g->index * tree_nodes(t->depth),
               multipoles = (size_t)tree_nodes(t->depth) * fmm_multipole_size(order);
  struct node *nodes = b->nodes + row;
  float *multipole = b->multipole + a->g->index * multipoles,
        *local = b->local + row * fmm_local_size(order);
  const struct node *trees[a->g->near.count];
  const float *sources[a->g->near.count], *node_mass[a->g->near.count];
  uint32_t count[a->g->near.count];
  source_trees(b, a->g, trees, count, node_mass);
  for (uint32_t i = 0; i < a->g->near.count; i++)
    sources[i] = b->multipole + a->g->near.group[i]->index * multipoles;
  switch (stage) {
  case REFIT:
    gpu_refit(b->gpu, t->count, t->depth, NULL, s->domain.geometry.scale,
              1.0f / s->short_range.factor, s->short_range.acceptance.newton, t->x_out,
              b->acceleration + 3 * first_of(b, a->g->index), nodes, 0, NULL);
    break;
  case P2M:
    gpu_p2m(b->gpu, order, t->count, t->depth, scale, t->x_out, masses_on_device(b, a->g->index),
            nodes, multipole);
    break;
  case M2M: gpu_m2m(b->gpu, order, t->depth, scale, nodes, multipole); break;
  case WALK:
    walk_active(b, b->gpu, a, false);
    walk_active(b, b->gpu, a, true);
    break;
  case P2P: p2p_active(b, b->gpu, a); break;
  case M2L:
    gpu_m2l(b->gpu, order, t->depth, s->domain.depth, scale, &s->short_range.split, &a->far, nodes,
            a->g->near.count, trees, sources, local, NULL);
    break;
  case L2L: gpu_l2l(b->gpu, order, t->depth, scale, nodes, local); break;
  default:
    gpu_l2p(b->gpu, order, t->count, t->depth, NULL, scale, s->short_range.factor, t->x_out, nodes,
            local, a->p.acceleration_out);
  }
}

void measure_isolated(const struct bench *b) {
  const uint32_t number = b->s->domain.group_count;
  const double n = (double)b->s->domain.particles.count;
  struct active_group *groups = whole_create(b);
  double best[FORCE_STAGES], total = 0.0, pairs = 0.0, interactions = 0.0, visits = 0.0;
  for (uint32_t i = 0; i < number; i++) force_stage(b, &groups[i], REFIT);
  for (uint32_t i = 0; i < number; i++) walk_active(b, b->gpu, &groups[i], false);
  CUDA(cudaDeviceSynchronize());
  for (uint32_t i = 0; i < number; i++) make_lists(&groups[i]);
  for (int turn = 0; turn < 3; turn++)
    for (int stage = 0; stage < FORCE_STAGES; stage++) {
      CUDA(cudaDeviceSynchronize());
      const double begin = starpu_timing_now();
      for (uint32_t i = 0; i < number; i++) force_stage(b, &groups[i], (enum force_stage)stage);
      const double seconds = since(begin);
      best[stage] = turn == 0 ? seconds : fmin(best[stage], seconds);
    }
  for (uint32_t i = 0; i < number; i++) {
    pairs += (double)*groups[i].pairs;
    interactions += (double)groups[i].result->interactions;
    visits += (double)groups[i].result->visits;
  }
  for (int stage = 0; stage < FORCE_STAGES; stage++) {
    printf("  %-6s %9.3f ms", force_stages[stage], 1e3 * best[stage]);
    if (stage == WALK) printf("  %.3e visits/s", visits / best[stage]);
    if (stage == P2P) printf("  %.3e pairs/s", pairs / best[stage]);
    if (stage == M2L) printf("  %.3e interactions/s", interactions / best[stage]);
    puts("");
    total += best[stage];
  }
  printf("  all    %9.3f ms; %.1f pairs, %.2f interactions, %.2f visits per particle\n",
         1e3 * total, pairs / n, interactions / n, visits / n);
  fflush(stdout);
  whole_free(groups, number);
}
