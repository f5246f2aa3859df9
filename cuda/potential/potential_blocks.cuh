/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Potentials of a level and of the next coarser one around a group, for kernels with one block of threads a group. */
#ifndef PHOTONS_CUDA_POTENTIAL_BLOCKS_CUH
#define PHOTONS_CUDA_POTENTIAL_BLOCKS_CUH

#include "cuda/potential/laplacian.cuh"

enum {
  FILL_THREADS = 256,
  ALL_FACES = (1 << GAS_FACES) - 1,
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

/** A cell of the coarser level at the time of the block, or by how much it has changed.
 * @param begin, end  of its group at the two ends of the step; NULL: not read, or there is no group */
INLINE double coarse_cell(const potentials &s, const double *begin, const double *end, int cell,
                          bool change) {
  if (!change && s.weight == 1.0) return end ? end[cell] : 0.0;
  if (!begin) return 0.0;
  if (!change && s.weight == 0.0) return begin[cell];
  const double step = end[cell] - begin[cell];
  return change ? s.change * step : begin[cell] + s.weight * step;
}

/** Where the groups around a group are in the batches of a list; NULL: there is none, or no list. Threads are to wait
 * before they read `group`, [NEIGHBOURS] in shared memory. */
static __device__ void find_groups(const double *const *batches, const gas_link_t *link,
                                   const double **group) {
  const int n = (int)threadIdx.x;
  if (n < NEIGHBOURS) group[n] = batches && link[n] != NO_GROUP ? group_of(batches, link[n]) : NULL;
}

/** The coarser potential around a group, or its change, in shared memory: a cube of 12^3 cells. A thread asks for all
 * of its cells before it waits for the first. */
static __device__ void around_group(const potentials &s, const struct gas_links &l, bool change,
                                    double *coarse) {
  enum { TURNS = (POISSON_COARSE_CELLS + FILL_THREADS - 1) / FILL_THREADS };
  __shared__ const double *begin[NEIGHBOURS], *end[NEIGHBOURS];
  double value[TURNS];
  __syncthreads(); /* all threads have read what was there before */
  find_groups(s.begin, l.coarse, begin);
  find_groups(s.end, l.coarse, end);
  __syncthreads();
#pragma unroll
  for (int k = 0; k < TURNS; k++) {
    const int i = (int)threadIdx.x + k * FILL_THREADS;
    if (i >= POISSON_COARSE_CELLS) continue;
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
    value[k] = coarse_cell(s, begin[n], end[n], cell,
                           change); /* beyond the box there is no group */
  }
#pragma unroll
  for (int k = 0; k < TURNS; k++) {
    const int i = (int)threadIdx.x + k * FILL_THREADS;
    if (i < POISSON_COARSE_CELLS) coarse[i] = value[k];
  }
  beyond_box(l.edges, COARSE, COARSE_GHOSTS, coarse);
}

/** topology_across() in kernels. */
INLINE int across(int face) {
  const int stride = face / 2 == 0 ? 1 : face / 2 == 1 ? 3 : 9;
  return MYSELF + (face % 2 ? stride : -stride);
}

/** The faces across which there are groups of the level whose potentials are to be used. The same for all threads. */
INLINE unsigned faces_near(const potentials &s, const struct gas_links &l) {
  unsigned faces = 0;
#pragma unroll
  for (int face = 0; face < GAS_FACES; face++)
    if (s.near && l.near[across(face)] != NO_GROUP) faces |= 1u << face;
  return faces;
}

/** The parabola through three coarse cells in fine cell i of a line of 18. Cell i is in coarse cell
 * (i + 3) / 2, a quarter of it above its middle if i is even, else below. */
INLINE double parabola(double below, double here, double above, int i) {
  const double near = 5.0 / 32.0, far = -3.0 / 32.0, middle = 15.0 / 16.0;
  return middle * here + (i % 2 == 0 ? far : near) * below + (i % 2 == 0 ? near : far) * above;
}

/** A cell of a block from the coarse cells. */
INLINE double interpolated(const double *coarse, int x, int y, int z) {
  enum { LAYER = COARSE * COARSE };
  const double *c = coarse + (z + 3) / 2 * LAYER + (y + 3) / 2 * COARSE + (x + 3) / 2;
  double along_x[3];
#pragma unroll
  for (int i = -1; i <= 1; i++) {
    double along_y[3];
#pragma unroll
    for (int j = -1; j <= 1; j++) {
      const double *line = c + j * COARSE + i;
      along_y[j + 1] = parabola(line[-LAYER], line[0], line[LAYER], z);
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

/** The group of the level whose potential a cell has; NULL: there is none, or it is not used.
 * @param near  of find_groups() */
INLINE const double *group_at(const double *const *near, struct spot p) {
  return p.outside < 2 ? near[p.neighbour] : NULL;
}

/** A block of the potentials of near groups alone, continued beyond the ends of the box. Ghost cells without a group
 * are 0. Several threads write it: they are to wait before they read it. */
static __device__ void fill_block(const potentials &s, const struct gas_links &l, double *block) {
  __shared__ const double *groups[NEIGHBOURS];
  find_groups(s.near, l.near, groups);
  __syncthreads();
#pragma unroll 4
  for (int i = (int)threadIdx.x; i < POISSON_CELLS; i += FILL_THREADS) {
    const struct spot p = spot_of<1>(i);
    const double *near = group_at(groups, p);
    block[i] = near ? near[p.cell] : 0.0;
  }
  beyond_box(l.edges, SIDE, 1, block);
}

/** The table of batches in device memory. @param table  where it is, or will be */
static inline potentials potentials_in(const double *const *table, const struct gpu_potentials *p) {
  return {p->near > 0 ? table : NULL,
          p->begin > 0 ? table + p->near : NULL,
          p->end > 0 ? table + p->near + p->begin : NULL,
          p->weight,
          p->change,
          p->links};
}

static inline size_t batches_of(const struct gpu_potentials *p) {
  return (size_t)p->near + p->begin + p->end;
}

#endif
