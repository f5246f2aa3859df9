/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sort: the columns of a group in a new order. */
#ifndef PHOTONS_CUDA_DOMAIN_REARRANGE_CUH
#define PHOTONS_CUDA_DOMAIN_REARRANGE_CUH

#include "cuda/domain/sort_level.cuh"

template <typename T>
static __global__ void __launch_bounds__(BLOCK)
    gather(uint32_t count, uint32_t columns, const uint32_t *order, const T *from, T *to) {
  const uint32_t place = blockIdx.x * BLOCK + threadIdx.x;
  if (place >= count) return;
  for (uint32_t c = 0; c < columns; c++)
    to[(size_t)c * count + place] = from[(size_t)c * count + order[place]];
}

template <typename T>
static void rearrange(struct gpu *g, uint32_t count, uint32_t columns, const uint32_t *order,
                      T *values, void *room) {
  gather<T>
      <<<blocks_for(count, BLOCK), BLOCK, 0, g->stream>>>(count, columns, order, values, (T *)room);
  gpu_launched("sort");
  gpu_copy(g, values, room, (size_t)columns * count * sizeof(T));
}

/** Bring all columns in an order. @param room  for the widest column */
static void rearrange_all(struct gpu *g, uint32_t count, const uint32_t *order,
                          void *const column[PARTICLE_COLUMN_COUNT], void *room) {
  for (int k = 0; k < PARTICLE_COLUMN_COUNT; k++) {
    const struct particle_column *c = &particle_columns[k];
    if (!column[k]) continue;
    if (c->size == 8)
      rearrange(g, count, c->components, order, (uint64_t *)column[k], room);
    else if (c->size == 4)
      rearrange(g, count, c->components, order, (uint32_t *)column[k], room);
    else
      rearrange(g, count, c->components, order, (uint8_t *)column[k], room);
  }
}

/** Bytes of the widest column for each particle. */
static size_t widest_column() {
  size_t widest = 0;
  for (int k = 0; k < PARTICLE_COLUMN_COUNT; k++)
    widest = max(widest, particle_column_bytes(&particle_columns[k]));
  return widest;
}

#endif
