/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cells of blocks and of new groups, src/amr/blocks.c: one thread a cell. A cell beyond a boundary of the
 * box is that of the cell that it mirrors. */
#ifndef PHOTONS_CUDA_AMR_BLOCKS_CUH
#define PHOTONS_CUDA_AMR_BLOCKS_CUH

#include "cuda/amr/real.cuh"

enum { BLOCK_THREADS = 256 };

/** struct gpu_sources for kernels. */
template <typename real> struct sources {
  constants<real> c;
  uint32_t groups;
  real weight;
  const real *const *near, *const *coarse, *const *before;
  const struct gas_links *links;
  uint32_t reflecting; /* bit 2 axis + side: that boundary reflects */
};

/** A place of a cube with ghost cells. */
struct place {
  int at[3];
  uint32_t negate; /* bit c: component c of the momentum changes sign */
};

/** Bring a place beyond the box to the cell whose values it has. @param width  cells without
 * ghosts */
INLINE struct place inside(const struct gas_links &l, uint32_t reflecting, struct place p,
                           int width) {
  if (!l.edges) return p; /* as most are */
#pragma unroll
  for (int c = 0; c < 3; c++)
    for (int side = 0; side < 2; side++) {
      const uint32_t bit = 1u << (2 * c + side);
      const int depth = side == 0 ? GAS_GHOSTS - 1 - p.at[c] : p.at[c] - GAS_GHOSTS - width;
      if (!(l.edges & bit) || depth < 0) continue;
      const int first = side == 0 ? GAS_GHOSTS : GAS_GHOSTS + width - 1;
      p.at[c] = reflecting & bit ? (side == 0 ? first + depth : first - depth) : first;
      if (reflecting & bit) p.negate ^= 1u << c;
    }
  return p;
}

/** Which of the NEIGHBOURS a place is in. */
INLINE int neighbour_at(struct place p, int width) {
  int n = 0;
#pragma unroll
  for (int c = 2; c >= 0; c--)
    n = 3 * n + (p.at[c] < GAS_GHOSTS ? 0 : p.at[c] < GAS_GHOSTS + width ? 1 : 2);
  return n;
}

/** Whether a place is in the box and in no group of the block's level. */
INLINE bool is_interpolated(const struct gas_links &l, struct place p) {
  bool in_box = true;
#pragma unroll
  for (int c = 0; c < 3; c++)
    in_box &= !(p.at[c] < GAS_GHOSTS                     ? l.edges >> 2 * c & 1
                : p.at[c] >= GAS_GHOSTS + GAS_GROUP_SIDE ? l.edges >> 2 * c + 1 & 1
                                                         : 0u);
  return in_box && l.near[neighbour_at(p, GAS_GROUP_SIDE)] == NO_GROUP;
}

template <typename real>
INLINE const real *group_of(uint32_t variables, const real *const *batches, gas_link_t link) {
  return batches[link >> GAS_LINK_SHIFT] +
         (size_t)(link & GAS_LINK_MASK) * variables * GAS_GROUP_CELLS;
}

template <int V, typename real> INLINE void negate(uint32_t components, real *u) {
#pragma unroll
  for (int c = 0; c < 3; c++)
    if (components >> c & 1) u[1 + c] = -u[1 + c];
}

/** Where a cell of the coarser level is, at the two ends of the level's step. */
template <typename real> struct coarse_place {
  const real *after, *before;
  uint32_t negate;
};

/** What a place along one axis adds to the place of a cell of the coarser level: to the number of the neighbour, to the
 * place in its group, and to the components that change sign. */
struct coarse_part {
  int neighbour, at;
  uint32_t negate;
};

/** @param at  counts in the cube of 14^3 cells of kernels.h, along axis c */
INLINE struct coarse_part coarse_part_at(const struct gas_links &l, uint32_t reflecting, int c,
                                         int at) {
  const int stride[3] = {1, NEIGHBOURS / 9, NEIGHBOURS / 3};
  struct place p = {{GAS_GHOSTS, GAS_GHOSTS, GAS_GHOSTS}, 0};
  p.at[c] = at;
  p = inside(l, reflecting, p, GAS_PATCH_SIDE);
  const int part = p.at[c] < GAS_GHOSTS ? 0 : p.at[c] < GAS_GHOSTS + GAS_PATCH_SIDE ? 1 : 2;
  const int patch = ((int)(l.patch >> c) + part - 1 & 1) << c;
  return {part * stride[c],
          patch * GAS_PATCH_CELLS + ((p.at[c] - GAS_GHOSTS & GAS_PATCH_SIDE - 1) << 3 * c),
          p.negate};
}

/** The cell at a place along each axis. */
template <typename real>
INLINE coarse_place<real> coarse_at(const sources<real> &s, const struct gas_links &l,
                                    struct coarse_part x, struct coarse_part y,
                                    struct coarse_part z) {
  const gas_link_t link = l.coarse[x.neighbour + y.neighbour + z.neighbour];
  const size_t at = (size_t)(x.at + y.at + z.at);
  return {group_of(s.c.variables, s.coarse, link) + at,
          group_of(s.c.variables, s.before, link) + at, x.negate | y.negate | z.negate};
}

template <typename real>
INLINE real coarse_value(const sources<real> &s, const coarse_place<real> &p, int q) {
  const real a = s.weight == 1 ? (real)0 : p.before[q * GAS_GROUP_CELLS],
             b = s.weight == 0 ? (real)0 : p.after[q * GAS_GROUP_CELLS];
  return s.weight == 1 ? b : s.weight == 0 ? a : a + s.weight * (b - a);
}

template <int V, typename real>
INLINE void coarse_cell(const sources<real> &s, const coarse_place<real> &p, real *u) {
#pragma unroll
  for (int q = 0; q < V; q++) u[q] = coarse_value(s, p, q);
  negate<V>(p.negate, u);
}

/** The fraction of carried variable q in a cell of the coarser level. */
template <typename real>
INLINE real coarse_fraction(const sources<real> &s, const struct gas_links &l, int q, int x, int y,
                            int z) {
  const coarse_place<real> p = coarse_at(s, l, coarse_part_at(l, s.reflecting, 0, x),
                                         coarse_part_at(l, s.reflecting, 1, y),
                                         coarse_part_at(l, s.reflecting, 2, z));
  return divide(coarse_value(s, p, q), coarse_value(s, p, GAS_DENSITY));
}

template <typename real> INLINE real minmod(real a, real b) {
  return a * b > 0 ? copysign(smaller(fabs(a), fabs(b)), a) : (real)0;
}

template <typename real> INLINE real heat_per_mass(const real *u) {
  return divide(thermal_energy(u), u[0]);
}

/** A cell of the coarser level, and how its children differ from it: src/hydro/kernels/levels.h. */
template <int V, typename real> struct interpolation {
  real middle[V], slope[3][V]; /* slope: half of the difference of two children along each axis */
  bool cold;                   /* of is_cold_flow() there */
  bool good;                   /* all children are physical; else they have the cell's values */
  real least;                  /* of the densities of the cell and its children */
};

/** Child k of a cell: bit c of k is the upper one along axis c. */
template <int V, typename real>
INLINE void child_of(const constants<real> &c, const interpolation<V, real> &i, int k, real *u) {
#pragma unroll
  for (int q = 0; q < V; q++)
    u[q] = i.middle[q] + (k & 1 ? i.slope[0][q] : -i.slope[0][q]) +
           (k & 2 ? i.slope[1][q] : -i.slope[1][q]) + (k & 4 ? i.slope[2][q] : -i.slope[2][q]);
  if (i.cold) u[4] += lost_energy<V>(c, u);
#pragma unroll
  for (int q = 0; q < V; q++)
    if (!i.good) u[q] = i.middle[q];
}

/** How the children of a coarser cell differ from it, before it is known whether all of them are physical.
 * @param x, y, z  the coarser cell, as coarse_part_at() counts */
template <int V, typename real>
INLINE interpolation<V, real> slopes_of(const sources<real> &s, const struct gas_links &l, int x,
                                        int y, int z) {
  interpolation<V, real> i;
  const int at[3] = {x, y, z};
  struct coarse_part part[3][3]; /* [axis]: the lower cell, this one and the upper one */
  real speed = 0, heat = 0;
#pragma unroll
  for (int a = 0; a < 3; a++)
#pragma unroll
    for (int k = 0; k < 3; k++) part[a][k] = coarse_part_at(l, s.reflecting, a, at[a] + k - 1);
  coarse_cell<V>(s, coarse_at(s, l, part[0][1], part[1][1], part[2][1]), i.middle);
#pragma unroll
  for (int a = 0; a < 3; a++) {
    real low[V], high[V];
    coarse_cell<V>(
        s,
        coarse_at(s, l, part[0][a == 0 ? 0 : 1], part[1][a == 1 ? 0 : 1], part[2][a == 2 ? 0 : 1]),
        low);
    coarse_cell<V>(
        s,
        coarse_at(s, l, part[0][a == 0 ? 2 : 1], part[1][a == 1 ? 2 : 1], part[2][a == 2 ? 2 : 1]),
        high);
#pragma unroll
    for (int q = 0; q < V; q++)
      i.slope[a][q] = (real)0.25 * minmod(i.middle[q] - low[q], high[q] - i.middle[q]);
    speed += (real)0.5 * (divide(high[1 + a], high[0]) - divide(low[1 + a], low[0]));
    heat = larger(heat, larger(heat_per_mass(low), heat_per_mass(high)));
  }
  i.cold = V == 6 && s.c.keeps_entropy &&
           (entropy_decides(s.c, i.middle, thermal_energy(i.middle)) ||
            larger(heat, heat_per_mass(i.middle)) < s.c.dual_energy_change * speed * speed);
  i.good = true;
  return i;
}

/** All children of slopes_of(); it then knows whether they are physical. */
template <int V, typename real>
INLINE void children_of(const constants<real> &c, interpolation<V, real> &i, real (*child)[V]) {
  bool good = true;
#pragma unroll
  for (int k = 0; k < 8; k++) {
    child_of(c, i, k, child[k]);
    good &= is_physical<V>(c, child[k]);
  }
  i.good = good;
  i.least = good ? i.middle[0] - (fabs(i.slope[0][0]) + fabs(i.slope[1][0]) + fabs(i.slope[2][0]))
                 : i.middle[0];
#pragma unroll
  for (int k = 0; k < 8; k++)
#pragma unroll
    for (int q = 0; q < V; q++)
      if (!good) child[k][q] = i.middle[q];
}

/** The same for those who need but one of the children. */
template <int V, typename real>
INLINE interpolation<V, real> interpolation_of(const sources<real> &s, const struct gas_links &l,
                                               int x, int y, int z) {
  interpolation<V, real> i = slopes_of<V>(s, l, x, y, z);
  real child[8][V];
  children_of(s.c, i, child);
  return i;
}

/** How a carried variable of the children of a cell comes from the fractions of the coarser level. */
template <typename real> struct carried_interpolation {
  real here;      /* the fraction in the cell */
  real change[3]; /* what a child of the least density has more or less of it, along each axis */
};

template <typename real>
INLINE carried_interpolation<real> carried_of(const sources<real> &s, const struct gas_links &l,
                                              int q, int x, int y, int z, real least) {
  carried_interpolation<real> i;
  i.here = coarse_fraction(s, l, q, x, y, z);
#pragma unroll
  for (int a = 0; a < 3; a++) {
    const real low = coarse_fraction(s, l, q, x - (a == 0), y - (a == 1), z - (a == 2)),
               high = coarse_fraction(s, l, q, x + (a == 0), y + (a == 1), z + (a == 2));
    i.change[a] = (real)0.25 * least * minmod(i.here - low, high - i.here);
  }
  return i;
}

/** The carried variable of child k. @param density  of the child */
template <typename real>
INLINE real carried_child(const carried_interpolation<real> &i, int k, real density) {
  real u = i.here * density;
#pragma unroll
  for (int a = 0; a < 3; a++) u += k >> a & 1 ? i.change[a] : -i.change[a];
  return u;
}

/** @param table  in device memory: near batches, coarse ones, and unless the weight is 1 those before
 * the last step */
template <typename real>
static sources<real> sources_of(const struct gpu_gas *g, const struct gpu_sources *from,
                                const real *const *table) {
  const real *const *coarse = table + from->near;
  sources<real> s = {constants_of<real>(&g->physics),
                     g->groups,
                     (real)from->weight,
                     table,
                     coarse,
                     from->weight == 1.0 ? coarse : coarse + from->coarse,
                     from->links,
                     0};
  for (int c = 0; c < 3; c++)
    for (int side = 0; side < 2; side++)
      if (from->boundary[c][side] == GAS_REFLECTING) s.reflecting |= 1u << (2 * c + side);
  return s;
}

/** The same, and the table goes to device memory. */
template <typename real>
static sources<real> upload_sources(const struct gpu_gas *g, const struct gpu_sources *from) {
  const size_t batches = from->near + (from->weight == 1.0 ? 1 : 2) * (size_t)from->coarse;
  const real **table = (const real **)gpu_scratch(g->gpu, SCRATCH_TABLE, batches * sizeof *table);
  gpu_upload(g->gpu, table, from->cells, batches * sizeof *table);
  return sources_of<real>(g, from, table);
}

#endif
