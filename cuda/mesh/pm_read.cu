/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pm_read: one thread for each particle, one CUDA block for a node of a group's tree. The fields are first
 * copied to CUDA shared memory, the three of a cell side by side, so that each cell of the mesh is read
 * once for all particles of the node. pm_cut: one CUDA block for each row. */
#include "cuda/mesh/stencil.cuh"
#include "photons/domain/tree.h"

/* BLOCKS: CUDA blocks resident on a multiprocessor. TILE_LINE: lanes that copy a row of cells. */
enum { BLOCK = 128, BLOCKS = 8, TILE_CELLS = 1536, TILE_PLANES = 32, TILE_LINE = 8 };

struct reading {
  uint32_t count;
  unsigned level; /* whose nodes have at most BLOCK particles */
  const uint32_t *x;
  uint64_t offset[3];
  float factor;
  const float *const *slabs;  /* [field][slab] whole slabs; if NULL: */
  const float *const *planes; /* [field * N + x] */
  uint32_t row;
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

/** Add the three fields at a particle, of which fetch(a, b, c) has the values in cell (a, b, c) of its
 * stencil, to its acceleration. */
template <int W, typename Fetch>
static __device__ inline void interpolate(const struct reading &r, uint32_t i, const float w[3][4],
                                          Fetch fetch) {
  float sum[3] = {0.0f, 0.0f, 0.0f};
#pragma unroll
  for (int a = 0; a < W; a++)
#pragma unroll
    for (int b = 0; b < W; b++) {
      float inner[3] = {0.0f, 0.0f, 0.0f};
#pragma unroll
      for (int c = 0; c < W; c++) {
        const float3 value = fetch(a, b, c);
        inner[0] = fmaf(w[2][c], value.x, inner[0]);
        inner[1] = fmaf(w[2][c], value.y, inner[1]);
        inner[2] = fmaf(w[2][c], value.z, inner[2]);
      }
      const float weight = w[0][a] * w[1][b];
      for (int k = 0; k < 3; k++) sum[k] = fmaf(weight, inner[k], sum[k]);
    }
  for (int k = 0; k < 3; k++) r.acceleration[(size_t)k * r.count + i] += r.factor * sum[k];
}

/** The same without a tile, one field after the other. */
template <int W>
static __device__ inline void read_apart(const struct device_mesh &d, const struct reading &r,
                                         uint32_t i, const uint32_t first[3], const float w[3][4]) {
  for (int field = 0; field < 3; field++) {
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
    r.acceleration[(size_t)field * r.count + i] += r.factor * sum;
  }
}

/** Cells around the particles of a node. Steps between rows and planes are chosen such that the eight
 * cells of a cube are in different banks of CUDA shared memory. */
struct tile {
  uint32_t first[3], size[3]; /* cells of the mesh */
  uint32_t row, plane;        /* steps, in cells of the tile */
  bool fits;
};

/** @param range  smallest and largest first cell of the stencils, counted from `reference` */
static __device__ inline struct tile tile_for(const struct device_mesh &d,
                                              const uint32_t reference[3], const int range[3][2],
                                              uint32_t width) {
  struct tile t;
  t.fits = true;
  for (int c = 0; c < 3; c++) {
    const int first = (int)reference[c] + range[c][0];
    t.first[c] = (uint32_t)(first < 0 ? first + (int)d.m.cells : first);
    t.size[c] = (uint32_t)(range[c][1] - range[c][0]) + width;
    t.fits = t.fits && t.size[c] <= min(d.m.cells, (uint32_t)TILE_CELLS);
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

template <int SCHEME>
static __global__ void __launch_bounds__(BLOCK, BLOCKS)
    read_fields(const __grid_constant__ struct device_mesh d,
                const __grid_constant__ struct reading r) {
  constexpr int W = SCHEME == ASSIGN_CIC ? 2 : SCHEME == ASSIGN_TSC ? 3 : 4;
  __shared__ float4 cell[TILE_CELLS];
  __shared__ const float *plane[3][TILE_PLANES];
  __shared__ uint32_t reference[3];
  __shared__ int range[3][2];
  const uint32_t begin = level_first(r.count, r.level, blockIdx.x),
                 end = level_first(r.count, r.level, blockIdx.x + 1), i = begin + threadIdx.x;
  uint32_t first[3];
  float w[3][4];
  int from_reference[3];
  if (i < end) stencil<SCHEME>(d, r, i, first, w);
  if (threadIdx.x == 0)
    for (int c = 0; c < 3; c++) {
      reference[c] = first[c];
      range[c][0] = range[c][1] = 0;
    }
  __syncthreads();
  const int half = (int)d.m.cells / 2;
  for (int c = 0; c < 3; c++) {
    int n = i < end ? (int)first[c] - (int)reference[c] : 0;
    n = n >= half ? n - (int)d.m.cells : n < -half ? n + (int)d.m.cells : n;
    from_reference[c] = n;
    const int low = warp_min(n), high = warp_max(n);
    if (threadIdx.x % WARP > 0) continue;
    atomicMin(&range[c][0], low);
    atomicMax(&range[c][1], high);
  }
  __syncthreads();
  const struct tile t = tile_for(d, reference, range, W);
  if (t.fits) fill_tile(d, r, t, plane, cell);
  __syncthreads();
  if (i >= end) return;
  if (t.fits) {
    const float4 *corner = cell + (from_reference[0] - range[0][0]) * t.plane +
                           (from_reference[1] - range[1][0]) * t.row +
                           (from_reference[2] - range[2][0]);
    interpolate<W>(r, i, w, [&](int a, int b, int c) {
      const float4 value = corner[a * t.plane + b * t.row + c];
      return make_float3(value.x, value.y, value.z);
    });
  } else {
    read_apart<W>(d, r, i, first, w);
  }
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
  for (int c = 0; c < 3; c++) r.offset[c] = assignment_offset(m, origin[c], shifted);
  r.factor = fields ? factor : factor * (float)(m->cells / m->box);
  r.slabs = slabs ? (const float *const *)table : NULL;
  r.planes = (const float *const *)table;
  r.row = view->row;
  r.acceleration = acceleration;
  FOR_SCHEME(m->assignment, launch, g, r);
}

static __global__ void cut(uint32_t cells, uint32_t slab_row, struct field_box box,
                           const float *const *plane, float *out) {
  const float *row = plane[blockIdx.y] + (size_t)((box.origin[0] + blockIdx.x) % cells) * slab_row;
  float *to = out + ((size_t)blockIdx.y * box.size[0] + blockIdx.x) * box.row;
  for (uint32_t z = threadIdx.x; z < box.row; z += BLOCK) to[z] = row[(box.origin[1] + z) % cells];
}

void gpu_cut(struct gpu_mesh *g, const struct field_box *box, uint32_t planes,
             const float *const *plane, float *out) {
  void *table = gpu_scratch(g->gpu, SCRATCH_TABLE, planes * sizeof *plane);
  gpu_upload(g->gpu, table, plane, planes * sizeof *plane);
  cut<<<dim3(box->size[0], planes), BLOCK, 0, g->gpu->stream>>>(g->mesh->cells, g->mesh->row, *box,
                                                                (const float *const *)table, out);
  gpu_launched("pm_cut");
}
