/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sort: the order of the particles in a group's tree, level by level. The particles of every node are cut
 * in two at the median along the longest side of their box: histograms of the coordinates find the cut, and
 * then the particles move to its two sides. Once nodes are small, a CUDA block sorts a node for all levels
 * below in CUDA shared memory. Particles on one side keep their order, so that those which were sorted before
 * are read from places close together.
 * Coordinates along the longest side have 16 bits, in small nodes 14, so a cut may miss the median by
 * 2^-16 or 2^-14 of the side. */
#include <cub/device/device_radix_sort.cuh>

#include "cuda/domain/rearrange.cuh"
#include "cuda/domain/sort_large.cuh"
#include "cuda/domain/sort_small.cuh"

static void sort_pairs(struct gpu *g, void *room, size_t *bytes, cub::DoubleBuffer<uint32_t> &key,
                       cub::DoubleBuffer<uint32_t> &order, uint32_t count, unsigned bits) {
  CHECK_CUDA(
      cub::DeviceRadixSort::SortPairs(room, *bytes, key, order, count, 0, (int)bits, g->stream));
}

/** Memory of a sort, one table after the other in `room`. Returns the bytes. */
static size_t tables_of_sort(uint32_t count, unsigned small, void *room, struct level *l,
                             uint32_t *order[2], void **values) {
  const size_t nodes = (size_t)2 << small, parts = nodes + count / CHUNK;
  size_t bytes = 0;
  const auto table = [&](size_t n) {
    char *const at = room ? (char *)room + bytes : NULL;
    bytes += (n + 255) / 256 * 256;
    return (void *)at;
  };
  l->low = (uint32_t *)table(3 * nodes * sizeof *l->low);
  l->high = (uint32_t *)table(3 * nodes * sizeof *l->high);
  l->digits = (uint32_t *)table(nodes * BINS * sizeof *l->digits);
  l->cut = (struct cut *)table(nodes * sizeof *l->cut);
  l->part = (struct part *)table(parts * sizeof *l->part);
  l->key = (uint16_t *)table(count * sizeof *l->key);
  for (int i = 0; i < 2; i++) order[i] = (uint32_t *)table(count * sizeof *order[i]);
  *values = table(count * widest_column());
  return bytes;
}

void gpu_sort(struct gpu *g, uint32_t count, unsigned depth, const struct node *nodes,
              void *const column[PARTICLE_COLUMN_COUNT]) {
  unsigned levels = depth, small = 0;
  while (((count - 1) >> levels) + 1 > (P2P_TARGETS_MOST >> QUARTER_LEVELS)) levels++;
  while (((count - 1) >> small) + 1 > SMALL || small + SMALL_LEVELS < levels) small++;
  struct level l = {};
  uint32_t *order[2];
  void *values,
      *room = gpu_scratch(g, SCRATCH_SORT, tables_of_sort(count, small, NULL, &l, order, &values));
  tables_of_sort(count, small, room, &l, order, &values);
  l.count = count;
  l.x = (const uint32_t *)column[COLUMN_position];
  l.root = nodes + 1;
  const size_t boxes = ((size_t)6 << small) * sizeof *l.low;
  CHECK_CUDA(cudaMemsetAsync(l.low, 0xff, boxes, g->stream));
  CHECK_CUDA(cudaMemsetAsync(l.high, 0, boxes, g->stream));
  CHECK_CUDA(
      cudaMemsetAsync(l.digits, 0, ((size_t)2 << small) * BINS * sizeof *l.digits, g->stream));
  measure<<<node_grid(l), BLOCK, 0, g->stream>>>(l);
  gpu_launched("sort");
  for (; l.level != small; l.level++) {
    const dim3 grid = node_grid(l);
    make_keys<<<grid, BLOCK, 0, g->stream>>>(l);
    count_digits<<<grid, BLOCK, 0, g->stream>>>(l);
    count_parts<<<grid, BLOCK, 0, g->stream>>>(l);
    uint32_t *const divided = order[(l.level + 1) % 2];
    divide<<<grid, BLOCK, 0, g->stream>>>(l, divided);
    gpu_launched("sort");
    l.order = divided;
  }
  uint32_t *const sorted = order[(small + 1) % 2];
  sort_small<<<1u << small, BLOCK, 0, g->stream>>>(l, levels, sorted);
  gpu_launched("sort");
  rearrange_all(g, count, sorted, column, values);
}

static __global__ void __launch_bounds__(BLOCK)
    key_sides(uint32_t count, const uint16_t *side, uint32_t *key, uint32_t *order) {
  const uint32_t place = blockIdx.x * BLOCK + threadIdx.x;
  if (place >= count) return;
  key[place] = side[place];
  order[place] = place;
}

void gpu_order(struct gpu *g, uint32_t count, const uint16_t *side, uint32_t sides,
               void *const column[PARTICLE_COLUMN_COUNT]) {
  const size_t places = ((size_t)count + 63) / 64 * 64;
  unsigned bits = 1;
  while (1u << bits < sides) bits++;
  const size_t wide = (widest_column() + 3) / 4;
  cub::DoubleBuffer<uint32_t> key(NULL, NULL), order(NULL, NULL);
  size_t bytes;
  sort_pairs(g, NULL, &bytes, key, order, count, bits);
  uint32_t *room = (uint32_t *)gpu_scratch(g, SCRATCH_SORT,
                                           (4 + wide) * places * sizeof *room + bytes);
  for (int i = 0; i < 2; i++) {
    key.d_buffers[i] = room + (size_t)i * places;
    order.d_buffers[i] = room + (size_t)(2 + i) * places;
  }
  void *values = room + 4 * places, *temporary = room + (4 + wide) * places;
  key_sides<<<blocks_for(count, BLOCK), BLOCK, 0, g->stream>>>(count, side, key.Current(),
                                                               order.Current());
  gpu_launched("part_order");
  sort_pairs(g, temporary, &bytes, key, order, count, bits); /* keeps the order of equal keys */
  rearrange_all(g, count, order.Current(), column, values);
}
