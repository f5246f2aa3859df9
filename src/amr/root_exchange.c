/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/amr/root_exchange.h"

#include <stdlib.h>
#include <string.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/base/kept.h"
#include "photons/runtime/loop.h"

enum { SIDE = GAS_GROUP_SIDE };

/** What a rank's part of the mesh has of a group: numbers from `at` on in a message. */
struct piece {
  uint32_t group;
  int rank;
  size_t at;
};

struct pieces {
  uint32_t count, room;
  struct piece *piece;
};

struct root_exchange {
  const struct gas *gas;
  struct fft_box *box; /* [rank] of the mesh */
  unsigned axis[3];
  struct stage *stage;
  uint32_t first, own;      /* groups of this rank */
  struct pieces sent;       /* of own groups, by group and rank */
  uint32_t *sent_first;     /* [own + 1] of each own group */
  struct pieces received;   /* of groups that have cells in the own part of the mesh, by group */
  size_t *bytes;            /* [2][rank] of messages to and from the ranks */
  double *outside, *inside; /* the messages: of own groups, of the own part of the mesh; on one rank
                               the same */
};

/** The rows along axis 2 of a group that a rank has: numbers in the group along axes 0 and 1. */
struct common {
  size_t first[2], end[2];
};

/** The lowest cell of a group along axes 0, 1 and 2. */
struct corner {
  size_t at[3];
};

static struct corner corner_of(const struct root_exchange *e, uint32_t group) {
  struct corner corner;
  uint32_t place[3];
  topology_place(&e->gas->topology, 0, group, place);
  for (int i = 0; i < 3; i++) corner.at[i] = SIDE * (size_t)place[e->axis[i]];
  return corner;
}

static struct common common_rows(const struct root_exchange *e, struct corner corner, int rank) {
  const struct fft_box *b = &e->box[rank];
  struct common c;
  for (int i = 0; i < 2; i++) {
    const size_t low = corner.at[i], high = low + SIDE, end = b->first[i] + b->count[i];
    c.first[i] = b->first[i] > low ? b->first[i] - low : 0;
    c.end[i] = end < high ? (end > low ? end - low : 0) : SIDE;
    if (c.end[i] < c.first[i]) c.end[i] = c.first[i];
  }
  return c;
}

static size_t numbers(struct common c) {
  return (c.end[0] - c.first[0]) * (c.end[1] - c.first[1]) * SIDE;
}

/** Add what a rank's part of the mesh has of a group, if anything, at the end of a message. */
static void add_piece(const struct root_exchange *e, struct pieces *p, uint32_t group, int rank,
                      size_t *at) {
  const size_t count = numbers(common_rows(e, corner_of(e, group), rank));
  if (count == 0) return;
  if (p->count == p->room)
    p->piece = reallocate(p->piece, p->room = 2 * p->room + 64, sizeof *p->piece,
                          "messages of the root level");
  p->piece[p->count++] = (struct piece){group, rank, *at};
  *at += count;
}

static int compare_pieces(const void *a, const void *b) {
  const struct piece *x = a, *y = b;
  if (x->group != y->group) return x->group < y->group ? -1 : 1;
  return (x->rank > y->rank) - (x->rank < y->rank);
}

/** Sort what is sent, which is found rank by rank, by groups. */
static void index_sent(struct root_exchange *e) {
  struct pieces *p = &e->sent;
  if (p->count > 0) qsort(p->piece, p->count, sizeof *p->piece, compare_pieces);
  e->sent_first = allocate(e->own + 1, sizeof *e->sent_first, "messages of the root level");
  for (uint32_t k = 0; k < p->count; k++) e->sent_first[p->piece[k].group - e->first + 1]++;
  for (uint32_t i = 0; i < e->own; i++) e->sent_first[i + 1] += e->sent_first[i];
}

/** A range of places of groups along the axes of the mesh. */
struct places {
  uint32_t first[3], end[3];
};

/** The groups that have cells in the own part of the mesh. */
static struct places places_on_mesh(const struct root_exchange *e) {
  const struct fft_box *b = &e->box[comm_rank()];
  struct places p = {.end = {0}};
  for (int i = 0; i < 3; i++) {
    const uint32_t root = e->gas->topology.root[e->axis[i]];
    const size_t end = i < 2 ? (b->first[i] + b->count[i] + SIDE - 1) / SIDE : root;
    p.first[i] = i < 2 ? (uint32_t)(b->first[i] / SIDE) : 0;
    p.end[i] = end < root ? (uint32_t)end : root;
    if (i < 2 && b->count[i] == 0) p.end[i] = p.first[i];
  }
  return p;
}

static int compare_numbers(const void *a, const void *b) {
  const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

/** The numbers of these groups, rising; free() them. */
static uint32_t *groups_on_mesh(const struct root_exchange *e, uint32_t *count) {
  const struct places p = places_on_mesh(e);
  size_t most = 1;
  for (int i = 0; i < 3; i++) most *= p.end[i] > p.first[i] ? p.end[i] - p.first[i] : 0;
  uint32_t *group = allocate(most, sizeof *group, "messages of the root level");
  *count = 0;
  for (uint32_t x = p.first[0]; x < p.end[0] && most > 0; x++)
    for (uint32_t y = p.first[1]; y < p.end[1]; y++)
      for (uint32_t z = p.first[2]; z < p.end[2]; z++, (*count)++) {
        int64_t place[3];
        place[e->axis[0]] = x;
        place[e->axis[1]] = y;
        place[e->axis[2]] = z;
        group[*count] = comm_size() == 1 ? *count : topology_find(&e->gas->topology, 0, place);
      }
  if (comm_size() > 1 && *count > 1) qsort(group, *count, sizeof *group, compare_numbers);
  return group;
}

/** The lowest cells of the first and the last own groups along the axes of the mesh. */
static void find_corners(const struct root_exchange *e, struct corner *low, struct corner *high) {
  for (uint32_t i = 0; i < e->own; i++) {
    const struct corner at = corner_of(e, e->first + i);
    for (int k = 0; k < 3; k++) {
      if (i == 0 || at.at[k] < low->at[k]) low->at[k] = at.at[k];
      if (i == 0 || at.at[k] > high->at[k]) high->at[k] = at.at[k];
    }
  }
}

/** Whether a rank's part of the mesh may have cells of own groups. */
static bool may_meet(const struct root_exchange *e, const struct corner *low,
                     const struct corner *high, int rank) {
  const struct fft_box *b = &e->box[rank];
  for (int i = 0; i < 2; i++)
    if (b->first[i] >= high->at[i] + SIDE || b->first[i] + b->count[i] <= low->at[i]) return false;
  return e->own > 0;
}

/** Find where groups are in the messages. @return the numbers of each of both */
static struct common_sizes { size_t sent, received; } plan_messages(struct root_exchange *e) {
  struct common_sizes at = {0, 0};
  struct corner low = {{0}}, high = {{0}};
  uint32_t count, *group = groups_on_mesh(e, &count);
  find_corners(e, &low, &high);
  for (int rank = 0; rank < comm_size(); rank++) {
    const size_t before = at.sent;
    const uint32_t own = may_meet(e, &low, &high, rank) ? e->own : 0;
    for (uint32_t i = 0; i < own; i++) add_piece(e, &e->sent, e->first + i, rank, &at.sent);
    e->bytes[rank] = (at.sent - before) * sizeof(double);
  }
  for (uint32_t i = 0; i < count; i++) {
    const size_t before = at.received;
    add_piece(e, &e->received, group[i], comm_rank(), &at.received);
    e->bytes[comm_size() + gas_owner(e->gas, 0, group[i])] += (at.received - before) *
                                                              sizeof(double);
  }
  free(group);
  index_sent(e);
  return at;
}

struct root_exchange *root_exchange_make(const struct gas *g, const struct fft_mesh *mesh,
                                         const unsigned axis[3], struct stage *stage) {
  static const char what[] = "messages of the root level";
  const size_t ranks = (size_t)comm_size();
  struct root_exchange *e = allocate(1, sizeof *e, what);
  *e = (struct root_exchange){
      .gas = g, .stage = stage, .first = gas_first_group(g, 0, comm_rank())};
  memcpy(e->axis, axis, sizeof e->axis);
  e->own = gas_first_group(g, 0, comm_rank() + 1) - e->first;
  e->box = allocate(ranks, sizeof *e->box, what);
  const struct fft_grid grid = fft_grid_of(mesh);
  for (int rank = 0; rank < comm_size(); rank++) e->box[rank] = fft_values_of(mesh, grid, rank);
  e->bytes = allocate(2 * ranks, sizeof *e->bytes, what);
  const struct common_sizes size = plan_messages(e);
  kept_set(KEPT_PIECES, (e->sent.count + e->received.count) * sizeof(struct piece) +
                            (e->own + 1) * sizeof *e->sent_first +
                            ranks * (sizeof *e->box + 2 * sizeof *e->bytes));
  e->outside = allocate(size.sent, sizeof *e->outside, what);
  e->inside = ranks > 1 ? allocate(size.received, sizeof *e->inside, what) : e->outside;
  return e;
}

void root_exchange_free(struct root_exchange *e) {
  if (!e) return;
  if (e->inside != e->outside) free(e->inside);
  free(e->outside);
  free(e->box);
  free(e->sent.piece);
  free(e->sent_first);
  free(e->received.piece);
  free(e->bytes);
  free(e);
}

double root_exchange_bytes_of_all(double cells) {
  return (comm_size() > 1 ? 2.0 : 1.0) * cells * sizeof(double);
}

/* What loops over groups need. */
struct passage {
  struct root_exchange *exchange;
  double *memory; /* of the mesh */
  root_give *give;
  root_take *take;
  void *context;
};

/** Copy the cells of own group i to or from the messages. */
static void copy_group(const struct root_exchange *e, uint32_t i, double *cube, bool pack) {
  const struct corner corner = corner_of(e, e->first + i);
  for (uint32_t k = e->sent_first[i]; k < e->sent_first[i + 1]; k++) {
    const struct common c = common_rows(e, corner, e->sent.piece[k].rank);
    double *piece = e->outside + e->sent.piece[k].at;
    const size_t rows = c.end[1] - c.first[1];
    for (size_t x = c.first[0]; x < c.end[0]; x++, piece += rows * SIDE) {
      double *row = cube + (x * SIDE + c.first[1]) * SIDE;
      memcpy(pack ? piece : row, pack ? row : piece, rows * SIDE * sizeof *cube);
    }
  }
}

static void give_group(void *context, uint32_t i) {
  const struct passage *p = context;
  double cube[SIDE * SIDE * SIDE];
  p->give(p->context, p->exchange->first + i, cube);
  copy_group(p->exchange, i, cube, true);
}

static void take_group(void *context, uint32_t i) {
  const struct passage *p = context;
  double cube[SIDE * SIDE * SIDE];
  copy_group(p->exchange, i, cube, false);
  p->take(p->context, p->exchange->first + i, cube);
}

/** Copy what this rank has of a group on the mesh from or to the messages. @param k  of the pieces */
static void copy_rows(const struct passage *p, uint32_t k, bool to_mesh) {
  const struct root_exchange *e = p->exchange;
  const uint32_t group = e->received.piece[k].group;
  const struct corner corner = corner_of(e, group);
  const struct common c = common_rows(e, corner, comm_rank());
  const struct fft_box *b = &e->box[comm_rank()];
  double *piece = e->inside + e->received.piece[k].at;
  for (size_t x = c.first[0]; x < c.end[0]; x++)
    for (size_t y = c.first[1]; y < c.end[1]; y++, piece += SIDE) {
      double *row = p->memory + fft_at(b, corner.at[0] + x - b->first[0],
                                       corner.at[1] + y - b->first[1], corner.at[2]);
      memcpy(to_mesh ? row : piece, to_mesh ? piece : row, SIDE * sizeof *row);
    }
}

static void put_rows(void *context, uint32_t k) { copy_rows(context, k, true); }
static void get_rows(void *context, uint32_t k) { copy_rows(context, k, false); }

void root_exchange_to_mesh(struct root_exchange *e, root_give *give, void *context,
                           double *memory) {
  struct passage p = {.exchange = e, .give = give, .context = context};
  p.memory = memory;
  loop_run(e->stage, e->own, give_group, &p);
  if (comm_size() > 1) comm_exchange(e->outside, e->bytes, e->inside, e->bytes + comm_size());
  loop_run(e->stage, e->received.count, put_rows, &p);
}

void root_exchange_to_groups(struct root_exchange *e, double *memory, root_take *take,
                             void *context) {
  struct passage p = {.exchange = e, .take = take, .context = context};
  p.memory = memory;
  loop_run(e->stage, e->received.count, get_rows, &p);
  if (comm_size() > 1) comm_exchange(e->inside, e->bytes + comm_size(), e->outside, e->bytes);
  loop_run(e->stage, e->own, take_group, &p);
}
