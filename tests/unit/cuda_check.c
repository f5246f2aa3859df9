/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cuda_check [FILE | WORD] [section.key=value ...]: compares every CUDA stage with its CPU counterpart
 * on the same input, and whole forces. FILE is a Gadget snapshot. The words:
 *
 *   universe      a small universe, which is generated
 *   isolated      M31 in empty space
 *   mixed [N]     several systems of particles of different masses, or system N of them
 *   buffers       a task with as much data as direct sums among many groups have; owners of data
 *   gas           gas (cuda_check_gas.c)
 *   gas-gravity   self-gravity of gas (cuda_check_gas_gravity.c)
 *
 * Without FILE and WORD all of them are compared, and whole forces with Ewald sums, too. With
 * PHOTONS_BENCHMARK set it measures rates: of P2P, and of the stages of block time steps where a
 * share of the particles is active; of isolated systems, of all stages of a force; of gas; with
 * `gas regrid`, of regridding alone. The exit code is 77 where there is no GPU.
 *
 * cuda_check_on_cores is the same program with kernels that run on the processor
 * (tests/support/cuda_on_cores). Without arguments it compares a smaller universe. */
#include <cuda_runtime_api.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/domain/gpu_domain.h"
#include "cuda/mesh/gpu_mesh.h"
#include "cuda/step/gpu_step.h"
#include "cuda/tree/gpu_tree.h"
#include "photons/analysis/energy.h"
#include "photons/base/error.h"
#include "photons/config/parameters.h"
#include "photons/cosmology/linear_power.h"
#include "photons/domain/group_sort.h"
#include "photons/ic/ic.h"
#include "photons/runtime/engine.h"
#include "photons/runtime/handle.h"
#include "photons/runtime/owner_computes.h"
#include "photons/runtime/scheduler.h"
#include "photons/step/block_step.h"
#include "photons/step/statistics.h"
#include "photons/step/step.h"
#include "photons/tree/targets.h"
#include "support/force_set.h"
#include "tests/unit/cuda_check_gas.h"
#include "tests/unit/cuda_pictures.h"

#define CUDA(call)                                                                                 \
  do {                                                                                             \
    cudaError_t status = (call);                                                                   \
    if (status != cudaSuccess) fail(EXIT_RUN_FAILED, "%s: %s", #call, cudaGetErrorString(status)); \
  } while (0)

/** Host arrays and their copies on the GPU. */
struct bench {
  struct nbody *s;
  struct gpu *gpu;
  struct gpu_split *split;
  struct gpu_mesh *mesh;
  cudaStream_t stream;
  uint32_t *x;
  float *momentum, *acceleration, *multipole, *local;
  struct node *nodes;
  /* where particles differ, else NULL */
  float *mass, *node_mass, *host_node_mass; /* of nodes: [group][node] */
  uint8_t *type;
};

/** Sums of squares over all calls of one stage. */
struct difference {
  const char *stage;
  double difference2, reference2, largest;
};

static int failures;

/** Tides of direct sums in single and in double precision. */
static struct difference tides[2] = {{.stage = "tide f32"}, {.stage = "tide f64"}};

static void *device_memory(size_t bytes) {
  void *memory;
  CUDA(cudaMalloc(&memory, bytes ? bytes : 4));
  return memory;
}

static void *to_device(const void *from, size_t bytes) {
  void *to = device_memory(bytes);
  CUDA(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice));
  return to;
}

static void to_host(const struct bench *b, void *to, const void *from, size_t bytes) {
  CUDA(cudaStreamSynchronize(b->stream));
  CUDA(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost));
}

static void compare_one(struct difference *d, double cpu, double gpu) {
  const double difference = isfinite(gpu) ? cpu - gpu : INFINITY;
  d->difference2 += difference * difference;
  d->reference2 += cpu * cpu;
  d->largest = fmax(d->largest, fabs(difference));
}
static void compare(struct difference *d, const float *cpu, const float *gpu, size_t n) {
  for (size_t i = 0; i < n; i++) compare_one(d, (double)cpu[i], (double)gpu[i]);
}

static double rms_of(const struct difference *d) {
  return sqrt(d->difference2 / fmax(d->reference2, 1e-300));
}
/* Each stage's rounding differs only by the order of sums and by fused operations. */
static void report(const struct difference *d, double limit) {
  const double rms = rms_of(d);
  const int good = rms <= limit;
  printf("  %-10s %9.2e  %s\n", d->stage, rms, good ? "ok" : "TOO LARGE");
  failures += !good;
}

/** Expansions of order 6 have terms that cancel: with particles of different masses CUDA and CPU, which
 * add in different orders, differ by up to 3.4e-6 (m2l), 1.3e-6 (m2m). */
#define EXPANSION_LIMIT 5e-6

static void report_tides(void) {
  for (int k = 0; k < 2; k++) {
    report(&tides[k], 5e-6);
    tides[k] = (struct difference){.stage = tides[k].stage};
  }
}

static size_t first_of(const struct bench *b, uint32_t g) {
  return block_first(b->s->domain.particles.count, b->s->domain.group_count, g);
}
static const uint32_t *position_on_device(const struct bench *b, uint32_t g) {
  return b->x + 3 * first_of(b, g);
}

static const struct node *nodes_on_device(const struct bench *b, uint32_t g) {
  return b->nodes + (size_t)g * tree_nodes(b->s->domain.depth);
}

/** Targets of a group (targets.h), on the host and on the GPU. */
struct target_set {
  uint32_t count;
  unsigned depth;
  uint32_t *first, *first_out; /* table of the leaves, or NULL */
  uint32_t *x, *x_out;
  struct node *nodes, *nodes_out;
  uint32_t *index, *index_out; /* of packed targets in their group, or NULL */
};

static uint32_t node_targets(const struct target_set *t, uint32_t node) {
  return tree_node_count(t->count, t->depth, t->first, node);
}

static struct target_set all_of(const struct bench *b, const struct group *g) {
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

static struct bench bench_create(struct nbody *s) {
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

static void bench_free(struct bench *b) {
  if (b->mesh) gpu_mesh_free(b->mesh);
  gpu_split_free(b->split);
  gpu_free(b->gpu);
  free(b->host_node_mass);
  void *memory[] = {b->x,     b->momentum, b->acceleration, b->nodes, b->multipole,
                    b->local, b->mass,     b->node_mass,    b->type};
  for (size_t i = 0; i < sizeof memory / sizeof *memory; i++) CUDA(cudaFree(memory[i]));
  CUDA(cudaStreamDestroy(b->stream));
}

/* Tree stages of one group. */

static void check_refit(const struct bench *b, struct group *g, struct difference *d) {
  const struct nbody *s = b->s;
  const uint32_t n = tree_nodes(s->domain.depth);
  const struct particle_block p = particles_block(&s->domain.particles, g->index);
  struct node *cpu = allocate(n, sizeof *cpu, "nodes"), *gpu = allocate(n, sizeof *gpu, "nodes"),
              *out = device_memory(n * sizeof *out), *top;
  enum { TOP = 2 };
  CUDA(cudaMallocHost((void **)&top, tree_nodes(TOP) * sizeof *top));
  s->short_range.kernels->walk.refit(g->count, s->domain.depth, NULL, s->domain.geometry.scale,
                                     1.0f / s->short_range.factor, p.x[0], p.acc[0], cpu);
  gpu_refit(b->gpu, g->count, s->domain.depth, NULL, s->domain.geometry.scale,
            1.0f / s->short_range.factor, position_on_device(b, g->index),
            b->acceleration + 3 * first_of(b, g->index), out, TOP, top);
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

/** Masses of a group's particles on the GPU, or NULL. */
static const float *masses_on_device(const struct bench *b, uint32_t g) {
  return b->mass ? b->mass + first_of(b, g) : NULL;
}

static void check_multipoles(const struct bench *b, struct group *g, struct difference *p2m,
                             struct difference *m2m) {
  const struct nbody *s = b->s;
  const int order = s->short_range.acceptance.order;
  const uint32_t leaves = 1u << s->domain.depth, size = fmm_multipole_size(order);
  const size_t n = (size_t)tree_nodes(s->domain.depth) * size, leaf_row = (size_t)leaves * size;
  const struct particle_block p = particles_block(&s->domain.particles, g->index);
  const struct node *nodes = b->nodes + (size_t)g->index * tree_nodes(s->domain.depth);
  float *cpu = allocate(n, sizeof *cpu, "multipoles"),
        *gpu = allocate(n, sizeof *gpu, "multipoles"), *out = device_memory(n * sizeof *out);
  s->short_range.kernels->fmm.p2m(order, g->count, s->domain.depth,
                                  expansion_scale(&s->short_range), p.x[0], p.relative_mass,
                                  g->nodes, cpu);
  gpu_p2m(b->gpu, order, g->count, s->domain.depth, expansion_scale(&s->short_range),
          position_on_device(b, g->index), masses_on_device(b, g->index), nodes, out);
  to_host(b, gpu, out, n * sizeof *gpu);
  compare(p2m, cpu + leaf_row, gpu + leaf_row, leaf_row);
  s->short_range.kernels->fmm.m2m(order, s->domain.depth, expansion_scale(&s->short_range),
                                  g->nodes, cpu);
  CUDA(cudaMemcpy(out + leaf_row, cpu + leaf_row, leaf_row * sizeof *out, cudaMemcpyHostToDevice));
  gpu_m2m(b->gpu, order, s->domain.depth, expansion_scale(&s->short_range), nodes, out);
  to_host(b, gpu, out, n * sizeof *gpu);
  compare(m2m, cpu + size, gpu + size, leaf_row - size);
  free(cpu);
  free(gpu);
  CUDA(cudaFree(out));
}

static void walk_group(const struct bench *b, const struct group *g, const struct target_set *t,
                       struct walk_scratch *scratch) {
  const struct nbody *s = b->s;
  const struct node *nodes[g->near.count];
  uint32_t count[g->near.count];
  const float *mass[g->near.count];
  for (uint32_t i = 0; i < g->near.count; i++) {
    const uint32_t source = g->near.group[i];
    nodes[i] = s->domain.groups[source].nodes;
    count[i] = s->domain.groups[source].count;
    if (b->mass) mass[i] = b->host_node_mass + (size_t)source * tree_nodes(s->domain.depth);
  }
  s->short_range.kernels->walk.walk(&s->short_range.acceptance, t->count, t->depth, t->first,
                                    t->nodes, g->near.count, nodes, count, b->mass ? mass : NULL,
                                    scratch, &s->short_range.groups[g->index].lists.host[LIST_NEAR],
                                    &s->short_range.groups[g->index].lists.host[LIST_FAR]);
}

/** How two sets of interaction lists differ, and the number of sources that a target leaf meets
 * twice or, though they are in reach, never. Nodes without targets must not meet any. */
struct list_difference {
  uint64_t entries, different, uncovered;
};

static int compare_entries(const void *a, const void *b) {
  const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

/** Count entries that one list has and the other has not. Sorts both. */
static void compare_lists(struct list_difference *d, const struct interaction_list *cpu,
                          const struct interaction_list *gpu, uint32_t targets) {
  for (uint32_t t = 0; t < targets; t++) {
    uint32_t *a = cpu->entry + cpu->offset[t], *b = gpu->entry + gpu->offset[t];
    const uint32_t n = cpu->offset[t + 1] - cpu->offset[t], m = gpu->offset[t + 1] - gpu->offset[t];
    uint32_t i = 0, k = 0;
    qsort(a, n, sizeof *a, compare_entries);
    qsort(b, m, sizeof *b, compare_entries);
    while (i < n && k < m) {
      const int order = compare_entries(&a[i], &b[k]);
      d->different += order != 0;
      i += order <= 0;
      k += order >= 0;
    }
    d->different += (n - i) + (m - k);
    d->entries += n;
  }
}

static void check_coverage(const struct nbody *s, const struct group *g,
                           const struct target_set *set, const struct interaction_list *near,
                           const struct interaction_list *far, struct list_difference *d) {
  const uint32_t leaves = 1u << s->domain.depth, targets = 1u << set->depth;
  uint8_t *met = allocate((size_t)g->near.count * leaves, 1, "source leaves");
  for (uint32_t node = 1; node < 2 * targets; node++) {
    if (node_targets(set, node) > 0) continue;
    d->uncovered += far->offset[node + 1] - far->offset[node];
    if (node >= targets)
      d->uncovered += near->offset[node - targets + 1] - near->offset[node - targets];
  }
  for (uint32_t leaf = 0; leaf < targets; leaf++) {
    const struct node *t = &set->nodes[targets + leaf];
    if (node_targets(set, targets + leaf) == 0) continue;
    memset(met, 0, (size_t)g->near.count * leaves);
    for (uint32_t i = near->offset[leaf]; i < near->offset[leaf + 1]; i++)
      met[(near->entry[i] >> (s->domain.depth + 1)) * leaves + (near->entry[i] & (2 * leaves - 1)) -
          leaves]++;
    for (uint32_t ancestor = targets + leaf; ancestor > 0; ancestor /= 2)
      for (uint32_t i = far->offset[ancestor]; i < far->offset[ancestor + 1]; i++) {
        const uint32_t node = far->entry[i] & (2 * leaves - 1),
                       below = s->domain.depth - node_level(node);
        for (uint32_t k = node << below; k < (node + 1) << below; k++)
          met[(far->entry[i] >> (s->domain.depth + 1)) * leaves + k - leaves]++;
      }
    for (size_t k = 0; k < (size_t)g->near.count * leaves; k++) {
      const struct node *source = &s->domain.groups[g->near.group[k / leaves]]
                                       .nodes[leaves + k % leaves];
      float gap2 = 0.0f;
      for (int c = 0; c < 3; c++) {
        const float distance = fabsf((float)(int32_t)(source->centre[c] - t->centre[c])) *
                               s->domain.geometry.scale,
                    gap = fmaxf(distance - (t->half[c] + source->half[c]), 0.0f);
        gap2 += gap * gap;
      }
      d->uncovered += met[k] > 1 || (met[k] == 0 && gap2 < 1.0f - 1e-5f);
    }
  }
  free(met);
}

/** The trees of a group's neighbours on the GPU, and the numbers of their particles. Returns the
 * masses of their nodes, or NULL. */
static const float *const *source_trees(const struct bench *b, const struct group *g,
                                        const struct node **tree, uint32_t *count,
                                        const float **mass) {
  for (uint32_t i = 0; i < g->near.count; i++) {
    const uint32_t source = g->near.group[i];
    tree[i] = nodes_on_device(b, source);
    count[i] = b->s->domain.groups[source].count;
    if (b->mass) mass[i] = b->node_mass + (size_t)source * tree_nodes(b->s->domain.depth);
  }
  return b->mass ? mass : NULL;
}

/** Offsets of a set's near list and far list together. */
static size_t offsets_of(const struct target_set *t) {
  return (1u << t->depth) + 1 + tree_nodes(t->depth) + 1;
}

/** Lists that the first pass has written are those of the second pass; if there is too little room,
 * nothing is written. */
static void check_kept(const struct bench *b, const struct list_room *room,
                       const struct walk_result *wanted, const struct walk_result *found,
                       const struct interaction_list *near, const struct interaction_list *far) {
  const bool fits = room->near >= near->entries;
  uint32_t *near_kept = allocate(near->entries, sizeof *near_kept, "near list"),
           *far_kept = allocate(far->entries, sizeof *far_kept, "far list");
  to_host(b, near_kept, room->near_entry, near->entries * sizeof *near_kept);
  to_host(b, far_kept, room->far_entry, far->entries * sizeof *far_kept);
  bool good = wanted->entries == found->entries && wanted->interactions == found->interactions &&
              found->written == fits;
  for (uint32_t i = 0; i < near->entries; i++) good &= near_kept[i] == (fits ? near->entry[i] : 0);
  for (uint32_t i = 0; i < far->entries; i++) good &= far_kept[i] == (fits ? far->entry[i] : 0);
  if (!good) printf("  walk with room for %u of %u entries: WRONG\n", room->near, near->entries);
  failures += !good;
  free(near_kept);
  free(far_kept);
  CUDA(cudaFree(room->near_entry));
  CUDA(cudaFree(room->far_entry));
}

/** Compare the GPU's lists with those in g->lists. Call after walk_group(). */
static void check_walk(const struct bench *b, const struct group *g, const struct target_set *t,
                       struct list_difference *d) {
  const struct nbody *s = b->s;
  const struct acceptance *a = &s->short_range.acceptance;
  const uint32_t leaves = 1u << t->depth, n = g->near.count;
  const struct node *tree[n];
  uint32_t count[n];
  const float *node_mass[n];
  struct walk_result *result;
  CUDA(cudaMallocHost((void **)&result, sizeof *result));
  const float *const *mass = source_trees(b, g, tree, count, node_mass);
  const size_t offset_bytes = offsets_of(t) * sizeof(uint32_t);
  uint32_t *offset = device_memory(offset_bytes);
  gpu_walk(b->gpu, a, t->count, t->depth, t->first_out, t->nodes_out, n, tree, count, mass, offset,
           &(struct list_room){0}, result);
  CUDA(cudaStreamSynchronize(b->stream));
  const size_t near_bytes = result->entries * sizeof(uint32_t),
               far_bytes = result->interactions * sizeof(uint32_t);
  uint32_t *near_entry = device_memory(near_bytes), *far_entry = device_memory(far_bytes);
  gpu_walk_fill(b->gpu, a, t->count, t->depth, t->first_out, t->nodes_out, n, tree, count, mass,
                offset, result, near_entry, far_entry);
  struct interaction_list near = {.offset = allocate(offsets_of(t), sizeof(uint32_t), "offsets"),
                                  .entry = allocate(result->entries, sizeof(uint32_t), "near list"),
                                  .entries = (uint32_t)result->entries},
                          far = {
                              .offset = near.offset + leaves + 1,
                              .entry = allocate(result->interactions, sizeof(uint32_t), "far list"),
                              .entries = (uint32_t)result->interactions};
  to_host(b, near.offset, offset, offset_bytes);
  to_host(b, near.entry, near_entry, near_bytes);
  to_host(b, far.entry, far_entry, far_bytes);
  for (uint32_t lacking = 0; lacking < 2 && result->entries > 0; lacking++) {
    const struct walk_result lengths = *result;
    const struct list_room room = {.near = (uint32_t)lengths.entries - lacking,
                                   .far = (uint32_t)lengths.interactions,
                                   .near_entry = device_memory(near_bytes),
                                   .far_entry = device_memory(far_bytes)};
    CUDA(cudaMemset(room.near_entry, 0, near_bytes));
    CUDA(cudaMemset(room.far_entry, 0, far_bytes));
    gpu_walk(b->gpu, a, t->count, t->depth, t->first_out, t->nodes_out, n, tree, count, mass,
             offset, &room, result);
    check_kept(b, &room, &lengths, result, &near, &far);
  }
  compare_lists(d, &s->short_range.groups[g->index].lists.host[LIST_NEAR], &near, leaves);
  compare_lists(d, &s->short_range.groups[g->index].lists.host[LIST_FAR], &far,
                tree_nodes(t->depth));
  check_coverage(s, g, t, &near, &far, d);
  free(near.offset);
  free(near.entry);
  free(far.entry);
  CUDA(cudaFree(offset));
  CUDA(cudaFree(near_entry));
  CUDA(cudaFree(far_entry));
  CUDA(cudaFreeHost(result));
}

/** The same where no pair of nodes is accepted. */
static void check_reach(const struct bench *b, const struct group *g, const struct target_set *t,
                        struct walk_scratch *scratch, struct list_difference *d) {
  struct short_range *s = &b->s->short_range;
  struct lists *lists = &s->groups[g->index].lists;
  if (s->acceptance.newton) return;
  short_range_expansions(s, false);
  walk_group(b, g, t, scratch);
  check_walk(b, g, t, d);
  short_range_expansions(s, true);
  for (int kind = 0; kind < LISTS; kind++) interaction_list_free(&lists->host[kind]);
}

/* Pairs at the edge of the criterion are decided by rounding, which differs between processors. */
static void report_walk(const char *stage, const struct list_difference *d) {
  const double different = (double)d->different / (double)d->entries;
  const bool good = different <= 1e-5 && d->uncovered == 0;
  printf("  %-10s %9.2e  of %" PRIu64 " entries, %" PRIu64 " pairs of leaves not met once  %s\n",
         stage, different, d->entries, d->uncovered, good ? "ok" : "WRONG");
  failures += !good;
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
    const uint32_t k = g->near.group[i];
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

static void check_expansions(const struct bench *b, const struct group *g,
                             const struct target_set *t, struct difference *m2l,
                             struct difference *l2l, struct difference *l2p) {
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
  fmm->l2l(order, t->depth, scale, t->nodes, cpu);
  gpu_l2l(b->gpu, order, t->depth, scale, t->nodes_out, out);
  to_host(b, gpu, out, n * sizeof *gpu);
  compare_rows(l2l, t, cpu, gpu, size, leaves, 2 * leaves);
  CUDA(cudaMemcpy(out, cpu, n * sizeof *out, cudaMemcpyHostToDevice));
  const size_t floats = 3 * (size_t)t->count;
  float *a = allocate(floats, sizeof *a, "accelerations"),
        *a_gpu = allocate(floats, sizeof *a, "accelerations"),
        *a_out = to_device(a, floats * sizeof *a);
  fmm->l2p(order, t->count, t->depth, t->first, scale, factor, t->x, t->nodes, cpu, a);
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

/** Differences in the potential from expansions: of m2l_potential in the local expansions and in
 * L_0, of l2p_potential in the sums of L_0 over a node and all above it and in the potential. */
struct potential_difference {
  struct difference m2l, m2l_constant, l2p_constant, l2p;
};

/** The kernels of the stages m2l_potential and l2p_potential. L_0 is computed for Newton's gravity
 * only, so that the lists and multipoles of periodic boxes are used with Newton's gravity, too. */
static void check_potential_expansions(const struct bench *b, const struct group *g,
                                       const struct target_set *all,
                                       struct potential_difference *d) {
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
  fmm->l2l(order, depth, scale, all->nodes, cpu);
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

static void report_potential_expansions(const struct potential_difference *d) {
  report(&d->m2l, EXPANSION_LIMIT);
  report(&d->m2l_constant, EXPANSION_LIMIT);
  report(&d->l2p_constant, 1e-6);
  report(&d->l2p, 1e-6);
}

/** [neighbour]; masses and types are NULL where they do not differ. */
struct p2p_columns {
  const uint32_t **x;
  const float **mass;
  const uint8_t **type;
};
struct p2p_sources {
  struct p2p_columns host, device;
  uint32_t *count;
};

static struct p2p_columns columns_create(const struct bench *b, uint32_t n) {
  struct p2p_columns c = {.x = allocate(n, sizeof *c.x, "sources")};
  if (b->mass) c.mass = allocate(n, sizeof *c.mass, "sources");
  if (b->type) c.type = allocate(n, sizeof *c.type, "sources");
  return c;
}

static void columns_free(struct p2p_columns *c) {
  free(c->x);
  free(c->mass);
  free(c->type);
}

static struct p2p_sources sources_of(const struct bench *b, const struct group *g) {
  struct p2p_sources o = {.host = columns_create(b, g->near.count),
                          .device = columns_create(b, g->near.count),
                          .count = allocate(g->near.count, sizeof *o.count, "sources")};
  for (uint32_t i = 0; i < g->near.count; i++) {
    const uint32_t k = g->near.group[i];
    const struct particle_block p = particles_block(&b->s->domain.particles, k);
    o.host.x[i] = p.x[0];
    o.device.x[i] = position_on_device(b, k);
    if (b->mass) o.host.mass[i] = p.relative_mass;
    if (b->mass) o.device.mass[i] = b->mass + p.first;
    if (b->type) o.host.type[i] = p.type;
    if (b->type) o.device.type[i] = b->type + p.first;
    o.count[i] = b->s->domain.groups[k].count;
  }
  return o;
}

static void sources_free(struct p2p_sources *o) {
  columns_free(&o->host);
  columns_free(&o->device);
  free(o->count);
}

/** @param device  with the arrays on the GPU */
static struct p2p_target target_of(const struct nbody *s, const struct group *g,
                                   const struct target_set *t, bool device,
                                   const struct p2p_sources *sources) {
  const struct p2p_columns *columns = device ? &sources->device : &sources->host;
  return (struct p2p_target){.count = t->count,
                             .depth = t->depth,
                             .first = device ? t->first_out : t->first,
                             .source_depth = s->domain.depth,
                             .scale = s->domain.geometry.scale,
                             .factor = s->short_range.factor,
                             .x = device ? t->x_out : t->x,
                             .nodes = t->nodes,
                             .near = &s->short_range.groups[g->index].lists.host[LIST_NEAR],
                             .source_x = columns->x,
                             .source_count = sources->count,
                             .source_mass = columns->mass,
                             .source_type = columns->type,
                             .index = device ? t->index_out : t->index,
                             .tide = s->short_range.split.kind != SPLIT_NEWTON};
}

static void check_p2p(const struct bench *b, const struct group *g, const struct target_set *t,
                      const struct p2p_law *law, bool double_precision, struct difference *d) {
  const struct nbody *s = b->s;
  struct p2p_sources sources = sources_of(b, g);
  struct p2p_scratch scratch = {0};
  struct p2p_target host = target_of(s, g, t, false, &sources),
                    device = target_of(s, g, t, true, &sources);
  const size_t forces = P2P_TIDE * (size_t)t->count,
               floats = p2p_components(&host) * (size_t)t->count;
  float *cpu = allocate(floats, sizeof *cpu, "accelerations"),
        *gpu = allocate(floats, sizeof *gpu, "accelerations");
  float *out = device_memory(floats * sizeof *out);
  uint64_t pairs = 0;
  CUDA(cudaMemset(out, 0xff, floats * sizeof *out));
  if (law->kind == P2P_EXACT)
    p2p_exact(law, &host, cpu);
  else
    s->short_range.kernels->p2p.p2p(law, &host, &scratch, cpu);
  gpu_p2p(b->gpu, b->split, law, &device, g->near.count, double_precision, out, &pairs);
  to_host(b, gpu, out, floats * sizeof *gpu);
  compare(d, cpu, gpu, forces);
  compare(&tides[double_precision], cpu + forces, gpu + forces, floats - forces);
  free(cpu);
  free(gpu);
  CUDA(cudaFree(out));
  p2p_scratch_free(&scratch);
  sources_free(&sources);
}

/** What the cores' pair sums in single precision differ from those in double precision. */
static void add_float_error(const struct bench *b, const struct group *g,
                            const struct target_set *t, struct p2p_law law, struct difference *d) {
  const struct nbody *s = b->s;
  struct p2p_sources sources = sources_of(b, g);
  struct p2p_scratch scratch = {0};
  const struct p2p_target host = target_of(s, g, t, false, &sources);
  const size_t forces = P2P_TIDE * (size_t)t->count,
               floats = p2p_components(&host) * (size_t)t->count;
  float *exact = allocate(floats, sizeof *exact, "accelerations"),
        *single = allocate(floats, sizeof *single, "accelerations");
  law.kind = P2P_EXACT;
  p2p_exact(&law, &host, exact);
  law.kind = P2P_POLYNOMIAL;
  s->short_range.kernels->p2p.p2p(&law, &host, &scratch, single);
  compare(d, exact, single, forces);
  free(exact);
  free(single);
  p2p_scratch_free(&scratch);
  sources_free(&sources);
}

static void check_potential(const struct bench *b, const struct group *g,
                            const struct target_set *all, struct difference *d) {
  const struct nbody *s = b->s;
  const struct p2p_law *law = &s->short_range.law;
  struct p2p_sources sources = sources_of(b, g);
  struct p2p_scratch scratch = {0};
  const struct p2p_target host = target_of(s, g, all, false, &sources),
                          device = target_of(s, g, all, true, &sources);
  const size_t bytes = g->count * sizeof(float);
  float *cpu = allocate(g->count, sizeof *cpu, "potentials"),
        *gpu = allocate(g->count, sizeof *gpu, "potentials"), *out = device_memory(bytes);
  CUDA(cudaMemset(out, 0xff, bytes));
  s->short_range.kernels->p2p.potential(law, &host, &scratch, cpu);
  gpu_potential(b->gpu, law, &device, g->near.count, out);
  to_host(b, gpu, out, bytes);
  compare(d, cpu, gpu, g->count);
  free(cpu);
  free(gpu);
  CUDA(cudaFree(out));
  p2p_scratch_free(&scratch);
  sources_free(&sources);
}

/** The sums of a group's momenta, in double precision. */
static void check_momentum_sum(const struct bench *b, const struct group *g,
                               const float *momentum) {
  const struct particle_block p = particles_block(&b->s->domain.particles, g->index);
  struct momentum_sum gpu, cpu = {0};
  gpu_momentum_sum(b->gpu, g->count, momentum, b->mass ? b->mass + p.first : NULL, &gpu);
  CUDA(cudaDeviceSynchronize());
  for (uint32_t i = 0; i < g->count; i++) {
    const double m = b->mass ? (double)p.relative_mass[i] : 1.0;
    double square = 0.0;
    for (int c = 0; c < 3; c++) {
      const double v = (double)p.p[c][i];
      cpu.vector[c] += m * v;
      square += v * v;
    }
    cpu.magnitude += m * sqrt(square);
    cpu.square += m * square;
  }
  const double limit = 1e-12 * cpu.magnitude;
  bool good = fabs(gpu.magnitude - cpu.magnitude) <= limit &&
              fabs(gpu.square - cpu.square) <= 1e-12 * cpu.square;
  for (int c = 0; c < 3; c++) good = good && fabs(gpu.vector[c] - cpu.vector[c]) <= limit;
  if (!good) printf("  group %u: the sums of its momenta DIFFER\n", g->index);
  failures += !good;
}

static void check_motion(const struct bench *b, struct group *g, struct difference *kick,
                         struct difference *drift) {
  const struct nbody *s = b->s;
  const struct particle_block p = particles_block(&s->domain.particles, g->index);
  const size_t n = 3 * (size_t)g->count;
  float *momentum = allocate(n, sizeof *momentum, "momenta"),
        *back = allocate(n, sizeof *back, "momenta");
  struct kick_largest largest[2] = {{0}};
  uint32_t *x = allocate(n, sizeof *x, "positions"),
           *x_back = allocate(n, sizeof *x_back, "positions");
  memcpy(momentum, p.p[0], n * sizeof *momentum);
  memcpy(x, p.x[0], n * sizeof *x);
  float *momentum_out = to_device(momentum, n * sizeof *momentum);
  check_momentum_sum(b, g, momentum_out);
  uint32_t *x_out = to_device(x, n * sizeof *x);
  const float half = 1e-3f;
  largest[0] = s->kernels->kick(g->count, half, p.acc[0], momentum);
  const float factor = 0x1p26f /
                       largest[0].momentum; /* at most a 64th of the box: farther than half
                                                         of it is not defined */
  gpu_kick(b->gpu, g->count, half, b->acceleration + 3 * first_of(b, g->index), momentum_out,
           &largest[1]);
  to_host(b, back, momentum_out, n * sizeof *back);
  compare(kick, momentum, back, n);
  compare(kick, &largest[0].acceleration, &largest[1].acceleration, 1);
  compare(kick, &largest[0].momentum, &largest[1].momentum, 1);
  s->kernels->drift(g->count, factor, back, x);
  gpu_drift(b->gpu, g->count, factor, momentum_out, x_out);
  to_host(b, x_back, x_out, n * sizeof *x_back);
  for (size_t i = 0; i < n; i++) {
    const float moved = (float)(int32_t)(x[i] - p.x[0][i]),
                moved_gpu = (float)(int32_t)(x_back[i] - p.x[0][i]);
    compare(drift, &moved, &moved_gpu, 1);
  }
  free(momentum);
  free(back);
  free(x);
  free(x_back);
  CUDA(cudaFree(momentum_out));
  CUDA(cudaFree(x_out));
}

/** A group's particles in some order, and how compact the leaves of its tree are. */
struct order {
  uint32_t *x;
  float *momentum, *acceleration;
  uint64_t *id;
  double extent; /* sum of the half widths of the leaves */
};

static bool coprime(size_t a, size_t b) {
  while (b > 0) {
    const size_t rest = a % b;
    a = b;
    b = rest;
  }
  return a == 1;
}

/** An order far from that of any tree, the same for each copy. */
static struct order order_copy(const struct nbody *s, const struct group *g) {
  const struct particle_block p = particles_block(&s->domain.particles, g->index);
  const size_t n = g->count;
  struct order o = {allocate(3 * n, sizeof *o.x, "positions"),
                    allocate(3 * n, sizeof *o.momentum, "momenta"),
                    allocate(3 * n, sizeof *o.acceleration, "accelerations"),
                    allocate(n, sizeof *o.id, "ids"), 0.0};
  size_t stride = n - n / 3;
  while (!coprime(stride, n)) stride++;
  size_t from = 0;
  for (size_t i = 0; i < n; i++, from = (from + stride) % n) {
    for (int c = 0; c < 3; c++) {
      o.x[(size_t)c * n + i] = p.x[c][from];
      o.momentum[(size_t)c * n + i] = p.p[c][from];
      o.acceleration[(size_t)c * n + i] = p.acc[c][from];
    }
    o.id[i] = p.id[from];
  }
  return o;
}

static void order_free(struct order *o) {
  free(o->x);
  free(o->momentum);
  free(o->acceleration);
  free(o->id);
}

static void measure_order(const struct nbody *s, const struct group *g, struct order *o) {
  struct node *nodes = allocate(tree_nodes(s->domain.depth), sizeof *nodes, "nodes");
  s->short_range.kernels->walk.refit(g->count, s->domain.depth, NULL, s->domain.geometry.scale,
                                     1.0f / s->short_range.factor, o->x, o->acceleration, nodes);
  for (uint32_t i = 1u << s->domain.depth; i < tree_nodes(s->domain.depth); i++)
    for (int c = 0; c < 3; c++) o->extent += (double)nodes[i].half[c];
  free(nodes);
}

/** A particle of an order. */
struct member {
  uint64_t id;
  size_t place;
};

static int compare_members(const void *a, const void *b) {
  const struct member *x = a, *y = b;
  return (x->id > y->id) - (x->id < y->id);
}

static struct member *members(const struct order *o, size_t n) {
  struct member *m = allocate(n, sizeof *m, "members");
  for (size_t i = 0; i < n; i++) m[i] = (struct member){o->id[i], i};
  qsort(m, n, sizeof *m, compare_members);
  return m;
}

/** Do both orders contain the same particles? */
static bool same_particles(const struct order *a, const struct order *b, size_t n) {
  struct member *in_a = members(a, n), *in_b = members(b, n);
  bool same = true;
  for (size_t i = 0; i < n; i++) {
    const size_t k = in_a[i].place, l = in_b[i].place;
    same = same && in_a[i].id == in_b[i].id;
    for (int c = 0; c < 3; c++)
      same = same && a->x[(size_t)c * n + k] == b->x[(size_t)c * n + l] &&
             a->momentum[(size_t)c * n + k] == b->momentum[(size_t)c * n + l] &&
             a->acceleration[(size_t)c * n + k] == b->acceleration[(size_t)c * n + l];
  }
  free(in_a);
  free(in_b);
  return same;
}

/* The GPU's cuts may miss the median by 2^-16 of a side, in small nodes 2^-14. Its leaves must be as
 * compact as the CPU's, except for a little more than that on each level. */
static void check_sort(const struct bench *b, const struct group *g, double extent[3]) {
  const struct nbody *s = b->s;
  const size_t n = g->count;
  struct order before = order_copy(s, g), cpu = order_copy(s, g), gpu = order_copy(s, g);
  void *const column[PARTICLE_COLUMN_COUNT] = {[COLUMN_position] = cpu.x,
                                               [COLUMN_momentum] = cpu.momentum,
                                               [COLUMN_acceleration] = cpu.acceleration,
                                               [COLUMN_id] = cpu.id};
  group_sort(g->count, s->domain.depth, g->nodes[1].centre, column);
  void *x = to_device(gpu.x, 3 * n * sizeof *gpu.x),
       *momentum = to_device(gpu.momentum, 3 * n * sizeof *gpu.momentum),
       *acceleration = to_device(gpu.acceleration, 3 * n * sizeof *gpu.acceleration),
       *id = to_device(gpu.id, n * sizeof *gpu.id);
  void *const device_column[PARTICLE_COLUMN_COUNT] = {[COLUMN_position] = x,
                                                      [COLUMN_momentum] = momentum,
                                                      [COLUMN_acceleration] = acceleration,
                                                      [COLUMN_id] = id};
  gpu_sort(b->gpu, g->count, s->domain.depth, nodes_on_device(b, g->index), device_column);
  to_host(b, gpu.x, x, 3 * n * sizeof *gpu.x);
  to_host(b, gpu.momentum, momentum, 3 * n * sizeof *gpu.momentum);
  to_host(b, gpu.acceleration, acceleration, 3 * n * sizeof *gpu.acceleration);
  to_host(b, gpu.id, id, n * sizeof *gpu.id);
  if (!same_particles(&cpu, &before, n) || !same_particles(&gpu, &before, n)) {
    printf("  sort: particles of group %" PRIu32 " are LOST\n", g->index);
    failures++;
  }
  struct order *orders[] = {&before, &cpu, &gpu};
  for (int i = 0; i < 3; i++) {
    measure_order(s, g, orders[i]);
    extent[i] += orders[i]->extent;
    order_free(orders[i]);
  }
  void *memory[] = {x, momentum, acceleration, id};
  for (size_t i = 0; i < sizeof memory / sizeof *memory; i++) CUDA(cudaFree(memory[i]));
}

/** One of three places for a particle. */
static uint32_t place_of(uint64_t id) {
  return (uint32_t)id * UINT32_C(2654435761) >> 3 & 3 ? 1 + id % 2 : 0;
}

/** Particles at three places on a line across the box's edge, sorted on cores or on the GPU. */
static struct order sorted_places(const struct bench *b, uint32_t n, unsigned depth, bool on_gpu) {
  const struct node root[2] = {[1] = {.centre = {2, 1000, 7}}};
  struct order o = {.x = allocate(3 * (size_t)n, sizeof *o.x, "positions"),
                    .id = allocate(n, sizeof *o.id, "ids")};
  for (uint32_t i = 0; i < n; i++) {
    o.id[i] = i;
    o.x[i] = o.x[2 * (size_t)n + i] = 5;
    o.x[n + i] = 900 * place_of(i) - 100;
  }
  void *column[PARTICLE_COLUMN_COUNT] = {[COLUMN_position] = o.x, [COLUMN_id] = o.id};
  if (!on_gpu) {
    group_sort(n, depth, root[1].centre, column);
    return o;
  }
  void *nodes = to_device(root, sizeof root), *x = to_device(o.x, 3 * (size_t)n * sizeof *o.x),
       *id = to_device(o.id, n * sizeof *o.id);
  column[COLUMN_position] = x;
  column[COLUMN_id] = id;
  gpu_sort(b->gpu, n, depth, nodes, column);
  to_host(b, o.x, x, 3 * (size_t)n * sizeof *o.x);
  to_host(b, o.id, id, n * sizeof *o.id);
  void *memory[] = {nodes, x, id};
  for (size_t i = 0; i < sizeof memory / sizeof *memory; i++) CUDA(cudaFree(memory[i]));
  return o;
}

/* Cuts go through particles at the same place, which keep their order. There may be more leaves than
 * particles. Each node of the last level must have as many particles of each place as on cores. */
static void check_sort_of_places(const struct bench *b) {
  enum { LAST = 16 /* most particles of a node of the last level */ };
  static const uint32_t count[] = {1, 3, 40, 5000, 100000}, depth[] = {0, 12, 8, 4, 9};
  bool good = true;
  for (size_t k = 0; k < sizeof count / sizeof *count; k++) {
    const uint32_t n = count[k];
    unsigned levels = depth[k];
    while (((n - 1) >> levels) + 1 > LAST) levels++;
    struct order cpu = sorted_places(b, n, depth[k], false),
                 gpu = sorted_places(b, n, depth[k], true);
    uint64_t next[3] = {0}; /* least number of the next particle */
    for (uint32_t j = 0; j < 1u << levels; j++) {
      uint32_t more[3] = {0};
      for (uint32_t i = level_first(n, levels, j); i < level_first(n, levels, j + 1); i++) {
        const uint32_t place = place_of(gpu.id[i]);
        more[place]++;
        more[place_of(cpu.id[i])]--;
        good = good && gpu.id[i] >= next[place] && gpu.id[i] < n &&
               gpu.x[n + i] == 900 * place - 100;
        next[place] = gpu.id[i] + 1;
      }
      good = good && more[0] == 0 && more[1] == 0 && more[2] == 0;
    }
    order_free(&cpu);
    order_free(&gpu);
  }
  printf("  sort       of particles at three places  %s\n", good ? "ok" : "WRONG");
  failures += !good;
}

static void report_sort(const double extent[3]) {
  const bool good = fabs(extent[2] / extent[1] - 1.0) < 1e-3;
  printf("  sort       leaves shrink to %.3f (CPU %.3f) of their width  %s\n",
         extent[2] / extent[0], extent[1] / extent[0], good ? "ok" : "TOO LARGE");
  failures += !good;
}

/* Block time steps: packed targets, and the kick by rungs. */

static float acceleration2(const struct particle_block *p, size_t i) {
  float sum = 0.0f;
  for (int c = 0; c < 3; c++) sum += p->acc[c][i] * p->acc[c][i];
  return sum;
}

static int compare_floats(const void *a, const void *b) {
  const float x = *(const float *)a, y = *(const float *)b;
  return (x > y) - (x < y);
}

/** Which particles of a group are active. */
enum active_choice {
  STRONGEST, /* those with the largest accelerations */
  TOGETHER,  /* one after the other: many leaves are empty, others hold active particles only */
  APART      /* everywhere */
};

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

/** Give the active particles rungs from top on, and the others rungs before top. */
static uint8_t *rungs_for(const struct nbody *s, const struct group *g, enum active_choice choice,
                          uint32_t active, uint8_t top) {
  bool *chosen = choose_in_group(s, g, choice, active);
  uint8_t *rung = allocate(g->count, sizeof *rung, "rungs");
  for (uint32_t i = 0; i < g->count; i++)
    rung[i] = (uint8_t)(chosen[i] ? top + i % (RUNGS - top) : i % top);
  free(chosen);
  return rung;
}

/** Packed targets, and what was packed with them. */
struct packed_set {
  struct target_set t;
  uint32_t *index, *index_out;
  float *acceleration, *acceleration_out;
};

static struct packed_set packed_create(const struct nbody *s, uint32_t active) {
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

static void packed_free(struct packed_set *p) {
  void *host[] = {p->t.first, p->t.x, p->t.nodes, p->index, p->acceleration},
       *device[] = {p->t.first_out, p->t.x_out, p->t.nodes_out, p->index_out, p->acceleration_out};
  for (size_t i = 0; i < sizeof host / sizeof *host; i++) free(host[i]);
  for (size_t i = 0; i < sizeof device / sizeof *device; i++) CUDA(cudaFree(device[i]));
}

static bool same_bytes(const struct bench *b, const void *cpu, const void *gpu, size_t bytes) {
  void *back = allocate(bytes, 1, "targets");
  to_host(b, back, gpu, bytes);
  const bool same = memcmp(cpu, back, bytes) == 0;
  free(back);
  return same;
}

static void gpu_pack_group(const struct bench *b, struct gpu *gpu, const struct group *g,
                           const uint8_t *rung_out, uint8_t top, const struct packed_set *p) {
  const struct nbody *s = b->s;
  gpu_pack(gpu, g->count, rung_out, top, position_on_device(b, g->index),
           b->acceleration + 3 * first_of(b, g->index), p->t.count, p->t.depth, p->index_out,
           p->t.first_out, p->t.x_out, p->acceleration_out);
  gpu_refit(gpu, p->t.count, p->t.depth, p->t.first_out, s->domain.geometry.scale,
            1.0f / s->short_range.factor, p->t.x_out, p->acceleration_out, p->t.nodes_out, 0, NULL);
}

/** Differences in stages of block time steps. */
struct block_difference {
  uint64_t packed, pack_wrong; /* targets; sets of them that the GPU packs differently */
  uint64_t leaves, empty;      /* leaves of the targets' trees; those without targets */
  uint32_t largest;            /* most targets of a leaf */
  uint64_t kicked, rung_wrong; /* particles; those that get another rung */
  uint64_t counts_wrong;       /* kicks whose counts are not those of the rungs */
  struct list_difference walk;
  struct difference refit, m2l, l2l, l2p, p2p, p2p_double, p2p_float, kick;
};

/** Pack on both, and continue with the CPU's tree on both. */
static void check_pack(const struct bench *b, const struct group *g, const uint8_t *rung,
                       uint8_t top, struct packed_set *p, struct block_difference *d) {
  const struct nbody *s = b->s;
  const struct particle_block all = particles_block(&s->domain.particles, g->index);
  const struct walk_kernels *walk = &s->short_range.kernels->walk;
  const size_t n = p->t.count;
  const uint32_t nodes = tree_nodes(p->t.depth), leaves = nodes / 2;
  const uint32_t found = walk->pack(g->count, rung, top, all.x[0], all.acc[0], p->t.count,
                                    p->t.depth, p->index, p->t.first, p->t.x, p->acceleration);
  walk->refit(p->t.count, p->t.depth, p->t.first, s->domain.geometry.scale,
              1.0f / s->short_range.factor, p->t.x, p->acceleration, p->t.nodes);
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

/** Columns of a group for a kick by rungs, in host or device memory. */
struct kick_columns {
  float *momentum, *acceleration, *mesh;
  uint8_t *rung;
};

/** @param p  NULL: all particles are active, and their own accelerations are given */
static struct rung_arrays kick_arrays(const struct group *g, const struct kick_columns *c,
                                      const struct packed_set *p, bool device) {
  return (struct rung_arrays){.count = g->count,
                              .active = p ? p->t.count : g->count,
                              .index = !p       ? NULL
                                       : device ? p->index_out
                                                : p->index,
                              .given = !p       ? NULL
                                       : device ? p->acceleration_out
                                                : p->acceleration,
                              .mesh = c->mesh,
                              .acceleration = c->acceleration,
                              .momentum = c->momentum,
                              .rung = c->rung};
}

/** Compare the particles after both kicks. Where the rung differs, so does the momentum. */
static void compare_kicks(const struct bench *b, const struct group *g,
                          const struct kick_columns *cpu, const struct kick_columns *out,
                          uint32_t active, uint8_t top, const uint32_t *counts,
                          struct block_difference *d) {
  const size_t n = g->count;
  uint32_t counted[RUNGS] = {0};
  float *momentum = allocate(3 * n, sizeof *momentum, "momenta"),
        *acceleration = allocate(3 * n, sizeof *acceleration, "accelerations");
  uint8_t *rung = allocate(n, 1, "rungs");
  to_host(b, momentum, out->momentum, 3 * n * sizeof *momentum);
  to_host(b, acceleration, out->acceleration, 3 * n * sizeof *acceleration);
  to_host(b, rung, out->rung, n);
  for (size_t i = 0; i < n; i++) {
    if (rung[i] < RUNGS) counted[rung[i]]++;
    d->rung_wrong += rung[i] != cpu->rung[i];
    for (size_t c = 0; c < 3 && rung[i] == cpu->rung[i]; c++) {
      compare(&d->kick, &cpu->momentum[c * n + i], &momentum[c * n + i], 1);
      compare(&d->kick, &cpu->acceleration[c * n + i], &acceleration[c * n + i], 1);
    }
  }
  d->kicked += active;
  bool same = true; /* only active particles have rungs from top on */
  for (int k = 0; k < RUNGS; k++) same &= counts[k] == (k < top ? UINT32_MAX : counted[k]);
  d->counts_wrong += !same;
  free(momentum);
  free(acceleration);
  free(rung);
}

/** @param total, choice  of struct rung_kick */
static void check_kick_rungs(const struct bench *b, const struct group *g, const uint8_t *rung,
                             uint8_t top, const struct packed_set *p, bool total,
                             enum rung_choice choice, struct block_difference *d) {
  const struct nbody *s = b->s;
  const struct particle_block all = particles_block(&s->domain.particles, g->index);
  const size_t n = g->count, bytes = 3 * n * sizeof(float);
  struct kick_columns cpu = {
      allocate(3 * n, sizeof(float), "momenta"), allocate(3 * n, sizeof(float), "accelerations"),
      allocate(3 * n, sizeof(float), "accelerations"), allocate(n, 1, "rungs")};
  struct rung_kick k = {.mesh = 2e-4f,
                        .top = top,
                        .deepest = (uint8_t)(top + 8 < RUNG_MOST ? top + 8 : RUNG_MOST),
                        .choice = choice,
                        .shift = 1,
                        .total = total};
  double mean2 = 0.0;
  for (size_t i = 0; i < n; i++) mean2 += (double)acceleration2(&all, i) / (double)n;
  for (int i = 0; i < RUNGS; i++) {
    k.close[i] = ldexpf(1e-3f, -i);
    k.open[i] = ldexpf(1.1e-3f, -i);
    k.limit[i] = (float)ldexp(mean2, 2 * (i - top) - 4);
  }
  memcpy(cpu.momentum, all.p[0], bytes);
  memcpy(cpu.acceleration, all.acc[0], bytes);
  memcpy(cpu.rung, rung, n);
  for (size_t i = 0; i < 3 * n; i++) cpu.mesh[i] = 0.1f * all.acc[0][3 * n - 1 - i];
  const struct kick_columns out = {to_device(cpu.momentum, bytes),
                                   to_device(cpu.acceleration, bytes), to_device(cpu.mesh, bytes),
                                   to_device(cpu.rung, n)};
  const struct rung_arrays host = kick_arrays(g, &cpu, p, false),
                           device = kick_arrays(g, &out, p, true);
  struct kick_largest largest[2];
  uint32_t rungs[2][RUNGS];
  memset(rungs[1], 0xff, sizeof rungs[1]);
  largest[0] = s->kernels->kick_rungs(&k, &host, rungs[0]);
  gpu_kick_rungs(b->gpu, &k, &device, rungs[1], &largest[1]);
  CUDA(cudaStreamSynchronize(b->stream));
  compare_kicks(b, g, &cpu, &out, host.active, top, rungs[1], d);
  compare(&d->kick, &largest[0].acceleration, &largest[1].acceleration, 1);
  compare(&d->kick, &largest[0].momentum, &largest[1].momentum, 1);
  void *host_memory[] = {cpu.momentum, cpu.acceleration, cpu.mesh, cpu.rung},
       *device_memory[] = {out.momentum, out.acceleration, out.mesh, out.rung};
  for (size_t i = 0; i < sizeof host_memory / sizeof *host_memory; i++) {
    free(host_memory[i]);
    CUDA(cudaFree(device_memory[i]));
  }
}

/** Groups that are compared with the CPU's exact kernel, which is slow. */
static uint32_t exact_groups(const struct nbody *s) { return nbody_has_mesh(s) ? 8 : 2; }

/** One group with so many active particles. */
static void check_active(const struct bench *b, struct group *g, enum active_choice choice,
                         uint32_t active, uint8_t top, struct walk_scratch *scratch,
                         struct block_difference *d) {
  const struct nbody *s = b->s;
  struct lists *lists = &s->short_range.groups[g->index].lists;
  uint8_t *rung = rungs_for(s, g, choice, active, top);
  struct packed_set p = packed_create(s, active);
  struct p2p_law law = s->short_range.law;
  law.kind = P2P_POLYNOMIAL;
  check_pack(b, g, rung, top, &p, d);
  check_reach(b, g, &p.t, scratch, &d->walk);
  walk_group(b, g, &p.t, scratch);
  check_walk(b, g, &p.t, &d->walk);
  check_expansions(b, g, &p.t, &d->m2l, &d->l2l, &d->l2p);
  check_p2p(b, g, &p.t, &law, false, &d->p2p);
  law.kind = P2P_EXACT;
  if (g->index < exact_groups(s)) {
    check_p2p(b, g, &p.t, &law, true, &d->p2p_double);
    add_float_error(b, g, &p.t, law, &d->p2p_float);
  }
  check_kick_rungs(b, g, rung, top, &p, false, RUNG_DEEPENS, d);
  if (active == g->count) { /* at the ends of a base step */
    check_kick_rungs(b, g, rung, top, NULL, true, RUNG_BY_ACCELERATION, d);
    check_kick_rungs(b, g, rung, top, NULL, true, RUNG_SHIFTS, d);
    check_kick_rungs(b, g, rung, top, NULL, false, RUNG_FOLLOWS, d);
    check_kick_rungs(b, g, rung, top, NULL, false, RUNG_STAYS, d);
  }
  interaction_list_free(&lists->host[LIST_NEAR]);
  interaction_list_free(&lists->host[LIST_FAR]);
  packed_free(&p);
  free(rung);
}

/* A particle whose acceleration is at the limit of a rung within rounding may get another rung. */
static void report_block(const struct block_difference *d) {
  const bool packed = d->pack_wrong == 0,
             kicked = d->counts_wrong == 0 && (double)d->rung_wrong <= 1e-5 * (double)d->kicked;
  printf("  %-10s %" PRIu64 " targets, %" PRIu64 " of %" PRIu64
         " leaves empty, the largest has %" PRIu32 "  %s\n",
         "pack", d->packed, d->empty, d->leaves, d->largest, packed ? "ok" : "WRONG");
  report(&d->refit, 1e-6);
  report_walk("  walk", &d->walk);
  report(&d->m2l, EXPANSION_LIMIT);
  report(&d->l2l, 1e-6);
  report(&d->l2p, 1e-6);
  /* Leaves of few targets are wide, where floats lose close pairs: the cores' own loss, found in the
   * first groups, is the limit then. */
  report(&d->p2p, fmax(5e-6, rms_of(&d->p2p_float)));
  report(&d->p2p_double, 1e-6);
  report_tides();
  printf("  %-10s %" PRIu64 " of %" PRIu64 " rungs differ, %" PRIu64 " wrong counts  %s\n",
         "kick_rungs", d->rung_wrong, d->kicked, d->counts_wrong, kicked ? "ok" : "WRONG");
  report(&d->kick, 1e-6);
  failures += !packed + !kicked;
}

static void check_block(const struct bench *b) {
  const struct domain *domain = &b->s->domain;
  struct walk_scratch scratch = {0};
  struct block_difference d = {.refit = {.stage = "  refit"},
                               .m2l = {.stage = "  m2l"},
                               .l2l = {.stage = "  l2l"},
                               .l2p = {.stage = "  l2p"},
                               .p2p = {.stage = "  p2p"},
                               .p2p_double = {.stage = "  exact f64"},
                               .kick = {.stage = "  kick"}};
  for (uint32_t i = 0; i < domain->group_count; i++) {
    struct group *g = &domain->groups[i];
    check_active(b, g, STRONGEST, g->count, 0, &scratch, &d);
    check_active(b, g, STRONGEST, g->count / 2 + 1, 1, &scratch, &d);
    check_active(b, g, STRONGEST, g->count / 20 + 1, 7, &scratch, &d);
    check_active(b, g, STRONGEST, 1, RUNG_MOST, &scratch, &d);
    check_active(b, g, TOGETHER, g->count / 3 + 1, 2, &scratch, &d);
    check_active(b, g, TOGETHER, g->count / 20 + 1, 3, &scratch, &d);
    check_active(b, g, TOGETHER, 1 + i % 40, 4, &scratch, &d);
    check_active(b, g, APART, g->count / 5 + 1, 2, &scratch, &d);
    check_active(b, g, APART, 1 + i % 40, 3, &scratch, &d);
  }
  walk_scratch_free(&scratch);
  report_block(&d);
}

static void check_tree(const struct bench *b) {
  struct nbody *s = b->s;
  struct walk_scratch scratch = {0};
  struct difference refit = {"refit", 0, 0, 0}, p2m = {"p2m", 0, 0, 0}, m2m = {"m2m", 0, 0, 0},
                    m2l = {"m2l", 0, 0, 0}, l2l = {"l2l", 0, 0, 0}, l2p = {"l2p", 0, 0, 0},
                    kick = {"kick", 0, 0, 0}, drift = {"drift", 0, 0, 0},
                    potential = {"potential", 0, 0, 0}, node_mass = {"masses", 0, 0, 0};
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
    check_potential_expansions(b, g, &all, &expansions);
    check_motion(b, g, &kick, &drift);
    interaction_list_free(&s->short_range.groups[g->index].lists.host[LIST_NEAR]);
    interaction_list_free(&s->short_range.groups[g->index].lists.host[LIST_FAR]);
  }
  walk_scratch_free(&scratch);
  report_sort(extent);
  check_sort_of_places(b);
  report(&refit, 1e-6);
  if (b->mass) report(&node_mass, 0.0);
  report(&p2m, 1e-6);
  report(&m2m, EXPANSION_LIMIT);
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
  report_potential_expansions(&expansions);
  report(&kick, 1e-6);
  report(&drift, 1e-6);
}

/* Mesh stages: the CPU's results are the input of the next stage on both. */

struct mesh_arrays {
  float **slab, **slab_out;           /* host, device: [set][field][slab] */
  float complex **block, **block_out; /* [set][field][slab][column] */
  float **patch, **patch_out;         /* [set][group] */
};

static void check_density(const struct bench *b, struct mesh_arrays *a, struct difference *assign,
                          struct difference *add, struct difference *transform) {
  const struct nbody *s = b->s;
  const struct mesh *m = s->long_range.mesh;
  const struct patch *patches[s->domain.group_count];
  void *fft = allocate(mesh_scratch_bytes(m), 1, "FFT scratch");
  for (uint32_t set = 0; set < s->long_range.sets; set++) {
    for (uint32_t g = 0; g < s->domain.group_count; g++) {
      const struct patch *q = &s->long_range.groups[g].patch;
      const size_t cells = (size_t)q->size[0] * q->size[1] * q->size[2];
      float *cpu = allocate(cells, sizeof *cpu, "patch"),
            *gpu = allocate(cells, sizeof *gpu, "patch"), *out = device_memory(cells * sizeof *out);
      s->long_range.kernels->deposit(
          m, s->domain.groups[g].count, particles_block(&s->domain.particles, g).x[0],
          particles_block(&s->domain.particles, g).relative_mass, set == 1, q, cpu);
      gpu_deposit(b->mesh, s->domain.groups[g].count, position_on_device(b, g),
                  masses_on_device(b, g), set == 1, q, out);
      to_host(b, gpu, out, cells * sizeof *gpu);
      compare(assign, cpu, gpu, cells);
      CUDA(cudaMemcpy(out, cpu, cells * sizeof *out, cudaMemcpyHostToDevice));
      patches[g] = q;
      a->patch[g] = cpu;
      a->patch_out[g] = out;
      free(gpu);
    }
    for (uint32_t slab = 0; slab < m->slabs; slab++) {
      const size_t k = slab_row(&s->long_range, set, 0, slab),
                   planes = slab_first(m, slab + 1) - slab_first(m, slab),
                   floats = planes * plane_floats(m);
      memset(a->slab[k], 0, floats * sizeof(float));
      for (uint32_t g = 0; g < s->domain.group_count; g++)
        s->long_range.kernels->patch_add(m, slab, patches[g], a->patch[g], a->slab[k]);
      gpu_patch_add(b->mesh, slab, s->domain.group_count, patches,
                    (const float *const *)a->patch_out, a->slab_out[k]);
      float *gpu = allocate(floats, sizeof *gpu, "slab");
      to_host(b, gpu, a->slab_out[k], floats * sizeof *gpu);
      for (size_t row = 0; row < planes * m->cells; row++) {
        const size_t at = row / m->cells * plane_floats(m) + row % m->cells * m->row;
        compare(add, a->slab[k] + at, gpu + at, m->cells);
      }
      free(gpu);
      CUDA(cudaMemcpy(a->slab_out[k], a->slab[k], floats * sizeof(float), cudaMemcpyHostToDevice));
      const size_t row = block_row(&s->long_range, set, 0, slab, 0);
      mesh_fft_yz(m, slab, a->slab[k], a->block + row, fft);
      gpu_fft_yz(b->mesh, slab, a->slab_out[k], a->block_out + row);
      for (uint32_t c = 0; c < m->columns; c++) {
        const size_t size = block_size(m, slab, c);
        float complex *back = allocate(size, sizeof *back, "block");
        to_host(b, back, a->block_out[row + c], size * sizeof *back);
        compare(transform, (float *)a->block[row + c], (float *)back, 2 * size);
        CUDA(cudaMemcpy(a->block_out[row + c], a->block[row + c], size * sizeof *back,
                        cudaMemcpyHostToDevice));
        free(back);
      }
    }
    for (uint32_t g = 0; g < s->domain.group_count; g++) {
      free(a->patch[g]);
      CUDA(cudaFree(a->patch_out[g]));
    }
  }
  free(fft);
}

static void check_fields(const struct bench *b, struct mesh_arrays *a, struct difference *green,
                         struct difference *potential, struct difference *inverse) {
  const struct nbody *s = b->s;
  const struct mesh *m = s->long_range.mesh;
  void *fft = allocate(mesh_scratch_bytes(m), 1, "FFT scratch");
  const size_t rows = s->long_range.sets * m->spectra * m->slabs,
               slabs = s->long_range.sets * m->fields * m->slabs;
  for (uint32_t c = 0; c < m->columns; c++) {
    float complex *out[rows], *out_gpu[rows]; /* NOLINT(clang-analyzer-core.VLASize): there are
                                                 rows */
    const float complex *in[s->long_range.sets * m->slabs], *in_gpu[s->long_range.sets * m->slabs];
    for (uint32_t i = 0; i < rows; i++) {
      out[i] = a->block[i * m->columns + c];
      out_gpu[i] = a->block_out[i * m->columns + c];
    }
    for (uint32_t set = 0; set < s->long_range.sets; set++)
      for (uint32_t slab = 0; slab < m->slabs; slab++) {
        in[set * m->slabs + slab] = a->block[block_row(&s->long_range, set, 0, slab, c)];
        in_gpu[set * m->slabs + slab] = a->block_out[block_row(&s->long_range, set, 0, slab, c)];
      }
    const uint32_t width = column_first(m, c + 1) - column_first(m, c);
    double *energy = allocate(width, 2 * sizeof *energy, "sums of potentials"), *energy_gpu;
    CUDA(cudaMalloc((void **)&energy_gpu, width * sizeof *energy));
    mesh_fft_x(m, c, in, out, energy, fft);
    gpu_fft_x(b->mesh, c, in_gpu, out_gpu, energy_gpu);
    to_host(b, energy + width, energy_gpu, width * sizeof *energy);
    for (uint32_t i = 0; i < width; i++) compare_one(potential, energy[i], energy[width + i]);
    CUDA(cudaFree(energy_gpu));
    free(energy);
    for (uint32_t i = 0; i < rows; i++) {
      const size_t size = block_size(m, i % m->slabs, c);
      float complex *back = allocate(size, sizeof *back, "block");
      to_host(b, back, out_gpu[i], size * sizeof *back);
      compare(green, (float *)out[i], (float *)back, 2 * size);
      CUDA(cudaMemcpy(out_gpu[i], out[i], size * sizeof *back, cudaMemcpyHostToDevice));
      free(back);
    }
  }
  for (uint32_t i = 0; i < slabs; i++) {
    const uint32_t slab = i % m->slabs, field = i / m->slabs % m->fields,
                   set = i / m->slabs / m->fields;
    const size_t block = block_row(&s->long_range, set, spectrum_of_field(field), slab, 0);
    const size_t planes = slab_first(m, slab + 1) - slab_first(m, slab),
                 floats = planes * plane_floats(m);
    mesh_ifft_yz(m, slab, field, (const float complex *const *)a->block + block, a->slab[i], fft);
    gpu_ifft_yz(b->mesh, slab, field, (const float complex *const *)a->block_out + block,
                a->slab_out[i]);
    float *gpu = allocate(floats, sizeof *gpu, "slab");
    to_host(b, gpu, a->slab_out[i], floats * sizeof *gpu);
    for (size_t row = 0; row < planes * m->cells; row++) {
      const size_t at = row / m->cells * plane_floats(m) + row % m->cells * m->row;
      compare(inverse, a->slab[i] + at, gpu + at, m->cells + 4);
    }
    CUDA(cudaMemcpy(a->slab_out[i], a->slab[i], floats * sizeof(float), cudaMemcpyHostToDevice));
    free(gpu);
  }
  free(fft);
}

static void check_read(const struct bench *b, const struct mesh_arrays *a,
                       struct difference *read) {
  const struct nbody *s = b->s;
  const struct mesh *m = s->long_range.mesh;
  const float **planes = allocate((size_t)m->fields * m->cells, sizeof *planes, "planes");
  const float **device_planes = allocate((size_t)m->fields * m->cells, sizeof *planes, "planes");
  const struct field_view view = whole_planes(m->row, planes),
                          device_view = whole_planes(m->row, device_planes);
  for (uint32_t set = 0; set < s->long_range.sets; set++) {
    for (uint32_t field = 0; field < m->fields; field++)
      for (uint32_t slab = 0; slab < m->slabs; slab++)
        for (uint32_t x = slab_first(m, slab); x < slab_first(m, slab + 1); x++) {
          const size_t plane = (size_t)field * m->cells + x,
                       k = slab_row(&s->long_range, set, field, slab);
          planes[plane] = a->slab[k] + (x - slab_first(m, slab)) * plane_floats(m);
          device_planes[plane] = a->slab_out[k] + (x - slab_first(m, slab)) * plane_floats(m);
        }
    for (uint32_t g = 0; g < s->domain.group_count; g++) {
      const size_t n = 3 * (size_t)s->domain.groups[g].count;
      float *cpu = allocate(n, sizeof *cpu, "accelerations"),
            *gpu = allocate(n, sizeof *gpu, "accelerations"),
            *out = to_device(cpu, n * sizeof *cpu);
      s->long_range.kernels->read(m, s->domain.groups[g].count,
                                  particles_block(&s->domain.particles, g).x[0], set == 1,
                                  s->long_range.factor, &view, cpu);
      gpu_read(b->mesh, s->domain.groups[g].count, position_on_device(b, g), set == 1,
               s->long_range.factor, &device_view, g % 2 == 0, out);
      to_host(b, gpu, out, n * sizeof *gpu);
      compare(read, cpu, gpu, n);
      free(cpu);
      free(gpu);
      CUDA(cudaFree(out));
    }
  }
  free(planes);
  free(device_planes);
}

static void check_mesh(const struct bench *b) {
  const struct nbody *s = b->s;
  const struct mesh *m = s->long_range.mesh;
  const size_t slabs = (size_t)s->long_range.sets * m->fields * m->slabs,
               blocks = slabs * m->columns;
  struct mesh_arrays a = {
      .slab = allocate(slabs, sizeof *a.slab, "slabs"),
      .slab_out = allocate(slabs, sizeof *a.slab_out, "slabs"),
      .block = allocate(blocks, sizeof *a.block, "blocks"),
      .block_out = allocate(blocks, sizeof *a.block_out, "blocks"),
      .patch = allocate(s->domain.group_count, sizeof *a.patch, "patches"),
      .patch_out = allocate(s->domain.group_count, sizeof *a.patch_out, "patches")};
  for (size_t i = 0; i < slabs; i++) {
    const uint32_t slab = (uint32_t)(i % m->slabs);
    const size_t floats = (slab_first(m, slab + 1) - slab_first(m, slab)) * plane_floats(m);
    a.slab[i] = allocate(floats, sizeof(float), "slab");
    a.slab_out[i] = device_memory(floats * sizeof(float));
    for (uint32_t c = 0; c < m->columns; c++) {
      a.block[i * m->columns + c] = allocate(block_size(m, slab, c), sizeof(float complex),
                                             "block");
      a.block_out[i * m->columns + c] = device_memory(block_size(m, slab, c) *
                                                      sizeof(float complex));
    }
  }
  struct difference assign = {"pm_assign", 0, 0, 0}, add = {"patch_add", 0, 0, 0},
                    transform = {"fft_yz", 0, 0, 0}, green = {"fft_x", 0, 0, 0},
                    potential = {"fft_x potential", 0, 0, 0}, inverse = {"ifft_yz", 0, 0, 0},
                    read = {"pm_read", 0, 0, 0};
  check_density(b, &a, &assign, &add, &transform);
  check_fields(b, &a, &green, &potential, &inverse);
  check_read(b, &a, &read);
  /* Weights are rounded to a fixed part of a particle, while the mass of a cell falls with the cell. */
  report(&assign, 1e-6 * fmax(1.0, sqrt(pow(m->cells, 3.0) / (double)s->domain.particles.count)));
  report(&add, 1e-6);
  report(&transform, 1e-6);
  report(&green, 1e-6);
  report(&potential, 1e-6);
  report(&inverse, 1e-6);
  report(&read, 1e-6);
  for (size_t i = 0; i < slabs; i++) {
    free(a.slab[i]);
    CUDA(cudaFree(a.slab_out[i]));
  }
  for (size_t i = 0; i < blocks; i++) {
    free(a.block[i]);
    CUDA(cudaFree(a.block_out[i]));
  }
  void *tables[] = {a.slab, a.slab_out, a.block, a.block_out, a.patch, a.patch_out};
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) free(tables[i]);
}

/* The rate of P2P with lists on the host, as in a run. The groups take turns on one stream, or on
 * two as for a run's workers. */

enum { STREAMS_MOST = 2 };

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

/* Block time steps: pack (with the tree), walk (both passes) and p2p of the active particles, those
 * with the largest accelerations of the run, as rungs choose them. */

enum { BLOCK_STAGES = 3 };

/** A group with active particles. */
struct active_group {
  const struct group *g;
  struct packed_set p;
  uint32_t *offset; /* on the GPU */
  struct interaction_list near, far;
  struct walk_result *result;
  uint64_t *pairs;
};

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

/** @param fill  the second pass */
static void walk_active(const struct bench *b, struct gpu *gpu, struct active_group *a, bool fill) {
  const struct acceptance *acceptance = &b->s->short_range.acceptance;
  const struct target_set *t = &a->p.t;
  const uint32_t n = a->g->near.count;
  const struct node *tree[n];
  uint32_t count[n];
  const float *node_mass[n];
  const float *const *mass = source_trees(b, a->g, tree, count, node_mass);
  if (fill)
    gpu_walk_fill(gpu, acceptance, t->count, t->depth, t->first_out, t->nodes_out, n, tree, count,
                  mass, a->offset, a->result, a->near.entry, a->far.entry);
  else
    gpu_walk(gpu, acceptance, t->count, t->depth, t->first_out, t->nodes_out, n, tree, count, mass,
             a->offset, &(struct list_room){0}, a->result);
}

/** Memory for the lists that the first pass of the walk has measured. */
static void make_lists(struct active_group *a) {
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

static void p2p_active(const struct bench *b, struct gpu *gpu, struct active_group *a) {
  const struct nbody *s = b->s;
  struct p2p_sources sources = sources_of(b, a->g);
  struct p2p_target target = target_of(s, a->g, &a->p.t, true, &sources);
  target.near = &a->near;
  gpu_p2p(gpu, b->split, &s->short_range.law, &target, a->g->near.count, false,
          a->p.acceleration_out, a->pairs);
  sources_free(&sources);
}

static double since(double begin) {
  CUDA(cudaDeviceSynchronize());
  return 1e-6 * (starpu_timing_now() - begin);
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

/** The trees of all groups must be fitted. */
static void measure_block(const struct bench *b, struct gpu *const *gpu) {
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

static void measure(const struct bench *b) {
  struct nbody *s = b->s;
  struct walk_scratch scratch = {0};
  for (uint32_t i = 0; i < s->domain.group_count; i++) { /* the trees are in the GPU's memory */
    const struct particle_block p = particles_block(&s->domain.particles, i);
    s->short_range.kernels->walk.refit(s->domain.groups[i].count, s->domain.depth, NULL,
                                       s->domain.geometry.scale, 1.0f / s->short_range.factor,
                                       p.x[0], p.acc[0], s->domain.groups[i].nodes);
  }
  for (uint32_t i = 0; i < s->domain.group_count; i++) {
    const struct target_set all = all_of(b, &s->domain.groups[i]);
    walk_group(b, &s->domain.groups[i], &all, &scratch);
  }
  walk_scratch_free(&scratch);
  printf("direct forces of %zu particles in %u groups, depth %u:\n", s->domain.particles.count,
         s->domain.group_count, s->domain.depth);
  puts("                                              one stream                      two streams");
  cudaStream_t second;
  CUDA(cudaStreamCreate(&second));
  struct gpu *gpu[STREAMS_MOST] = {b->gpu, gpu_create(second, NULL)};
  const char *which = getenv("PHOTONS_BENCHMARK");
  const bool all = which && strcmp(which, "all") == 0;
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

/* Isolated systems: seconds of each stage of the forces on all particles. The lists stay on the
 * GPU, as in a run. In a run with GPUs the host's trees are not fitted: the first stage fits those
 * on the GPU. The forces go to memory of their own, so that each refit reads the same
 * accelerations and each walk finds lists of the lengths for which there is room. */

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
    sources[i] = b->multipole + a->g->near.group[i] * multipoles;
  switch (stage) {
  case REFIT:
    gpu_refit(b->gpu, t->count, t->depth, NULL, s->domain.geometry.scale,
              1.0f / s->short_range.factor, t->x_out,
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

static void measure_isolated(const struct bench *b) {
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

/* Set-up: the system, made once with CPU workers only and once with GPUs. */

struct setting {
  const char *text; /* of a config.ini */
  const char *const *overrides;
  size_t count;
  bool mixed; /* particles have masses and types that differ */
};

struct universe {
  struct parameters p;
  struct cosmology c;
  struct particles particles;
};

/** Every fourth particle is of another type and five times as heavy. */
static void mix(struct particles *s) {
  particles_add_column(s, COLUMN_relative_mass);
  particles_add_column(s, COLUMN_type);
  for (size_t i = 0; i < s->count; i++) {
    const bool heavy = s->id[i] % 4 == 0;
    s->relative_mass[i] = heavy ? 2.5f : 0.5f;
    s->type[i] = heavy ? PARTICLE_HALO + 1 : PARTICLE_HALO;
  }
}

static struct universe make_universe(const struct setting *setting) {
  struct universe u;
  parameters_from_text(&u.p, setting->text, setting->overrides, setting->count);
  if (u.p.ic.source == IC_GADGET) u.particles = ic_read_gadget(&u.p);
  u.c = cosmology_from(&u.p);
  if (u.p.ic.source == IC_GALAXY) u.particles = ic_isolated(&u.p);
  if (u.p.ic.source == IC_GENERATE) {
    struct linear_power *power = linear_power_create(&u.p);
    u.particles = ic_generate(&u.p, &u.c, power);
    linear_power_free(power);
  }
  if (setting->mixed) mix(&u.particles);
  if (u.p.gravity.softening < 0.0)
    u.p.gravity.softening = 1e3 * u.p.box.size / cbrt((double)u.particles.count) / 30.0;
  return u;
}

static void start_starpu(const struct parameters *p, bool gpu) {
  struct parameters settings = *p;
  if (!gpu) settings.runtime.gpu = GPU_NO;
  engine_start(&settings, NULL);
}

/** What a system's forces are, and for isolated systems its energies, and the forces after a base
 * step of block time steps. */
struct outcome {
  size_t count;
  float *forces, *later; /* by id */
  double kinetic, potential, tolerance;
};

static void outcome_free(struct outcome *o) {
  free(o->forces);
  free(o->later);
}

static float *forces_now(struct nbody *s) {
  domain_acquire(&s->domain);
  float *a = accelerations_by_id(&s->domain.particles);
  domain_release(&s->domain);
  return a;
}

static void check_stages(struct nbody *s) {
  domain_acquire(&s->domain);
  struct bench b = bench_create(s);
  puts("rms difference of CUDA from CPU, relative:");
  check_tree(&b);
  check_block(&b);
  if (b.mesh) check_mesh(&b);
  bench_free(&b);
  domain_release(&s->domain);
}

static void take_base_step(struct nbody *s, const struct universe *u) {
  const double begin = cosmology_clock_at(0.0), end = cosmology_clock_at(u->p.time.max_step);
  struct base_step step = block_open(s, &u->p, &u->c, begin, end);
  while (block_advance(s, &step)) {}
  step_rebuild(s);
  block_close(s, &step, NULL, NULL);
}

static struct outcome outcome_with(const struct setting *setting, bool gpu, bool stages) {
  struct universe u = make_universe(setting);
  struct outcome o = {.count = u.particles.count, .tolerance = u.p.gravity.mac_tolerance};
  /* Groups would be larger with GPUs, hence the errors of expansions others. */
  if (u.p.runtime.group_size == 0) u.p.runtime.group_size = 8192;
  start_starpu(&u.p, gpu);
  if (gpu && starpu_cuda_worker_get_count() == 0) fail(EXIT_RUN_FAILED, "StarPU uses no GPU");
  struct nbody *s = nbody_create(&u.p, u.particles);
  step_first_forces(s);
  o.forces = forces_now(s);
  if (stages) check_stages(s);
  if (!nbody_has_mesh(s)) {
    o.kinetic = statistics_measure(s, 1.0).kinetic;
    o.potential = potential_energy(s, 1.0);
    take_base_step(s, &u);
    o.later = forces_now(s);
  }
  nbody_free(s);
  engine_stop();
  return o;
}

static void report_forces(const char *name, const float *cpu, const float *gpu, size_t count,
                          double limit) {
  struct difference d = {name, 0, 0, 0};
  compare(&d, cpu, gpu, 3 * count);
  report(&d, limit);
}

/** The relative differences that half of the particles and 99 of 100 do not exceed. */
static void report_most_forces(const char *name, const float *cpu, const float *gpu, size_t count,
                               double median, double most) {
  double *reference = allocate(3 * count, sizeof *reference, "accelerations");
  for (size_t i = 0; i < 3 * count; i++) reference[i] = (double)cpu[i];
  const struct force_error e = force_compare(gpu, reference, count);
  const bool good = e.median <= median && e.p99 <= most;
  printf("  %-10s %9.2e median, %9.2e 99 %%  %s\n", name, e.median, e.p99,
         good ? "ok" : "TOO LARGE");
  failures += !good;
  free(reference);
}

/** An isolated system. GPUs sort particles by fewer bits, so that trees may differ, and with them
 * which pairs of nodes use expansions: forces differ by the errors of these, of which 99 % are below
 * five times the tolerance. In a base step a particle at the limit between two rungs may get another
 * one, which changes its path by the error of a step. */
static void check_isolated_outcome(const struct outcome *cpu, const struct outcome *gpu,
                                   double tolerance) {
  const double most = 5.0 * tolerance;
  if (tolerance <= 1e-5) report_forces("forces", cpu->forces, gpu->forces, cpu->count, 1e-5);
  report_most_forces("forces", cpu->forces, gpu->forces, cpu->count, 2e-5, most);
  const double kinetic = gpu->kinetic / cpu->kinetic - 1.0,
               potential = gpu->potential / cpu->potential - 1.0;
  const bool good = fabs(kinetic) < 1e-6 && fabs(potential) < 1e-6;
  printf("  energies differ by %.1e (kinetic) and %.1e (potential)  %s\n", kinetic, potential,
         good ? "ok" : "TOO LARGE");
  failures += !good;
  report_most_forces("later", cpu->later, gpu->later, cpu->count, most, most);
}

/** Compare all stages, and whole forces. */
static void check_system(const struct setting *setting) {
  struct outcome cpu = outcome_with(setting, false, true), gpu = outcome_with(setting, true, false),
                 again = outcome_with(setting, true, false);
  if (cpu.later)
    check_isolated_outcome(&cpu, &gpu, cpu.tolerance);
  else
    report_forces("forces", cpu.forces, gpu.forces, cpu.count, 1e-5);
  const bool same = memcmp(gpu.forces, again.forces, 3 * gpu.count * sizeof *gpu.forces) == 0 &&
                    gpu.kinetic == again.kinetic && gpu.potential == again.potential;
  printf("  forces and energies of two runs with GPUs are %s\n",
         same ? "the same bits" : "DIFFERENT");
  failures += !same;
  outcome_free(&cpu);
  outcome_free(&gpu);
  outcome_free(&again);
}

/** Rates alone, of a large set: all stages run on the GPUs and in their layout. */
static void benchmark(const struct setting *setting) {
  struct universe u = make_universe(setting);
  start_starpu(&u.p, true);
  struct nbody *s = nbody_create(&u.p, u.particles);
  step_first_forces(s);
  const double begin = starpu_timing_now();
  step_first_forces(s);
  const double forces = s->short_range.acceptance.kind == MAC_RELATIVE ? 2.0 : 1.0;
  printf("%zu particles in %" PRIu32
         " groups, depth %u, order %d: a force by tasks takes %.3f ms\n",
         s->domain.particles.count, s->domain.group_count, s->domain.depth,
         s->short_range.acceptance.order, 1e-3 * (starpu_timing_now() - begin) / forces);
  domain_acquire(&s->domain);
  struct bench b = bench_create(s);
  if (nbody_has_mesh(s))
    measure(&b);
  else
    measure_isolated(&b);
  bench_free(&b);
  domain_release(&s->domain);
  nbody_free(s);
  engine_stop();
}

/* Whole forces on the sets with Ewald sums as reference. */

static const char *const set_files[] = {"early.hdf5", "late.hdf5"};
static const char *const presets[] = {"gravity.accuracy=default", "gravity.accuracy=high",
                                      "gravity.accuracy=paper"};
enum { SETS = sizeof set_files / sizeof *set_files, PRESETS = sizeof presets / sizeof *presets };

static void solve_sets(const struct force_set *set, bool gpu, float *acceleration[SETS][PRESETS]) {
  struct parameters p;
  parameters_from_text(&p, "[box]\nsize = 1\nnpart_side = 2\n", NULL, 0);
  start_starpu(&p, gpu);
  for (int i = 0; i < SETS; i++)
    for (int k = 0; k < PRESETS; k++)
      acceleration[i][k] = force_set_solve(&set[i], &presets[k], 1, NULL);
  engine_stop();
}

/** Forces computed by the GPU against Ewald sums and against the CPU's forces. No accuracy is
 * documented for the paper's method. Its bound is what the method gives without a tree (CIC and
 * four-point differences on this mesh, exact sums up to r_cut), plus a tenth. */
static void check_sets(void) {
  static const struct {
    double early, late_median, late_p99;
  } bars[PRESETS] = {{1e-3, 3e-4, 3e-3}, {1e-4, 5e-5, 5e-4}, {5.5e-2, 2.4e-3, 1.5e-2}};
  struct force_set set[SETS];
  for (int i = 0; i < SETS; i++) set[i] = force_set_open(force_set_path(set_files[i]));
  float *cpu[SETS][PRESETS], *gpu[SETS][PRESETS];
  solve_sets(set, false, cpu);
  solve_sets(set, true, gpu);
  puts("whole forces: rms difference from the CPU's; errors against Ewald: rms, median, 99 %:");
  for (int i = 0; i < SETS; i++)
    for (int k = 0; k < PRESETS; k++) {
      struct difference d = {"", 0, 0, 0};
      compare(&d, cpu[i][k], gpu[i][k], 3 * set[i].count);
      const struct force_error e = force_compare(gpu[i][k], set[i].reference, set[i].count);
      const double difference = sqrt(d.difference2 / d.reference2);
      const bool good = difference <= 1e-5 &&
                        (i == 0 ? e.rms <= bars[k].early
                                : e.median <= bars[k].late_median && e.p99 <= bars[k].late_p99);
      printf("  %-20s %-25s %.1e  %.2e %.2e %.2e  %s\n", set_files[i], presets[k], difference,
             e.rms, e.median, e.p99, good ? "ok" : "TOO LARGE");
      failures += !good;
      free(cpu[i][k]);
      free(gpu[i][k]);
    }
  for (int i = 0; i < SETS; i++) force_set_close(&set[i]);
}

/* Isolated systems: a sphere with expansions of several orders, both softenings, and a galaxy. */

#define ISOLATED                                                                                   \
  "[box]\nboundary = isolated\n[ic]\nsource = galaxy\n[time]\nend = 10\nstep = block\nmax_step = " \
  "2\n"
#define PLUMMER(particles)                                          \
  ISOLATED "[galaxy]\nmodel = plummer\nparticles = " particles "\n" \
           "[gravity]\nsoftening = 0.1\n"
#define SPHERE PLUMMER("32768")
#define GALAXY                                                                 \
  ISOLATED "[galaxy]\nmodel = m31\nparticles = 32768\n[gravity]\nsoftening = " \
           "0.015625\nsoftening_kernel = plummer\n"

static void check_isolated(void) {
  static const char *const cases[] = {
      SPHERE "order = 2\nsoftening_kernel = plummer\n",
      SPHERE "order = 4\nsoftening_kernel = plummer\n",
      SPHERE "order = 4\nsoftening_kernel = spline\n",
      SPHERE "order = 6\nsoftening_kernel = plummer\nmac_tolerance = 1e-5\n", GALAXY};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    printf("isolated system:\n%s", strstr(cases[i], "[galaxy]"));
    check_system(&(struct setting){.text = cases[i]});
  }
}

#define UNIVERSE "[box]\nsize = 50\nnpart_side = 40\n[ic]\nz_init = 1\n"

/** Particles of different masses, with and without softening lengths of their own.
 * @param only  the number of a system, from 1 on; 0: all. The cores' reference takes minutes for each */
static void check_mixed(size_t only) {
  static const char *const cases[] = {
      PLUMMER("8192") "softening_kernel = plummer\nmac_tolerance = 1e-5\n",
      PLUMMER("8192") "softening_kernel = plummer\nsoftening_type_2 = 0.3\n",
      PLUMMER("8192") "softening_kernel = spline\nsoftening_type_2 = 0.3\n",
      UNIVERSE "[gravity]\nsoftening = 40\nsoftening_kernel = plummer\n",
      UNIVERSE "[gravity]\nsoftening = 40\nsoftening_type_2 = 90\n"};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    if (only > 0 && i + 1 != only) continue;
    printf("particles of different masses:\n%s", strstr(cases[i], "[gravity]"));
    check_system(&(struct setting){.text = cases[i], .mixed = true});
  }
}

static void count_tasks(void *buffers[], void *count) {
  (void)buffers;
  (*(unsigned *)count)++;
}

/** With several GPUs the scheduler chooses by where a task's data are. A direct sum of particles with
 * masses and types has three arrays of each neighbour, and there may be more than 40 neighbours. */
static void check_buffers(void) {
  enum { BUFFERS = 200 };
  static struct starpu_codelet codelet = {.cuda_funcs = {count_tasks},
                                          .nbuffers = STARPU_VARIABLE_NBUFFERS};
  struct parameters p;
  float numbers[BUFFERS] = {0.0f};
  unsigned tasks = 0;
  struct starpu_data_descr data[BUFFERS];
  parameters_from_text(&p, "[box]\nsize = 1\nnpart_side = 2\n", NULL, 0);
  if (ON_CORES) setenv("CORES_GPUS", "2", 1);
  start_starpu(&p, true);
  for (int i = 0; i < BUFFERS; i++) {
    data[i].mode = i == 0 ? STARPU_RW : STARPU_R;
    starpu_variable_data_register(&data[i].handle, STARPU_MAIN_RAM, (uintptr_t)&numbers[i],
                                  sizeof numbers[i]);
  }
  const int status = starpu_task_insert(&codelet, STARPU_DATA_MODE_ARRAY, data, BUFFERS,
                                        STARPU_CL_ARGS_NFREE, &tasks, sizeof tasks, STARPU_PRIORITY,
                                        engine_priority(PRIORITY_LOW, false), 0);
  starpu_task_wait_for_all();
  for (int i = 0; i < BUFFERS; i++) starpu_data_unregister(data[i].handle);
  engine_stop();
  if (ON_CORES) unsetenv("CORES_GPUS");
  const bool good = status == 0 && tasks == 1;
  printf("a task with %d buffers  %s\n", BUFFERS, good ? "ok" : "WRONG");
  failures += !good;
}

/** The GPU on which a task runs. */
static void note_device(void *buffers[], void *device) {
  (void)buffers;
  *(int *)device = starpu_worker_get_devid((int)worker_number());
}

/** With several GPUs tasks run on the GPU that owns what they write, even if all that they read is on
 * another one. A task whose data have no owner runs, too. */
static void check_owners(void) {
  enum { PARTS = 8, TURNS = 50 };
  static struct starpu_codelet codelet = {.cuda_funcs = {note_device},
                                          .nbuffers = STARPU_VARIABLE_NBUFFERS};
  struct parameters p;
  starpu_data_handle_t part[PARTS], loose;
  int device[TURNS][PARTS + 1], numbers[STARPU_NMAXWORKERS], wrong = 0;
  parameters_from_text(
      &p, "[box]\nsize = 1\nnpart_side = 2\n[runtime]\nscheduler = owner-computes\n", NULL, 0);
  if (ON_CORES) setenv("CORES_GPUS", "2", 1);
  start_starpu(&p, true);
  const int gpus = (int)scheduler_gpus(numbers);
  loose = handle_make(1, 1);
  for (int i = 0; i < PARTS; i++) owner_set(part[i] = handle_make(1000, 4), (uint32_t)i, PARTS);
  for (int turn = 0; turn < TURNS; turn++)
    for (int i = 0; i <= PARTS; i++) {
      int *to = &device[turn][i];
      *to = -1;
      struct starpu_data_descr data[2] = {{i < PARTS ? part[i] : loose, STARPU_W},
                                          {part[(i + PARTS / 2) % PARTS], STARPU_R}};
      starpu_task_insert(&codelet, STARPU_DATA_MODE_ARRAY, data, turn > 0 ? 2 : 1,
                         STARPU_CL_ARGS_NFREE, to, sizeof *to, STARPU_PRIORITY,
                         engine_priority(PRIORITY_LOW, false), 0);
    }
  starpu_task_wait_for_all();
  for (int turn = 0; turn < TURNS; turn++)
    for (int i = 0; i <= PARTS; i++)
      wrong += i < PARTS ? device[turn][i] != numbers[i * gpus / PARTS] : device[turn][i] < 0;
  for (int i = 0; i < PARTS; i++) starpu_data_unregister_no_coherency(part[i]);
  starpu_data_unregister_no_coherency(loose);
  engine_stop();
  if (ON_CORES) unsetenv("CORES_GPUS");
  printf("owners of data: %d GPUs, %d of %d tasks on another one  %s\n", gpus, wrong,
         TURNS * (PARTS + 1), wrong == 0 ? "ok" : "WRONG");
  failures += wrong > 0;
}

int main(int argc, char **argv) {
  static char *few[] = {"cuda_check_on_cores", "universe", "box.npart_side=12",
                        "runtime.leaf_size=16"};
  const bool brief = ON_CORES && argc == 1;
  if (ON_CORES) { /* two streams of the GPU take a thread each, more than there may be cores */
    setenv("STARPU_NCPU", "1", 1);
    setenv("STARPU_SILENT", "1", 0);
  }
  if (brief) {
    argc = 4;
    argv = few;
  }
  int gpus;
  if (cudaGetDeviceCount(&gpus) != cudaSuccess || gpus == 0) {
    puts("no GPU");
    return 77;
  }
  if (argc > 1 && strcmp(argv[1], "gas") == 0) {
    if (argc > 2 && strcmp(argv[2], "two-gpus") == 0) return check_gas_on_two_gpus() > 0;
    if (!getenv("PHOTONS_BENCHMARK")) return check_gas() > 0;
    if (argc > 2 && strcmp(argv[2], "regrid") == 0)
      benchmark_regrid();
    else
      benchmark_gas();
    return 0;
  }
  if (argc > 1 && strcmp(argv[1], "gas-gravity") == 0) {
    if (!getenv("PHOTONS_BENCHMARK")) return check_gas_gravity() > 0;
    benchmark_gas_gravity();
    return 0;
  }
  if (argc > 1 && strcmp(argv[1], "gas-cosmology") == 0) return check_gas_cosmology() > 0;
  const char *file = argc > 1 && !strchr(argv[1], '=') ? argv[1] : NULL;
  if (file && strcmp(file, "mixed") == 0) {
    check_mixed(argc > 2 ? strtoul(argv[2], NULL, 10) : 0);
    return failures > 0;
  }
  if (file && strcmp(file, "buffers") == 0) {
    check_buffers();
    check_owners();
    return failures > 0;
  }
  char text[5000] = UNIVERSE;
  const struct setting setting = {.text = text,
                                  .overrides = (const char *const *)argv + (file ? 2 : 1),
                                  .count = (size_t)(argc - (file ? 2 : 1))};
  if (file && strcmp(file, "isolated") == 0)
    snprintf(text, sizeof text, "%s", GALAXY);
  else if (file && strcmp(file, "universe") != 0)
    snprintf(text, sizeof text, "[ic]\nsource = gadget\nfile = %s\n", file);
  if (getenv("PHOTONS_BENCHMARK")) {
    benchmark(&setting);
    return 0;
  }
  if (!file || strcmp(file, "universe") == 0) failures += check_pictures();
  check_system(&setting);
  if (!file) {
    check_sets();
    check_isolated();
    check_mixed(0);
  }
  if (!file || brief) {
    check_buffers();
    check_owners();
  }
  if (!file) {
    failures += check_gas();
    failures += check_gas_gravity();
    failures += check_gas_cosmology();
  }
  return failures > 0;
}
