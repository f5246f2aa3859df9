/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Multipoles and local expansions. */
#include <stdlib.h>
#include <string.h>

#include "photons/base/error.h"
#include "tests/gpu/tree/tree.h"

void check_multipoles(const struct bench *b, struct group *g, struct difference *p2m,
                      struct difference *m2m) {
  const struct nbody *s = b->s;
  const int order = s->short_range.acceptance.order;
  const uint32_t leaves = 1u << s->domain.depth, size = fmm_multipole_size(order);
  const size_t n = (size_t)tree_nodes(s->domain.depth) * size, leaf_row = (size_t)leaves * size;
  const struct particle_block p = particles_block(&s->domain.particles, g->index);
  const struct node *nodes = b->nodes + (size_t)g->index * tree_nodes(s->domain.depth);
  float *cpu = allocate(n, sizeof *cpu, "multipoles"),
        *gpu = allocate(n, sizeof *gpu, "multipoles"), *out = device_memory(n * sizeof *out);
  s->short_range.kernels->fmm.p2m(order, g->count, s->domain.depth, 1,
                                  expansion_scale(&s->short_range), p.x[0], p.relative_mass,
                                  g->nodes, cpu);
  gpu_p2m(b->gpu, order, g->count, s->domain.depth, expansion_scale(&s->short_range),
          position_on_device(b, g->index), masses_on_device(b, g->index), nodes, out);
  to_host(b, gpu, out, n * sizeof *gpu);
  compare(p2m, cpu + leaf_row, gpu + leaf_row, leaf_row);
  s->short_range.kernels->fmm.m2m(order, 1, 0, s->domain.depth, expansion_scale(&s->short_range),
                                  g->nodes, cpu);
  CUDA(cudaMemcpy(out + leaf_row, cpu + leaf_row, leaf_row * sizeof *out, cudaMemcpyHostToDevice));
  gpu_m2m(b->gpu, order, s->domain.depth, expansion_scale(&s->short_range), nodes, out);
  to_host(b, gpu, out, n * sizeof *gpu);
  compare(m2m, cpu + size, gpu + size, leaf_row - size);
  free(cpu);
  free(gpu);
  CUDA(cudaFree(out));
}

/** The nodes above some groups, in heap order; groups are the lowest ones. */
static struct node *nodes_above(const struct nbody *s, unsigned levels) {
  struct node *box = allocate(2u << levels, sizeof *box, "nodes above groups");
  for (uint32_t k = (2u << levels) - 1; k > 0; k--)
    if (k >= 1u << levels)
      box[k] = s->domain.groups[k - (1u << levels)].nodes[1];
    else
      s->short_range.kernels->walk.join(s->domain.geometry.scale, &box[2 * k], &box[2 * k + 1],
                                        &box[k]);
  return box;
}

/** Every third node is not wanted, and must stay as it is. */
static bool is_wanted(uint32_t node) { return node % 3 != 2; }

void check_upper_multipoles(const struct bench *b, struct difference *d, struct difference *mass) {
  const struct nbody *s = b->s;
  const int order = s->short_range.acceptance.order;
  const unsigned levels = node_level(s->domain.group_count);
  const uint32_t lowest = 1u << levels, all = 2 * lowest, size = fmm_multipole_size(order);
  const size_t row = (size_t)tree_nodes(s->domain.depth) * size, bytes = size * sizeof(float);
  if (levels == 0 || levels > UPPER_LEVELS) return;
  struct node *box = nodes_above(s, levels);
  float *cpu = allocate((size_t)all * size, sizeof *cpu, "multipoles"), **to, **masses, *cpu_mass;
  to = allocate(all, sizeof(float *), "multipoles");
  masses = allocate(all, sizeof(float *), "masses");
  cpu_mass = allocate(all, sizeof *cpu_mass, "masses");
  float *out = to_device(cpu, (size_t)all * bytes), /* zeros */
      *mass_out = to_device(cpu, 2 * all * sizeof(float));
  for (uint32_t k = all - 1; k > 0; k--) {
    const float *group = s->short_range.multipole + (k - lowest) * row;
    if (k >= lowest) memcpy(cpu + (size_t)k * size, group + size, bytes);
    to[k] = k >= lowest    ? b->multipole + (k - lowest) * row
            : is_wanted(k) ? out + (size_t)(k - 1) * size
                           : NULL;
    masses[k] = k >= lowest || is_wanted(k) ? mass_out + k - 1 : NULL;
    cpu_mass[k] = k >= lowest ? (float)k : cpu_mass[2 * k] + cpu_mass[2 * k + 1];
  }
  CUDA(cudaMemcpy(mass_out + lowest, cpu_mass + lowest, lowest * sizeof(float),
                  cudaMemcpyHostToDevice));
  s->short_range.kernels->fmm.m2m(order, 1, 0, levels, expansion_scale(&s->short_range), box, cpu);
  gpu_m2m_upper(b->gpu, order, levels, expansion_scale(&s->short_range), box, to, masses);
  float *gpu = allocate((size_t)all * size, sizeof *gpu, "multipoles"),
        *gpu_mass = allocate(all, sizeof *gpu_mass, "masses");
  to_host(b, gpu, out, (size_t)all * bytes);
  to_host(b, gpu_mass, mass_out, all * sizeof *gpu_mass);
  for (uint32_t k = 1; k < lowest; k++) {
    if (!is_wanted(k)) memset(cpu + (size_t)k * size, 0, bytes), cpu_mass[k] = 0.0f;
    compare(d, cpu + (size_t)k * size, gpu + (size_t)k * size, size);
  }
  compare(mass, cpu_mass + 1, gpu_mass + 1, lowest - 1);
  void *host[] = {box, cpu, to, masses, cpu_mass, gpu, gpu_mass};
  for (size_t i = 0; i < sizeof host / sizeof *host; i++) free(host[i]);
  CUDA(cudaFree(out));
  CUDA(cudaFree(mass_out));
}

/** Compare the rows of nodes that have targets. */
static void compare_rows(struct difference *d, const struct target_set *t, const float *cpu,
                         const float *gpu, size_t size, uint32_t first, uint32_t end) {
  for (uint32_t node = first; node < end; node++)
    if (node_targets(t, node) > 0) compare(d, cpu + node * size, gpu + node * size, size);
}

/** Trees and multipoles of a group's neighbours, on the host and on the GPU: [neighbour]. */
struct far_sources {
  const struct node **host_nodes, **nodes;
  const float **host_multipole, **multipole;
};

static struct far_sources far_sources_of(const struct bench *b, const struct group *g) {
  const struct nbody *s = b->s;
  const uint32_t n = g->near.count;
  const size_t row = (size_t)tree_nodes(s->domain.depth) *
                     fmm_multipole_size(s->short_range.acceptance.order);
  struct far_sources o = {.host_nodes = allocate(n, sizeof *o.host_nodes, "sources"),
                          .nodes = allocate(n, sizeof *o.nodes, "sources"),
                          .host_multipole = allocate(n, sizeof *o.host_multipole, "sources"),
                          .multipole = allocate(n, sizeof *o.multipole, "sources")};
  for (uint32_t i = 0; i < n; i++) {
    const uint32_t k = g->near.group[i]->index;
    o.host_nodes[i] = s->domain.groups[k].nodes;
    o.nodes[i] = nodes_on_device(b, k);
    o.host_multipole[i] = s->short_range.multipole + k * row;
    o.multipole[i] = b->multipole + k * row;
  }
  return o;
}

static void far_sources_free(struct far_sources *o) {
  free(o->host_nodes);
  free(o->nodes);
  free(o->host_multipole);
  free(o->multipole);
}

void check_expansions(const struct bench *b, const struct group *g, const struct target_set *t,
                      struct difference *m2l, struct difference *l2l, struct difference *l2p) {
  const struct nbody *s = b->s;
  const struct fmm_operators *fmm = &s->short_range.kernels->fmm;
  const int order = s->short_range.acceptance.order;
  const unsigned source_depth = s->domain.depth;
  const float scale = expansion_scale(&s->short_range), unit = s->short_range.split.unit,
              factor = s->short_range.factor * unit * unit;
  const uint32_t leaves = 1u << t->depth, size = fmm_local_size(order);
  const size_t n = (size_t)tree_nodes(t->depth) * size;
  const struct interaction_list *far = &s->short_range.groups[g->index].lists.host[LIST_FAR];
  struct far_sources sources = far_sources_of(b, g);
  float *cpu = allocate(n, sizeof *cpu, "local"), *gpu = allocate(n, sizeof *gpu, "local"),
        *out = device_memory(n * sizeof *out);
  fmm->m2l(order, t->depth, source_depth, scale, &s->short_range.split, far, t->nodes,
           sources.host_nodes, sources.host_multipole, cpu);
  gpu_m2l(b->gpu, order, t->depth, source_depth, scale, &s->short_range.split, far, t->nodes_out,
          g->near.count, sources.nodes, sources.multipole, out, NULL);
  to_host(b, gpu, out, n * sizeof *gpu);
  compare_rows(m2l, t, cpu, gpu, size, 1, 2 * leaves);
  CUDA(cudaMemcpy(out, cpu, n * sizeof *out, cudaMemcpyHostToDevice));
  fmm->l2l(order, 1, 0, t->depth, scale, t->nodes, cpu);
  gpu_l2l(b->gpu, order, t->depth, scale, t->nodes_out, out);
  to_host(b, gpu, out, n * sizeof *gpu);
  compare_rows(l2l, t, cpu, gpu, size, leaves, 2 * leaves);
  CUDA(cudaMemcpy(out, cpu, n * sizeof *out, cudaMemcpyHostToDevice));
  const size_t floats = 3 * (size_t)t->count;
  float *a = allocate(floats, sizeof *a, "accelerations"),
        *a_gpu = allocate(floats, sizeof *a, "accelerations"),
        *a_out = to_device(a, floats * sizeof *a);
  fmm->l2p(order, t->count, t->depth, t->first, 1, scale, factor, t->x, t->nodes, cpu, a);
  gpu_l2p(b->gpu, order, t->count, t->depth, t->first_out, scale, factor, t->x_out, t->nodes_out,
          out, a_out);
  to_host(b, a_gpu, a_out, floats * sizeof *a);
  compare(l2p, a, a_gpu, floats);
  free(cpu);
  free(gpu);
  free(a);
  free(a_gpu);
  CUDA(cudaFree(out));
  CUDA(cudaFree(a_out));
  far_sources_free(&sources);
}

void check_potential_expansions(const struct bench *b, const struct group *g,
                                const struct target_set *all, struct potential_difference *d) {
  const struct nbody *s = b->s;
  const struct fmm_operators *fmm = &s->short_range.kernels->fmm;
  const int order = s->short_range.acceptance.order;
  const unsigned depth = s->domain.depth;
  const float scale = expansion_scale(&s->short_range);
  const uint32_t nodes = tree_nodes(depth), size = fmm_local_size(order);
  const size_t n = (size_t)nodes * size, constant_bytes = nodes * sizeof(float),
               potential_bytes = g->count * sizeof(float);
  const struct interaction_list *far = &s->short_range.groups[g->index].lists.host[LIST_FAR];
  struct split split = s->short_range.split;
  split.kind = SPLIT_NEWTON;
  struct far_sources sources = far_sources_of(b, g);
  float *cpu = allocate(n, sizeof *cpu, "local"), *gpu = allocate(n, sizeof *gpu, "local"),
        *out = device_memory(n * sizeof *out), *constant = allocate(nodes, sizeof *constant, "L_0"),
        *constant_gpu = allocate(nodes, sizeof *constant, "L_0"),
        *constant_out = device_memory(constant_bytes),
        *potential = allocate(g->count, sizeof *potential, "potentials"),
        *potential_gpu = allocate(g->count, sizeof *potential, "potentials");
  fmm->m2l(order, depth, depth, scale, &split, far, all->nodes, sources.host_nodes,
           sources.host_multipole, cpu);
  fmm->m2l_potential(order, depth, depth, scale, &split, far, all->nodes, sources.host_nodes,
                     sources.host_multipole, constant);
  CUDA(cudaMemset(out, 0xff, n * sizeof *out));
  CUDA(cudaMemset(constant_out, 0xff, constant_bytes));
  gpu_m2l(b->gpu, order, depth, depth, scale, &split, far, all->nodes_out, g->near.count,
          sources.nodes, sources.multipole, out, constant_out);
  to_host(b, gpu, out, n * sizeof *gpu);
  to_host(b, constant_gpu, constant_out, constant_bytes);
  compare(&d->m2l, cpu + size, gpu + size, n - size);
  compare(&d->m2l_constant, constant + 1, constant_gpu + 1, nodes - 1);
  fmm->l2l(order, 1, 0, depth, scale, all->nodes, cpu);
  for (uint32_t i = 0; i < g->count; i++) potential[i] = 1.0f; /* what is there stays */
  float *potential_out = to_device(potential, potential_bytes);
  CUDA(cudaMemcpy(out, cpu, n * sizeof *out, cudaMemcpyHostToDevice));
  CUDA(cudaMemcpy(constant_out, constant, constant_bytes, cudaMemcpyHostToDevice));
  fmm->l2p_potential(order, g->count, depth, scale, 1.0f, all->x, all->nodes, cpu, constant,
                     potential);
  gpu_l2p_potential(b->gpu, order, g->count, depth, scale, 1.0f, all->x_out, all->nodes_out, out,
                    constant_out, potential_out);
  to_host(b, constant_gpu, constant_out, constant_bytes);
  to_host(b, potential_gpu, potential_out, potential_bytes);
  compare(&d->l2p_constant, constant + 1, constant_gpu + 1, nodes - 1);
  compare(&d->l2p, potential, potential_gpu, g->count);
  void *host[] = {cpu, gpu, constant, constant_gpu, potential, potential_gpu},
       *device[] = {out, constant_out, potential_out};
  for (size_t i = 0; i < sizeof host / sizeof *host; i++) free(host[i]);
  for (size_t i = 0; i < sizeof device / sizeof *device; i++) CUDA(cudaFree(device[i]));
  far_sources_free(&sources);
}

void report_potential_expansions(const struct potential_difference *d) {
  report(&d->m2l, EXPANSION_LIMIT);
  report(&d->m2l_constant, EXPANSION_LIMIT);
  report(&d->l2p_constant, 1e-6);
  report(&d->l2p, 1e-6);
}
