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
/* A share of removed particles whose potential is cheaper than that of all others. */
#define FEW 0.5
enum {
  CHUNK = 256, /* particles of a part of a loop: their potentials, */
  PART = 4096  /* and their energies */
};

/** A particle and its potential, (km/s)^2. */
struct bound {
  struct halo_body body;
  double potential;
  uint32_t number;
};

/** Particles that may be bound to each other. */
struct group {
  const struct unbinding *unbinding;
  size_t count;    /* those that are left, the first ones in `place`; those removed last follow */
  uint32_t *place; /* in `particle`: neighbours follow each other */
  double *energy;  /* [count] of those left, in a unit mass, (km/s)^2 */
  struct bound *particle;
};

static struct bound *particle_at(const struct group *g, size_t k) {
  return &g->particle[g->place[k]];
}

static uint32_t parts_of(const struct group *g, size_t part) {
  return (uint32_t)((g->count + part - 1) / part);
}

static size_t end_of(const struct group *g, uint32_t part, size_t size) {
  const size_t end = (part + 1) * size;
  return end < g->count ? end : g->count;
}

/** The field of particles, which acts on those that are left. */
struct field {
  const struct halo_kernels *kernels;
  const struct group *group;
  const struct halo_tree *tree;
  double unit; /* of a particle of the tree */
};

static void add_points(const struct field *f, size_t first, int count) {
  struct halo_points points = {.count = count};
  for (int k = 0; k < count; k++)
    for (int c = 0; c < 3; c++)
      points.x[c][k] = particle_at(f->group, first + (size_t)k)->body.x[c];
  f->kernels->potentials(f->tree, f->group->unbinding->softening, &points);
  for (int k = 0; k < count; k++)
    particle_at(f->group, first + (size_t)k)->potential -= f->unit * points.sum[k];
}

static void add_chunk(void *context, uint32_t chunk) {
  const struct field *f = context;
  const size_t end = end_of(f->group, chunk, CHUNK);
  for (size_t k = (size_t)chunk * CHUNK; k < end; k += HALO_POINTS)
    add_points(f, k, end - k < HALO_POINTS ? (int)(end - k) : HALO_POINTS);
}

/** Add the potential of the particles of a tree, times a factor, to that of those left. */
static void add_potential(const struct group *g, const struct halo_tree *tree, double factor) {
  const struct unbinding *u = g->unbinding;
  struct field f = {halo_kernels_select(), g, tree, factor * GRAVITY * u->mass / u->background->a};
  halo_loop(parts_of(g, CHUNK), add_chunk, &f);
}

static struct halo_tree tree_of(const struct group *g, size_t first, size_t count) {
  struct halo_body *body = reallocate(NULL, count, sizeof *body, "bound particles");
  for (size_t k = 0; k < count; k++) body[k] = particle_at(g, first + k)->body;
  struct halo_tree tree = halo_tree_create(count, body, 0.0);
  free(body);
  return tree;
}

/** Set the potentials of all that are left. @param tree  of these, in any order */
static void set_potential(const struct group *g, const struct halo_tree *tree) {
  const struct unbinding *u = g->unbinding;
  const double self = GRAVITY * u->mass / (u->background->a * u->softening);
  for (size_t k = 0; k < g->count; k++) particle_at(g, k)->potential = self;
  add_potential(g, tree, 1.0);
}

/** Bring the potentials of those left to what they are without those removed last. */
static void leave_behind(const struct group *g, size_t removed) {
  const bool few = (double)removed < FEW * (double)g->count;
  struct halo_tree tree = few ? tree_of(g, g->count, removed) : tree_of(g, 0, g->count);
  if (few)
    add_potential(g, &tree, -1.0);
  else
    set_potential(g, &tree);
  halo_tree_free(&tree);
}

static struct group group_create(const struct unbinding *u, size_t count) {
  struct group g = {.unbinding = u, .count = count};
  g.place = reallocate(NULL, count, sizeof *g.place, "bound particles");
  g.energy = reallocate(NULL, count, sizeof *g.energy, "bound particles");
  g.particle = reallocate(NULL, count, sizeof *g.particle, "bound particles");
  for (uint32_t k = 0; k < count; k++) g.place[k] = k;
  return g;
}

static void group_free(struct group *g) {
  free(g->place);
  free(g->energy);
  free(g->particle);
}

static struct bound bound_of(const struct unbinding *u, double potential, uint32_t number) {
  return (struct bound){u->body[number], potential, number};
}

/** Particles with the potentials in the field of all. They are in the order of their tree, so that neighbours follow each
 * other and their next trees take less time. */
static struct group group_with_potentials(const struct unbinding *u, size_t count,
                                          const uint32_t *number) {
  struct group g = group_create(u, count);
  for (size_t k = 0; k < count; k++) g.particle[k] = bound_of(u, 0.0, number[k]);
  struct halo_tree tree = tree_of(&g, 0, count);
  for (size_t k = 0; k < count; k++) g.particle[k] = bound_of(u, 0.0, number[tree.body[k]]);
  set_potential(&g, &tree);
  halo_tree_free(&tree);
  return g;
}

/** Sums over a part of the particles, and the rest frame of all. */
struct frame {
  double x[3], v[3];
};

struct measuring {
  const struct group *group;
  struct frame *sum; /* [part] */
  struct frame mean;
};

static void add_part(void *context, uint32_t part) {
  const struct measuring *m = context;
  const size_t end = end_of(m->group, part, PART);
  struct frame sum = {{0.0}, {0.0}};
  for (size_t k = (size_t)part * PART; k < end; k++) {
    const struct halo_body *b = &particle_at(m->group, k)->body;
    for (int c = 0; c < 3; c++) sum.x[c] += b->x[c], sum.v[c] += b->v[c];
  }
  m->sum[part] = sum;
}

/** Energies in the rest frame of all, with the Hubble flow about their centre. */
static void set_part(void *context, uint32_t part) {
  const struct measuring *m = context;
  const struct halo_background *g = m->group->unbinding->background;
  const size_t end = end_of(m->group, part, PART);
  for (size_t k = (size_t)part * PART; k < end; k++) {
    const struct bound *b = particle_at(m->group, k);
    double energy = b->potential;
    for (int c = 0; c < 3; c++) {
      const double speed = b->body.v[c] - m->mean.v[c] +
                           g->hubble * g->a * (b->body.x[c] - m->mean.x[c]);
      energy += 0.5 * speed * speed;
    }
    m->group->energy[k] = energy;
  }
}

static void set_energies(const struct group *g) {
  const uint32_t parts = parts_of(g, PART);
  const double n = (double)g->count;
  struct measuring m = {g, allocate(parts, sizeof *m.sum, "bound particles"), {{0.0}, {0.0}}};
  halo_loop(parts, add_part, &m);
  for (uint32_t part = 0; part < parts; part++)
    for (int c = 0; c < 3; c++)
      m.mean.x[c] += m.sum[part].x[c] / n, m.mean.v[c] += m.sum[part].v[c] / n;
  halo_loop(parts, set_part, &m);
  free(m.sum);
}

/** The least energy that is removed, among positive ones: 0, or more where too many would be. */
static double energy_limit(const struct group *g) {
  double *positive = reallocate(NULL, g->count, sizeof *positive, "bound particles");
  size_t count = 0;
  for (size_t k = 0; k < g->count; k++)
    if (g->energy[k] > 0.0) positive[count++] = g->energy[k];
  const size_t most = (size_t)(MOST_REMOVED * (double)g->count) + 1;
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

/** Those of a group that are to be removed follow the others, both in their order. @return their number */
static size_t remove_unbound(struct group *g) {
  const double limit = energy_limit(g);
  uint32_t *removed = reallocate(NULL, g->count, sizeof *removed, "bound particles");
  size_t stay = 0, leave = 0;
  for (size_t k = 0; k < g->count; k++)
    if (g->energy[k] > 0.0 && g->energy[k] >= limit) {
      removed[leave++] = g->place[k];
    } else {
      g->energy[stay] = g->energy[k];
      g->place[stay++] = g->place[k];
    }
  memcpy(g->place + stay, removed, leave * sizeof *removed);
  free(removed);
  g->count = stay;
  return leave;
}

/** Numbers of those left by rising energy. */
static void number_by_energy(const struct group *g, uint32_t *number) {
  uint32_t *order = allocate(g->count, sizeof *order, "bound particles");
  order_rising(g->count, g->energy, order);
  for (size_t k = 0; k < g->count; k++) number[k] = particle_at(g, order[k])->number;
  free(order);
}

/** subhalo_unbind() of particles whose potentials are known. */
static size_t unbind(struct group *g, uint32_t *number) {
  const size_t least = g->unbinding->least;
  while (g->count >= least) {
    set_energies(g);
    const size_t removed = remove_unbound(g);
    if (removed == 0) break;
    if (g->count >= least) leave_behind(g, removed);
  }
  if (g->count < least) return 0;
  number_by_energy(g, number);
  return g->count;
}

size_t subhalo_unbind(const struct unbinding *u, size_t count, uint32_t *number) {
  if (count < u->least) return 0;
  struct group g = group_with_potentials(u, count, number);
  const size_t bound = unbind(&g, number);
  group_free(&g);
  return bound;
}

struct known_potential *subhalo_potentials(const struct unbinding *u, size_t count,
                                           const uint32_t *number) {
  struct known_potential *known = allocate(count, sizeof *known, "bound particles");
  struct group g = group_with_potentials(u, count, number);
  for (size_t k = 0; k < count; k++)
    known[k] = (struct known_potential){g.particle[k].potential, g.particle[k].number};
  group_free(&g);
  return known;
}

size_t subhalo_unbind_known(const struct unbinding *u, size_t count,
                            const struct known_potential *known, const bool *left_out,
                            uint32_t *number) {
  struct group g = group_create(u, count);
  size_t stay = 0, end = count; /* those left out follow the others */
  for (size_t k = 0; k < count; k++) {
    const bool stays = !left_out || !left_out[known[k].number];
    g.particle[stays ? stay++ : --end] = bound_of(u, known[k].potential, known[k].number);
  }
  g.count = stay;
  if (stay < count && stay >= u->least) leave_behind(&g, count - stay);
  const size_t bound = unbind(&g, number);
  group_free(&g);
  return bound;
}
