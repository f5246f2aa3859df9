/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/gpu/bench.h"

#include <stdlib.h>
#include <string.h>

#include "photons/base/error.h"

void to_host(const struct bench *b, void *to, const void *from, size_t bytes) {
  CUDA(cudaStreamSynchronize(b->stream));
  CUDA(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost));
}

bool same_bytes(const struct bench *b, const void *cpu, const void *gpu, size_t bytes) {
  void *back = allocate(bytes, 1, "targets");
  to_host(b, back, gpu, bytes);
  const bool same = memcmp(cpu, back, bytes) == 0;
  free(back);
  return same;
}

size_t first_of(const struct bench *b, uint32_t g) {
  return block_first(b->s->domain.particles.count, b->s->domain.group_count, g);
}

const uint32_t *position_on_device(const struct bench *b, uint32_t g) {
  return b->x + 3 * first_of(b, g);
}

const struct node *nodes_on_device(const struct bench *b, uint32_t g) {
  return b->nodes + (size_t)g * tree_nodes(b->s->domain.depth);
}

const float *masses_on_device(const struct bench *b, uint32_t g) {
  return b->mass ? b->mass + first_of(b, g) : NULL;
}

uint32_t node_targets(const struct target_set *t, uint32_t node) {
  return tree_node_count(t->count, t->depth, t->first, node);
}

struct target_set all_of(const struct bench *b, const struct group *g) {
  return (struct target_set){.count = g->count,
                             .depth = b->s->domain.depth,
                             .x = particles_block(&b->s->domain.particles, g->index).x[0],
                             .x_out = b->x + 3 * first_of(b, g->index),
                             .nodes = g->nodes,
                             .nodes_out = b->nodes +
                                          (size_t)g->index * tree_nodes(b->s->domain.depth)};
}

/** Masses of the nodes of all groups. */
static float *sum_node_masses(const struct domain *d) {
  const uint32_t nodes = tree_nodes(d->depth);
  float *all = allocate((size_t)d->group_count * nodes, sizeof *all, "masses of nodes");
  for (uint32_t g = 0; g < d->group_count; g++) {
    const struct particle_block p = particles_block(&d->particles, g);
    const uint32_t count = (uint32_t)p.count;
    float *mass = all + (size_t)g * nodes;
    for (uint32_t node = nodes - 1; node > 0; node--) {
      double sum = 0.0;
      for (uint32_t i = node_first(count, node); i < node_end(count, node); i++)
        sum += (double)p.relative_mass[i];
      mass[node] = node < nodes / 2 ? mass[2 * node] + mass[2 * node + 1] : (float)sum;
    }
  }
  return all;
}

struct bench bench_create(struct nbody *s) {
  const size_t rows = (size_t)s->domain.group_count * tree_nodes(s->domain.depth),
               n = s->domain.particles.count;
  const int order = s->short_range.acceptance.order;
  struct bench b = {.s = s};
  CUDA(cudaStreamCreate(&b.stream));
  b.gpu = gpu_create(b.stream, NULL);
  b.split = gpu_split_create(&s->short_range.split);
  if (nbody_has_mesh(s)) b.mesh = gpu_mesh_create(b.gpu, s->long_range.mesh);
  b.x = to_device(s->domain.particles.position, 3 * n * sizeof *b.x);
  b.momentum = to_device(s->domain.particles.momentum, 3 * n * sizeof *b.momentum);
  b.acceleration = to_device(s->domain.particles.acceleration, 3 * n * sizeof *b.acceleration);
  b.nodes = to_device(s->domain.nodes, rows * sizeof *b.nodes);
  b.multipole = to_device(s->short_range.multipole,
                          rows * fmm_multipole_size(order) * sizeof *b.multipole);
  b.local = device_memory(rows * fmm_local_size(order) * sizeof *b.local);
  if (particles_have(&s->domain.particles, COLUMN_relative_mass)) {
    b.host_node_mass = sum_node_masses(&s->domain);
    b.mass = to_device(s->domain.particles.relative_mass, n * sizeof *b.mass);
    b.node_mass = to_device(b.host_node_mass, rows * sizeof *b.node_mass);
  }
  if (s->short_range.law.by_type) b.type = to_device(s->domain.particles.type, n * sizeof *b.type);
  return b;
}

void bench_free(struct bench *b) {
  if (b->mesh) gpu_mesh_free(b->mesh);
  gpu_split_free(b->split);
  gpu_free(b->gpu);
  free(b->host_node_mass);
  void *memory[] = {b->x,     b->momentum, b->acceleration, b->nodes, b->multipole,
                    b->local, b->mass,     b->node_mass,    b->type};
  for (size_t i = 0; i < sizeof memory / sizeof *memory; i++) CUDA(cudaFree(memory[i]));
  CUDA(cudaStreamDestroy(b->stream));
}

uint32_t exact_groups(const struct nbody *s) { return nbody_has_mesh(s) ? 8 : 2; }
