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

struct halo_catalogue *halo_catalogue_create(const struct fof *f, size_t min_members, bool rows,
                                             size_t subhalo_members,
                                             const struct halo_background *background) {
  struct halo_catalogue *c = allocate(1, sizeof *c, "halo catalogue");
  c->particles = f->particles;
  struct halo_home home = halo_home_create(f, min_members);
  rows = rows || particles_have(f->particles, COLUMN_type);
  halo_measure(&home, rows, subhalo_members, background);
  uint64_t *first_row = halo_number(c, &home);
  if (rows) halo_number_members(c, &home, first_row);
  free(first_row);
  halo_count_types(c);
  c->subhalo_seconds = home.subhalo_seconds;
  halo_home_free(&home);
  return c;
}

void halo_catalogue_free(struct halo_catalogue *c) {
  if (!c) return;
  free(c->halo);
  free(c->subhalo);
  free(c->halo_types);
  free(c->subhalo_types);
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
  uint64_t *mine = reallocate(NULL, c->members, sizeof *mine, "ids of halo members");
  struct index_order order = index_order_create(c->all_members, c->members, c->row);
  uint64_t *ids = reallocate(NULL, order.count, sizeof *ids, "ids of halo members");
  struct member_ids m = {c, index_order_room(mine, ids)};
  loop_run(&halos_stage, PARTS, take_ids, &m);
  index_order_apply(&order, m.id, sizeof *m.id, ids);
  index_order_free(&order);
  free(mine);
  return ids;
}

/** All particles of this rank: those that halos consist of, and then the others. */
struct sources {
  const struct particles *of[2]; /* the second is NULL where there are no others */
  size_t count;                  /* of both together */
};

static struct sources sources_of(const struct halo_catalogue *c, const struct particles *others) {
  return (struct sources){{c->particles, others},
                          c->particles->count + (others ? others->count : 0)};
}

/** The list of all particles of this rank by rising row while it is made. */
struct listing {
  const struct halo_catalogue *catalogue;
  uint32_t *particle;
  uint64_t *row;
  bool *taken;        /* [particle] is a member */
  size_t *first;      /* [part] place in the list of its particles in no halo */
  uint64_t first_row; /* of this rank's particles in no halo */
};

static void list_members(void *context, uint32_t part) {
  const struct listing *l = context;
  const struct halo_catalogue *c = l->catalogue;
  const size_t end = block_first(c->members, PARTS, part + 1);
  for (size_t k = block_first(c->members, PARTS, part); k < end; k++) {
    l->particle[k] = c->member[k];
    l->row[k] = c->row[k];
    l->taken[c->member[k]] = true;
  }
}

static void count_single(void *context, uint32_t part) {
  const struct listing *l = context;
  const size_t n = l->catalogue->particles->count, end = block_first(n, PARTS, part + 1);
  for (size_t i = block_first(n, PARTS, part); i < end; i++) l->first[part + 1] += !l->taken[i];
}

static void list_single(void *context, uint32_t part) {
  const struct listing *l = context;
  const size_t n = l->catalogue->particles->count, end = block_first(n, PARTS, part + 1);
  size_t k = l->first[part];
  for (size_t i = block_first(n, PARTS, part); i < end; i++) {
    if (l->taken[i]) continue;
    l->particle[k] = (uint32_t)i;
    l->row[k] = l->first_row + (k - l->catalogue->members);
    k++;
  }
}

/** List all particles of this rank by rising row: members of halos, then those of their kind, then the others. */
static uint32_t *list_by_row(const struct halo_catalogue *c, const struct sources *s,
                             uint64_t *row) {
  static const char what[] = "particles in halo order";
  const size_t n = c->particles->count;
  size_t first[PARTS + 1] = {c->members};
  uint32_t *particle = reallocate(NULL, s->count, sizeof *particle, what);
  struct listing l = {.catalogue = c, .particle = particle, .row = row, .first = first};
  l.taken = allocate(n, sizeof *l.taken, what);
  l.first_row = c->all_members + comm_sum_before(n - c->members);
  loop_run(&halos_stage, PARTS, list_members, &l);
  loop_run(&halos_stage, PARTS, count_single, &l);
  for (uint32_t part = 0; part < PARTS; part++) first[part + 1] += first[part];
  loop_run(&halos_stage, PARTS, list_single, &l);
  free(l.taken);
  uint64_t next_row = c->particles->all + comm_sum_before(s->count - n);
  for (size_t k = n; k < s->count; k++) {
    particle[k] = (uint32_t)k;
    row[k] = next_row++;
  }
  return particle;
}

/** Numbers of this rank's particles on their way into the list by row. */
struct ordering {
  const struct sources *sources;
  const struct index_order *order;
  const uint32_t *particle; /* by row */
  /* Of a source while its blocks are copied: */
  const struct particles *particles;
  const uint32_t *vectors; /* float has the same size */
  size_t component;
  uint32_t *plain, *values; /* a component by particle, and by row */
  uint64_t *ids;            /* by row */
};

static void copy_block(void *context, uint32_t g) {
  const struct ordering *w = context;
  const struct particle_block b = particles_block(w->particles, g);
  memcpy(w->plain + b.first, w->vectors + 3 * b.first + w->component * b.count,
         b.count * sizeof *w->plain);
}

static size_t part_end(const struct ordering *w, uint32_t part) {
  const size_t end = ((size_t)part + 1) * PART;
  return end < w->sources->count ? end : w->sources->count;
}

static void gather_component(void *context, uint32_t part) {
  const struct ordering *w = context;
  const size_t end = part_end(w, part);
#pragma GCC unroll 8
  for (size_t k = (size_t)part * PART; k < end; k++) w->values[k] = w->plain[w->particle[k]];
}

/** The particle of a source in a row of this rank. @return the source */
static const struct particles *source_of(const struct ordering *w, size_t k, size_t *particle) {
  const size_t first = w->sources->of[0]->count;
  *particle = w->particle[k] < first ? w->particle[k] : w->particle[k] - first;
  return w->sources->of[w->particle[k] >= first];
}

/** Of particles that are all of one source. */
static void gather_ids_of(const struct ordering *w, size_t begin, size_t end, const uint64_t *id) {
#pragma GCC unroll 8
  for (size_t k = begin; k < end; k++) w->ids[k] = id[w->particle[k]];
}

static void gather_ids(void *context, uint32_t part) {
  const struct ordering *w = context;
  const size_t begin = (size_t)part * PART, end = part_end(w, part);
  if (!w->sources->of[1]) {
    gather_ids_of(w, begin, end, w->sources->of[0]->id);
    return;
  }
  for (size_t k = begin; k < end; k++) {
    size_t i;
    const struct particles *s = source_of(w, k, &i);
    w->ids[k] = s->id[i];
  }
}

static uint32_t parts_of(const struct ordering *w) {
  return (uint32_t)((w->sources->count + PART - 1) / PART);
}

/** Put the three components of a vector of all particles of this rank in order.
 * @param room     for two components of these
 * @param ordered  [3][order->count] */
static void order_vectors(const struct ordering *w, enum particle_column_index column, void *room,
                          void *ordered) {
  for (size_t c = 0; c < 3; c++) {
    struct ordering one = *w;
    one.component = c;
    one.plain = room;
    for (size_t k = 0; k < 2 && w->sources->of[k]; k++) {
      one.particles = w->sources->of[k];
      one.vectors = particles_column(one.particles, column);
      loop_run(&halos_stage, (uint32_t)one.particles->blocks, copy_block, &one);
      one.plain += one.particles->count;
    }
    one.plain = room;
    uint32_t *const to = (uint32_t *)ordered + c * w->order->count;
    one.values = index_order_room(one.plain + w->sources->count, to);
    loop_run(&halos_stage, parts_of(w), gather_component, &one);
    index_order_apply(w->order, one.values, sizeof *one.values, to);
  }
}

static void order_ids(const struct ordering *w, void *room, uint64_t *ordered) {
  struct ordering ids = *w;
  ids.ids = index_order_room(room, ordered);
  loop_run(&halos_stage, parts_of(w), gather_ids, &ids);
  index_order_apply(w->order, ids.ids, sizeof *ids.ids, ordered);
}

/** @param room  a number for each particle of this rank */
static void order_types(const struct ordering *w, uint64_t *room, struct particles *out) {
  uint64_t *type = allocate(out->count, sizeof *type, "particles in halo order");
  for (size_t k = 0, i; k < w->sources->count; k++) {
    const struct particles *s = source_of(w, k, &i);
    room[k] = s->type[i];
  }
  index_order_apply(w->order, room, sizeof *room, type);
  particles_add_column(out, COLUMN_type);
  for (size_t k = 0; k < out->count; k++) out->type[k] = (uint8_t)type[k];
  free(type);
}

static void order_masses(const struct ordering *w, void *room, struct particles *out) {
  float *mass = room;
  for (size_t k = 0, i; k < w->sources->count; k++) {
    const struct particles *s = source_of(w, k, &i);
    mass[k] = s->relative_mass[i];
  }
  particles_add_column(out, COLUMN_relative_mass);
  index_order_apply(w->order, mass, sizeof *mass, out->relative_mass);
}

/* Of a particle in the order of halos: position, momentum and id, and while it is brought there its
 * row, its number, its place among those of the rank, and a value on the way. */
#define ORDERED_BYTES 60.0
/* Of a particle's type in that order: itself, and a number that it is brought there as. */
#define TYPE_BYTES 9.0

bool halo_order_wanted(const struct parameters *p) {
  return p->output.halo_order || p->output.names == NAMES_GADGET4;
}

/** What a particle has beyond its position, momentum and id. */
static double further_bytes(const struct parameters *p, column_set columns) {
  return (p->output.accelerations ? 3.0 * sizeof(float) : 0.0) +
         ((columns & (column_set)1 << COLUMN_relative_mass) ? sizeof(float) : 0.0) +
         ((columns & (column_set)1 << COLUMN_type) ? TYPE_BYTES : 0.0);
}

double halo_order_memory(const struct parameters *p, size_t particles, column_set columns) {
  const bool ordered = p->box.boundary != BOUNDARY_ISOLATED && p->analysis.fof &&
                       p->output.snapshots && halo_order_wanted(p);
  return ordered ? (ORDERED_BYTES + further_bytes(p, columns)) * (double)particles : 0.0;
}

struct particles halo_ordered_particles(const struct halo_catalogue *c,
                                        const struct particles *others, bool accelerations) {
  const struct particles *s = c->particles;
  const struct sources sources = sources_of(c, others);
  const size_t all = s->all + (others ? others->all : 0);
  uint64_t *row = reallocate(NULL, sources.count, sizeof *row, "particles in halo order");
  uint32_t *particle = list_by_row(c, &sources, row);
  struct index_order order = index_order_create(all, sources.count, row);
  const column_set columns = (column_set)1 << COLUMN_position | (column_set)1 << COLUMN_momentum |
                             (column_set)1 << COLUMN_id |
                             (column_set)accelerations << COLUMN_acceleration;
  struct particles out = particles_create_uncleared(all, s->box, others ? others->mass : s->mass,
                                                    columns);
  const struct ordering w = {.sources = &sources, .order = &order, .particle = particle};
  order_vectors(&w, COLUMN_position, row, out.position);
  order_vectors(&w, COLUMN_momentum, row, out.momentum);
  if (accelerations) order_vectors(&w, COLUMN_acceleration, row, out.acceleration);
  order_ids(&w, row, out.id);
  if (particles_have(s, COLUMN_type)) order_types(&w, row, &out);
  if (particles_have(s, COLUMN_relative_mass)) order_masses(&w, row, &out);
  index_order_free(&order);
  free(particle);
  free(row);
  return out;
}
