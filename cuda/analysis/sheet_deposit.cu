/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sheet_deposit: one thread for each edge between points of the lattice, and one for each
 * tetrahedron that is not deposited by its edges. A thread finds the jumps at its edge anew from
 * all tetrahedra that share the edge, in the order in which the CPU adds them up. Maps are sums of
 * whole numbers. Compiled without fused operations (Makefile.am), so that the bits are the CPU's.
 */
#include "cuda/analysis/gpu_analysis.h"
#include "cuda/runtime/gpu.cuh"
#include "src/analysis/sheet_cell.h"

enum { BLOCK = 128 };
enum { EDGES = 10 }; /* that begin at (i, j, k): 7; and in its plane at (i + 1, j, k): 3 */

/** Point or cell (i, j, k) of a part. */
struct place {
  size_t i, j, k;
};

static __device__ inline struct place place_of(const struct sheet_part &p, size_t index) {
  struct place at;
  at.i = index / p.side / p.side;
  at.j = index / p.side % p.side;
  at.k = index % p.side;
  return at;
}

/** The vertex of a tetrahedron that is a corner of the cell; 4 where none is. */
static __device__ inline int vertex_of(const int c[4], int corner) {
  int k = 0;
  while (k < 4 && c[k] != corner) k++;
  return k;
}

/** Add the jumps at the edge of a cell from corner begin to corner end. */
static __device__ inline void add_jumps(const struct sheet_part &p, const struct place &cell,
                                        int begin, int end, double sum[KINDS]) {
  for (int t = 0; t < TETRAHEDRA; t++) {
    int c[4];
    tetrahedron_corners(t, c);
    const int from = vertex_of(c, begin), to = vertex_of(c, end);
    if (from == 4 || to == 4) continue;
    const uint32_t *vertex[4];
    for (int k = 0; k < 4; k++) vertex[k] = corner_at(&p, cell.i, cell.j, cell.k, c[k]);
    double jump[6];
    const enum kind kind = find_jumps(&p, vertex, jump);
    if (kind < KINDS) sum[kind] += jump[edge_between(from, to)];
  }
}

/** The cells on both sides of a point along an axis, in ascending order: whether the second one, or
 * the first one, is the cell below the point. */
static __device__ inline int below(size_t point, int second) {
  return (point == 0) == (second == 1);
}
static __device__ inline size_t cell_at(size_t point, int is_below, size_t side) {
  return point + (point < (size_t)is_below ? side : 0) - (size_t)is_below;
}

static __global__ void __launch_bounds__(BLOCK)
    deposit_edges(const __grid_constant__ struct sheet_part p) {
  const size_t index = (size_t)blockIdx.x * BLOCK + threadIdx.x;
  if (index >= p.planes * p.side * p.side) return;
  const struct place at = place_of(p, index);
  const int above = blockIdx.y < 7 ? 0 : 1, d = 1 + (int)blockIdx.y - 7 * above;
  double sum[KINDS] = {0.0, 0.0};
  for (int y = 0; y < 2; y++)
    for (int z = 0; z < 2; z++) {
      const int below_y = below(at.j, y), below_z = below(at.k, z),
                begin = 4 * above + 2 * below_y + below_z;
      if (begin & d) continue;
      const struct place cell = {at.i, cell_at(at.j, below_y, p.side),
                                 cell_at(at.k, below_z, p.side)};
      add_jumps(p, cell, begin, begin + d, sum);
    }
  const uint32_t *const begin = point_at(&p, at.i + above, at.j, at.k), *const end = corner_at(
                                                                            &p, at.i + above, at.j,
                                                                            at.k, d);
  if (sum[INSIDE] != 0.0) deposit_edge(&p, begin, end, INSIDE, sum[INSIDE]);
  if (sum[CUT] != 0.0) deposit_edge(&p, begin, end, CUT, sum[CUT]);
}

static __global__ void __launch_bounds__(BLOCK)
    deposit_tetrahedra(const __grid_constant__ struct sheet_part p) {
  const size_t index = (size_t)blockIdx.x * BLOCK + threadIdx.x;
  if (index >= p.planes * p.side * p.side) return;
  const struct place cell = place_of(p, index);
  int c[4];
  tetrahedron_corners((int)blockIdx.y, c);
  const uint32_t *vertex[4];
  for (int k = 0; k < 4; k++) vertex[k] = corner_at(&p, cell.i, cell.j, cell.k, c[k]);
  double jump[6];
  if (find_jumps(&p, vertex, jump) == BY_ITSELF) deposit_images(&p, vertex);
}

void gpu_sheet_deposit(struct gpu *gpu, const struct sheet_part *part) {
  const uint32_t blocks = blocks_for(part->planes * part->side * part->side, BLOCK);
  deposit_edges<<<dim3(blocks, EDGES), BLOCK, 0, gpu->stream>>>(*part);
  gpu_launched("sheet_deposit");
  deposit_tetrahedra<<<dim3(blocks, TETRAHEDRA), BLOCK, 0, gpu->stream>>>(*part);
  gpu_launched("sheet_deposit");
}
