/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Interaction lists. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "photons/base/error.h"
#include "tests/gpu/tree/tree.h"

void walk_group(const struct bench *b, const struct group *g, const struct target_set *t,
                struct walk_scratch *scratch) {
  const struct nbody *s = b->s;
  const struct node *nodes[g->near.count];
  uint32_t count[g->near.count];
  const float *mass[g->near.count];
  for (uint32_t i = 0; i < g->near.count; i++) {
    const uint32_t source = g->near.group[i]->index;
    nodes[i] = s->domain.groups[source].nodes;
    count[i] = s->domain.groups[source].count;
    if (b->mass) mass[i] = b->host_node_mass + (size_t)source * tree_nodes(s->domain.depth);
  }
  s->short_range.kernels->walk.walk(&s->short_range.acceptance, t->count, t->depth, t->first,
                                    t->nodes, g->near.count, nodes, count, b->mass ? mass : NULL,
                                    NULL, scratch,
                                    &s->short_range.groups[g->index].lists.host[LIST_NEAR],
                                    &s->short_range.groups[g->index].lists.host[LIST_FAR]);
}

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
      const struct node *source = &g->near.group[k / leaves]->nodes[leaves + k % leaves];
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

const float *const *source_trees(const struct bench *b, const struct group *g,
                                 const struct node **tree, uint32_t *count, const float **mass) {
  for (uint32_t i = 0; i < g->near.count; i++) {
    const uint32_t source = g->near.group[i]->index;
    tree[i] = nodes_on_device(b, source);
    count[i] = b->s->domain.groups[source].count;
    if (b->mass) mass[i] = b->node_mass + (size_t)source * tree_nodes(b->s->domain.depth);
  }
  return b->mass ? mass : NULL;
}

size_t offsets_of(const struct target_set *t) {
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

/** A walk that has nothing of the sources below a level says what it lacks: a node below which nothing is. Leaves may be
 * judged without the nodes above. */
static void check_lacking(const struct bench *b, const struct target_set *t, uint32_t n,
                          const struct node *const *tree, const uint32_t *count,
                          const float *const *mass, uint32_t *offset, struct walk_result *result) {
  const struct acceptance *a = &b->s->short_range.acceptance;
  for (uint32_t level = 0; level <= 1; level++) {
    const uint64_t below = (UINT64_C(2) << level) - 2; /* the root or nothing */
    struct tree_part part[n];
    for (uint32_t i = 0; i < n; i++) part[i] = tree_part_of(&below, 1);
    gpu_walk(b->gpu, a, t->count, t->depth, t->first_out, t->nodes_out, n, tree, count, mass, part,
             offset, &(struct list_room){0}, result);
    CUDA(cudaStreamSynchronize(b->stream));
    if (result->lacks > 0 && !part_has_below(&part[0], result->lacks)) continue;
    printf("  walk with %u levels of sources lacks node %u: WRONG\n", level, result->lacks);
    failures++;
  }
}

void check_walk(const struct bench *b, const struct group *g, const struct target_set *t,
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
  check_lacking(b, t, n, tree, count, mass, offset, result);
  struct tree_part part[n];
  const unsigned depth = s->domain.depth;
  uint64_t below[part_words(depth)]; /* of all nodes */
  memset(below, 0xff, sizeof below);
  const struct tree_part whole = {.branches = 1};
  for (uint32_t i = 0; i < n; i++) part[i] = i % 2 == 0 ? whole : tree_part_of(below, depth);
  gpu_walk(b->gpu, a, t->count, t->depth, t->first_out, t->nodes_out, n, tree, count, mass, part,
           offset, &(struct list_room){0}, result);
  CUDA(cudaStreamSynchronize(b->stream));
  const size_t near_bytes = result->entries * sizeof(uint32_t),
               far_bytes = result->interactions * sizeof(uint32_t);
  uint32_t *near_entry = device_memory(near_bytes), *far_entry = device_memory(far_bytes);
  gpu_walk_fill(b->gpu, a, t->count, t->depth, t->first_out, t->nodes_out, n, tree, count, mass,
                part, offset, result, near_entry, far_entry);
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
    gpu_walk(b->gpu, a, t->count, t->depth, t->first_out, t->nodes_out, n, tree, count, mass, NULL,
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

void check_reach(const struct bench *b, const struct group *g, const struct target_set *t,
                 struct walk_scratch *scratch, struct list_difference *d) {
  struct short_range *s = &b->s->short_range;
  struct lists *lists = &expansions_of(s, g)->lists;
  if (s->acceptance.newton) return;
  short_range_expansions(s, false);
  walk_group(b, g, t, scratch);
  check_walk(b, g, t, d);
  short_range_expansions(s, true);
  for (int kind = 0; kind < LISTS; kind++) interaction_list_free(&lists->host[kind]);
}

void report_walk(const char *stage, const struct list_difference *d) {
  const double different = (double)d->different / (double)d->entries;
  const bool good = different <= 3e-5 && d->uncovered == 0; /* judged up to rounding */
  printf("  %-10s %9.2e  of %" PRIu64 " entries, %" PRIu64 " pairs of leaves not met once  %s\n",
         stage, different, d->entries, d->uncovered, good ? "ok" : "WRONG");
  failures += !good;
}
