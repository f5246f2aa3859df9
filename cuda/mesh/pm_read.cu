/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pm_read: one thread for each particle, one CUDA block for a node of a group's tree. The fields are first
 * copied to CUDA shared memory, the three of a cell side by side, so that each cell of the mesh is read
 * once for all particles of the node. Where they do not fit, quarters of the node follow each other, and
 * each warp reads one plane of the stencils of all their particles. */
#include "cuda/mesh/stencil.cuh"
#include "photons/domain/tree.h"

/* BLOCKS: CUDA blocks resident on a multiprocessor. TILE_LINE: lanes that copy a row of cells. */
enum {
  BLOCK = 128,
  WARPS = BLOCK / WARP, /* at least as many as a stencil has planes, or fields */
  BLOCKS = 8,
  TILE_CELLS = 1536,
  TILE_PLANES = 32,
  TILE_LINE = 8,
  PART_LEVELS = 2, /* to the nodes that a warp has the particles of */
  PARTS = 1 << PART_LEVELS
};
static_assert(BLOCK >> PART_LEVELS == WARP, "a lane for each particle of a part");

struct reading {
  uint32_t count;
  unsigned level; /* whose nodes have at most BLOCK particles */
  const uint32_t *x;
  uint64_t offset[3];
  float factor;
  const float *const *slabs;  /* [field][slab] whole slabs; if NULL: */
  const float *const *planes; /* [field * N + x] */
  uint32_t row;
  uint32_t begin[3], cells[3]; /* the planes have so many cells along each axis from the first on */
  float *acceleration;
};

/** Plane x of a field. */
static __device__ inline const float *plane_of(const struct device_mesh &d, const struct reading &r,
                                               int field, uint32_t x) {
  if (!r.slabs) return r.planes[(size_t)field * d.m.cells + x];
  const uint32_t slab = d.slab_of_plane[x];
  return r.slabs[field * d.m.slabs + slab] + (x - slab_first(&d.m, slab)) * plane_floats(&d.m);
}

template <int SCHEME>
static __device__ inline void stencil(const struct device_mesh &d, const struct reading &r,
                                      uint32_t i, uint32_t first[3], float w[3][4]) {
  for (int c = 0; c < 3; c++) {
    const uint64_t scaled = (uint64_t)r.x[(size_t)c * r.count + i] * d.m.cells + r.offset[c];
    first[c] = wrap((uint32_t)(scaled >> 32), d.m.cells);
    weights<SCHEME>((uint32_t)scaled, w[c]);
  }
}

/** Add plane a of a particle's stencil, of which fetch(a, b, c) has the fields in cell (a, b, c). */
template <int W, typename Fetch>
static __device__ inline void add_plane(int a, const float w[3][4], Fetch fetch, float sum[3]) {
#pragma unroll
  for (int b = 0; b < W; b++) {
    float inner[3] = {0.0f, 0.0f, 0.0f};
#pragma unroll
    for (int c = 0; c < W; c++) {
      const float4 value = fetch(a, b, c);
      inner[0] = fmaf(w[2][c], value.x, inner[0]);
      inner[1] = fmaf(w[2][c], value.y, inner[1]);
      inner[2] = fmaf(w[2][c], value.z, inner[2]);
    }
    const float weight = w[0][a] * w[1][b];
    for (int k = 0; k < 3; k++) sum[k] = fmaf(weight, inner[k], sum[k]);
  }
}

static __device__ inline void add_field(const struct reading &r, int field, uint32_t i, float sum) {
  r.acceleration[(size_t)field * r.count + i] += r.factor * sum;
}

/** A field at a particle, without a tile. */
template <int W>
static __device__ inline float read_apart(const struct device_mesh &d, const struct reading &r,
                                          int field, const uint32_t first[3], const float w[3][4]) {
  float sum = 0.0f;
#pragma unroll
  for (int a = 0; a < W; a++) {
    const float *plane = plane_of(d, r, field, wrap(first[0] + a, d.m.cells)) + first[2];
#pragma unroll
    for (int b = 0; b < W; b++) {
      const float *row = plane + (size_t)wrap(first[1] + b, d.m.cells) * r.row;
      float inner = 0.0f;
#pragma unroll
      for (int c = 0; c < W; c++) inner = fmaf(w[2][c], row[c], inner);
      sum = fmaf(w[0][a] * w[1][b], inner, sum);
    }
  }
  return sum;
}

/** Cells around the particles of a node. Steps between rows and planes are chosen such that the eight
 * cells of a cube are in different banks of CUDA shared memory. */
struct tile {
  uint32_t first[3], size[3]; /* cells of the mesh */
  uint32_t row, plane;        /* steps, in cells of the tile */
  bool fits;
};

/** Whether the planes have cells along an axis from `first` on: they end where those of a group do. */
static __device__ inline bool has_cells(const struct device_mesh &d, const struct reading &r,
                                        int axis, uint32_t first, uint32_t size) {
  const uint32_t before = wrap(first + d.m.cells - r.begin[axis], d.m.cells);
  return r.cells[axis] >= d.m.cells || before + size <= r.cells[axis];
}

/** @param range  smallest and largest first cell of the stencils, counted from `reference` */
static __device__ inline struct tile tile_for(const struct device_mesh &d, const struct reading &r,
                                              const uint32_t reference[3], const int range[3][2],
                                              uint32_t width) {
  struct tile t;
  t.fits = true;
  for (int c = 0; c < 3; c++) {
    const int first = (int)reference[c] + range[c][0];
    t.first[c] = (uint32_t)(first < 0 ? first + (int)d.m.cells : first);
    t.size[c] = (uint32_t)(range[c][1] - range[c][0]) + width;
    t.fits = t.fits && t.size[c] <= min(d.m.cells, (uint32_t)TILE_CELLS) &&
             has_cells(d, r, c, t.first[c], t.size[c]);
  }
  t.row = t.size[2] + (6 - t.size[2] % 4) % 4;                    /* 2 modulo 4 */
  t.plane = t.row * t.size[1] + (12 - t.row * t.size[1] % 8) % 8; /* 4 modulo 8 */
  t.fits = t.fits && t.size[0] <= TILE_PLANES && (uint64_t)t.plane * t.size[0] <= TILE_CELLS;
  return t;
}

/** Copy the fields in the cells of the tile.
 * @param plane  working memory */
static __device__ inline void fill_tile(const struct device_mesh &d, const struct reading &r,
                                        const struct tile &t, const float *plane[3][TILE_PLANES],
                                        float4 *cell) {
  for (uint32_t k = threadIdx.x; k < 3 * t.size[0]; k += BLOCK)
    plane[k % 3][k / 3] = plane_of(d, r, (int)(k % 3), wrap(t.first[0] + k / 3, d.m.cells));
  __syncthreads();
  const uint32_t lane = threadIdx.x % TILE_LINE;
  for (uint32_t k = threadIdx.x / TILE_LINE; k < t.size[0] * t.size[1]; k += BLOCK / TILE_LINE) {
    const uint32_t x = k / t.size[1], y = k % t.size[1];
    const size_t row = (size_t)wrap(t.first[1] + y, d.m.cells) * r.row;
    for (uint32_t z = lane; z < t.size[2]; z += TILE_LINE) {
      const size_t from = row + wrap(t.first[2] + z, d.m.cells);
      cell[x * t.plane + y * t.row + z] = make_float4(plane[0][x][from], plane[1][x][from],
                                                      plane[2][x][from], 0.0f);
    }
  }
}

/** Cells from `reference` to a stencil's first cell, the shorter way around the box. Both ways lead to the same cell of a
 * tile, which begins at or before the reference and is no larger than the box: where particles are half a box apart, the
 * way decides about the size of the tile. A tile does not fit where it leads through cells that the planes do not have. */
static __device__ inline int cells_between(const struct device_mesh &d, uint32_t reference,
                                           uint32_t first) {
  const int n = (int)first - (int)reference, half = (int)d.m.cells / 2;
  return n >= half ? n - (int)d.m.cells : n < -half ? n + (int)d.m.cells : n;
}

/** Working memory of a CUDA block. */
struct workspace {
  float4 cell[TILE_CELLS];
  const float *plane[3][TILE_PLANES];
  uint32_t reference[3];
  int range[3][2];
  float sum[WARPS][3][WARP]; /* of a plane of the stencil */
};

/** A particle's first cell in the tile. @param n  cells from the reference */
static __device__ inline const float4 *corner_of(const struct workspace &work, const struct tile &t,
                                                 const int n[3], const int range[3][2]) {
  return work.cell + (n[0] - range[0][0]) * t.plane + (n[1] - range[1][0]) * t.row +
         (n[2] - range[2][0]);
}

/** The fields at the particles of a quarter of a node. */
template <int SCHEME, int W>
static __device__ inline void read_part(const struct device_mesh &d, const struct reading &r,
                                        uint32_t begin, uint32_t end, struct workspace *work) {
  const uint32_t lane = threadIdx.x % WARP, warp = threadIdx.x / WARP, i = begin + lane;
  uint32_t first[3], reference[3];
  float w[3][4];
  int n[3], range[3][2];
  stencil<SCHEME>(d, r, min(i, end - 1), first, w);
  for (int c = 0; c < 3; c++) {
    reference[c] = __shfl_sync(~0u, first[c], 0);
    n[c] = cells_between(d, reference[c], first[c]);
    range[c][0] = warp_min(n[c]);
    range[c][1] = warp_max(n[c]);
  }
  const struct tile t = tile_for(d, r, reference, range, W);
  __syncthreads(); /* all warps have read what they need of the last part */
  if (t.fits) {
    fill_tile(d, r, t, work->plane, work->cell);
    __syncthreads();
    const float4 *corner = corner_of(*work, t, n, range);
    float sum[3] = {0.0f, 0.0f, 0.0f};
#pragma unroll
    for (int a = 0; a < W; a++) /* the weights are in registers */
      if (a == (int)warp)
        add_plane<W>(
            a, w, [&](int a, int b, int c) { return corner[a * t.plane + b * t.row + c]; }, sum);
    for (int k = 0; k < 3; k++) work->sum[warp][k][lane] = sum[k];
    __syncthreads();
  }
  if (warp >= 3 || i >= end) return;
  float sum = 0.0f;
  if (t.fits)
    for (int a = 0; a < W; a++) sum += work->sum[a][warp][lane];
  else
    sum = read_apart<W>(d, r, (int)warp, first, w);
  add_field(r, (int)warp, i, sum);
}

template <int SCHEME>
static __global__ void __launch_bounds__(BLOCK, BLOCKS)
    read_fields(const __grid_constant__ struct device_mesh d,
                const __grid_constant__ struct reading r) {
  constexpr int W = SCHEME == ASSIGN_CIC ? 2 : SCHEME == ASSIGN_TSC ? 3 : 4;
  __shared__ struct workspace work;
  const uint32_t begin = level_first(r.count, r.level, blockIdx.x),
                 end = level_first(r.count, r.level, blockIdx.x + 1), i = begin + threadIdx.x;
  uint32_t first[3];
  float w[3][4];
  int n[3];
  if (i < end) stencil<SCHEME>(d, r, i, first, w);
  if (threadIdx.x == 0)
    for (int c = 0; c < 3; c++) {
      work.reference[c] = first[c];
      work.range[c][0] = work.range[c][1] = 0;
    }
  __syncthreads();
  for (int c = 0; c < 3; c++) {
    n[c] = i < end ? cells_between(d, work.reference[c], first[c]) : 0;
    const int low = warp_min(n[c]), high = warp_max(n[c]);
    if (threadIdx.x % WARP > 0) continue;
    atomicMin(&work.range[c][0], low);
    atomicMax(&work.range[c][1], high);
  }
  __syncthreads();
  const struct tile t = tile_for(d, r, work.reference, work.range, W);
  if (!t.fits) {
    for (uint32_t part = 0; part < PARTS; part++) {
      const uint32_t node = blockIdx.x * PARTS + part, level = r.level + PART_LEVELS,
                     from = level_first(r.count, level, node),
                     to = level_first(r.count, level, node + 1);
      if (from < to) read_part<SCHEME, W>(d, r, from, to, &work);
    }
    return;
  }
  fill_tile(d, r, t, work.plane, work.cell);
  __syncthreads();
  if (i >= end) return;
  const float4 *corner = corner_of(work, t, n, work.range);
  float sum[3] = {0.0f, 0.0f, 0.0f};
#pragma unroll
  for (int a = 0; a < W; a++)
    add_plane<W>(
        a, w, [&](int a, int b, int c) { return corner[a * t.plane + b * t.row + c]; }, sum);
  for (int k = 0; k < 3; k++) add_field(r, k, i, sum[k]);
}

/** Weights of interpolated four-point differences, beginning two cells before the scheme's first
 * cell: see src/mesh/kernels/mesh.c. */
static __device__ inline void difference_weights(const float w[4], float d[8]) {
  const float padded[12] = {0, 0, 0, 0, w[0], w[1], w[2], w[3], 0, 0, 0, 0};
#pragma unroll
  for (int a = 0; a < 8; a++)
    d[a] = (8.0f * (padded[a + 3] - padded[a + 1]) - (padded[a + 4] - padded[a])) * (1.0f / 12.0f);
}

template <int SCHEME>
static __global__ void __launch_bounds__(BLOCK, BLOCKS)
    read_potential(const __grid_constant__ struct device_mesh d,
                   const __grid_constant__ struct reading r) {
  constexpr int W = SCHEME == ASSIGN_CIC ? 2 : SCHEME == ASSIGN_TSC ? 3 : 4;
  const uint32_t i = blockIdx.x * BLOCK + threadIdx.x;
  if (i >= r.count) return;
  uint32_t first[3];
  float w[3][4], inner[3][8], difference[3][8], sum[3] = {0.0f, 0.0f, 0.0f};
  stencil<SCHEME>(d, r, i, first, w);
#pragma unroll
  for (int c = 0; c < 3; c++) {
#pragma unroll
    for (int a = 0; a < 8; a++) inner[c][a] = a >= 2 && a < 6 ? w[c][a - 2] : 0.0f;
    difference_weights(w[c], difference[c]);
  }
#pragma unroll
  for (int a = 0; a < W + 4; a++) {
    const float *plane = plane_of(d, r, 0, wrap(first[0] + a, d.m.cells));
    const bool inside_x = a >= 2 && a < W + 2;
#pragma unroll
    for (int b = 0; b < W + 4; b++) {
      const bool inside_y = b >= 2 && b < W + 2;
      if (!inside_x && !inside_y) continue;
      const float *row = plane + (size_t)wrap(first[1] + b, d.m.cells) * r.row;
#pragma unroll
      for (int c = 0; c < W + 4; c++) {
        const bool inside_z = c >= 2 && c < W + 2;
        if (!inside_z && !(inside_x && inside_y)) continue;
        const float phi = row[wrap(first[2] + c, d.m.cells)];
        if (inside_y && inside_z)
          sum[0] = fmaf(difference[0][a] * inner[1][b] * inner[2][c], phi, sum[0]);
        if (inside_x && inside_z)
          sum[1] = fmaf(inner[0][a] * difference[1][b] * inner[2][c], phi, sum[1]);
        if (inside_x && inside_y)
          sum[2] = fmaf(inner[0][a] * inner[1][b] * difference[2][c], phi, sum[2]);
      }
    }
  }
  for (int c = 0; c < 3; c++) r.acceleration[(size_t)c * r.count + i] += r.factor * sum[c];
}

template <int SCHEME> static void launch(struct gpu_mesh *g, const struct reading &r) {
  if (g->mesh->gradient == GRADIENT_SPECTRAL)
    read_fields<SCHEME><<<1u << r.level, BLOCK, 0, g->gpu->stream>>>(g->device, r);
  else
    read_potential<SCHEME><<<blocks_for(r.count, BLOCK), BLOCK, 0, g->gpu->stream>>>(g->device, r);
  gpu_launched("pm_read");
}

float *gpu_field_box(struct gpu_mesh *g, size_t floats) {
  return (float *)gpu_scratch(g->gpu, SCRATCH_SPECTRUM, floats * sizeof(float));
}

void gpu_read(struct gpu_mesh *g, uint32_t count, const uint32_t *x, bool shifted, float factor,
              const struct field_view *view, bool slabs, float *acceleration) {
  const struct mesh *m = g->mesh;
  const bool fields = m->gradient == GRADIENT_SPECTRAL;
  const uint32_t row = slabs ? m->slabs : m->cells;
  const float **pointers = (const float **)allocate((size_t)m->fields * row, sizeof *pointers,
                                                    "mesh plane table");
  for (uint32_t field = 0; field < m->fields; field++)
    for (uint32_t i = 0; i < row; i++)
      pointers[field * row + i] =
          view->plane[(size_t)field * m->cells + (slabs ? slab_first(m, i) : i)];
  const size_t bytes = (size_t)m->fields * row * sizeof *pointers;
  void *table = gpu_scratch(g->gpu, SCRATCH_TABLE, bytes);
  gpu_upload(g->gpu, table, pointers, bytes);
  free(pointers);
  struct reading r;
  r.count = count;
  for (r.level = 0; ((count - 1) >> r.level) + 1 > BLOCK;) r.level++;
  r.x = x;
  const uint32_t before = fields ? 0 : 2,
                 origin[3] = {before, before + view->origin[0], before + view->origin[1]};
  for (int c = 0; c < 3; c++) {
    r.offset[c] = assignment_offset(m, origin[c], shifted);
    r.begin[c] = (view->first[c] + m->cells - origin[c]) % m->cells; /* for read_fields() alone */
    r.cells[c] = view->size[c];
  }
  r.factor = fields ? factor : factor * (float)(m->cells / m->box);
  r.slabs = slabs ? (const float *const *)table : NULL;
  r.planes = (const float *const *)table;
  r.row = view->row;
  r.acceleration = acceleration;
  FOR_SCHEME(m->assignment, launch, g, r);
}
