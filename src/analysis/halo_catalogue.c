/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The halo catalogue: numbers halos and their members, and puts particles in the order of the
 * catalogue. */
#include <stdlib.h>
#include <string.h>

#include "halo_home.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/config/parameters.h"
#include "photons/runtime/loop.h"
#include "src/base/index_order.h"

enum { PART = 1 << 14 }; /* particles of a part of a loop */

struct halo_catalogue *halo_catalogue_create(const struct fof *f, size_t min_members,
                                             size_t subhalo_members,
                                             const struct halo_background *background) {
  struct halo_catalogue *c = allocate(1, sizeof *c, "halo catalogue");
  c->particles = f->particles;
  struct halo_home home = halo_home_create(f, min_members);
  halo_measure(&home, subhalo_members, background);
  halo_number(c, &home);
  c->subhalo_seconds = home.subhalo_seconds;
  halo_home_free(&home);
  return c;
}

void halo_catalogue_free(struct halo_catalogue *c) {
  if (!c) return;
  free(c->halo);
  free(c->subhalo);
  free(c->member);
  free(c->row);
  free(c);
}

enum { PARTS = 256 }; /* of a loop over all members */

struct member_ids {
  const struct halo_catalogue *catalogue;
  uint64_t *id; /* [member] */
};

static void take_ids(void *context, uint32_t part) {
  const struct member_ids *m = context;
  const struct halo_catalogue *c = m->catalogue;
  const size_t end = block_first(c->members, PARTS, part + 1);
  for (size_t k = block_first(c->members, PARTS, part); k < end; k++)
    m->id[k] = c->particles->id[c->member[k]];
}

uint64_t *halo_member_ids(const struct halo_catalogue *c) {
  uint64_t *mine = allocate(c->members, sizeof *mine, "ids of halo members");
  struct member_ids m = {c, mine};
  loop_run(&halos_stage, PARTS, take_ids, &m);
  struct index_order order = index_order_create(c->all_members, c->members, c->row);
  uint64_t *ids = allocate(order.count, sizeof *ids, "ids of halo members");
  index_order_apply(&order, mine, sizeof *mine, ids);
  index_order_free(&order);
  free(mine);
  return ids;
}

/** List all particles of this rank by rising row: members of halos, then the others. */
static uint32_t *list_by_row(const struct halo_catalogue *c, uint64_t *row) {
  const size_t n = c->particles->count;
  uint32_t *particle = allocate(n, sizeof *particle, "particles in halo order");
  bool *taken = allocate(n, sizeof *taken, "particles in halo order");
  for (size_t k = 0; k < c->members; k++) {
    particle[k] = c->member[k];
    row[k] = c->row[k];
    taken[c->member[k]] = true;
  }
  uint64_t next_row = c->all_members + comm_sum_before(n - c->members);
  for (size_t i = 0, k = c->members; i < n; i++) {
    if (taken[i]) continue;
    particle[k] = (uint32_t)i;
    row[k++] = next_row++;
  }
  free(taken);
  return particle;
}

/** Numbers of this rank's particles on their way into the list by row. */
struct ordering {
  const struct particles *particles;
  const uint32_t *particle; /* by row */
  size_t component;
  const uint32_t *vectors;  /* of blocks; float has the same size */
  uint32_t *plain, *values; /* a component by particle, and by row */
  uint64_t *ids;            /* by row */
};

static void copy_block(void *context, uint32_t g) {
  const struct ordering *w = context;
  const struct particle_block b = particles_block(w->particles, g);
  memcpy(w->plain + b.first, w->vectors + 3 * b.first + w->component * b.count,
         b.count * sizeof *w->plain);
}

static size_t part_end(const struct particles *s, uint32_t part) {
  const size_t end = ((size_t)part + 1) * PART;
  return end < s->count ? end : s->count;
}

static void gather_component(void *context, uint32_t part) {
  const struct ordering *w = context;
  const size_t end = part_end(w->particles, part);
  for (size_t k = (size_t)part * PART; k < end; k++) w->values[k] = w->plain[w->particle[k]];
}

static void gather_ids(void *context, uint32_t part) {
  const struct ordering *w = context;
  const size_t end = part_end(w->particles, part);
  for (size_t k = (size_t)part * PART; k < end; k++) w->ids[k] = w->particles->id[w->particle[k]];
}

static uint32_t parts_of(const struct particles *s) {
  return (uint32_t)((s->count + PART - 1) / PART);
}

/** Put one component of a vector of this rank's particles in order.
 * @param vectors  room for two such components */
static void order_component(const struct index_order *order, const struct particles *s,
                            const uint32_t *particle, const void *vectors, size_t component,
                            void *room, void *ordered) {
  struct ordering w = {.particles = s,
                       .particle = particle,
                       .component = component,
                       .vectors = vectors,
                       .plain = room,
                       .values = (uint32_t *)room + s->count};
  loop_run(&halos_stage, (uint32_t)s->blocks, copy_block, &w);
  loop_run(&halos_stage, parts_of(s), gather_component, &w);
  index_order_apply(order, w.values, sizeof *w.values, ordered);
}

static void order_ids(const struct index_order *order, const struct particles *s,
                      const uint32_t *particle, void *room, uint64_t *ordered) {
  struct ordering w = {.particles = s, .particle = particle, .ids = room};
  loop_run(&halos_stage, parts_of(s), gather_ids, &w);
  index_order_apply(order, w.ids, sizeof *w.ids, ordered);
}

static void order_types(const struct index_order *order, const struct particles *s,
                        const uint32_t *particle, uint64_t *row, struct particles *out) {
  uint64_t *type = allocate(out->count, sizeof *type, "particles in halo order");
  for (size_t k = 0; k < s->count; k++) row[k] = s->type[particle[k]];
  index_order_apply(order, row, sizeof *row, type);
  particles_add_column(out, COLUMN_type);
  for (size_t k = 0; k < out->count; k++) out->type[k] = (uint8_t)type[k];
  free(type);
}

/* Of a particle in the order of halos: position, momentum and id, and while it is brought there its
 * row, its number, its place among those of the rank, and a value on the way. */
#define ORDERED_BYTES 60.0

bool halo_order_wanted(const struct parameters *p) {
  return p->output.halo_order || p->output.names == NAMES_GADGET4;
}

double halo_order_memory(const struct parameters *p, size_t particles) {
  const bool ordered = p->box.boundary != BOUNDARY_ISOLATED && p->analysis.fof &&
                       p->output.snapshots && halo_order_wanted(p);
  return ordered ? ORDERED_BYTES * (double)particles : 0.0;
}

struct particles halo_ordered_particles(const struct halo_catalogue *c, bool accelerations) {
  const struct particles *s = c->particles;
  uint64_t *row = allocate(s->count, sizeof *row, "particles in halo order");
  uint32_t *particle = list_by_row(c, row);
  struct index_order order = index_order_create(s->all, s->count, row);
  struct particles out = particles_create_share(s->all, s->box, s->mass);
  uint32_t *room = (uint32_t *)row;
  for (size_t k = 0; k < 3; k++) {
    order_component(&order, s, particle, s->position, k, room, out.position + k * out.count);
    order_component(&order, s, particle, s->momentum, k, room, out.momentum + k * out.count);
    if (accelerations)
      order_component(&order, s, particle, s->acceleration, k, room,
                      out.acceleration + k * out.count);
  }
  order_ids(&order, s, particle, row, out.id);
  if (particles_have(s, COLUMN_type)) order_types(&order, s, particle, row, &out);
  index_order_free(&order);
  free(particle);
  free(row);
  return out;
}
