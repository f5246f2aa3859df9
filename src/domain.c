/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The domain: particles sorted into groups and leaves by orthogonal recursive bisection, and which groups meet. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "photons/error.h"
#include "photons/simulation.h"

/** A particle on its way to its place. */
struct key {
  uint32_t x[3];
  uint32_t index; /* in the old order; breaks ties, so that no two keys are equal */
};

static inline uint64_t key_value(const struct key *k, int axis) { return (uint64_t)k->x[axis] << 32 | k->index; }

/** A pivot close to the rank-th of n keys: the matching order statistic of a regular sample. */
static uint64_t choose_pivot(const struct key *keys, size_t n, size_t rank, int axis) {
  enum { SAMPLE_MOST = 63 };
  uint64_t sample[SAMPLE_MOST];
  const size_t size = n < 512 ? 7 : n < 8192 ? 21 : SAMPLE_MOST;
  for (size_t i = 0; i < size; i++) { /* insertion sort on the way in */
    uint64_t value = key_value(&keys[(2 * i + 1) * n / (2 * size)], axis);
    size_t j = i;
    for (; j > 0 && sample[j - 1] > value; j--) sample[j] = sample[j - 1];
    sample[j] = value;
  }
  return sample[rank * size / n];
}

/** Move keys with value < pivot to the front, without branches on the data; returns their number. */
static size_t partition(struct key *keys, size_t n, uint64_t pivot, int axis) {
  size_t front = 0;
  for (size_t i = 0; i < n; i++) {
    struct key k = keys[i];
    keys[i] = keys[front];
    keys[front] = k;
    front += key_value(&k, axis) < pivot;
  }
  return front;
}

static void insertion_sort(struct key *keys, size_t n, int axis) {
  for (size_t i = 1; i < n; i++) {
    struct key k = keys[i];
    size_t j = i;
    for (; j > 0 && key_value(&keys[j - 1], axis) > key_value(&k, axis); j--) keys[j] = keys[j - 1];
    keys[j] = k;
  }
}

/** Arrange keys so that the first `rank` are the smallest along the axis. */
static void select_rank(struct key *keys, size_t n, size_t rank, int axis) {
  while (n > 24 && rank > 0 && rank < n) {
    uint64_t pivot = choose_pivot(keys, n, rank, axis);
    size_t front = partition(keys, n, pivot, axis);
    if (front == 0) front = partition(keys, n, pivot + 1, axis); /* the pivot is the smallest: part it off alone */
    if (rank <= front) {
      n = front;
    } else {
      keys += front;
      n -= front;
      rank -= front;
    }
  }
  if (rank > 0 && rank < n) insertion_sort(keys, n, axis);
}

static int longest_side(const struct key *keys, size_t n) {
  uint32_t low[3] = {UINT32_MAX, UINT32_MAX, UINT32_MAX}, high[3] = {0, 0, 0};
  for (size_t i = 0; i < n; i++)
    for (int c = 0; c < 3; c++) {
      low[c] = keys[i].x[c] < low[c] ? keys[i].x[c] : low[c];
      high[c] = keys[i].x[c] > high[c] ? keys[i].x[c] : high[c];
    }
  const uint32_t side[3] = {high[0] - low[0], high[1] - low[1], high[2] - low[2]};
  return side[0] >= side[1] && side[0] >= side[2] ? 0 : side[1] >= side[2] ? 1 : 2;
}

static void bisect(struct key *keys, size_t n, size_t rank) { select_rank(keys, n, rank, longest_side(keys, n)); }

struct rebuild {
  struct simulation *simulation;
  struct key *keys;
  size_t old_blocks;
  unsigned level; /* of the splitting above the groups */
  char *permuted; /* room for one array in the new order */
};

static void fill_keys(void *context, uint32_t block) {
  struct rebuild *r = context;
  struct particles old = r->simulation->particles;
  old.blocks = old.all_blocks = r->old_blocks;
  struct particle_block b = particles_block(&old, block);
  for (size_t i = 0; i < b.count; i++)
    r->keys[b.first + i] = (struct key){{b.x[0][i], b.x[1][i], b.x[2][i]}, (uint32_t)(b.first + i)};
}

static void split_level(void *context, uint32_t j) {
  struct rebuild *r = context;
  size_t n = r->simulation->particles.count, parts = (size_t)2 << r->level;
  size_t first = block_first(n, parts, 2 * (size_t)j), middle = block_first(n, parts, 2 * (size_t)j + 1);
  size_t end = block_first(n, parts, 2 * (size_t)j + 2);
  bisect(r->keys + first, end - first, middle - first);
}

static void split_group(void *context, uint32_t g) {
  struct rebuild *r = context;
  struct simulation *s = r->simulation;
  struct particle_block b = particles_block(&s->particles, g);
  struct key *keys = r->keys + b.first;
  const uint32_t count = (uint32_t)b.count;
  unsigned depth = s->depth; /* of the bisection: on below the leaves, for the blocks of p2p */
  while ((count >> depth) + 1 > P2P_BLOCK) depth++;
  for (uint32_t node = 1; node < 1u << depth; node++) {
    uint32_t first = node_first(count, node);
    bisect(keys + first, node_end(count, node) - first, node_end(count, 2 * node) - first);
  }
  for (size_t c = 0; c < 3; c++)
    for (size_t i = 0; i < b.count; i++) b.x[c][i] = keys[i].x[c];
}

/** Block of particle i when n particles stand in `blocks` blocks. */
static size_t block_of(size_t n, size_t blocks, size_t i) {
  size_t b = (size_t)((unsigned __int128)i * blocks / n);
  return block_first(n, blocks, b + 1) <= i ? b + 1 : b;
}

static void permute_components(struct rebuild *r, uint32_t g, const float *old) {
  struct particles *p = &r->simulation->particles;
  struct particle_block b = particles_block(p, g);
  float *out = (float *)(void *)r->permuted + 3 * b.first;
  for (size_t i = 0; i < b.count; i++) {
    size_t from = r->keys[b.first + i].index, block = block_of(p->count, r->old_blocks, from);
    size_t first = block_first(p->count, r->old_blocks, block),
           count = block_first(p->count, r->old_blocks, block + 1) - first;
    for (size_t c = 0; c < 3; c++) out[c * b.count + i] = old[3 * first + c * count + (from - first)];
  }
}

static void permute_momentum(void *context, uint32_t g) {
  struct rebuild *r = context;
  permute_components(r, g, r->simulation->particles.momentum);
}

static void permute_acceleration(void *context, uint32_t g) {
  struct rebuild *r = context;
  permute_components(r, g, r->simulation->particles.acceleration);
}

static void permute_id(void *context, uint32_t g) {
  struct rebuild *r = context;
  struct particles *p = &r->simulation->particles;
  struct particle_block b = particles_block(p, g);
  uint64_t *out = (uint64_t *)(void *)r->permuted + b.first;
  for (size_t i = 0; i < b.count; i++) out[i] = p->id[r->keys[b.first + i].index];
}

/** Permute one array of `size` bytes a particle into the spare room and copy it back: registered memory keeps its place. */
static void permute(struct rebuild *r, void (*function)(void *, uint32_t), void *array, size_t size) {
  struct simulation *s = r->simulation;
  parallel_for(s, STAGE_REBUILD, s->group_count, function, r);
  memcpy(array, r->permuted, s->particles.count * size);
}

void domain_rebuild(struct simulation *s) {
  struct particles *p = &s->particles;
  struct rebuild r = {.simulation = s, .old_blocks = p->blocks};
  r.keys = allocate(p->count, sizeof *r.keys, "keys of the domain decomposition");
  parallel_for(s, STAGE_REBUILD, (uint32_t)r.old_blocks, fill_keys, &r);
  for (r.level = 0; 1u << r.level < s->group_count; r.level++)
    parallel_for(s, STAGE_REBUILD, 1u << r.level, split_level, &r);
  p->blocks = p->all_blocks = s->group_count;
  parallel_for(s, STAGE_REBUILD, s->group_count, split_group, &r);
  r.permuted = allocate(p->count, 3 * sizeof(float), "particles in their new order");
  permute(&r, permute_momentum, p->momentum, 3 * sizeof(float));
  permute(&r, permute_acceleration, p->acceleration, 3 * sizeof(float));
  permute(&r, permute_id, p->id, sizeof(uint64_t));
  free(r.permuted);
  free(r.keys);
}

/** Can particles of the two groups be nearer than r_cut? From the boxes of their trees' roots. */
static bool groups_meet(const struct simulation *s, const struct node *a, const struct node *b) {
  float gap2 = 0.0f;
  for (int c = 0; c < 3; c++) {
    float d = fabsf((float)(int32_t)(a->centre[c] - b->centre[c])) * s->scale;
    float gap = fmaxf(d - (a->half[c] + b->half[c]), 0.0f);
    gap2 += gap * gap;
  }
  return gap2 < 1.0f;
}

static void find_neighbours(struct simulation *s, uint32_t g) {
  struct group *group = &s->groups[g];
  uint32_t n = 1, capacity = 0;
  free(group->neighbour);
  group->neighbour = NULL;
  for (uint32_t other = 0; other <= s->group_count;
       other++) { /* one turn more, so that there is always room for slot 0 */
    if (n >= capacity)
      group->neighbour = reallocate(group->neighbour, capacity = 2 * n + 30, sizeof(uint32_t), "neighbour list");
    if (other < s->group_count && other != g && groups_meet(s, &group->nodes[1], &s->groups[other].nodes[1]))
      group->neighbour[n++] = other;
  }
  group->neighbour[0] = g;
  group->neighbours = n;

  double half[3];
  for (int c = 0; c < 3; c++) half[c] = fmin((double)group->nodes[1].half[c] / (double)s->scale, 2147483648.0);
  group->patch = patch_for_box(s->mesh, group->nodes[1].centre, half);
}

void domain_find_neighbours(struct simulation *s) {
  for (uint32_t g = 0; g < s->group_count; g++) find_neighbours(s, g);
}
