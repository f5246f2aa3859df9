/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/potential/potential_blocks.h"

#include <string.h>

#include "photons/potential/gravity.h"

enum { INNER = GAS_GROUP_SIDE, SIDE = POISSON_SIDE };

const double *potential_of(const struct batch_cells *b, uint32_t group) {
  const uint32_t groups = b->list->groups, batch = group / groups;
  uint32_t i = 0;
  while (b->list->batch[i] != batch) i++;
  return (const double *)(const void *)b->cells[i] + group % groups * (size_t)GAS_GROUP_CELLS;
}

static size_t in_cube(int side, const int place[3]) {
  return ((size_t)place[2] * (size_t)side + (size_t)place[1]) * (size_t)side + (size_t)place[0];
}

/** Copy a row; whole rows of groups are long enough for a call. */
static inline void copy_row(const double *from, int n, double *to) {
  if (n == INNER)
    memcpy(to, from, INNER * sizeof *to);
  else
    for (int x = 0; x < n; x++) to[x] = from[x];
}

/** Copy a box of cells. */
static void copy_box(const double *from, int from_side, const int first[3], const int size[3],
                     double *to, int to_side, const int place[3]) {
  for (int z = 0; z < size[2]; z++) {
    const double *row = from + in_cube(from_side, (const int[3]){first[0], first[1], first[2] + z});
    double *to_row = to + in_cube(to_side, (const int[3]){place[0], place[1], place[2] + z});
    for (int y = 0; y < size[1]; y++, row += from_side, to_row += to_side)
      copy_row(row, size[0], to_row);
  }
}

/** Where a neighbour's cells are: which box of a cube of `width` inner cells and `ghosts` a side
 * they fill, and where this box begins in the neighbour. */
static void neighbour_box(int n, int width, int ghosts, int first[3], int size[3], int place[3]) {
  const int direction[3] = {n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1};
  for (int c = 0; c < 3; c++) {
    size[c] = direction[c] == 0 ? width : ghosts;
    first[c] = direction[c] < 0 ? width - ghosts : 0;
    place[c] = direction[c] < 0 ? 0 : direction[c] == 0 ? ghosts : ghosts + width;
  }
}

/** to = keep * begin + weight * (end - begin) */
static inline void mix_row(const double *begin, double keep, const double *end, double weight,
                           int n, double *to) {
  for (int x = 0; x < n; x++) to[x] = keep * begin[x] + weight * (end[x] - begin[x]);
}

/** A box of the coarser potential of a patch at the time of the block, or of its change, copied to
 * the cube of coarse cells. */
static void copy_patch(const struct potential_sources *s, struct patch_number p, bool change,
                       const int first[3], const int size[3], double *coarse, const int place[3]) {
  int corner[3];
  for (int c = 0; c < 3; c++) corner[c] = GAS_PATCH_SIDE * (p.patch >> c & 1) + first[c];
  const size_t from = in_cube(INNER, corner);
  const double *end = s->weight == 0.0 && !change ? NULL : potential_of(&s->end, p.group) + from;
  const double *begin = s->weight == 1.0 && !change ? NULL
                                                    : potential_of(&s->begin, p.group) + from;
  const double weight = change ? s->change : s->weight, keep = change ? 0.0 : 1.0;
  for (int z = 0; z < size[2]; z++)
    for (int y = 0; y < size[1]; y++) {
      const size_t row = in_cube(INNER, (const int[3]){0, y, z});
      double *to = coarse + in_cube(POISSON_COARSE_SIDE,
                                    (const int[3]){place[0], place[1] + y, place[2] + z});
      if (begin && end)
        mix_row(begin + row, keep, end + row, weight, size[0], to);
      else
        copy_row((end ? end : begin) + row, size[0], to);
    }
}

/** Continue a cube of `side` cells beyond one of its ends along an axis, by the parabola through
 * the last three of the inner cells. */
static void extrapolate(double *cube, int side, int ghosts, int axis, bool upper) {
  const int stride[3] = {1, side, side * side}, n = upper ? -stride[axis] : stride[axis];
  const int a = stride[(axis + 1) % 3], b = stride[(axis + 2) % 3];
  for (int i = 0; i < side; i++)
    for (int j = 0; j < side; j++) {
      double *line = cube + i * a + j * b + (upper ? (side - 1) * stride[axis] : 0);
      for (int k = ghosts - 1; k >= 0; k--)
        line[k * n] = 3.0 * (line[(k + 1) * n] - line[(k + 2) * n]) + line[(k + 3) * n];
    }
}

/** Continue a cube beyond the sides of the box. @param place  of the cube's inner cells, in units
 * that divide the box into root groups << level */
static void beyond_box(const struct topology *t, const int64_t place[3], int level, double *cube,
                       int side, int ghosts) {
  for (int c = 0; c < 3; c++) {
    if (t->boundary[c][0] == GAS_PERIODIC) continue;
    if (place[c] == 0) extrapolate(cube, side, ghosts, c, false);
    if (place[c] == ((int64_t)t->root[c] << level) - 1) extrapolate(cube, side, ghosts, c, true);
  }
}

/** The coarser potential around a group, or its change. */
static void around_group(const struct potential_sources *s, uint32_t group, bool change,
                         double coarse[POISSON_COARSE_CELLS]) {
  const struct topology *t = &s->gas->topology;
  const struct gas_group *me = topology_group(t, s->level, group);
  const int patch = topology_patch(t, s->level, group);
  for (int n = 0; n < NEIGHBOURS; n++) {
    const struct patch_number p = topology_patch_neighbour(t, s->level - 1, me->father, patch, n);
    if (p.group == NO_GROUP) continue;
    int first[3], size[3], place[3];
    neighbour_box(n, GAS_PATCH_SIDE, POISSON_COARSE_GHOSTS, first, size, place);
    copy_patch(s, p, change, first, size, coarse, place);
  }
  const int64_t place[3] = {me->place[0], me->place[1], me->place[2]};
  beyond_box(t, place, s->level, coarse, POISSON_COARSE_SIDE, POISSON_COARSE_GHOSTS);
}

/** Interpolate the whole block, or what is beyond some of its faces. */
static void from_coarse(const struct potential_sources *s, uint32_t group, bool change, bool whole,
                        unsigned faces, double *block) {
  double coarse[POISSON_COARSE_CELLS];
  if (!whole && faces == 0) return;
  around_group(s, group, change, coarse);
  if (whole)
    s->gas->gravity->poisson->interpolate(coarse, block);
  else
    s->gas->gravity->poisson->interpolate_ghosts(coarse, faces, block);
}

/** The faces across which there are groups of the level whose potentials are to be used. */
static unsigned faces_near(const struct potential_sources *s, uint32_t group) {
  const struct gas_group *me = topology_group(&s->gas->topology, s->level, group);
  unsigned faces = 0;
  for (int face = 0; face < GAS_FACES && s->near.list; face++)
    if (me->near[topology_across(face)] != NO_GROUP) faces |= 1u << face;
  return faces;
}

enum { ALL_FACES = (1 << GAS_FACES) - 1 };

/** Copy a neighbour's cells, or the group's own. */
static void copy_near(const struct potential_sources *s, uint32_t near, int n, double *block) {
  int first[3], size[3], place[3];
  neighbour_box(n, INNER, 1, first, size, place);
  copy_box(potential_of(&s->near, near), INNER, first, size, block, SIDE, place);
}

/** A block, or its ghost cells. */
static void fill(const struct potential_sources *s, uint32_t group, bool ghosts, double *block) {
  const struct gas_group *me = topology_group(&s->gas->topology, s->level, group);
  const unsigned faces = faces_near(s, group);
  if (s->end.list)
    from_coarse(s, group, false, !ghosts && !s->near.list, ALL_FACES & ~faces, block);
  if (!s->near.list) return;
  if (!ghosts) copy_near(s, group, MYSELF, block);
  for (int face = 0; face < GAS_FACES; face++)
    if (faces >> face & 1) {
      const int n = topology_across(face);
      copy_near(s, me->near[n], n, block);
    }
  const int64_t place[3] = {me->place[0], me->place[1], me->place[2]};
  if (!s->end.list) beyond_box(&s->gas->topology, place, s->level, block, SIDE, 1);
}

void potential_wide(const struct potential_sources *s, uint32_t group, double *wide) {
  const struct gas_group *me = topology_group(&s->gas->topology, s->level, group);
  bool whole = s->level == 0;
  for (int n = 0; n < NEIGHBOURS && !whole; n++)
    if (me->near[n] == NO_GROUP) {
      double coarse[POISSON_COARSE_CELLS];
      around_group(s, group, false, coarse);
      s->gas->gravity->poisson->interpolate_wide(coarse, wide);
      whole = true;
    }
  for (int n = 0; n < NEIGHBOURS; n++) {
    int first[3], size[3], place[3];
    if (me->near[n] == NO_GROUP) continue;
    neighbour_box(n, INNER, WIDE_GHOSTS, first, size, place);
    copy_box(potential_of(&s->near, me->near[n]), INNER, first, size, wide, WIDE_SIDE, place);
  }
  const int64_t place[3] = {me->place[0], me->place[1], me->place[2]};
  if (s->level == 0) beyond_box(&s->gas->topology, place, 0, wide, WIDE_SIDE, WIDE_GHOSTS);
}

void potential_block(const struct potential_sources *s, uint32_t group, double *block) {
  fill(s, group, false, block);
}

void potential_ghosts(const struct potential_sources *s, uint32_t group, double *block) {
  fill(s, group, true, block);
}

static void add_change(const double *change, int n, double *block) {
  int first[3], size[3], place[3];
  neighbour_box(n, INNER, 1, first, size, place);
  for (int z = place[2]; z < place[2] + size[2]; z++)
    for (int y = place[1]; y < place[1] + size[1]; y++)
      for (int x = place[0]; x < place[0] + size[0]; x++) {
        const size_t at = in_cube(SIDE, (const int[3]){x, y, z});
        block[at] += change[at];
      }
}

/** The same, corrected. Ghost cells that are interpolated are of the corrected level already. */
static void fill_corrected(const struct potential_sources *s, uint32_t group, bool ghosts,
                           double *block) {
  const unsigned faces = faces_near(s, group);
  double change[POISSON_CELLS];
  fill(s, group, ghosts, block);
  from_coarse(s, group, true, !ghosts, faces, change);
  if (!ghosts) add_change(change, MYSELF, block);
  for (int face = 0; face < GAS_FACES; face++)
    if (faces >> face & 1) add_change(change, topology_across(face), block);
}

void potential_block_corrected(const struct potential_sources *s, uint32_t group, double *block) {
  fill_corrected(s, group, false, block);
}

void potential_ghosts_corrected(const struct potential_sources *s, uint32_t group, double *block) {
  fill_corrected(s, group, true, block);
}

void potential_inner(const double *block, double *cube) {
  copy_box(block, SIDE, (const int[3]){1, 1, 1}, (const int[3]){INNER, INNER, INNER}, cube, INNER,
           (const int[3]){0, 0, 0});
}
