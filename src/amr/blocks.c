/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/amr/blocks.h"

#include <stdalign.h>
#include <string.h>

/** A box of cells in a cube of 8^3, 14^3, 16^3 or 22^3. */
struct range {
  int low[3], size[3];
};

static size_t real_of(const struct gas *g) { return g->scheme.kernels->real_size; }

/** A direction's part of a neighbour: which cells of a cube of `width` + 2 ghost layers it fills,
 * and where these are in the neighbour, which has `width` cells a side. */
static struct range fill_range(int n, int width, int from[3]) {
  struct range r;
  const int direction[3] = {n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1};
  for (int c = 0; c < 3; c++) {
    r.low[c] = direction[c] < 0 ? 0 : direction[c] == 0 ? GAS_GHOSTS : GAS_GHOSTS + width;
    r.size[c] = direction[c] == 0 ? width : GAS_GHOSTS;
    from[c] = direction[c] < 0 ? width - GAS_GHOSTS : 0;
  }
  return r;
}

/** Index of the first cell of row (y, z) of a cube. */
static size_t row(int side, int variable, int z, int y, int x) {
  return (((size_t)variable * (size_t)side + (size_t)z) * (size_t)side + (size_t)y) * (size_t)side +
         (size_t)x;
}

/** Index of a cell of a patch in its group. */
static size_t in_patch(int variable, int patch, int z, int y, int x) {
  const int cell = (variable * GAS_PATCHES + patch) * GAS_PATCH_CELLS +
                   (z * GAS_PATCH_SIDE + y) * GAS_PATCH_SIDE + x;
  return (size_t)cell;
}

static const char *cells_of(const struct gas *g, const struct batch_cells *b, uint32_t group) {
  const uint32_t groups = b->list->groups, batch = group / groups;
  uint32_t i = 0;
  while (b->list->batch[i] != batch) i++;
  return b->cells[i] + group % groups * gas_group_bytes(g);
}

/** Copy what a block needs of a neighbour of its level. Compilers make a few instructions of a row
 * where `real`, the bytes of a number, is a constant: a row is 3 cells, or 16 in two patches. */
static inline __attribute__((always_inline)) void
copy_rows(size_t real, const struct gas *g, const char *group, int n, char *restrict block) {
  enum { HALF = GAS_PATCH_SIDE };
  int from[3];
  const struct range r = fill_range(n, GAS_GROUP_SIDE, from);
  for (int v = 0; v < (int)g->scheme.variables; v++)
    for (int z = from[2]; z < from[2] + r.size[2]; z++)
      for (int y = from[1]; y < from[1] + r.size[1]; y++) {
        const int patch = from[0] / HALF + 2 * (y / HALF) + 4 * (z / HALF);
        const char *row_of = group + real * in_patch(v, patch, z % HALF, y % HALF, from[0] % HALF);
        char *to = block + real * row(GAS_BLOCK_SIDE, v, r.low[2] + z - from[2],
                                      r.low[1] + y - from[1], r.low[0]);
        if (r.size[0] == GAS_GHOSTS) {
          memcpy(to, row_of, GAS_GHOSTS * real);
        } else {
          memcpy(to, row_of, HALF * real);
          memcpy(to + HALF * real, row_of + GAS_PATCH_CELLS * real, HALF * real);
        }
      }
}

static void copy_neighbour(const struct gas *g, const char *group, int n, char *block) {
  if (real_of(g) == sizeof(double))
    copy_rows(sizeof(double), g, group, n, block);
  else
    copy_rows(sizeof(float), g, group, n, block);
}

/** to = before + weight (after - before), of cells of a patch's row: 3, or all */
static inline __attribute__((always_inline)) void mix(size_t real, int n, const void *before,
                                                      const void *after, double weight, void *to) {
  const size_t bytes = (size_t)n * real;
  if (weight == 1.0 || weight == 0.0) {
    memcpy(to, weight == 1.0 ? after : before, bytes);
  } else if (real == sizeof(double)) {
    const double *a = before, *b = after;
    for (int i = 0; i < n; i++) ((double *)to)[i] = a[i] + weight * (b[i] - a[i]);
  } else {
    const float *a = before, *b = after, w = (float)weight;
    for (int i = 0; i < n; i++) ((float *)to)[i] = a[i] + w * (b[i] - a[i]);
  }
}

/** Copy what the coarser cells around a group need of a patch. @param real  as above */
static inline __attribute__((always_inline)) void
mix_rows(size_t real, const struct block_sources *s, struct patch_number p, int n, char *coarse) {
  const struct gas *g = s->gas;
  int from[3];
  const struct range r = fill_range(n, GAS_PATCH_SIDE, from);
  const char *after = cells_of(g, &s->coarse, p.group);
  const char *before = s->weight == 1.0 ? after : cells_of(g, &s->before, p.group);
  for (int v = 0; v < (int)g->scheme.variables; v++)
    for (int z = 0; z < r.size[2]; z++)
      for (int y = 0; y < r.size[1]; y++) {
        const size_t i = real * in_patch(v, p.patch, from[2] + z, from[1] + y, from[0]);
        char *to = coarse + real * row(GAS_COARSE_SIDE, v, r.low[2] + z, r.low[1] + y, r.low[0]);
        if (r.size[0] == GAS_GHOSTS)
          mix(real, GAS_GHOSTS, before + i, after + i, s->weight, to);
        else
          mix(real, GAS_PATCH_SIDE, before + i, after + i, s->weight, to);
      }
}

static void copy_patch(const struct block_sources *s, struct patch_number p, int n, char *coarse) {
  if (real_of(s->gas) == sizeof(double))
    mix_rows(sizeof(double), s, p, n, coarse);
  else
    mix_rows(sizeof(float), s, p, n, coarse);
}

static void copy_cell(size_t real, const char *from, char *to, bool negate) {
  if (!negate)
    memcpy(to, from, real);
  else if (real == sizeof(double))
    *(double *)(void *)to = -*(const double *)(const void *)from;
  else
    *(float *)(void *)to = -*(const float *)(const void *)from;
}

/** Fill the ghost cells beyond one side of the box. */
static void fill_side(const struct gas *g, int axis, int side, char *cells, int width) {
  const bool reflecting = g->topology.boundary[axis][side] == GAS_REFLECTING;
  const size_t real = real_of(g), stride[3] = {1, (size_t)width, (size_t)width * (size_t)width};
  const int a = (axis + 1) % 3, b = (axis + 2) % 3;
  for (int v = 0; v < (int)g->scheme.variables; v++)
    for (int layer = 0; layer < GAS_GHOSTS; layer++) {
      const int mirror = reflecting ? 2 * GAS_GHOSTS - 1 - layer : GAS_GHOSTS;
      const size_t to = (size_t)(side == 0 ? layer : width - 1 - layer) * stride[axis];
      const size_t from = (size_t)(side == 0 ? mirror : width - 1 - mirror) * stride[axis];
      for (int i = 0; i < width; i++)
        for (int j = 0; j < width; j++) {
          const size_t at = row(width, v, 0, 0, 0) + (size_t)i * stride[a] + (size_t)j * stride[b];
          copy_cell(real, cells + real * (at + from), cells + real * (at + to),
                    reflecting && v == GAS_MOMENTUM_X + axis);
        }
    }
}

/** Fill the ghost cells outside the box, of a cube whose inner cells begin at `place` and end
 * before place + 1, in units that divide the box into `count` of them. One axis follows the other,
 * so that edges and corners get values, too. */
static void fill_outside(const struct gas *g, const int64_t place[3], int level, char *cells,
                         int width) {
  const struct topology *t = &g->topology;
  for (int c = 0; c < 3; c++) {
    if (t->boundary[c][0] == GAS_PERIODIC) continue;
    if (place[c] == 0) fill_side(g, c, 0, cells, width);
    if (place[c] == ((int64_t)t->root[c] << level) - 1) fill_side(g, c, 1, cells, width);
  }
}

/** The coarser cells below and around what refines a patch. */
static void fill_coarse(const struct block_sources *s, uint32_t father, int patch, char *coarse) {
  const struct topology *t = &s->gas->topology;
  const struct gas_group *f = topology_group(t, s->level - 1, father);
  int64_t place[3];
  for (int c = 0; c < 3; c++) place[c] = 2 * (int64_t)f->place[c] + (patch >> c & 1);
  for (int n = 0; n < NEIGHBOURS; n++) {
    const struct patch_number p = topology_patch_neighbour(t, s->level - 1, father, patch, n);
    if (p.group != NO_GROUP) copy_patch(s, p, n, coarse);
  }
  fill_outside(s->gas, place, s->level, coarse, GAS_COARSE_SIDE);
}

enum { COARSE_BYTES = GAS_VARIABLES_MAX * GAS_COARSE_CELLS * sizeof(double) };

/** Interpolate the ghost cells where there is no group of this level. */
static void fill_from_coarse(const struct block_sources *s, uint32_t group, uint32_t missing,
                             char *block) {
  const struct gas *g = s->gas;
  alignas(64) char coarse[COARSE_BYTES];
  fill_coarse(s, topology_group(&g->topology, s->level, group)->father,
              topology_patch(&g->topology, s->level, group), coarse);
  for (int n = 0; n < NEIGHBOURS; n++) {
    if (!(missing >> n & 1)) continue;
    int from[3], high[3];
    const struct range r = fill_range(n, GAS_GROUP_SIDE, from);
    for (int c = 0; c < 3; c++) high[c] = r.low[c] + r.size[c];
    g->scheme.kernels->interpolate(&g->scheme.physics, coarse, r.low, high, block);
  }
}

void block_fill(const struct block_sources *s, uint32_t group, void *block) {
  const struct gas *g = s->gas;
  const struct gas_group *me = topology_group(&g->topology, s->level, group);
  uint32_t missing = 0;
  int64_t here[3];
  for (int c = 0; c < 3; c++) here[c] = me->place[c];
  for (int n = 0; n < NEIGHBOURS; n++) {
    if (me->near[n] != NO_GROUP)
      copy_neighbour(g, cells_of(g, &s->near, me->near[n]), n, block);
    else if (!(me->outside >> n & 1))
      missing |= 1u << n;
  }
  if (missing) fill_from_coarse(s, group, missing, block);
  fill_outside(g, here, s->level, block, GAS_BLOCK_SIDE);
}

void block_refine(const struct block_sources *s, uint32_t father, int patch, void *block,
                  void *cells) {
  const struct gas *g = s->gas;
  const size_t real = real_of(g);
  const int low[3] = {GAS_GHOSTS, GAS_GHOSTS, GAS_GHOSTS};
  const int high[3] = {low[0] + GAS_GROUP_SIDE, low[1] + GAS_GROUP_SIDE, low[2] + GAS_GROUP_SIDE};
  alignas(64) char coarse[COARSE_BYTES];
  fill_coarse(s, father, patch, coarse);
  g->scheme.kernels->interpolate(&g->scheme.physics, coarse, low, high, block);
  for (int v = 0; v < (int)g->scheme.variables; v++)
    for (int p = 0; p < GAS_PATCHES; p++)
      for (int z = 0; z < GAS_PATCH_SIDE; z++)
        for (int y = 0; y < GAS_PATCH_SIDE; y++) {
          const int corner[3] = {GAS_GHOSTS + GAS_PATCH_SIDE * (p & 1),
                                 GAS_GHOSTS + GAS_PATCH_SIDE * (p >> 1 & 1),
                                 GAS_GHOSTS + GAS_PATCH_SIDE * (p >> 2)};
          memcpy((char *)cells + real * in_patch(v, p, z, y, 0),
                 (const char *)block +
                     real * row(GAS_BLOCK_SIDE, v, corner[2] + z, corner[1] + y, corner[0]),
                 GAS_PATCH_SIDE * real);
        }
}
