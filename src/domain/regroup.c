/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rebuild of the domain by tasks. Levels of the ORB tree are split one after the other. Tasks pass
 * over the particles of the old groups, which stay where they are, and the host adds up what they find:
 * boxes, and numbers of particles by digits of the medians. At last particles move. */
#include "regroup.h"

#include <stdlib.h>
#include <string.h>

#include "bisect.h"
#include "keys.h"
#include "photons/base/comm.h"
#include "photons/base/debug_check.h"
#include "photons/base/error.h"
#include "photons/base/kept.h"
#include "photons/domain/codelets.h"
#include "photons/domain/domain.h"
#include "photons/runtime/handle.h"
#include "photons/runtime/message.h"

/** An old group of this rank. */
struct old_group {
  struct group_cut pass;
  uint32_t *node;         /* [row] of the level */
  struct node_part *part; /* [side] what the group has on each side of the cuts */
  uint32_t *ties;         /* [row] particles at the median */
};

struct regrouping {
  struct domain *d;
  uint32_t first, groups;         /* this rank's groups */
  struct old_group *old;          /* [own group] */
  struct cut *cut;                /* [node of the level] */
  uint32_t (*low)[3], (*high)[3]; /* [node of the level] box */
  uint64_t *of_value;             /* [node of the level][DIGIT_VALUES] */
};

/** For each side that holds particles of an old group: its node's cut, and the node. */
#define FOR_CUTS(o, c, of)                                                   \
  for (uint32_t s = 0, of; s < (o)->pass.sides; s++)                         \
    for (struct node_cut *c = (o)->part[s].count ? &(o)->pass.cut[s] : NULL; \
         c && (of = (o)->node[c->row], true); c = NULL)

/** A new array of results, to be written by the next pass. */
static void expect(struct old_group *o, size_t count, size_t size) {
  handle_drop(&o->pass.result);
  o->pass.result = handle_make(count, size);
}

/** Call function() for the results of all groups, which come to the host together. */
static void for_results(struct regrouping *r,
                        void (*function)(struct regrouping *r, struct old_group *o,
                                         const void *result)) {
  for (uint32_t g = 0; g < r->groups; g++)
    (void)starpu_data_prefetch_on_node(r->old[g].pass.result, STARPU_MAIN_RAM, 1);
  for (uint32_t g = 0; g < r->groups; g++) {
    const starpu_data_handle_t result = r->old[g].pass.result;
    handle_acquire(result, STARPU_R);
    function(r, &r->old[g], starpu_data_get_local_ptr(result));
    starpu_data_release(result);
  }
}

/** Sides become nodes of the next level: each that holds particles of the group gets a row. */
static void take_sides(struct regrouping *r, struct old_group *o, const void *result) {
  const uint32_t sides = 2 * o->pass.rows, *parent = o->node;
  uint32_t *node = allocate(sides, sizeof *node, "nodes of a group"), rows = 0;
  o->part = reallocate(o->part, sides, sizeof *o->part, "parts of a group");
  o->pass.cut = reallocate(o->pass.cut, sides, sizeof *o->pass.cut, "cuts of a group");
  memcpy(o->part, result, sides * sizeof *o->part);
  memset(o->pass.cut, 0, sides * sizeof *o->pass.cut);
  for (uint32_t s = 0; s < sides; s++) {
    const struct node_part *part = &o->part[s];
    if (part->count == 0) continue;
    const uint32_t of = parent ? 2 * parent[s / 2] + s % 2 : 0;
    for (size_t c = 0; c < 3; c++) {
      if (part->low[c] < r->low[of][c]) r->low[of][c] = part->low[c];
      if (part->high[c] > r->high[of][c]) r->high[of][c] = part->high[c];
    }
    o->pass.cut[s].row = rows;
    node[rows++] = of;
  }
  free(o->node);
  o->node = node;
  o->pass.sides = sides;
  o->pass.rows = rows;
}

/** Send all particles to the sides of the cuts, and measure the nodes of the next level. */
static void send_down(struct regrouping *r, uint32_t nodes) {
  memset(r->low, 0xff, nodes * sizeof *r->low);
  memset(r->high, 0, nodes * sizeof *r->high);
  FOR_GROUPS(r->d, g) {
    struct old_group *o = &r->old[g->index - r->first];
    expect(o, 2 * (size_t)o->pass.rows, sizeof(struct node_part));
    cut_send_submit(g, &o->pass);
  }
  for_results(r, take_sides);
  comm_min_u32(r->low[0], 3 * (size_t)nodes);
  comm_max_u32(r->high[0], 3 * (size_t)nodes);
}

static void add_values(struct regrouping *r, struct old_group *o, const void *result) {
  const uint32_t *of_value = result;
  for (uint32_t row = 0; row < o->pass.rows; row++)
    for (uint32_t k = 0; k < DIGIT_VALUES; k++)
      r->of_value[(size_t)o->node[row] * DIGIT_VALUES + k] += of_value[row * DIGIT_VALUES + k];
}

static void find_digit(struct regrouping *r, uint32_t nodes, int digit) {
  const size_t values = (size_t)nodes * DIGIT_VALUES;
  memset(r->of_value, 0, values * sizeof *r->of_value);
  FOR_GROUPS(r->d, g) {
    struct old_group *o = &r->old[g->index - r->first];
    expect(o, (size_t)o->pass.rows * DIGIT_VALUES, sizeof(uint32_t));
    cut_count_submit(g, &o->pass, digit);
  }
  for_results(r, add_values);
  comm_sum_u64(r->of_value, values);
  for (uint32_t node = 0; node < nodes; node++)
    cut_find_digit(&r->cut[node], digit, r->of_value + (size_t)node * DIGIT_VALUES);
  for (uint32_t g = 0; g < r->groups; g++)
    FOR_CUTS(&r->old[g], c, node) c->value = r->cut[node].value;
}

/** After the last digit: the group's particles at the medians. */
static void take_ties(struct regrouping *r, struct old_group *o, const void *result) {
  const uint32_t *of_value = result, lowest = (1u << digit_shift(DIGITS - 2)) - 1;
  o->ties = reallocate(o->ties, o->pass.rows, sizeof *o->ties, "ties of a group");
  for (uint32_t row = 0; row < o->pass.rows; row++)
    o->ties[row] = of_value[row * DIGIT_VALUES + (r->cut[o->node[row]].value & lowest)];
}

/** Of the particles at a median the first ones, in the order of ranks and old groups, go left. */
static void share_ties(struct regrouping *r, uint32_t nodes) {
  uint64_t *before = allocate(nodes, sizeof *before, "ties"); /* of lower ranks */
  kept_set(KEPT_TIES, nodes * sizeof *before);
  for (uint32_t g = 0; g < r->groups; g++)
    FOR_CUTS(&r->old[g], c, node) before[node] += r->old[g].ties[c->row];
  comm_sums_before(before, nodes);
  for (uint32_t node = 0; node < nodes; node++) {
    const uint64_t left = r->cut[node].left;
    r->cut[node].left -= before[node] < left ? before[node] : left;
  }
  for (uint32_t g = 0; g < r->groups; g++) FOR_CUTS(&r->old[g], c, node) {
      const uint64_t ties = r->old[g].ties[c->row], left = r->cut[node].left;
      c->ties = ties <= left ? UINT32_MAX : (uint32_t)left;
      r->cut[node].left -= ties <= left ? ties : left;
    }
  free(before);
}

static void split_level(struct regrouping *r, unsigned level) {
  const uint32_t nodes = 1u << level, groups = r->d->group_count;
  const size_t all = r->d->particles.all;
  for (uint32_t node = 0; node < nodes; node++)
    r->cut[node] = (struct cut){.node = node,
                                .axis = side_to_cut(level, groups, r->low[node], r->high[node]),
                                .left = block_first(all, 2 * (size_t)nodes, 2 * (size_t)node + 1) -
                                        block_first(all, nodes, node)};
  for (uint32_t g = 0; g < r->groups; g++)
    FOR_CUTS(&r->old[g], c, node) c->axis = (uint32_t)r->cut[node].axis;
  for (int digit = 0; digit < DIGITS; digit++) find_digit(r, nodes, digit);
  for_results(r, take_ties);
  share_ties(r, nodes);
  send_down(r, 2 * nodes);
}

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
  uint32_t *taken;       /* [old group of any rank][own new group] particles */
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

/** Tell all ranks what they get of this rank's old groups. */
static void exchange_counts(const struct regrouping *r, struct moves *m) {
  const size_t ranks = (size_t)comm_size(), own = r->groups;
  uint32_t *given = allocate(own * r->d->group_count, sizeof *given, "counts of particles");
  size_t *bytes = allocate(2 * ranks, sizeof *bytes, "message sizes");
  for (size_t k = 0; k < ranks; k++) {
    const size_t n = group_first(r->d, (int)k + 1) - group_first(r->d, (int)k);
    bytes[k] = bytes[ranks + k] = own * n * sizeof *given;
  }
  for (uint32_t g = 0; g < r->groups; g++) FOR_CUTS(&r->old[g], c, to) {
      const int rank = group_owner(r->d, to);
      const size_t first = group_first(r->d, rank), n = group_first(r->d, rank + 1) - first;
      given[own * first + g * n + (to - first)] = r->old[g].part[s].count;
    }
  m->taken = allocate(own * r->d->group_count, sizeof *m->taken, "counts of particles");
  comm_exchange(given, bytes, m->taken, bytes + ranks);
  free(bytes);
  free(given);
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

/** Moves from what another rank sends. */
static void list_received(const struct regrouping *r, struct moves *m, int rank) {
  for (uint32_t g = group_first(r->d, rank); g < group_first(r->d, rank + 1); g++) {
    const uint32_t *taken = m->taken + (size_t)g * r->groups;
    uint32_t count = 0, first = 0;
    for (uint32_t to = 0; to < r->groups; to++) count += taken[to];
    if (count == 0) continue;
    parcel_of(&m->received, g, rank, comm_rank())->move.part.count = count;
    for (uint32_t to = 0; to < r->groups; to++) {
      add_segment(&m->of_group[to], r->groups + m->received.count - 1, count, first, taken[to]);
      first += taken[to];
    }
  }
}

/** Of particles of a new group those of lower ranks and old groups come first. */
static struct moves list_moves(const struct regrouping *r) {
  struct moves m = {.of_group = allocate(r->groups, sizeof *m.of_group, "particles to move"),
                    .kept = allocate(r->groups, sizeof *m.kept, "particles to move")};
  exchange_counts(r, &m);
  for (int rank = 0; rank < comm_size(); rank++) {
    if (rank == comm_rank())
      list_given(r, &m);
    else
      list_received(r, &m, rank);
  }
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
  free(m->taken);
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

/** Move the particles, one column after the other: this column exists twice meanwhile. */
static void move_columns(struct regrouping *r) {
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

void orb_regroup(struct domain *d, uint32_t (*centre)[3]) {
  const size_t groups = d->group_count;
  struct regrouping r = {.d = d,
                         .first = group_first(d, comm_rank()),
                         .groups = (uint32_t)d->particles.blocks,
                         .old = allocate(d->particles.blocks, sizeof *r.old, "groups"),
                         .cut = allocate(groups, sizeof *r.cut, "cuts of the domain"),
                         .low = allocate(groups, sizeof *r.low, "boxes of the domain"),
                         .high = allocate(groups, sizeof *r.high, "boxes of the domain"),
                         .of_value = allocate(groups * DIGIT_VALUES, sizeof *r.of_value,
                                              "counts of the domain decomposition")};
  kept_set(KEPT_COUNTS, groups * (DIGIT_VALUES * sizeof *r.of_value + sizeof *r.low +
                                  sizeof *r.high + sizeof *r.cut));
  message_wait();
  FOR_GROUPS(d, g) {
    struct group_cut *c = &r.old[g->index - r.first].pass;
    c->side = handle_make(g->count, sizeof(uint16_t));
    c->rows = 1;
  }
  send_down(&r, 1);
  for (unsigned level = 0; 1u << level < d->group_count; level++) split_level(&r, level);
  move_columns(&r);
  for (uint32_t g = 0; g < r.groups; g++) {
    struct old_group *o = &r.old[g];
    const uint32_t *low = r.low[r.first + g], *high = r.high[r.first + g];
    for (size_t c = 0; c < 3; c++) centre[g][c] = low[c] + (high[c] - low[c]) / 2;
    handle_drop(&o->pass.side);
    handle_drop(&o->pass.result);
    free(o->pass.cut);
    free(o->node);
    free(o->part);
    free(o->ties);
  }
  free(r.of_value);
  free(r.high);
  free(r.low);
  free(r.cut);
  free(r.old);
}
