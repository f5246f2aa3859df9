/* SPDX-License-Identifier: GPL-3.0-or-later */
/* patch_add: one CUDA block for some rows of a plane, of this part of the slab. The block finds the patches that overlap its
 * rows and adds them in the order of the patches, each cell on its own. */
#include "cuda/mesh/gpu_mesh.cuh"

enum { BLOCK = 256, ROWS = 8, PATCHES = 96 /* of one launch: the patches are kernel arguments */ };

struct patches {
  uint32_t n;
  struct {
    const float *data;
    struct patch patch;
  } at[PATCHES];
};

/** Cells from the origin of a patch to a cell, around the box. */
static __device__ inline uint32_t steps_to(uint32_t cell, uint32_t origin, uint32_t cells) {
  return cell >= origin ? cell - origin : cell + cells - origin;
}

static __global__ void __launch_bounds__(BLOCK)
    add(const __grid_constant__ struct patches p, uint32_t cells, uint32_t row, uint32_t part_y,
        uint32_t ys, uint32_t first_plane, size_t plane_step, bool clear,
        float *__restrict__ slab) {
  __shared__ struct {
    const float *plane;
    uint32_t origin[2], size[2]; /* along y and z */
  } hit[PATCHES];
  __shared__ uint32_t hits;
  const uint32_t x = first_plane + blockIdx.y, first_y = part_y + blockIdx.x * ROWS;
  if (threadIdx.x < WARP) {
    uint32_t n = 0;
    for (uint32_t start = 0; start < p.n; start += WARP) {
      const uint32_t i = start + threadIdx.x;
      bool meets = false;
      uint32_t dx = 0;
      if (i < p.n) {
        const struct patch &q = p.at[i].patch;
        dx = (x + cells - q.origin[0]) % cells;
        const uint32_t up_to = (q.origin[1] + cells - first_y) % cells,
                       dy = (first_y + cells - q.origin[1]) % cells;
        meets = dx < q.size[0] && (dy < q.size[1] || up_to < ROWS);
      }
      const uint32_t meeting = __ballot_sync(~0u, meets);
      if (meets) {
        const struct patch &q = p.at[i].patch;
        const uint32_t place = n + __popc(meeting & ((1u << threadIdx.x) - 1));
        hit[place].plane = p.at[i].data + (size_t)dx * q.size[1] * q.size[2];
        for (int c = 0; c < 2; c++) {
          hit[place].origin[c] = q.origin[c + 1];
          hit[place].size[c] = q.size[c + 1];
        }
      }
      n += __popc(meeting);
    }
    if (threadIdx.x == 0) hits = n;
  }
  __syncthreads();
  if (hits == 0 && !clear) return;
  for (uint32_t y = first_y; y < first_y + ROWS && y < part_y + ys; y++) {
    float *to = slab + blockIdx.y * plane_step + (size_t)(y - part_y) * row;
#pragma unroll 4
    for (uint32_t z = threadIdx.x; z < row; z += BLOCK) {
      float sum = clear ? 0.0f : to[z];
      for (uint32_t i = 0; i < hits && z < cells; i++) {
        const uint32_t dy = steps_to(y, hit[i].origin[0], cells),
                       dz = steps_to(z, hit[i].origin[1], cells);
        if (dy < hit[i].size[0] && dz < hit[i].size[1])
          sum += hit[i].plane[(size_t)dy * hit[i].size[1] + dz];
      }
      to[z] = sum;
    }
  }
}

void gpu_patch_add(struct gpu_mesh *g, uint32_t slab_number, uint32_t n,
                   const struct patch *const *patch, const float *const *data, float *slab) {
  const struct mesh *m = g->mesh;
  const uint32_t first = slab_first(m, slab_number),
                 planes = slab_first(m, slab_number + 1) - first;
  struct patches p;
  uint32_t done = 0;
  do {
    for (p.n = 0; p.n < PATCHES && done + p.n < n; p.n++) {
      p.at[p.n].data = data[done + p.n];
      p.at[p.n].patch = *patch[done + p.n];
    }
    add<<<dim3(blocks_for(m->ys, ROWS), planes), BLOCK, 0, g->gpu->stream>>>(
        p, m->cells, m->row, m->first_y, m->ys, first, plane_floats(m), done == 0, slab);
    gpu_launched("patch_add");
    done += p.n;
  } while (done < n);
}
