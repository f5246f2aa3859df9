/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fields.h"

#include <stdlib.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/runtime/loop.h"
#include "pieces.h"

LOOP_STAGE(pieces, 0x66aa55, .family = "pm");

/** What groups of one rank read of another one. */
struct transfer {
  int from, to;
  uint32_t latest; /* for comes_first(): the group that reads it */
  struct mesh_boxes boxes;
};
struct transfers {
  struct transfer *transfer;
  uint32_t count, room;
  uint32_t *between; /* [pair] the transfer between two ranks, counted from 1; 0: there is none */
};

/** The transfer between two ranks, a new one if there is none. @return which */
static uint32_t transfer_between(struct transfers *list, int from, int to) {
  uint32_t *between = &list->between[pair_place(from, to)];
  if (*between > 0) return *between - 1;
  if (list->count == list->room) {
    list->room = 2 * list->room + 16;
    list->transfer = reallocate(list->transfer, list->room, sizeof *list->transfer,
                                "messages of the mesh");
  }
  list->transfer[list->count] = (struct transfer){.from = from, .to = to};
  *between = ++list->count;
  return list->count - 1;
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

/** Add what a group reads of other ranks if it is this rank's own, or else of this rank.
 * @param piece  memory for the pieces of a group */
static void add_group(const struct long_range *l, struct group_cells *c, struct mesh_piece *piece,
                      struct transfers *list) {
  const int me = comm_rank();
  const uint32_t count = cut_field_box(l->mesh, &c->field_box, piece);
  if (c->owner == me)
    c->reads = reallocate(c->reads, count, sizeof *c->reads, "pieces of the mesh");
  c->read_ranks = 0;
  for (uint32_t k = 0; k < count; k++) {
    const int rank = piece[k].rank;
    if (rank == c->owner || (c->owner != me && rank != me)) continue;
    const uint32_t transfer = transfer_between(list, rank, c->owner);
    /* The group's first and last planes may have the same owner. */
    if (c->owner == me && comes_first(&list->transfer[transfer].latest, c->group))
      c->reads[c->read_ranks++] = transfer;
    add_cells(&list->transfer[transfer].boxes, l->mesh->cells, &piece[k], &c->field_box);
  }
}

static void unite(void *context, uint32_t i) {
  boxes_unite(&((struct transfers *)context)->transfer[i].boxes);
}

static struct transfers find_transfers(struct long_range *l) {
  struct mesh_piece *piece = allocate(pieces_most(l->mesh), sizeof *piece, "pieces of the mesh");
  struct transfers list = {
      .between = allocate(pairs_most(), sizeof *list.between, "messages of the mesh")};
  FOR_CELLS(l, c) add_group(l, c, piece, &list);
  free(piece);
  free(list.between);
  loop_run(&pieces_stage, list.count, unite, &list);
  return list;
}

static void add_box(struct listing *messages, int from, int to, const struct mesh_box *box,
                    uint32_t fields) {
  struct field_part part = {.first = {box->first[0], box->first[1], box->first[2]}};
  size_t floats = fields;
  for (int c = 0; c < 3; c++) {
    part.size[c] = box->end[c] - box->first[c];
    floats *= part.size[c];
  }
  if (floats > messages->most) {
    const int axis = part.size[0] > 1 ? 0 : 1;
    struct mesh_box half[2] = {*box, *box};
    half[0].end[axis] = half[1].first[axis] = box->first[axis] + part.size[axis] / 2;
    for (int i = 0; i < 2; i++) add_box(messages, from, to, &half[i], fields);
    return;
  }
  struct mesh_message *message = messages_with_room(messages, from, to, floats);
  part.at = message->floats;
  *(struct field_part *)message_add_part(messages, message, floats) = part;
}

void fields_add(struct listing *messages, int from, int to, const struct mesh_boxes *boxes,
                uint32_t fields) {
  for (size_t k = 0; k < boxes->count; k++) add_box(messages, from, to, &boxes->box[k], fields);
}

static void make_tree(void *context, uint32_t k) {
  struct mesh_message *message = &((struct mesh_messages *)context)->message[k];
  if (message->to == comm_rank()) part_tree_make(message);
}

void fields_place(struct long_range *l) {
  struct transfers list = find_transfers(l);
  struct listing messages = messages_begin(&l->field_messages, sizeof(struct field_part),
                                           MESH_MESSAGE_MOST);
  uint32_t *first = allocate(list.count, sizeof *first, "messages of the mesh");
  for (uint32_t i = 0; i < list.count; i++) {
    const struct transfer *t = &list.transfer[i];
    first[i] = messages.count;
    fields_add(&messages, t->from, t->to, &t->boxes, l->mesh->fields);
    free(t->boxes.box);
  }
  FOR_CELLS(l, c) for (uint32_t i = 0; i < c->read_ranks; i++) c->reads[i] = first[c->reads[i]];
  free(first);
  free(list.transfer);
  messages_end(&messages, set_places(l));
  loop_run(&pieces_stage, l->field_messages.count, make_tree, &l->field_messages);
}

size_t fields_bytes(const struct long_range *l) {
  size_t bytes = messages_bytes(&l->field_messages, sizeof(struct field_part));
  FOR_CELLS(l, c) bytes += c->read_ranks * sizeof *c->reads;
  return bytes;
}
