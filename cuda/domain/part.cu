/* SPDX-License-Identifier: GPL-3.0-or-later */
/* part_move: parts of groups that become new groups. */
#include "cuda/domain/gpu_domain.h"
#include "cuda/runtime/gpu.cuh"

enum { BLOCK = 256, COPY_BLOCKS = 32 };

template <typename T>
static __global__ void __launch_bounds__(BLOCK)
    copy_segments(const struct segment *segment, uint32_t components, uint32_t count, T *to) {
  const struct segment s = segment[blockIdx.y];
  const T *from = (const T *)s.from;
  for (uint32_t c = 0; c < components; c++)
    for (uint32_t i = blockIdx.x * BLOCK + threadIdx.x; i < s.count; i += COPY_BLOCKS * BLOCK)
      to[(size_t)c * count + s.to_first + i] = from[(size_t)c * s.from_count + s.first + i];
}

void gpu_move(struct gpu *g, const struct segment *segment, uint32_t segments, uint32_t count,
              const struct particle_column *column, void *to) {
  struct segment *s = (struct segment *)gpu_scratch(g, SCRATCH_TABLE, segments * sizeof *s);
  gpu_upload(g, s, segment, segments * sizeof *s);
  const dim3 blocks(COPY_BLOCKS, segments);
  if (column->size == 8)
    copy_segments<<<blocks, BLOCK, 0, g->stream>>>(s, column->components, count, (uint64_t *)to);
  else if (column->size == 4)
    copy_segments<<<blocks, BLOCK, 0, g->stream>>>(s, column->components, count, (uint32_t *)to);
  else
    copy_segments<<<blocks, BLOCK, 0, g->stream>>>(s, column->components, count, (uint8_t *)to);
  gpu_launched("part_move");
}
