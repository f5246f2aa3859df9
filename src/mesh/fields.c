/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fields.h"

#include <stdlib.h>
#include <string.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/runtime/handle.h"
#include "photons/runtime/loop.h"
#include "pieces.h"
#include "unite.h"

LOOP_STAGE(pieces, 0x66aa55, .family = "pm");

/** What groups of one rank read of another one. */
struct transfer {
  int from, to;
  struct mesh_boxes boxes;
};
/** By receiver, then by sender. */
struct transfers {
  struct transfer *transfer;
  uint32_t count, room;
};

static bool is_before(int from, int to, int other_from, int other_to) {
  return to != other_to ? to < other_to : from < other_from;
}

/** The transfer between two ranks, a new one if there is none. */
static struct transfer *transfer_between(struct transfers *list, int from, int to) {
  uint32_t low = 0, high = list->count;
  while (low < high) {
    const uint32_t middle = (low + high) / 2;
    const struct transfer *t = &list->transfer[middle];
    if (is_before(t->from, t->to, from, to))
      low = middle + 1;
    else
      high = middle;
  }
  if (low < list->count) {
    struct transfer *found = &list->transfer[low];
    if (found->from == from && found->to == to) return found;
  }
  if (list->count == list->room) {
    list->room = 2 * list->room + 16;
    list->transfer = reallocate(list->transfer, list->room, sizeof *list->transfer,
                                "messages of the mesh");
  }
  struct transfer *new = &list->transfer[low];
  memmove(new + 1, new, (list->count++ - low) * sizeof *new);
  *new = (struct transfer){.from = from, .to = to};
  return new;
}

/** Cells first .. first + count - 1 modulo N as one or two runs that do not wrap around. @return their number */
static int unwrap(uint32_t cells, uint32_t first, uint32_t count, struct mesh_range run[2]) {
  const uint32_t end = first + count;
  run[0] = (struct mesh_range){first, end < cells ? end : cells};
  run[1] = (struct mesh_range){0, end - run[0].end};
  return end > cells ? 2 : 1;
}

/** Add the cells that a group reads of some planes and rows. */
static void add_cells(struct mesh_boxes *list, uint32_t cells, const struct mesh_piece *piece,
                      const struct field_box *box) {
  struct mesh_range x[2], y[2], z[2];
  const int nx = unwrap(cells, piece->first, piece->planes, x),
            ny = unwrap(cells, piece->first_y, piece->ys, y),
            nz = unwrap(cells, box->origin[1], box->size[1], z);
  for (int i = 0; i < nx; i++)
    for (int j = 0; j < ny; j++)
      for (int k = 0; k < nz; k++)
        boxes_add(list, (struct mesh_box){.first = {x[i].first, y[j].first, z[k].first},
                                          .end = {x[i].end, y[j].end, z[k].end}});
}

/** Add a rank that a group reads planes of, unless it is there already: the group's first and last planes may have
 * the same owner. */
static void add_rank(struct group_cells *c, int rank) {
  for (uint32_t i = 0; i < c->read_ranks; i++)
    if (c->reads_from[i] == rank) return;
  c->reads_from[c->read_ranks++] = rank;
}

/** Add what a group reads of other ranks if it is this rank's own, or else of this rank.
 * @param piece  memory for the pieces of a group */
static void add_group(const struct long_range *l, struct group_cells *c, struct mesh_piece *piece,
                      struct transfers *list) {
  const int me = comm_rank();
  const uint32_t count = cut_field_box(l->mesh, &c->field_box, piece);
  if (c->owner == me)
    c->reads_from = reallocate(c->reads_from, count, sizeof *c->reads_from, "pieces of the mesh");
  c->read_ranks = 0;
  for (uint32_t k = 0; k < count; k++) {
    const int rank = piece[k].rank;
    if (rank == c->owner || (c->owner != me && rank != me)) continue;
    if (c->owner == me) add_rank(c, rank);
    add_cells(&transfer_between(list, rank, c->owner)->boxes, l->mesh->cells, &piece[k],
              &c->field_box);
  }
}

static void unite(void *context, uint32_t i) {
  boxes_unite(&((struct transfers *)context)->transfer[i].boxes);
}

static struct transfers find_transfers(struct long_range *l) {
  struct mesh_piece *piece = allocate(pieces_most(l->mesh), sizeof *piece, "pieces of the mesh");
  struct transfers list = {0};
  FOR_CELLS(l, c) add_group(l, c, piece, &list);
  free(piece);
  loop_run(&pieces_stage, list.count, unite, &list);
  return list;
}

/** Free messages from the given one on. */
static void leave_messages(struct field_messages *list, uint32_t first) {
  for (uint32_t k = first; k < list->count; k++) {
    for (uint32_t set = 0; set < SETS_MOST; set++) handle_drop(&list->message[k].handle[set]);
    free(list->message[k].part);
  }
  list->count = first < list->count ? first : list->count;
}

void fields_leave(struct long_range *l) {
  leave_messages(&l->field_messages, 0);
  free(l->field_messages.message);
  l->field_messages = (struct field_messages){0};
}

/** Messages while they are filled. They have the places and the data of those of the step before. */
struct filling {
  struct field_messages *list;
  uint32_t count;  /* so far */
  uint32_t fields; /* of the mesh */
};

static struct field_message *new_message(struct filling *f, int from, int to, uint32_t number) {
  struct field_messages *list = f->list;
  if (f->count == list->count) {
    list->message = reallocate(list->message, ++list->count, sizeof *list->message,
                               "messages of the mesh");
    list->message[f->count] = (struct field_message){0};
  }
  struct field_message *message = &list->message[f->count++];
  message->from = from;
  message->to = to;
  message->number = number;
  message->floats = message->parts = 0;
  return message;
}

/** Add a box to the last message between its ranks, or to a new one. A box that is larger than a message is halved. */
static void add_box(struct filling *f, const struct mesh_box *box) {
  struct field_part part = {.first = {box->first[0], box->first[1], box->first[2]}};
  size_t floats = f->fields;
  for (int c = 0; c < 3; c++) {
    part.size[c] = box->end[c] - box->first[c];
    floats *= part.size[c];
  }
  if (floats > MESH_MESSAGE_MOST) {
    const int axis = part.size[0] > 1 ? 0 : 1;
    struct mesh_box half[2] = {*box, *box};
    half[0].end[axis] = half[1].first[axis] = box->first[axis] + part.size[axis] / 2;
    for (int i = 0; i < 2; i++) add_box(f, &half[i]);
    return;
  }
  struct field_message *message = &f->list->message[f->count - 1];
  if (message->floats + floats > MESH_MESSAGE_MOST)
    message = new_message(f, message->from, message->to, message->number + 1);
  part.at = message->floats;
  message->part = reallocate(message->part, message->parts + 1, sizeof part,
                             "messages of the mesh");
  message->part[message->parts++] = part;
  message->floats += floats;
}

void fields_place(struct long_range *l) {
  struct transfers list = find_transfers(l);
  struct filling f = {.list = &l->field_messages, .fields = l->mesh->fields};
  for (uint32_t i = 0; i < list.count; i++) {
    const struct transfer *t = &list.transfer[i];
    new_message(&f, t->from, t->to, 0);
    for (size_t k = 0; k < t->boxes.count; k++) add_box(&f, &t->boxes.box[k]);
    free(t->boxes.box);
  }
  free(list.transfer);
  leave_messages(f.list, f.count);
  for (uint32_t k = 0; k < f.count; k++)
    for (uint32_t set = 0; set < set_places(l); set++)
      handle_fit(&f.list->message[k].handle[set], f.list->message[k].floats);
}

size_t fields_bytes(const struct long_range *l) {
  const struct field_messages *list = &l->field_messages;
  size_t bytes = list->count * sizeof *list->message;
  for (uint32_t k = 0; k < list->count; k++)
    bytes += list->message[k].parts * sizeof *list->message[k].part;
  FOR_CELLS(l, c) bytes += c->read_ranks * sizeof *c->reads_from;
  return bytes;
}

const struct field_message *fields_from(const struct long_range *l, int rank,
                                        const struct field_message **end) {
  const struct field_messages *list = &l->field_messages;
  const int me = comm_rank();
  uint32_t low = 0, high = list->count;
  while (low < high) {
    const uint32_t middle = (low + high) / 2;
    const struct field_message *m = &list->message[middle];
    if (is_before(m->from, m->to, rank, me))
      low = middle + 1;
    else
      high = middle;
  }
  for (high = low;
       high < list->count && list->message[high].from == rank && list->message[high].to == me;)
    high++;
  *end = list->message + high;
  return list->message + low;
}
