/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Potentials of the particles of a halo in the field of all or some of them. */
#include <stdlib.h>
#include <string.h>

#include "halo_sources.h"
#include "halo_tree.h"
#include "photons/analysis/kernels.h"
#include "photons/base/error.h"
#include "photons/cosmology/cosmology.h"
#include "subhalo.h"

/* A share of the particles whose leaving or coming is cheaper to follow than the field of all is to find. */
#define FEW 0.5
enum { CHUNK = 256 }; /* particles of a part of a loop */

double potential_unit(const struct unbinding *u) { return GRAVITY * u->mass / u->background->a; }
double potential_of_itself(const struct unbinding *u) { return potential_unit(u) / u->softening; }

/** The field of particles, which acts on others or on these. */
struct field {
  const struct unbinding *unbinding;
  const struct halo_kernels *kernels;
  const struct halo_sources *sources;
  const struct potentials *on;
  double unit; /* of a source */
};

static void add_points(const struct field *f, uint32_t first, int count) {
  struct halo_points points = {.count = count};
  for (int k = 0; k < count; k++) {
    const double *x = f->unbinding->body[f->on->number[first + (uint32_t)k]].x;
    for (int c = 0; c < 3; c++) points.x[c][k] = (float)x[c];
  }
  f->kernels->potentials(f->sources, (float)f->unbinding->softening, &points);
  for (int k = 0; k < count; k++) f->on->potential[first + (uint32_t)k] -= f->unit * points.sum[k];
}

static void add_chunk(void *context, uint32_t chunk) {
  const struct field *f = context;
  const uint32_t first = chunk * CHUNK,
                 end = f->on->count - first > CHUNK ? first + CHUNK : f->on->count;
  for (uint32_t k = first; k < end; k += HALO_POINTS)
    add_points(f, k, end - k < HALO_POINTS ? (int)(end - k) : HALO_POINTS);
}

/** Add the potential of particles, times a factor, to that of others. */
static void add_field(const struct unbinding *u, const struct potentials *on, uint32_t count,
                      const uint32_t *number, double factor) {
  if (count == 0 || on->count == 0) return;
  struct halo_sources sources = halo_sources_create(u->body, count, number, true);
  struct field f = {u, halo_kernels_select(), &sources, on, factor * potential_unit(u)};
  halo_loop((on->count + CHUNK - 1) / CHUNK, add_chunk, &f);
  halo_sources_free(&sources);
}

static void clear_potentials(const struct unbinding *u, const struct potentials *p) {
  const double self = potential_of_itself(u);
  for (uint32_t k = 0; k < p->count; k++) p->potential[k] = self;
}

/** Set the potentials of few particles in their own field. */
static void set_pairs(const struct unbinding *u, const struct potentials *p) {
  double sum[HALO_PAIRS];
  struct halo_sources sources = halo_sources_create(u->body, p->count, p->number, false);
  halo_kernels_select()->pairs(&sources, (float)u->softening, sum);
  for (uint32_t k = 0; k < p->count; k++) p->potential[k] -= potential_unit(u) * sum[k];
  halo_sources_free(&sources);
}

/** Set the potentials of particles in their own field. */
static void set_potentials(const struct unbinding *u, const struct potentials *p) {
  clear_potentials(u, p);
  if (p->count <= HALO_PAIRS)
    set_pairs(u, p);
  else
    add_field(u, p, p->count, p->number, 1.0);
}

static struct potentials potentials_create(uint32_t count) {
  return (struct potentials){count, reallocate(NULL, count, sizeof(uint32_t), "bound particles"),
                             reallocate(NULL, count, sizeof(double), "bound particles")};
}

void potentials_free(struct potentials *p) {
  free(p->number);
  free(p->potential);
  *p = (struct potentials){0, NULL, NULL};
}

struct potentials potentials_copy(const struct potentials *p) {
  struct potentials copy = potentials_create(p->count);
  memcpy(copy.number, p->number, p->count * sizeof *p->number);
  memcpy(copy.potential, p->potential, p->count * sizeof *p->potential);
  return copy;
}

struct potentials potentials_list(uint32_t count, const uint32_t *number) {
  const struct potentials p = potentials_create(count);
  memcpy(p.number, number, count * sizeof *number);
  return p;
}

struct potentials potentials_of(const struct unbinding *u, uint32_t count, const uint32_t *number) {
  struct potentials p = potentials_list(count, number);
  set_potentials(u, &p);
  return p;
}

void potentials_without(const struct unbinding *u, struct potentials *p, uint32_t count,
                        const uint32_t *removed) {
  if ((double)count < FEW * (double)p->count)
    add_field(u, p, count, removed, -1.0);
  else
    set_potentials(u, p);
}

/** Two lists of particles compared. */
struct change {
  struct potentials same; /* of both lists, with what is known */
  struct potentials new;  /* of the second list alone */
  struct potentials gone; /* of the first list alone */
};

static void add_to(struct potentials *p, uint32_t number) { p->number[p->count++] = number; }

static struct change compare(const struct potentials *known, uint32_t count,
                             const uint32_t *number) {
  struct change c = {potentials_create(count), potentials_create(count),
                     potentials_create(known->count)};
  c.same.count = c.new.count = c.gone.count = 0;
  uint32_t i = 0, k = 0;
  while (i < known->count || k < count)
    if (k == count || (i < known->count && known->number[i] < number[k])) {
      add_to(&c.gone, known->number[i++]);
    } else if (i == known->count || number[k] < known->number[i]) {
      add_to(&c.new, number[k++]);
    } else {
      c.same.potential[c.same.count] = known->potential[i++];
      add_to(&c.same, number[k++]);
    }
  return c;
}

/** The particles of the second list. */
static struct potentials merge(const struct change *c) {
  struct potentials p = potentials_create(c->same.count + c->new.count);
  uint32_t i = 0, j = 0;
  for (uint32_t k = 0; k < p.count; k++) {
    const bool new = i == c->same.count ||
                     (j < c->new.count && c->new.number[j] < c->same.number[i]);
    const struct potentials *from = new ? &c->new : &c->same;
    const uint32_t place = new ? j++ : i++;
    p.number[k] = from->number[place];
    p.potential[k] = from->potential[place];
  }
  return p;
}

static void follow(const struct unbinding *u, const struct change *c, uint32_t count,
                   const uint32_t *number) {
  add_field(u, &c->same, c->gone.count, c->gone.number, -1.0);
  add_field(u, &c->same, c->new.count, c->new.number, 1.0);
  clear_potentials(u, &c->new);
  add_field(u, &c->new, count, number, 1.0);
}

/** What following a change costs, over the field of all. */
static double cost_of(const struct change *c, uint32_t count) {
  return (2.0 * c->new.count + c->gone.count) / (double)count;
}

/** The least cost of a change between lists of these lengths. */
static double least_cost(uint32_t known, uint32_t count) {
  const double gone = (double)known - (double)count;
  return (gone > 0.0 ? gone : -2.0 * gone) / (double)count;
}

static void change_free(struct change *c) {
  potentials_free(&c->same);
  potentials_free(&c->new);
  potentials_free(&c->gone);
}

struct potentials potentials_from(const struct unbinding *u, uint32_t sets,
                                  const struct potentials *const *known, uint32_t count,
                                  const uint32_t *number) {
  struct change best = {.same = {0}};
  double cost = FEW;
  for (uint32_t i = 0; i < sets; i++) {
    /* A large host's list is not walked for each of its small subhalos. The cost of no particles is not a number. */
    if (!(least_cost(known[i]->count, count) < cost)) continue;
    struct change other = compare(known[i], count, number);
    const double other_cost = cost_of(&other, count);
    const bool better = other_cost < cost;
    change_free(better ? &best : &other);
    if (!better) continue;
    best = other;
    cost = other_cost;
  }
  if (!(cost < FEW)) return potentials_of(u, count, number);
  follow(u, &best, count, number);
  const struct potentials p = merge(&best);
  change_free(&best);
  return p;
}
