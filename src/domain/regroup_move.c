/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Particles that stay on GPUs move to their new groups. The owner of an old group tells other ranks how many of its
 * particles go to each of their new groups. */
#include "regroup_move.h"

#include <stdlib.h>

#include "photons/base/comm.h"
#include "photons/base/debug_check.h"
#include "photons/base/error.h"
#include "photons/base/kept.h"
#include "photons/domain/domain.h"
#include "photons/runtime/handle.h"
#include "photons/runtime/message.h"

/** Particles that are copied together, to a new group of this rank or to another rank. */
struct move {
  struct part_move part;
  uint32_t *from; /* [source] own old group, or the number of these + the number of a parcel */
};

/** Particles of an old group that go to another rank, in the order of their new groups. No message is
 * larger than a group's column. */
struct parcel {
  uint32_t group;   /* old group, of any rank */
  int from, to;     /* ranks */
  struct move move; /* what this rank sends; of what it gets the count alone */
  starpu_data_handle_t column;
};
struct parcels {
  struct parcel *parcel;
  uint32_t count;
};

/** The ways of the particles, once each old group has its own in the order of the new groups. */
struct moves {
  struct move *of_group; /* [own new group] */
  struct parcels sent, received;
  starpu_data_handle_t *kept; /* [own new group] a column */
};

/** Add the next segment of a move, from one more source if that is not the last one. */
static void add_segment(struct move *m, uint32_t from, uint32_t from_count, uint32_t first,
                        uint32_t count) {
  struct part_move *p = &m->part;
  if (count == 0) return;
  p->count += count;
  if (p->sources == 0 || m->from[p->sources - 1] != from) {
    m->from = reallocate(m->from, p->sources + 1, sizeof *m->from, "particles to move");
    m->from[p->sources++] = from;
  }
  struct segment *last = p->segments ? &p->segment[p->segments - 1] : NULL;
  if (last && last->source == p->sources - 1 && last->first + last->count == first) {
    last->count += count;
    return;
  }
  p->segment = reallocate(p->segment, p->segments + 1, sizeof *p->segment, "particles to move");
  p->segment[p->segments++] = (struct segment){.source = p->sources - 1,
                                               .from_count = from_count,
                                               .first = first,
                                               .to_first = p->count - count,
                                               .count = count};
}

/** How many particles of an old group go to a new one. */
struct given {
  uint32_t from, to, count;
};

/** What this rank tells others of its old groups, one rank after the other, each by old groups and then by new ones. */
struct letters {
  struct given *letter;
  struct sparse_pieces to;
};

static struct letters write_letters(const struct regrouping *r) {
  const int me = comm_rank();
  const size_t ranks = (size_t)comm_size();
  size_t *first = allocate(ranks + 1, sizeof *first, "message sizes");
  for (uint32_t g = 0; g < r->groups; g++)
    FOR_CUTS(&r->old[g], c, to) first[group_owner(r->d, to) + 1] += group_owner(r->d, to) != me;
  struct letters l = {.letter = NULL};
  for (size_t k = 0; k < ranks; k++) {
    if (first[k + 1] > 0) sparse_add(&l.to, (int)k, first[k + 1] * sizeof *l.letter);
    first[k + 1] += first[k];
  }
  l.letter = allocate(first[ranks], sizeof *l.letter, "counts of particles");
  for (uint32_t g = 0; g < r->groups; g++) FOR_CUTS(&r->old[g], c, to) {
      const int rank = group_owner(r->d, to);
      if (rank != me)
        l.letter[first[rank]++] = (struct given){r->first + g, to, r->old[g].part[s].count};
    }
  free(first);
  return l;
}

/** Tell the ranks that get particles of this rank's old groups. @param[out] from  ranks that have told this one
 * @return what they have told, by rising rank, old group and new group */
static struct given *exchange_counts(const struct regrouping *r, struct sparse_pieces *from) {
  struct letters l = write_letters(r);
  struct given *told = comm_exchange_sparse(l.letter, &l.to, from);
  kept_set(KEPT_CUTS, sparse_bytes(&l.to) + sparse_list_bytes(&l.to) + sparse_bytes(from) +
                          sparse_list_bytes(from));
  sparse_free(&l.to);
  free(l.letter);
  return told;
}

/** The parcel of an old group for a rank, a new one if that is not the last one. */
static struct parcel *parcel_of(struct parcels *p, uint32_t group, int from, int to) {
  struct parcel *last = p->count ? &p->parcel[p->count - 1] : NULL;
  if (last && last->group == group && last->to == to) return last;
  p->parcel = reallocate(p->parcel, p->count + 1, sizeof *p->parcel, "particles to send");
  last = &p->parcel[p->count++];
  *last = (struct parcel){.group = group, .from = from, .to = to};
  return last;
}

/** Moves from this rank's old groups. */
static void list_given(const struct regrouping *r, struct moves *m) {
  const int me = comm_rank();
  for (uint32_t g = 0; g < r->groups; g++) {
    const uint32_t count = r->d->groups[g].count;
    uint32_t first = 0;
    FOR_CUTS(&r->old[g], c, to) {
      const int rank = group_owner(r->d, to);
      const uint32_t n = r->old[g].part[s].count;
      struct move *move = rank == me ? &m->of_group[to - r->first]
                                     : &parcel_of(&m->sent, r->first + g, me, rank)->move;
      add_segment(move, g, count, first, n);
      first += n;
    }
  }
}

/** Moves from an old group of another rank. @param told  [count] of this group */
static void list_parcel(const struct regrouping *r, struct moves *m, int rank,
                        const struct given *told, size_t count) {
  uint32_t particles = 0, first = 0;
  for (size_t i = 0; i < count; i++) particles += told[i].count;
  parcel_of(&m->received, told->from, rank, comm_rank())->move.part.count = particles;
  for (size_t i = 0; i < count; first += told[i++].count)
    add_segment(&m->of_group[told[i].to - r->first], r->groups + m->received.count - 1, particles,
                first, told[i].count);
}

/** Moves from what some of the ranks that have told this one send.
 * @param told  of the first of them @return behind what the last one has told */
static const struct given *list_received(const struct regrouping *r, struct moves *m,
                                         const struct given *told, const struct sparse_pieces *from,
                                         uint32_t first, uint32_t end) {
  for (uint32_t k = first; k < end; k++)
    for (size_t left = from->bytes[k] / sizeof *told, n; left > 0; left -= n, told += n) {
      for (n = 1; n < left && told[n].from == told->from;) n++;
      list_parcel(r, m, from->rank[k], told, n);
    }
  return told;
}

/** Of particles of a new group those of lower ranks and old groups come first. */
static struct moves list_moves(const struct regrouping *r) {
  struct moves m = {.of_group = allocate(r->groups, sizeof *m.of_group, "particles to move"),
                    .kept = allocate(r->groups, sizeof *m.kept, "particles to move")};
  struct sparse_pieces from;
  struct given *told = exchange_counts(r, &from);
  uint32_t below = 0;
  while (below < from.ranks && from.rank[below] < comm_rank()) below++;
  const struct given *above = list_received(r, &m, told, &from, 0, below);
  list_given(r, &m);
  (void)list_received(r, &m, above, &from, below, from.ranks);
  sparse_free(&from);
  free(told);
  for (uint32_t g = 0; g < r->groups; g++)
    DEBUG_CHECK(m.of_group[g].part.count == r->d->groups[g].count, "group %u gets %u particles",
                r->first + g, m.of_group[g].part.count);
  return m;
}

static void free_move(struct move *m) {
  free(m->part.segment);
  free(m->part.source);
  free(m->from);
}

static void free_moves(const struct regrouping *r, struct moves *m) {
  for (uint32_t g = 0; g < r->groups; g++) free_move(&m->of_group[g]);
  for (uint32_t k = 0; k < m->sent.count; k++) free_move(&m->sent.parcel[k].move);
  free(m->sent.parcel);
  free(m->received.parcel);
  free(m->of_group);
  free(m->kept);
}

static starpu_data_handle_t make_column(int column, uint32_t count) {
  return handle_make((size_t)count * particle_columns[column].components,
                     particle_columns[column].size);
}

/** Submit the move of a column. Returns the handle of what it writes. */
static starpu_data_handle_t submit_move(const struct regrouping *r, const struct moves *moves,
                                        struct move *m, int column, const uint32_t *owner) {
  struct part_move *p = &m->part;
  p->source = reallocate(p->source, p->sources, sizeof *p->source, "handles of a task");
  for (uint32_t k = 0; k < p->sources; k++)
    p->source[k] = m->from[k] < r->groups ? r->d->groups[m->from[k]].column[column]
                                          : moves->received.parcel[m->from[k] - r->groups].column;
  const starpu_data_handle_t to = make_column(column, p->count);
  part_move_submit(p, column, owner, to);
  return to;
}

static void transfer(const struct regrouping *r, const struct parcel *p, int column) {
  message_transfer(p->column, MESSAGE_MOVED, (size_t)column * r->d->group_count + p->group, p->from,
                   p->to, PRIORITY_HIGHEST);
}

static void exchange_column(const struct regrouping *r, struct moves *m, int column) {
  message_begin();
  for (uint32_t k = 0; k < m->sent.count; k++) {
    struct parcel *p = &m->sent.parcel[k];
    p->column = submit_move(r, m, &p->move, column, &group_known(r->d, p->group)->index);
    transfer(r, p, column);
  }
  for (uint32_t k = 0; k < m->received.count; k++) {
    struct parcel *p = &m->received.parcel[k];
    p->column = make_column(column, p->move.part.count);
    transfer(r, p, column);
  }
}

static void drop_columns(struct parcels *p) {
  for (uint32_t k = 0; k < p->count; k++) handle_drop(&p->parcel[k].column);
}

void regroup_move(const struct regrouping *r) {
  struct domain *d = r->d;
  FOR_GROUPS(d, g) part_order_submit(d, g, &r->old[g->index - r->first].pass);
  struct moves m = list_moves(r);
  FOR_PARTICLE_COLUMNS(&d->particles, k) {
    exchange_column(r, &m, k);
    FOR_GROUPS(d, g) {
      const uint32_t i = g->index - r->first;
      m.kept[i] = submit_move(r, &m, &m.of_group[i], k, &g->index);
    }
    FOR_GROUPS(d, g) {
      part_keep_submit(g, k, m.kept[g->index - r->first]);
      handle_release(&m.kept[g->index - r->first]);
    }
    message_wait();
    drop_columns(&m.sent);
    drop_columns(&m.received);
  }
  free_moves(r, &m);
}
