/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/step/escapers.h"

#include <math.h>
#include <stdlib.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/config/parameters.h"
#include "photons/cosmology/cosmology.h"
#include "photons/step/external.h"
#include "photons/step/step.h"

/** Squared distance between two positions, position units. */
static double distance_squared(const uint32_t a[3], const uint32_t b[3]) {
  double sum = 0.0;
  for (int c = 0; c < 3; c++) {
    const double d = position_difference(a[c], b[c]);
    sum += d * d;
  }
  return sum;
}

static void position_of(const struct particle_block *b, size_t i, uint32_t x[3]) {
  for (int c = 0; c < 3; c++) x[c] = b->x[c][i];
}

/** An escaper as ranks tell each other. */
struct record {
  uint64_t id;
  uint32_t position[3];
  float velocity[3];
  float mass, soft2; /* relative mass; softening as the law's support2 or plummer2 */
};

static int compare_records(const void *a, const void *b) {
  const struct record *x = a, *y = b;
  return (x->id > y->id) - (x->id < y->id);
}

/** Find this rank's escapers.
 * @param limit      squared distance from the middle, position units
 * @param[out] keep  [particles of this rank] false for escapers
 * @return malloc'ed; @param[out] count */
static struct record *find(const struct particles *s, const struct p2p_law *law, double limit,
                           bool *keep, size_t *count) {
  static const uint32_t middle[3] = {FRAME_MIDDLE, FRAME_MIDDLE, FRAME_MIDDLE};
  struct record *found = NULL;
  size_t room = 0;
  *count = 0;
  for (size_t g = 0; g < s->blocks; g++) {
    const struct particle_block b = particles_block(s, g);
    for (size_t i = 0; i < b.count; i++) {
      struct record r = {.id = b.id[i]};
      position_of(&b, i, r.position);
      keep[b.first + i] = distance_squared(r.position, middle) < limit;
      if (keep[b.first + i]) continue;
      for (int c = 0; c < 3; c++) r.velocity[c] = b.p[c][i];
      r.mass = b.relative_mass ? b.relative_mass[i] : 1.0f;
      r.soft2 = p2p_soft2(law, law->by_type ? b.type : NULL, (uint32_t)i);
      if (*count == room) {
        room = 2 * room + 16;
        found = reallocate(found, room, sizeof *found, "escapers");
      }
      found[(*count)++] = r;
    }
  }
  return found;
}

/** Those of all ranks, by id. Frees @p mine. */
static struct record *gather(struct record *mine, size_t *count) {
  size_t *bytes = allocate((size_t)comm_size(), sizeof *bytes, "message sizes"), all = 0;
  const size_t own = *count * sizeof *mine;
  comm_gather_all(&own, sizeof own, bytes);
  for (int r = 0; r < comm_size(); r++) all += bytes[r];
  struct record *records = allocate(all / sizeof *records, sizeof *records, "escapers");
  comm_gather_all_sizes(mine, bytes, records);
  *count = all / sizeof *records;
  qsort(records, *count, sizeof *records, compare_records);
  free(bytes);
  free(mine);
  return records;
}

/** Sum of masses times potential of a block's particles over all pairs with an escaper, each pair
 * once, in units of 1/r_cut. */
static double potential_of(const struct nbody *n, const struct particle_block *b, const bool *keep,
                           const struct record *escaper, size_t count) {
  const double scale = 1.0 / POSITION_TURN; /* r_cut = L */
  const struct p2p_law *law = &n->short_range.law;
  double sum = 0.0;
  for (size_t i = 0; i < b->count; i++) {
    const double mass = b->relative_mass ? (double)b->relative_mass[i] : 1.0;
    const float soft2 = p2p_soft2(law, law->by_type ? b->type : NULL, (uint32_t)i);
    uint32_t x[3];
    position_of(b, i, x);
    for (size_t e = 0; e < count; e++) {
      if (!keep[b->first + i] && escaper[e].id >= b->id[i]) continue;
      const double u = distance_squared(x, escaper[e].position) * scale * scale;
      sum += mass * (double)escaper[e].mass *
             p2p_newton_potential(law, (double)fmaxf(soft2, escaper[e].soft2), u);
    }
  }
  return sum;
}

static double pair_potential(const struct nbody *n, const bool *keep, const struct record *escaper,
                             size_t count) {
  const struct domain *d = &n->domain;
  double sum, *of = allocate(d->particles.blocks, sizeof *of, "energies of escapers");
  FOR_GROUPS(d, g) {
    const struct particle_block b = particles_block(&d->particles, group_place(d, g));
    of[group_place(d, g)] = potential_of(n, &b, keep, escaper, count);
  }
  group_sums(&d->particles, of, 1, &sum);
  free(of);
  return sum;
}

/** In the potentials of section [external]: energy, or with the kinetic one Jacobi's integral where it is
 * what is conserved. */
static double external_energy(const struct nbody *n, const struct record *escaper, size_t count) {
  if (!n->external) return 0.0;
  struct external_field field = n->external->field;
  const struct external_symmetry symmetry = external_symmetry(&field);
  const double unit = 1e3 * n->domain.geometry.box / POSITION_TURN; /* kpc */
  double sum = 0.0;
  external_turn(&field, external_time(n));
  for (size_t e = 0; e < count; e++) {
    const float *v = escaper[e].velocity;
    double x[3];
    external_position(escaper[e].position, 1, 0, unit, x);
    const double spin = x[0] * (double)v[1] - x[1] * (double)v[0];
    sum += (double)escaper[e].mass * external_at(&field, n->external->values, x).potential;
    if (symmetry.rotates && symmetry.jacobi)
      sum -= (double)escaper[e].mass * symmetry.pattern * spin;
  }
  return sum * n->domain.particles.mass;
}

static double energy_of(const struct nbody *n, const bool *keep, const struct record *escaper,
                        size_t count) {
  const double mass = n->domain.particles.mass;
  double square = 0.0;
  for (size_t e = 0; e < count; e++)
    for (int c = 0; c < 3; c++)
      square += (double)escaper[e].mass * (double)escaper[e].velocity[c] *
                (double)escaper[e].velocity[c];
  const double others = 0.5 * mass * square + external_energy(n, escaper, count);
  if (!n->parameters->external.self_gravity) return others;
  return others -
         GRAVITY * mass * mass * pair_potential(n, keep, escaper, count) / n->domain.geometry.r_cut;
}

static struct escaper *describe(const struct record *r, size_t count, double box) {
  struct escaper *list = allocate(count, sizeof *list, "escapers");
  for (size_t i = 0; i < count; i++) {
    list[i].id = r[i].id;
    for (int c = 0; c < 3; c++) {
      list[i].position[c] = position_difference(r[i].position[c], FRAME_MIDDLE) *
                            (box / POSITION_TURN);
      list[i].velocity[c] = (double)r[i].velocity[c];
    }
  }
  return list;
}

struct escapers escapers_take(struct nbody **n, double radius) {
  struct domain *d = &(*n)->domain;
  const double limit = radius / d->geometry.box * POSITION_TURN;
  struct escapers e = {.a = (*n)->a};
  bool *keep = allocate(d->particles.count, sizeof *keep, "particles to keep");
  domain_acquire(d);
  struct record *records = gather(
      find(&d->particles, &(*n)->short_range.law, limit * limit, keep, &e.count), &e.count);
  if (e.count > 0) e.energy = energy_of(*n, keep, records, e.count);
  domain_release(d);
  if (e.count == d->particles.all)
    fail(EXIT_RUN_FAILED,
         "t = %.6g Myr: all particles are %g kpc or more from the origin "
         "(box.escape_radius); what was written before is good",
         cosmology_myr(e.a), 1e3 * radius);
  e.escaper = describe(records, e.count, d->geometry.box);
  if (e.count > 0) {
    *n = nbody_keep(*n, keep);
    step_measure(*n);
  }
  free(records);
  free(keep);
  return e;
}

void escapers_free(struct escapers *e) {
  free(e->escaper);
  *e = (struct escapers){0};
}
