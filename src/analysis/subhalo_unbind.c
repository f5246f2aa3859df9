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
#include "rising.h"
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
  struct bound *to; /* neighbours follow each other */
  size_t count;
  double unit; /* of a particle of the tree */
};

static void add_points(const struct potentials *p, struct bound *to, int count) {
  struct halo_points points = {.count = count};
  for (int k = 0; k < count; k++)
    for (int c = 0; c < 3; c++) points.x[c][k] = to[k].body.x[c];
  p->kernels->potentials(p->tree, p->unbinding->softening, &points);
  for (int k = 0; k < count; k++) to[k].potential -= p->unit * points.sum[k];
}

static void add_potentials(void *context, uint32_t part) {
  const struct potentials *p = context;
  const size_t first = (size_t)part * CHUNK,
               end = first + CHUNK < p->count ? first + CHUNK : p->count;
  for (size_t i = first; i < end; i += HALO_POINTS)
    add_points(p, p->to + i, end - i < HALO_POINTS ? (int)(end - i) : HALO_POINTS);
}

/** Add the potential of the particles of a tree, times a factor, to that of others. */
static void add_potential(const struct unbinding *u, const struct halo_tree *tree, double factor,
                          size_t count, struct bound *to) {
  struct potentials p = {
      halo_kernels_select(), u, tree, to, count, factor * GRAVITY * u->mass / u->background->a};
  halo_loop((uint32_t)((count + CHUNK - 1) / CHUNK), add_potentials, &p);
}

static struct halo_tree tree_of(size_t n, const struct bound *b) {
  struct halo_body *body = reallocate(NULL, n, sizeof *body, "bound particles");
  for (size_t i = 0; i < n; i++) body[i] = b[i].body;
  struct halo_tree tree = halo_tree_create(n, body, 0.0);
  free(body);
  return tree;
}

/** Take the potential of particles from that of others. */
static void take_potential(const struct unbinding *u, size_t n, const struct bound *from,
                           size_t count, struct bound *to) {
  struct halo_tree tree = tree_of(n, from);
  add_potential(u, &tree, -1.0, count, to);
  halo_tree_free(&tree);
}

/** @param tree  of the particles, in any order */
static void set_potential(const struct unbinding *u, const struct halo_tree *tree,
                          struct bound *b) {
  const double self = GRAVITY * u->mass / (u->background->a * u->softening);
  for (size_t i = 0; i < tree->count; i++) b[i].potential = self;
  add_potential(u, tree, 1.0, tree->count, b);
}

static void renew_potential(const struct unbinding *u, size_t n, struct bound *b) {
  struct halo_tree tree = tree_of(n, b);
  set_potential(u, &tree, b);
  halo_tree_free(&tree);
}

/** Particles with their potentials. Neighbours follow each other: their next trees take less time, too. */
static struct bound *bound_create(const struct unbinding *u, size_t n, const uint32_t *number) {
  struct bound *b = reallocate(NULL, n, sizeof *b, "bound particles");
  for (size_t i = 0; i < n; i++) b[i].body = u->body[number[i]];
  struct halo_tree tree = tree_of(n, b);
  for (size_t i = 0; i < n; i++) {
    b[i].number = number[tree.body[i]];
    b[i].body = u->body[b[i].number];
  }
  set_potential(u, &tree, b);
  halo_tree_free(&tree);
  return b;
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

/** The least energy that is removed, among positive ones: 0, or more where too many would be. */
static double energy_limit(size_t n, const struct bound *b) {
  double *positive = reallocate(NULL, n, sizeof *positive, "bound particles");
  size_t count = 0;
  for (size_t i = 0; i < n; i++)
    if (b[i].energy > 0.0) positive[count++] = b[i].energy;
  const size_t most = (size_t)(MOST_REMOVED * (double)n) + 1;
  double limit = 0.0;
  if (count > most) {
    uint32_t *order = allocate(count, sizeof *order, "bound particles");
    order_rising(count, positive, order);
    limit = positive[order[count - 1 - most]];
    free(order);
  }
  free(positive);
  return limit;
}

/** Move the particles that are to be removed behind the others, both in their order. @return particles
 * that stay */
static size_t part_unbound(size_t n, struct bound *b) {
  const double limit = energy_limit(n, b);
  struct bound *removed = reallocate(NULL, n, sizeof *removed, "bound particles");
  size_t stay = 0, leave = 0;
  for (size_t i = 0; i < n; i++)
    if (b[i].energy > 0.0 && b[i].energy >= limit)
      removed[leave++] = b[i];
    else if (stay++ < i)
      b[stay - 1] = b[i];
  memcpy(b + stay, removed, leave * sizeof *b);
  free(removed);
  return stay;
}

/** Numbers of particles by rising energy. */
static void number_by_energy(size_t n, const struct bound *b, uint32_t *number) {
  double *energy = allocate(n, sizeof *energy, "bound particles");
  uint32_t *order = allocate(n, sizeof *order, "bound particles");
  for (size_t i = 0; i < n; i++) energy[i] = b[i].energy;
  order_rising(n, energy, order);
  for (size_t i = 0; i < n; i++) number[i] = b[order[i]].number;
  free(order);
  free(energy);
}

/** Bring the potential of particles to what it is without those that follow them. */
static void leave_behind(const struct unbinding *u, size_t count, struct bound *b,
                         size_t left_out) {
  if ((double)left_out < FEW * (double)count)
    take_potential(u, left_out, b + count, count, b);
  else
    renew_potential(u, count, b);
}

/** subhalo_unbind() of particles whose potentials are known. */
static size_t unbind(const struct unbinding *u, size_t count, struct bound *b, uint32_t *number) {
  while (count >= u->least) {
    set_energies(u->background, count, b);
    const size_t stay = part_unbound(count, b), removed = count - stay;
    count = stay;
    if (removed == 0) break;
    if (count >= u->least) leave_behind(u, count, b, removed);
  }
  if (count < u->least) return 0;
  number_by_energy(count, b, number);
  return count;
}

size_t subhalo_unbind(const struct unbinding *u, size_t count, uint32_t *number) {
  if (count < u->least) return 0;
  struct bound *b = bound_create(u, count, number);
  const size_t bound = unbind(u, count, b, number);
  free(b);
  return bound;
}

struct known_potential *subhalo_potentials(const struct unbinding *u, size_t count,
                                           const uint32_t *number) {
  struct known_potential *known = allocate(count, sizeof *known, "bound particles");
  struct bound *b = bound_create(u, count, number);
  for (size_t i = 0; i < count; i++)
    known[i] = (struct known_potential){b[i].potential, b[i].number};
  free(b);
  return known;
}

size_t subhalo_unbind_known(const struct unbinding *u, size_t count,
                            const struct known_potential *known, const bool *left_out,
                            uint32_t *number) {
  struct bound *b = reallocate(NULL, count, sizeof *b, "bound particles");
  size_t stay = 0, end = count; /* those left out follow the others */
  for (size_t i = 0; i < count; i++) {
    const bool stays = !left_out || !left_out[known[i].number];
    b[stays ? stay++ : --end] = (struct bound){.body = u->body[known[i].number],
                                               .potential = known[i].potential,
                                               .number = known[i].number};
  }
  if (stay < count && stay >= u->least) leave_behind(u, stay, b, count - stay);
  const size_t bound = unbind(u, stay, b, number);
  free(b);
  return bound;
}
