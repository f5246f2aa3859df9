/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Particles for tests of friends of friends and halos, on any number of ranks. Each rank makes all
 * particles and passes its part of them to the tested function. Include before cmocka. */
#ifndef PHOTONS_TESTS_FOF_SHARES_H
#define PHOTONS_TESTS_FOF_SHARES_H

#include <gsl/gsl_math.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gathered.h"
#include "photons/config/parameters.h"
#include "photons/ic/ic.h"
#include "sorted_particles.h"
#include "test_files.h"

#define BOX 50.0

/** A way to divide the particles into ORB groups and among ranks. */
struct cut {
  uint32_t groups, depth;
  bool sorted; /* false: the particles keep their order */
};

/** Number of ORB groups before those of rank r. */
typedef size_t share_rule(size_t groups, size_t r, size_t ranks);
static inline size_t even_share(size_t groups, size_t r, size_t ranks) {
  return groups * r / ranks;
}
static inline size_t growing_share(size_t groups, size_t r, size_t ranks) {
  return groups * r * r / (ranks * ranks);
}
static inline size_t first_has_all(size_t groups, size_t r, size_t ranks) {
  (void)ranks;
  return r == 0 ? 0 : groups;
}
static share_rule *const shares[] = {first_has_all, even_share, growing_share};
enum { SHARES = sizeof shares / sizeof *shares };

/** N particles with ids 0 .. N-1 in random order. Clustered: half of them are in clumps of all
 * sizes and densities, some across the edges and corners of the box, and some points occur more
 * than once. */
static inline struct particles make_particles(size_t n, bool clustered, unsigned long seed) {
  gsl_rng *rng = gsl_rng_alloc(gsl_rng_ranlxd1);
  gsl_rng_set(rng, seed);
  struct particles s = particles_create(n, BOX, 1.0);
  double centre[3] = {0.0, 0.0, 0.0}, width = 1.0;
  for (size_t i = 0; i < n; i++) {
    if (gsl_rng_uniform(rng) < 0.01) {
      for (int c = 0; c < 3; c++)
        centre[c] = gsl_rng_uniform(rng) < 0.3 ? 0.0 : BOX * gsl_rng_uniform(rng);
      width = pow(10.0, -2.5 + 2.7 * gsl_rng_uniform(rng));
    }
    const bool in_clump = clustered && gsl_rng_uniform(rng)<0.5, twin = i> 0 &&
                          gsl_rng_uniform(rng) < 0.01;
    for (size_t c = 0; c < 3; c++) {
      const double x = in_clump ? centre[c] + gsl_ran_gaussian(rng, width)
                                : BOX * gsl_rng_uniform(rng);
      s.position[c * n + i] = twin ? s.position[c * n + i - 1] : position_to_integer(x, BOX);
      s.momentum[c * n + i] = (float)gsl_ran_gaussian(rng, 300.0);
    }
    s.id[i] = i * 7919 % n; /* n is no multiple of this prime */
  }
  gsl_rng_free(rng);
  return s;
}

/* The reference: a search along x from particle to particle, without tree or cells. The label of an
 * id is the lowest id of its FoF group. */

static const uint32_t *compared; /* qsort has no context argument */

static inline int compare_x(const void *a, const void *b) {
  const uint32_t x = compared[*(const uint32_t *)a], y = compared[*(const uint32_t *)b];
  return (x > y) - (x < y);
}

static inline uint64_t *root(uint64_t *label, uint64_t id) {
  while (label[id] != id) id = label[id] = label[label[id]];
  return &label[id];
}

/** @return label of each id; free(). @p s is in one piece */
static inline uint64_t *plain_search(const struct particles *s, uint64_t length2) {
  const size_t n = s->count;
  const uint32_t *x = s->position, *y = x + n, *z = y + n;
  uint32_t *order = allocate(n, sizeof *order, "an order along x");
  uint64_t *label = allocate(n, sizeof *label, "labels");
  const double length = sqrt((double)length2) + 1.0;
  for (uint32_t i = 0; i < n; i++) label[i] = order[i] = i;
  compared = x;
  qsort(order, n, sizeof *order, compare_x);
  for (size_t i = 0; i < n; i++)
    for (size_t k = 1; k < n; k++) {
      const uint32_t p = order[i], q = order[(i + k) % n];
      if ((double)(uint32_t)(x[q] - x[p]) > length) break; /* across the end of the box */
      const int64_t d[3] = {(int32_t)(x[q] - x[p]), (int32_t)(y[q] - y[p]), (int32_t)(z[q] - z[p])};
      if ((uint64_t)(d[0] * d[0]) + (uint64_t)(d[1] * d[1]) + (uint64_t)(d[2] * d[2]) > length2)
        continue;
      uint64_t *a = root(label, s->id[p]), *b = root(label, s->id[q]);
      if (*a < *b)
        *b = *a;
      else
        *a = *b;
    }
  for (uint64_t i = 0; i < n; i++) label[i] = *root(label, i);
  free(order);
  return label;
}

/* Division of the particles. */

/** Sort order[first .. end) into the order of trees with the given number of leaves: first ORB
 * groups, then 2^depth leaves in each. */
static inline void sort_range(const struct particles *s, uint32_t *order, size_t first, size_t end,
                              size_t groups, unsigned depth) {
  if (groups == 1 && depth == 0) return;
  int axis = 0;
  uint32_t widest = 0;
  for (int c = 0; c < 3; c++) {
    uint32_t low = UINT32_MAX, high = 0;
    for (size_t i = first; i < end; i++) {
      const uint32_t x = s->position[(size_t)c * s->count + order[i]];
      low = x < low ? x : low;
      high = x > high ? x : high;
    }
    if (high - low > widest) axis = c, widest = high - low;
  }
  compared = s->position + (size_t)axis * s->count;
  qsort(order + first, end - first, sizeof *order, compare_x);
  const bool inside = groups == 1;
  const size_t n = end - first, half = groups / 2,
               middle = first + block_first(n, inside ? 2 : groups, inside ? 1 : half);
  sort_range(s, order, first, middle, inside ? 1 : half, inside ? depth - 1 : depth);
  sort_range(s, order, middle, end, inside ? 1 : groups - half, inside ? depth - 1 : depth);
}

/** The particles in the order of a division; free(). @param whole  in one piece */
static inline uint32_t *order_of_cut(const struct particles *whole, const struct cut *cut) {
  uint32_t *order = allocate(whole->count, sizeof *order, "the order of a cut");
  for (uint32_t i = 0; i < whole->count; i++) order[i] = i;
  if (cut->sorted) sort_range(whole, order, 0, whole->count, cut->groups, cut->depth);
  return order;
}

/** The particles of this rank. @param order  order_of_cut() */
static inline struct particles take_share(const struct particles *whole, const struct cut *cut,
                                          const uint32_t *order, share_rule *first_of) {
  const size_t n = whole->count, rank = (size_t)comm_rank(), ranks = (size_t)comm_size();
  const size_t first_block = first_of(cut->groups, rank, ranks);
  const size_t end_block = rank + 1 < ranks ? first_of(cut->groups, rank + 1, ranks) : cut->groups;
  const size_t first = block_first(n, cut->groups, first_block),
               end = block_first(n, cut->groups, end_block);
  struct particles s = particles_create(end - first, whole->box, whole->mass);
  s.all = n;
  s.all_blocks = cut->groups;
  s.first_block = first_block;
  s.blocks = end_block - first_block;
  for (size_t g = 0; g < s.blocks; g++) {
    const struct particle_block b = particles_block(&s, g);
    for (size_t i = 0; i < b.count; i++) {
      const uint32_t from = order[first + b.first + i];
      b.id[i] = whole->id[from];
      for (size_t c = 0; c < 3; c++) {
        b.x[c][i] = whole->position[c * n + from];
        b.p[c][i] = whole->momentum[c * n + from];
      }
    }
  }
  return s;
}

/** All particles of a simulation at z = 0, ids 0 .. N-1. */
static inline struct particles read_simulated(void) {
  struct parameters p;
  parameters_default(&p);
  snprintf(p.ic.file, sizeof p.ic.file, "%s", force_set_path("late.hdf5"));
  struct particles whole = gather_particles(ic_read_gadget(&p));
  for (size_t i = 0; i < whole.count; i++) whole.id[i] = i;
  return whole;
}

#endif
