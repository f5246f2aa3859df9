/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Halos or subhalos as objects of merger trees. Members are dealt out evenly by row, so that no rank
 * has more than its share of them, however large the largest object is. */
#include <stdlib.h>
#include <string.h>

#include "halo_members.h"
#include "photons/analysis/tree.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/base/parts.h"
#include "photons/runtime/loop.h"
#include "src/base/exchange.h"
#include "src/base/index_order.h"

static const char what[] = "objects of merger trees";
enum {
  PART = 1 << 14, /* members of a part of a loop */
  FILLED = 256    /* parts of a loop over all objects */
};

/** The halos or subhalos of a catalogue. */
struct source {
  const struct halo_catalogue *catalogue;
  bool subhalos;
  size_t all, first, count; /* of the run; the first of this rank; those of this rank */
};

/** The rows of one object. */
struct part {
  uint64_t number, first, end; /* of the object; rows */
  uint32_t centre[3];          /* of a halo */
};

/** A particle among the most bound of an object. */
struct candidate {
  uint64_t number, key, id; /* of the object; the lower the key, the more is the particle bound */
};

/** A member, and how little it is bound, as in a candidate. */
struct bound {
  uint64_t key, id;
};

enum { ROOM = 2 * TREE_LISTED, RUN = 8 /* members that are sorted by insertion */ };

/** Members of an object of which the most bound ones are wanted. */
struct list {
  size_t count;
  bool full; /* there have been more than ROOM: `last` is the least bound one that is still wanted */
  struct bound last;
  struct bound of[ROOM];
};

/** The members themselves are not cleared. */
static void list_begin(struct list *l) {
  l->count = 0;
  l->full = false;
}

static inline bool is_more_bound(struct bound a, struct bound b) {
  return a.key != b.key ? a.key < b.key : a.id < b.id;
}

static void sort_run(size_t n, struct bound *of) {
  for (size_t i = 1; i < n; i++) {
    const struct bound one = of[i];
    size_t k = i;
    for (; k > 0 && is_more_bound(one, of[k - 1]); k--) of[k] = of[k - 1];
    of[k] = one;
  }
}

/** Merge two sorted runs, of which the second begins at `middle`. */
static void merge_runs(const struct bound *from, size_t begin, size_t middle, size_t end,
                       struct bound *to) {
  size_t i = begin, j = middle, k = begin;
  while (i < middle && j < end) {
    const bool second = is_more_bound(from[j], from[i]);
    to[k++] = from[second ? j : i];
    i += !second;
    j += second;
  }
  memcpy(to + k, from + i, (middle - i) * sizeof *to);
  memcpy(to + k + (middle - i), from + j, (end - j) * sizeof *to);
}

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

static bool is_sorted(const struct list *l) {
  size_t i = 1;
  while (i < l->count && !is_more_bound(l->of[i], l->of[i - 1])) i++;
  return i >= l->count;
}

/** Sort the members of a list, the most bound first, and keep those that are wanted. */
static void list_sort(struct list *l) {
  struct bound room[ROOM], *from = l->of, *to = room;
  if (is_sorted(l)) {
    l->count = least(l->count, TREE_LISTED);
    return;
  }
  for (size_t i = 0; i < l->count; i += RUN) sort_run(least(RUN, l->count - i), l->of + i);
  for (size_t run = RUN; run < l->count; run *= 2) {
    for (size_t i = 0; i < l->count; i += 2 * run)
      merge_runs(from, i, least(i + run, l->count), least(i + 2 * run, l->count), to);
    struct bound *const sorted = to;
    to = from;
    from = sorted;
  }
  l->count = least(l->count, TREE_LISTED);
  if (from != l->of) memcpy(l->of, from, l->count * sizeof *from);
}

static inline void list_add(struct list *l, struct bound member) {
  if (l->full && !is_more_bound(member, l->last)) return;
  l->of[l->count++] = member;
  if (l->count < ROOM) return;
  list_sort(l);
  l->full = true;
  l->last = l->of[TREE_LISTED - 1];
}

static struct source source_of(const struct halo_catalogue *c, bool subhalos) {
  if (subhalos) return (struct source){c, true, c->all_subhalos, c->first_subhalo, c->subhalos};
  return (struct source){c, false, c->all, c->first_halo, c->count};
}

static struct part part_of(const struct source *s, size_t i) {
  if (s->subhalos) {
    const struct subhalo *sub = &s->catalogue->subhalo[i];
    return (struct part){s->first + i, sub->first, sub->first + sub->count, {0}};
  }
  const struct halo *h = &s->catalogue->halo[i];
  struct part part = {s->first + i, h->first, h->first + h->count, {0}};
  for (int k = 0; k < 3; k++)
    part.centre[k] = position_to_integer(h->centre[k], s->catalogue->particles->box);
  return part;
}

/** The objects that have rows on this rank, by rising number. */
static struct part *parts_here(const struct source *s, size_t *count) {
  const size_t ranks = (size_t)comm_size(), rows = s->catalogue->all_members;
  size_t *send_count = exchange_counts(), *receive_count = exchange_counts();
  struct part *send = allocate(s->count + ranks, sizeof *send, what); /* as many at most */
  size_t sends = 0;
  for (size_t i = 0; i < s->count; i++) {
    const struct part part = part_of(s, i);
    const size_t last = block_containing(rows, ranks, part.end - 1);
    for (size_t r = block_containing(rows, ranks, part.first); r <= last; r++) {
      send_count[r]++;
      send[sends++] = part;
    }
  }
  struct part *received = exchange_given(send, sizeof *send, send_count, receive_count);
  *count = exchange_total(receive_count);
  free(send_count);
  free(receive_count);
  return received;
}

/** Ids and, of halos, positions of the members in this rank's rows. */
struct rows {
  uint64_t first, count;
  uint64_t *id;
  uint32_t *x[3];
};

/** Values of the members on this rank, in the order of their list. */
struct ordering {
  const struct halo_catalogue *catalogue;
  int axis;
  uint64_t *id;
  uint32_t *x;
};

static size_t part_end(const struct halo_catalogue *c, uint32_t part) {
  const size_t end = ((size_t)part + 1) * PART;
  return end < c->members ? end : c->members;
}

static void gather_ids(void *context, uint32_t part) {
  const struct ordering *g = context;
  const struct halo_catalogue *c = g->catalogue;
  const size_t end = part_end(c, part);
  for (size_t k = (size_t)part * PART; k < end; k++) g->id[k] = c->particles->id[c->member[k]];
}

static void gather_coordinates(void *context, uint32_t part) {
  const struct ordering *g = context;
  const struct halo_catalogue *c = g->catalogue;
  const size_t end = part_end(c, part);
  struct particle_block block = {.count = 0};
  for (size_t k = (size_t)part * PART; k < end; k++) {
    halo_find_block(c->particles, c->member[k], &block);
    g->x[k] = block.x[g->axis][c->member[k] - block.first];
  }
}

static struct rows rows_create(const struct source *s) {
  const struct halo_catalogue *c = s->catalogue;
  const uint32_t parts = (uint32_t)((c->members + PART - 1) / PART);
  struct index_order order = index_order_create(c->all_members, c->members, c->row);
  struct rows rows = {.first = comm_first(c->all_members, comm_rank()), .count = order.count};
  void *room = reallocate(NULL, c->members, sizeof *rows.id, what);
  rows.id = reallocate(NULL, order.count, sizeof *rows.id, what);
  struct ordering g = {.catalogue = c, .id = index_order_room(room, rows.id)};
  loop_run(&halos_stage, parts, gather_ids, &g);
  index_order_apply(&order, g.id, sizeof *g.id, rows.id);
  for (; g.axis < 3 && !s->subhalos; g.axis++) {
    rows.x[g.axis] = reallocate(NULL, order.count, sizeof *g.x, what);
    g.x = index_order_room(room, rows.x[g.axis]);
    loop_run(&halos_stage, parts, gather_coordinates, &g);
    index_order_apply(&order, g.x, sizeof *g.x, rows.x[g.axis]);
  }
  free(room);
  index_order_free(&order);
  return rows;
}

static void rows_free(struct rows *rows) {
  for (int axis = 0; axis < 3; axis++) free(rows->x[axis]);
  free(rows->id);
}

/** The rows of a part that are on this rank, counted from the rank's first. */
static void part_rows(const struct part *part, const struct rows *rows, size_t *begin,
                      size_t *end) {
  *begin = part->first > rows->first ? part->first - rows->first : 0;
  *end = part->end - rows->first < rows->count ? part->end - rows->first : rows->count;
}

/** How little a member is bound: the members of subhalos stand in the order of their energies, those of
 * halos count by their distances to the centre. */
static uint64_t key_of(const struct rows *rows, const struct part *part, size_t i) {
  const uint32_t *x = part->centre;
  if (!rows->x[0]) return rows->first + i;
  return distance2(rows->x[0][i], rows->x[1][i], rows->x[2][i], x[0], x[1], x[2]);
}

/** What the workers list, part by part. */
struct listing {
  const struct part *part;
  const struct rows *rows;
  struct tree_member *member;
  struct candidate *candidate;
  size_t *first_member, *first_candidate; /* [part] */
};

/** List the members in a part, and the most bound ones among them. */
static void list_part(void *context, uint32_t i) {
  const struct listing *w = context;
  const struct part *part = &w->part[i];
  struct candidate *candidate = w->candidate + w->first_candidate[i];
  struct list l;
  list_begin(&l);
  size_t row, end;
  part_rows(part, w->rows, &row, &end);
  for (struct tree_member *m = w->member + w->first_member[i]; row < end; row++, m++) {
    *m = (struct tree_member){w->rows->id[row], part->number};
    list_add(&l, (struct bound){key_of(w->rows, part, row), m->id});
  }
  list_sort(&l);
  for (size_t k = 0; k < l.count; k++)
    candidate[k] = (struct candidate){part->number, l.of[k].key, l.of[k].id};
}

/** Where the workers store what they list. @return candidates */
static size_t plan_listing(struct listing *w, size_t parts, const struct source *s,
                           struct tree_objects *o, size_t *send_count) {
  size_t candidates = 0;
  w->first_member = allocate(parts, sizeof *w->first_member, what);
  w->first_candidate = allocate(parts, sizeof *w->first_candidate, what);
  for (size_t i = 0; i < parts; i++) {
    size_t begin, end;
    part_rows(&w->part[i], w->rows, &begin, &end);
    const size_t listed = end - begin < TREE_LISTED ? end - begin : TREE_LISTED;
    w->first_member[i] = o->members;
    w->first_candidate[i] = candidates;
    o->members += end - begin;
    candidates += listed;
    send_count[block_containing(s->all, (size_t)comm_size(), w->part[i].number)] += listed;
  }
  return candidates;
}

/** List the members in this rank's rows, and send the candidates among them to the ranks of their
 * objects.
 * @return those received, by rising number of their objects */
static struct candidate *find_candidates(const struct source *s, struct tree_objects *o,
                                         size_t *count) {
  size_t parts;
  struct part *part = parts_here(s, &parts);
  struct rows rows = rows_create(s);
  size_t *send_count = exchange_counts(), *receive_count = exchange_counts();
  struct listing w = {.part = part, .rows = &rows};
  w.candidate = allocate(plan_listing(&w, parts, s, o, send_count), sizeof *w.candidate, what);
  w.member = o->member = reallocate(NULL, o->members, sizeof *o->member, what);
  loop_run(&halos_stage, (uint32_t)parts, list_part, &w);
  struct candidate *received = exchange_given(w.candidate, sizeof *received, send_count,
                                              receive_count);
  *count = exchange_total(receive_count);
  free(w.first_candidate);
  free(w.first_member);
  free(send_count);
  free(receive_count);
  rows_free(&rows);
  free(part);
  return received;
}

static struct tree_object object_of_halo(const struct halo_catalogue *c, size_t i, double a) {
  const struct halo *h = &c->halo[i];
  const double mass = c->particles->mass;
  struct tree_object object = {.group = (int64_t)(c->first_halo + i),
                               .count = (int64_t)h->count,
                               .mass = (float)((double)h->count * mass),
                               .mass_200c = (float)((double)h->sphere[CRIT_200].count * mass),
                               .v_max = (float)h->v_max};
  for (int k = 0; k < 3; k++) {
    object.position[k] = h->centre[k];
    object.velocity[k] = (float)(h->momentum[k] / a);
  }
  return object;
}

/** M200c is that of the halo, as in Gadget-4's trees: only its largest subhalo has it. */
static struct tree_object object_of_subhalo(const struct halo_catalogue *c, size_t i) {
  const struct subhalo *s = &c->subhalo[i];
  const uint64_t inside = c->halo[s->halo - c->first_halo].sphere[CRIT_200].count;
  const double mass = c->particles->mass;
  struct tree_object object = {.group = (int64_t)s->halo,
                               .count = (int64_t)s->count,
                               .mass = (float)((double)s->count * mass),
                               .mass_200c = s->rank == 0 ? (float)((double)inside * mass) : 0.0F,
                               .v_max = (float)s->v_max};
  for (int k = 0; k < 3; k++) {
    object.position[k] = s->position[k];
    object.velocity[k] = (float)s->velocity[k];
  }
  return object;
}

/** Bring the halos or subhalos of all ranks to the ranks of their objects. */
static struct tree_object *deal_objects(const struct source *s, double a) {
  size_t *send_count = exchange_counts(), *receive_count = exchange_counts();
  struct tree_object *send = allocate(s->count, sizeof *send, what);
  for (size_t i = 0; i < s->count; i++) {
    send[i] = s->subhalos ? object_of_subhalo(s->catalogue, i) : object_of_halo(s->catalogue, i, a);
    send_count[block_containing(s->all, (size_t)comm_size(), s->first + i)]++;
  }
  struct tree_object *received = exchange_given(send, sizeof *send, send_count, receive_count);
  free(send_count);
  free(receive_count);
  return received;
}

/** The lists of objects on their way from the candidates of all ranks. */
struct filling {
  struct tree_objects *objects;
  const struct candidate *candidate;
  size_t *first; /* [objects + 1] candidate of each */
  size_t *place; /* [objects] of its list among the ids */
};

static void fill_part(void *context, uint32_t part) {
  const struct filling *f = context;
  struct tree_objects *o = f->objects;
  const size_t end = block_first(o->count, FILLED, part + 1);
  for (size_t i = block_first(o->count, FILLED, part); i < end; i++) {
    struct list l;
    list_begin(&l);
    for (size_t k = f->first[i]; k < f->first[i + 1]; k++)
      list_add(&l, (struct bound){f->candidate[k].key, f->candidate[k].id});
    list_sort(&l);
    for (size_t k = 0; k < l.count; k++) o->id[f->place[i] + k] = l.of[k].id;
    o->object[i].most_bound = l.of[0].id;
  }
}

/** Fill the lists of objects from the candidates of all ranks. */
static void fill_lists(struct tree_objects *o, const struct candidate *candidate, size_t count) {
  struct filling f = {o, candidate, allocate(2 * o->count + 1, sizeof *f.first, what), NULL};
  f.place = f.first + o->count + 1;
  for (size_t k = 0; k < count; k++) f.first[candidate[k].number - o->first + 1]++;
  size_t listed = 0;
  for (size_t i = 0; i < o->count; listed += (size_t)o->object[i++].listed) {
    const size_t candidates = f.first[i + 1];
    f.first[i + 1] += f.first[i];
    f.place[i] = listed;
    o->object[i].listed = (int64_t)(candidates < TREE_LISTED ? candidates : TREE_LISTED);
  }
  o->id = allocate(listed, sizeof *o->id, what);
  loop_run(&halos_stage, FILLED, fill_part, &f);
  free(f.first);
}

struct tree_objects tree_objects_of(const struct halo_catalogue *c, bool subhalos, double a) {
  const struct source s = source_of(c, subhalos);
  struct tree_objects o = {.all = s.all, .first = comm_first(s.all, comm_rank())};
  size_t candidates;
  o.count = comm_first(s.all, comm_rank() + 1) - o.first;
  struct candidate *candidate = find_candidates(&s, &o, &candidates);
  o.object = deal_objects(&s, a);
  fill_lists(&o, candidate, candidates);
  free(candidate);
  return o;
}

void tree_objects_free(struct tree_objects *o) {
  free(o->object);
  free(o->id);
  free(o->member);
  *o = (struct tree_objects){0};
}
