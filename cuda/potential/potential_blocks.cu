/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Potentials of groups with their ghost cells, src/potential/potential_blocks.c. One block of threads a
 * group. */
#include "cuda/potential/density.cuh"

enum {
  FILL_THREADS = 256,
  INNER = GAS_GROUP_SIDE,
  SIDE = POISSON_SIDE,
  COARSE = POISSON_COARSE_SIDE,
  COARSE_GHOSTS = POISSON_COARSE_GHOSTS
};

/** struct gpu_potentials for kernels; lists that are not read are NULL. */
struct potentials {
  const double *const *near, *const *begin, *const *end;
  double weight;
  double change;
  const struct gas_links *links;
};

INLINE const double *group_of(const double *const *batches, gas_link_t link) {
  return batches[link >> GAS_LINK_SHIFT] + (size_t)(link & GAS_LINK_MASK) * GAS_GROUP_CELLS;
}

/** Continue a cube of `side` cells beyond the ends of the box, by the parabola through the last three
 * of the inner cells. @param edges  of struct gas_links */
static __device__ void beyond_box(uint32_t edges, int side, int ghosts, double *cube) {
  const int stride[3] = {1, side, side * side};
  for (int c = 0; c < 3; c++)
    for (int upper = 0; upper < 2; upper++) {
      if (!(edges >> (2 * c + upper) & 1)) continue; /* the same for all threads of the block */
      const int n = upper ? -stride[c] : stride[c];
      const int a = stride[(c + 1) % 3], b = stride[(c + 2) % 3];
      __syncthreads();
      for (int i = (int)threadIdx.x; i < side * side; i += FILL_THREADS) {
        double *line = cube + i % side * a + i / side * b + (upper ? (side - 1) * stride[c] : 0);
        for (int k = ghosts - 1; k >= 0; k--)
          line[k * n] = 3.0 * (line[(k + 1) * n] - line[(k + 2) * n]) + line[(k + 3) * n];
      }
    }
  __syncthreads();
}

/** A cell of the coarser level at the time of the block, or by how much it has changed. */
INLINE double coarse_cell(const potentials &s, gas_link_t link, int cell, bool change) {
  if (!change && s.weight == 1.0) return group_of(s.end, link)[cell];
  const double begin = group_of(s.begin, link)[cell];
  if (!change && s.weight == 0.0) return begin;
  const double step = group_of(s.end, link)[cell] - begin;
  return change ? s.change * step : begin + s.weight * step;
}

/** The coarser potential around a group, or its change, in shared memory: a cube of 12^3 cells. */
static __device__ void around_group(const potentials &s, const struct gas_links &l, bool change,
                                    double *coarse) {
  __syncthreads(); /* all threads have read what was there before */
  for (int i = (int)threadIdx.x; i < POISSON_COARSE_CELLS; i += FILL_THREADS) {
    const int at[3] = {i % COARSE, i / COARSE % COARSE, i / (COARSE * COARSE)};
    int n = 0, cell = 0;
#pragma unroll
    for (int c = 2; c >= 0; c--) {
      const int direction = at[c] < COARSE_GHOSTS                    ? -1
                            : at[c] < COARSE_GHOSTS + GAS_PATCH_SIDE ? 0
                                                                     : 1;
      const int patch = ((int)(l.patch >> c & 1) + direction) & 1;
      n = 3 * n + 1 + direction;
      cell = INNER * cell + GAS_PATCH_SIDE * patch +
             ((at[c] - COARSE_GHOSTS) & (GAS_PATCH_SIDE - 1));
    }
    /* Beyond the box there is no group. */
    coarse[i] = l.coarse[n] == NO_GROUP ? 0.0 : coarse_cell(s, l.coarse[n], cell, change);
  }
  beyond_box(l.edges, COARSE, COARSE_GHOSTS, coarse);
}

/** The parabola through three coarse cells in fine cell i of a line of 18. Cell i is in coarse cell
 * (i + 3) / 2, a quarter of it above its middle if i is even, else below. */
INLINE double parabola(double below, double here, double above, int i) {
  const double near = 5.0 / 32.0, far = -3.0 / 32.0, middle = 15.0 / 16.0;
  return middle * here + (i % 2 == 0 ? far : near) * below + (i % 2 == 0 ? near : far) * above;
}

/** A cell of a block from the coarse cells. */
INLINE double interpolated(const double *coarse, int x, int y, int z) {
  enum { PLANE = COARSE * COARSE };
  const double *c = coarse + (z + 3) / 2 * PLANE + (y + 3) / 2 * COARSE + (x + 3) / 2;
  double along_x[3];
#pragma unroll
  for (int i = -1; i <= 1; i++) {
    double along_y[3];
#pragma unroll
    for (int j = -1; j <= 1; j++) {
      const double *line = c + j * COARSE + i;
      along_y[j + 1] = parabola(line[-PLANE], line[0], line[PLANE], z);
    }
    along_x[i + 1] = parabola(along_y[0], along_y[1], along_y[2], y);
  }
  return parabola(along_x[0], along_x[1], along_x[2], x);
}

/** Where a cell of a block, or of a wider cube, is: x, y, z as in a block. */
struct spot {
  int x, y, z;
  int outside;   /* along how many axes it is a ghost cell */
  int neighbour; /* in which of NEIGHBOURS */
  int cell;      /* of this neighbour */
};

/** Cell i of a cube with so many ghost cells a side. */
template <int GHOSTS> INLINE struct spot spot_of(int i) {
  enum { WIDTH = INNER + 2 * GHOSTS };
  const int at[3] = {i % WIDTH - GHOSTS, i / WIDTH % WIDTH - GHOSTS, i / (WIDTH * WIDTH) - GHOSTS};
  struct spot p = {at[0] + 1, at[1] + 1, at[2] + 1, 0, 0, 0};
#pragma unroll
  for (int c = 2; c >= 0; c--) {
    const int direction = at[c] < 0 ? -1 : at[c] >= INNER ? 1 : 0;
    p.outside += direction != 0;
    p.neighbour = 3 * p.neighbour + 1 + direction;
    p.cell = INNER * p.cell + (at[c] & (INNER - 1));
  }
  return p;
}

/** The group of the level whose potential a cell has; NO_GROUP: there is none, or it is not used. */
INLINE gas_link_t group_at(const potentials &s, const struct gas_links &l, struct spot p) {
  return s.near && p.outside < 2 ? l.near[p.neighbour] : NO_GROUP;
}

/** Fill the block's inner cells, or its ghost cells, or both. */
static __device__ void fill_block(const potentials &s, bool inner, bool ghosts, double *block) {
  __shared__ double coarse[POISSON_COARSE_CELLS];
  const struct gas_links &l = s.links[blockIdx.x];
  const bool interpolates = (s.begin || s.end) && (ghosts || !s.near);
  if (interpolates) around_group(s, l, false, coarse);
  for (int i = (int)threadIdx.x; i < POISSON_CELLS; i += FILL_THREADS) {
    const struct spot p = spot_of<1>(i);
    if (!(p.outside == 0 ? inner : ghosts)) continue;
    const gas_link_t near = group_at(s, l, p);
    block[i] = near != NO_GROUP                ? group_of(s.near, near)[p.cell]
               : interpolates && p.outside < 2 ? interpolated(coarse, p.x, p.y, p.z)
                                               : 0.0;
  }
  if (ghosts && !interpolates) beyond_box(l.edges, SIDE, 1, block);
  if (s.change == 0.0) return;
  around_group(s, l, true, coarse);
  for (int i = (int)threadIdx.x; i < POISSON_CELLS; i += FILL_THREADS) {
    const struct spot p = spot_of<1>(i);
    if (!(p.outside == 0 ? inner : ghosts)) continue;
    if (group_at(s, l, p) != NO_GROUP) block[i] += interpolated(coarse, p.x, p.y, p.z);
  }
}

static __global__ void __launch_bounds__(FILL_THREADS)
    fill_blocks(const __grid_constant__ potentials s, double *blocks) {
  fill_block(s, true, true, blocks + (size_t)blockIdx.x * POISSON_CELLS);
}

static __global__ void __launch_bounds__(FILL_THREADS)
    fill_ghosts(const __grid_constant__ potentials s, const __grid_constant__ struct gpu_half half,
                double *blocks) {
  const bool solved = is_solved(half);
  double *block = blocks + (size_t)blockIdx.x * POISSON_CELLS;
  if (solved || half.keep) fill_block(s, !solved, solved, block);
}

/** Cubes with two ghost cells a side. */
static __global__ void __launch_bounds__(FILL_THREADS)
    fill_wide(const __grid_constant__ potentials s, double *wide) {
  __shared__ double coarse[POISSON_COARSE_CELLS];
  const struct gas_links &l = s.links[blockIdx.x];
  const bool interpolates = s.begin || s.end;
  double *cube = wide + (size_t)blockIdx.x * WIDE_CELLS;
  if (interpolates) around_group(s, l, false, coarse);
  for (int i = (int)threadIdx.x; i < WIDE_CELLS; i += FILL_THREADS) {
    const struct spot p = spot_of<WIDE_GHOSTS>(i);
    const gas_link_t near = l.near[p.neighbour];
    cube[i] = near != NO_GROUP ? group_of(s.near, near)[p.cell]
              : interpolates   ? interpolated(coarse, p.x, p.y, p.z)
                               : 0.0;
  }
  if (!interpolates) beyond_box(l.edges, WIDE_SIDE, WIDE_GHOSTS, cube);
}

/** The table of batches is in scratch memory. */
static potentials upload(const struct gpu_gas *g, const struct gpu_potentials *p) {
  const size_t batches = (size_t)p->near + p->begin + p->end, bytes = batches * sizeof *p->cells;
  const double **table = (const double **)gpu_scratch(g->gpu, SCRATCH_TABLE, bytes);
  gpu_upload(g->gpu, table, p->cells, bytes);
  return {p->near > 0 ? table : NULL,
          p->begin > 0 ? table + p->near : NULL,
          p->end > 0 ? table + p->near + p->begin : NULL,
          p->weight,
          p->change,
          p->links};
}

double *gpu_gas_potential_wide(const struct gpu_gas *g, const struct gpu_potentials *p) {
  double *wide = (double *)gpu_scratch(g->gpu, SCRATCH_CELLS,
                                       (size_t)g->groups * WIDE_CELLS * sizeof *wide);
  fill_wide<<<g->groups, FILL_THREADS, 0, g->gpu->stream>>>(upload(g, p), wide);
  gpu_launched("wide potentials");
  return wide;
}

double *gpu_gas_potential_memory(const struct gpu_gas *g, uint32_t blocks) {
  return (double *)gpu_scratch(g->gpu, SCRATCH_CELLS,
                               (size_t)g->groups * blocks * POISSON_CELLS * sizeof(double));
}

void gpu_gas_potential_blocks(const struct gpu_gas *g, const struct gpu_potentials *p,
                              double *blocks) {
  fill_blocks<<<g->groups, FILL_THREADS, 0, g->gpu->stream>>>(upload(g, p), blocks);
  gpu_launched("potential blocks");
}

void gpu_gas_potential_ghosts(const struct gpu_gas *g, const struct gpu_potentials *p,
                              struct gpu_half half, double *blocks) {
  fill_ghosts<<<g->groups, FILL_THREADS, 0, g->gpu->stream>>>(upload(g, p), half, blocks);
  gpu_launched("ghost cells of potentials");
}
