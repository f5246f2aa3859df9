/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which particles are bound to each other: those of positive energy in the rest frame of all are removed
 * until there are none. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "halo_tree.h"
#include "photons/analysis/kernels.h"
#include "photons/base/error.h"
#include "photons/cosmology/cosmology.h"
#include "subhalo.h"

#define MOST_REMOVED 0.25 /* at a time: the rest frame changes with those that leave */
#define FEW \
  0.125 /* a share of removed particles whose potential is cheaper than that of all others */
enum { CHUNK = 256 };

/** A particle and its energy in a unit mass, (km/s)^2. */
struct bound {
  struct halo_body body;
  double potential, energy;
  uint32_t number;
};

struct potentials {
  const struct halo_kernels *kernels;
  const struct unbinding *unbinding;
  const struct halo_tree *tree;
  struct bound *to;
  const uint32_t *order; /* of `to`: neighbours follow each other */
  size_t count;
  double unit; /* of a particle of the tree */
};

/** Potentials of `count` particles that follow each other in the order. */
static void add_points(const struct potentials *p, const uint32_t *order, int count) {
  struct halo_points points = {.count = count};
  for (int k = 0; k < count; k++)
    for (int c = 0; c < 3; c++) points.x[c][k] = p->to[order[k]].body.x[c];
  p->kernels->potentials(p->tree, p->unbinding->softening, &points);
  for (int k = 0; k < count; k++) p->to[order[k]].potential -= p->unit * points.sum[k];
}

static void add_potentials(void *context, uint32_t part) {
  const struct potentials *p = context;
  const size_t first = (size_t)part * CHUNK,
               end = first + CHUNK < p->count ? first + CHUNK : p->count;
  for (size_t i = first; i < end; i += HALO_POINTS)
    add_points(p, p->order + i, end - i < HALO_POINTS ? (int)(end - i) : HALO_POINTS);
}

/** Add the potential of particles, times a factor, to that of others.
 * @param order  [count] of the others; NULL: these are the particles, in the order of their tree, which is stored in
 *         `own_order` */
static void add_potential(const struct unbinding *u, size_t sources, const struct bound *from,
                          double factor, size_t count, struct bound *to, const uint32_t *order,
                          uint32_t *own_order, bool shared) {
  struct halo_body *body = reallocate(NULL, sources, sizeof *body, "bound particles");
  for (size_t i = 0; i < sources; i++) body[i] = from[i].body;
  struct halo_tree tree = halo_tree_create(sources, body, 0.0, shared);
  if (!order) memcpy(own_order, tree.body, count * sizeof *own_order);
  struct potentials p = {halo_kernels_select(),
                         u,
                         &tree,
                         to,
                         order ? order : own_order,
                         count,
                         factor * GRAVITY * u->mass / u->background->a};
  halo_loop(shared, (uint32_t)((count + CHUNK - 1) / CHUNK), add_potentials, &p);
  halo_tree_free(&tree);
  free(body);
}

/** @param[out] order  [n] of the particles: neighbours follow each other */
static void set_potential(const struct unbinding *u, size_t n, struct bound *b, uint32_t *order,
                          bool shared) {
  const double self = GRAVITY * u->mass / (u->background->a * u->softening);
  for (size_t i = 0; i < n; i++) b[i].potential = self;
  add_potential(u, n, b, 1.0, n, b, NULL, order, shared);
}

/** Energies in the rest frame of all, with the Hubble flow about their centre. */
static void set_energies(const struct halo_background *g, size_t n, struct bound *b) {
  double x[3] = {0.0}, v[3] = {0.0};
  for (size_t i = 0; i < n; i++)
    for (int c = 0; c < 3; c++) {
      x[c] += b[i].body.x[c] / (double)n;
      v[c] += b[i].body.v[c] / (double)n;
    }
  for (size_t i = 0; i < n; i++) {
    b[i].energy = b[i].potential;
    for (int c = 0; c < 3; c++) {
      const double speed = b[i].body.v[c] - v[c] + g->hubble * g->a * (b[i].body.x[c] - x[c]);
      b[i].energy += 0.5 * speed * speed;
    }
  }
}

static int compare_energies(const void *a, const void *b) {
  const struct bound *x = a, *y = b;
  if (x->energy != y->energy) return x->energy < y->energy ? -1 : 1;
  return (x->number > y->number) - (x->number < y->number);
}

static int compare_falling(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x < y) - (x > y);
}

/** The least energy that is removed, among positive ones: 0, or more where too many would be. */
static double energy_limit(size_t n, const struct bound *b) {
  double *positive = reallocate(NULL, n, sizeof *positive, "bound particles");
  size_t count = 0;
  for (size_t i = 0; i < n; i++)
    if (b[i].energy > 0.0) positive[count++] = b[i].energy;
  const size_t most = (size_t)(MOST_REMOVED * (double)n) + 1;
  double limit = 0.0;
  if (count > most) {
    qsort(positive, count, sizeof *positive, compare_falling);
    limit = positive[most];
  }
  free(positive);
  return limit;
}

/** Keep those of the first `stay` places in the order. @param place  [n] of the particles now */
static void keep_order(size_t n, size_t stay, const uint32_t *place, uint32_t *order) {
  size_t next = 0;
  for (size_t k = 0; k < n; k++)
    if (place[order[k]] < stay) order[next++] = place[order[k]];
}

/** Move the particles that are to be removed behind the others, both in their order. @return particles
 * that stay */
static size_t part_unbound(size_t n, struct bound *b, uint32_t *order) {
  const double limit = energy_limit(n, b);
  struct bound *removed = reallocate(NULL, n, sizeof *removed, "bound particles");
  uint32_t *place = reallocate(NULL, n, sizeof *place, "bound particles");
  size_t stay = 0, leave = 0;
  for (size_t i = 0; i < n; i++) {
    const bool leaves = b[i].energy > 0.0 && b[i].energy >= limit;
    place[i] = leaves ? UINT32_MAX : (uint32_t)stay;
    if (leaves)
      removed[leave++] = b[i];
    else
      b[stay++] = b[i];
  }
  memcpy(b + stay, removed, leave * sizeof *b);
  if (leave > 0) keep_order(n, stay, place, order);
  free(place);
  free(removed);
  return stay;
}

size_t subhalo_unbind(const struct unbinding *u, size_t count, uint32_t *number, bool shared) {
  if (count < u->least) return 0;
  struct bound *b = reallocate(NULL, count, sizeof *b, "bound particles");
  for (size_t i = 0; i < count; i++)
    b[i] = (struct bound){.body = u->body[number[i]], .number = number[i]};
  uint32_t *order = reallocate(NULL, count, sizeof *order, "bound particles");
  set_potential(u, count, b, order, shared);
  for (;;) {
    set_energies(u->background, count, b);
    const size_t stay = part_unbound(count, b, order), removed = count - stay;
    count = stay;
    if (removed == 0 || count < u->least) break;
    if ((double)removed < FEW * (double)count)
      add_potential(u, removed, b + count, -1.0, count, b, order, NULL, shared);
    else
      set_potential(u, count, b, order, shared);
  }
  if (count < u->least) count = 0;
  qsort(b, count, sizeof *b, compare_energies);
  for (size_t i = 0; i < count; i++) number[i] = b[i].number;
  free(order);
  free(b);
  return count;
}
