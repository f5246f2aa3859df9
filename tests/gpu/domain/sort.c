/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sorts by the places of particles. */
#include "tests/gpu/domain/sort.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cuda/domain/gpu_domain.h"
#include "photons/base/error.h"
#include "photons/domain/group_sort.h"
#include "photons/tree/targets.h"

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
  s->short_range.kernels->walk.refit(g->count, s->domain.depth, NULL, 1, s->domain.geometry.scale,
                                     1.0f / s->short_range.factor, s->short_range.acceptance.newton,
                                     o->x, o->acceleration, nodes);
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

void check_sort(const struct bench *b, const struct group *g, double extent[3]) {
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

void check_sort_of_places(const struct bench *b) {
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

void report_sort(const double extent[3]) {
  const bool good = fabs(extent[2] / extent[1] - 1.0) < 1e-3;
  printf("  sort       leaves shrink to %.3f (CPU %.3f) of their width  %s\n",
         extent[2] / extent[0], extent[1] / extent[0], good ? "ok" : "TOO LARGE");
  failures += !good;
}
