/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A system of particles, and its copy on the GPU. */
#ifndef PHOTONS_TESTS_GPU_BENCH_H
#define PHOTONS_TESTS_GPU_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cuda/mesh/gpu_mesh.h"
#include "cuda/tree/gpu_tree.h"
#include "photons/step/nbody.h"
#include "tests/gpu/compare.h"

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

/** Targets of a group (targets.h), on the host and on the GPU. */
struct target_set {
  uint32_t count;
  unsigned depth;
  uint32_t *first, *first_out; /* table of the leaves, or NULL */
  uint32_t *x, *x_out;
  struct node *nodes, *nodes_out;
  uint32_t *index, *index_out; /* of packed targets in their group, or NULL */
};

/** What the GPU wrote, after all work of the stream. */
void to_host(const struct bench *b, void *to, const void *from, size_t bytes);
/** Whether memory of the GPU has the same bytes. */
bool same_bytes(const struct bench *b, const void *cpu, const void *gpu, size_t bytes);
/** The first particle of a group. */
size_t first_of(const struct bench *b, uint32_t g);
/** Positions of a group's particles on the GPU. */
const uint32_t *position_on_device(const struct bench *b, uint32_t g);
/** The nodes of a group on the GPU. */
const struct node *nodes_on_device(const struct bench *b, uint32_t g);
/** Masses of a group's particles on the GPU, or NULL. */
const float *masses_on_device(const struct bench *b, uint32_t g);
/** How many targets a node has. */
uint32_t node_targets(const struct target_set *t, uint32_t node);
/** All particles of a group as targets. */
struct target_set all_of(const struct bench *b, const struct group *g);
/** Copy a system to the GPU. The host must have its particles. */
struct bench bench_create(struct nbody *s);
/** Free what is on the GPU. */
void bench_free(struct bench *b);
/** Groups that are compared with the CPU's exact kernel, which is slow. */
uint32_t exact_groups(const struct nbody *s);

#endif
