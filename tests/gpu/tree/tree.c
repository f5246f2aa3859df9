/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Trees, and all stages of a force on all particles of a group. */
#include <stdlib.h>
#include <string.h>

#include "photons/base/error.h"
#include "tests/gpu/checks.h"
#include "tests/gpu/domain/sort.h"
#include "tests/gpu/step/motion.h"
#include "tests/gpu/tree/tree.h"

static void check_refit(const struct bench *b, struct group *g, struct difference *d) {
  const struct nbody *s = b->s;
  const uint32_t n = tree_nodes(s->domain.depth);
  const struct particle_block p = particles_block(&s->domain.particles, g->index);
  struct node *cpu = allocate(n, sizeof *cpu, "nodes"), *gpu = allocate(n, sizeof *gpu, "nodes"),
              *out = device_memory(n * sizeof *out), *top;
  enum { TOP = 2 };
  CUDA(cudaMallocHost((void **)&top, tree_nodes(TOP) * sizeof *top));
  s->short_range.kernels->walk.refit(g->count, s->domain.depth, NULL, 1, s->domain.geometry.scale,
                                     1.0f / s->short_range.factor, s->short_range.acceptance.newton,
                                     p.x[0], p.acc[0], cpu);
  gpu_refit(b->gpu, g->count, s->domain.depth, NULL, s->domain.geometry.scale,
            1.0f / s->short_range.factor, s->short_range.acceptance.newton,
            position_on_device(b, g->index), b->acceleration + 3 * first_of(b, g->index), out, TOP,
            top);
  to_host(b, gpu, out, n * sizeof *gpu);
  for (uint32_t i = 1; i < tree_nodes(TOP); i++) compare(d, gpu[i].half, top[i].half, 5);
  for (uint32_t i = 1; i < n; i++) {
    float shift[2][3] = {{0}}; /* centres may differ by rounding: compared in units of the half
                                  width */
    for (int c = 0; c < 3; c++)
      shift[1][c] = (float)(int32_t)(cpu[i].centre[c] - gpu[i].centre[c]) *
                    s->domain.geometry.scale;
    compare(d, shift[0], shift[1], 3);
    compare(d, cpu[i].half, gpu[i].half, 5); /* half, radius, acc_min */
  }
  free(cpu);
  free(gpu);
  CUDA(cudaFreeHost(top));
  CUDA(cudaFree(out));
}

static void check_node_masses(const struct bench *b, const struct group *g, struct difference *d) {
  const unsigned depth = b->s->domain.depth;
  const size_t n = tree_nodes(depth);
  if (!b->mass) return;
  float *gpu = allocate(n, sizeof *gpu, "masses of nodes"), *out = device_memory(n * sizeof *out);
  gpu_node_masses(b->gpu, g->count, depth, b->mass + first_of(b, g->index), out);
  to_host(b, gpu, out, n * sizeof *gpu);
  compare(d, b->host_node_mass + g->index * n + 1, gpu + 1, n - 1);
  free(gpu);
  CUDA(cudaFree(out));
}

void check_tree(const struct bench *b) {
  struct nbody *s = b->s;
  struct walk_scratch scratch = {0};
  struct difference refit = {"refit", 0, 0, 0}, p2m = {"p2m", 0, 0, 0}, m2m = {"m2m", 0, 0, 0},
                    m2l = {"m2l", 0, 0, 0}, l2l = {"l2l", 0, 0, 0}, l2p = {"l2p", 0, 0, 0},
                    kick = {"kick", 0, 0, 0}, drift = {"drift", 0, 0, 0},
                    potential = {"potential", 0, 0, 0}, rates = {"pair_rates", 0, 0, 0},
                    node_mass = {"masses", 0, 0, 0}, upper = {"m2m_upper", 0, 0, 0},
                    upper_mass = {"  masses", 0, 0, 0};
  struct potential_difference expansions = {.m2l = {.stage = "m2l_potential"},
                                            .m2l_constant = {.stage = "  L_0"},
                                            .l2p_constant = {.stage = "l2p_potential, L_0"},
                                            .l2p = {.stage = "  potential"}};
  struct difference p2p[6] = {{"p2p", 0, 0, 0},     {"p2p f64", 0, 0, 0},   {"table 2", 0, 0, 0},
                              {"table 4", 0, 0, 0}, {"exact f32", 0, 0, 0}, {"exact f64", 0, 0, 0}};
  struct list_difference walk = {0};
  double extent[3] = {0};
  for (uint32_t i = 0; i < s->domain.group_count; i++) {
    struct group *g = &s->domain.groups[i];
    check_refit(b, g, &refit);
    check_node_masses(b, g, &node_mass);
    check_sort(b, g, extent);
    check_multipoles(b, g, &p2m, &m2m);
    const struct target_set all = all_of(b, g);
    check_reach(b, g, &all, &scratch, &walk);
    walk_group(b, g, &all, &scratch);
    check_walk(b, g, &all, &walk);
    check_expansions(b, g, &all, &m2l, &l2l, &l2p);
    struct p2p_law law = s->short_range.law;
    law.kind = P2P_POLYNOMIAL;
    check_p2p(b, g, &all, &law, false, &p2p[0]);
    check_p2p(b, g, &all, &law, true, &p2p[1]);
    law.kind = P2P_TABLE;
    law.table_order = 2;
    check_p2p(b, g, &all, &law, false, &p2p[2]);
    law.table_order = 4;
    check_p2p(b, g, &all, &law, false, &p2p[3]);
    law.kind = P2P_EXACT;
    if (i < exact_groups(s)) {
      check_p2p(b, g, &all, &law, false, &p2p[4]);
      check_p2p(b, g, &all, &law, true, &p2p[5]);
    }
    check_potential(b, g, &all, &potential);
    check_pair_rates(b, g, &all, &rates);
    check_potential_expansions(b, g, &all, &expansions);
    check_motion(b, g, &kick, &drift);
    interaction_list_free(&s->short_range.groups[g->index].lists.host[LIST_NEAR]);
    interaction_list_free(&s->short_range.groups[g->index].lists.host[LIST_FAR]);
  }
  walk_scratch_free(&scratch);
  check_upper_multipoles(b, &upper, &upper_mass);
  report_sort(extent);
  check_sort_of_places(b);
  report(&refit, 1e-6);
  if (b->mass) report(&node_mass, 0.0);
  report(&p2m, 1e-6);
  report(&m2m, EXPANSION_LIMIT);
  report(&upper, EXPANSION_LIMIT);
  report(&upper_mass, 0.0);
  report_walk("walk", &walk);
  report(&m2l, EXPANSION_LIMIT);
  report(&l2l, 1e-6);
  report(&l2p, 1e-6);
  /* single precision: positions have 24 bits, relative to the centre of a leaf on the CPU, of a
   * target block on the GPU */
  for (int i = 0; i < 6; i++)
    report(&p2p[i], i == 5 ? 1e-6 : 5e-6); /* at early times the pairs' forces nearly cancel */
  report_tides();
  report(&potential, 1e-6);
  report(&rates, 1e-5); /* of the nearest pair, whose positions have 24 bits relative to a target */
  report_potential_expansions(&expansions);
  report(&kick, 1e-6);
  report(&drift, 1e-6);
}
