/* SPDX-License-Identifier: GPL-3.0-or-later */
/* power_deposit: one CUDA block for each node of a level of the tree, on both meshes one after the other. Deposits
 * go to a tile of cells around the node in CUDA shared memory, and the tile to the mesh. A node that is too wide
 * for a tile is divided; its parts, if they are too wide, too, go to the mesh one particle after the
 * other. All sums are of whole numbers. Compiled without fused operations (Makefile.am), so that the bits are
 * the CPU's. */
#include "cuda/analysis/gpu_analysis.h"
#include "cuda/runtime/gpu.cuh"
#include "photons/domain/tree.h"

enum { BLOCK = 128, NODE_MOST = 256, TILE_CELLS = 3072, WIDTH = 4 };
enum { CELLS = WIDTH * WIDTH * WIDTH, AT_A_TIME = BLOCK / CELLS /* particles */ };
enum { PART_LEVELS = 2, PARTS = 1 << PART_LEVELS };

struct deposit_task {
  struct power_layout layout;
  struct power_folding folding;
  struct power_group group;
  unsigned level;
  int32_t *mesh[2];
  uint32_t *overflow;
};

/** Working memory of a CUDA block. */
struct workspace {
  int32_t tile[TILE_CELLS];
  /* Weights of the planes of a stencil with the mass, and of the cells of a plane. The odd size puts those of one
   * particle into different banks. */
  float weight[WIDTH][BLOCK + 1], plane_weight[WIDTH * WIDTH][BLOCK + 1];
  uint32_t first[3][BLOCK]; /* first cell of a stencil */
  uint32_t low[3], high[3]; /* of the first cells */
};

/** Some particles on one of the meshes. */
struct share {
  int32_t *mesh;
  uint64_t shift;
  uint32_t begin, end;
};

static __device__ inline void stencil(const struct deposit_task &t, uint64_t shift, uint32_t i,
                                      uint32_t first[3], float w[3][WIDTH]) {
  const struct power_group &g = t.group;
  for (int c = 0; c < 3; c++) {
    uint32_t x = g.position[(size_t)c * g.count + i];
    if (c == 2 && g.momentum)
      x = power_line_of_sight(x, t.folding.redshift_space, g.momentum[2 * (size_t)g.count + i]);
    first[c] = (uint32_t)power_spline(x << t.folding.fold, t.layout.n, shift, w[c]);
  }
}

/** A cell that holds 2^31 or more says so, then or when it goes to the mesh. */
static __device__ inline void add(const struct deposit_task &t, int32_t *cell, int32_t amount) {
  const uint32_t sum = (uint32_t)atomicAdd(cell, amount) + (uint32_t)amount;
  if (sum >> 31) *t.overflow = 1;
}

/** A cell of the mesh; x and y may be up to a stencil's width beyond the edge. */
static __device__ inline int32_t *cell_at(const struct deposit_task &t, int32_t *mesh, uint32_t x,
                                          uint32_t y, uint32_t z) {
  const uint32_t n = (uint32_t)t.layout.n;
  return mesh + (size_t)(x < n ? x : x - n) * t.layout.plane +
         (size_t)(y < n ? y : y - n) * t.layout.row + z;
}

/** Find the range of the first cells. */
static __device__ inline void find_range(const struct deposit_task &t, const struct share &s,
                                         struct workspace *work) {
  uint32_t first[3];
  float w[3][WIDTH];
  if (threadIdx.x < 3) {
    work->low[threadIdx.x] = UINT32_MAX;
    work->high[threadIdx.x] = 0;
  }
  __syncthreads();
  for (uint32_t start = s.begin; start < s.end; start += BLOCK) {
    const uint32_t i = start + threadIdx.x;
    if (i < s.end) stencil(t, s.shift, i, first, w);
    for (int c = 0; c < 3; c++) {
      const uint32_t low = warp_min(i < s.end ? first[c] : UINT32_MAX),
                     high = warp_max(i < s.end ? first[c] : 0);
      if (threadIdx.x % WARP == 0) {
        atomicMin(&work->low[c], low);
        atomicMax(&work->high[c], high);
      }
    }
  }
  __syncthreads();
}

/** Prepare the stencil of a particle, for all threads. */
static __device__ inline void prepare(const struct deposit_task &t, const struct share &s,
                                      uint32_t i, struct workspace *work) {
  const uint32_t me = threadIdx.x;
  uint32_t first[3];
  float w[3][WIDTH];
  stencil(t, s.shift, i, first, w);
  const float mass = (t.group.mass ? t.group.mass[i] : 1.0f) * t.folding.per_unit;
  for (int c = 0; c < 3; c++) work->first[c][me] = first[c];
  for (int a = 0; a < WIDTH; a++) {
    work->weight[a][me] = w[0][a] * mass;
    for (int c = 0; c < WIDTH; c++) work->plane_weight[a * WIDTH + c][me] = w[1][a] * w[2][c];
  }
}

/** Deposit particles. Returns false, and adds nothing, if they need a larger tile; with @p anyway they then go
 * to the mesh at once. */
static __device__ inline bool deposit_some(const struct deposit_task &t, const struct share &s,
                                           bool anyway, struct workspace *work) {
  const uint32_t me = threadIdx.x;
  find_range(t, s, work);
  uint32_t low[3], size[3];
  for (int c = 0; c < 3; c++) {
    low[c] = work->low[c];
    size[c] = work->high[c] - low[c] + WIDTH;
  }
  const bool tiled = (uint64_t)size[0] * size[1] * size[2] <= TILE_CELLS;
  if (!tiled && !anyway) return false;
  const uint32_t tile_cells = tiled ? size[0] * size[1] * size[2] : 0;
  for (uint32_t k = me; k < tile_cells; k += BLOCK) work->tile[k] = 0;
  /* a thread adds to the same cell of each stencil */
  const uint32_t turn = me / CELLS, a = me % CELLS / (WIDTH * WIDTH), cell = me % (WIDTH * WIDTH),
                 b = cell / WIDTH, c = cell % WIDTH;
  for (uint32_t start = s.begin; start < s.end; start += BLOCK) {
    __syncthreads();
    if (start + me < s.end) prepare(t, s, start + me, work);
    __syncthreads();
    const uint32_t n = min(s.end - start, (uint32_t)BLOCK);
    for (uint32_t j = turn; j < n; j += AT_A_TIME) {
      const int32_t amount = __float2int_rn(work->weight[a][j] * work->plane_weight[cell][j]);
      const uint32_t x = work->first[0][j] + a, y = work->first[1][j] + b,
                     z = work->first[2][j] + c;
      if (tiled)
        add(t, &work->tile[((x - low[0]) * size[1] + y - low[1]) * size[2] + z - low[2]], amount);
      else
        add(t, cell_at(t, s.mesh, x, y, z), amount);
    }
  }
  __syncthreads();
  for (uint32_t k = me; k < tile_cells; k += BLOCK)
    if (work->tile[k] != 0)
      add(t,
          cell_at(t, s.mesh, low[0] + k / (size[1] * size[2]), low[1] + k / size[2] % size[1],
                  low[2] + k % size[2]),
          work->tile[k]);
  return true;
}

static __global__ void __launch_bounds__(BLOCK)
    deposit(const __grid_constant__ struct deposit_task t) {
  __shared__ struct workspace work;
  const uint32_t count = t.group.count;
  for (int set = 0; set < 2; set++) {
    bool done = false;
    for (int part = -1; part < PARTS && !done; part++) {
      const unsigned level = part < 0 ? t.level : t.level + PART_LEVELS;
      const uint32_t node = part < 0 ? blockIdx.x : blockIdx.x * PARTS + (uint32_t)part;
      const struct share s = {t.mesh[set], set * POWER_SHIFT, level_first(count, level, node),
                              level_first(count, level, node + 1)};
      __syncthreads();
      done = deposit_some(t, s, part >= 0, &work) && part < 0;
    }
  }
}

void gpu_power_deposit(struct gpu *gpu, const struct power_layout *layout,
                       const struct power_folding *folding, const struct power_group *group,
                       bool clear, int32_t *plain, int32_t *shifted, uint32_t *overflow) {
  const size_t bytes = layout->n * layout->plane * sizeof *plain;
  if (clear) {
    gpu_clear(gpu, plain, bytes);
    gpu_clear(gpu, shifted, bytes);
    gpu_clear(gpu, overflow, sizeof *overflow);
  }
  struct deposit_task t = {*layout, *folding, *group, 0, {plain, shifted}, overflow};
  while (((group->count - 1) >> t.level) + 1 > NODE_MOST) t.level++;
  deposit<<<1u << t.level, BLOCK, 0, gpu->stream>>>(t);
  gpu_launched("power_deposit");
}
