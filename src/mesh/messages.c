/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "messages.h"

#include <stdlib.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/runtime/handle.h"

size_t pairs_most(void) { return 2 * (size_t)comm_size(); }

size_t pair_place(int from, int to) {
  return (size_t)(from == comm_rank() ? to : comm_size() + from);
}

struct listing messages_begin(struct mesh_messages *list, size_t part_size, size_t most) {
  return (struct listing){.list = list,
                          .part_size = part_size,
                          .most = most,
                          .last = allocate(pairs_most(), sizeof(uint32_t), "messages of the mesh")};
}

/** @param before  the last message of the two ranks, counted from 1; 0: there is none */
static struct mesh_message *new_message(struct listing *l, int from, int to, uint32_t before) {
  struct mesh_messages *list = l->list;
  const uint32_t number = before > 0 ? list->message[before - 1].number + 1 : 0;
  if (l->count == list->count) {
    list->message = reallocate(list->message, ++list->count, sizeof *list->message,
                               "messages of the mesh");
    list->message[l->count] = (struct mesh_message){0};
  }
  struct mesh_message *message = &list->message[l->count++];
  message->from = from;
  message->to = to;
  message->number = number;
  message->floats = message->parts = message->nodes = 0;
  return message;
}

struct mesh_message *messages_with_room(struct listing *l, int from, int to, size_t floats) {
  uint32_t *last = &l->last[pair_place(from, to)];
  if (*last > 0 && l->list->message[*last - 1].floats + floats <= l->most)
    return &l->list->message[*last - 1];
  struct mesh_message *message = new_message(l, from, to, *last);
  *last = l->count;
  return message;
}

void *message_add_part(const struct listing *l, struct mesh_message *message, size_t floats) {
  if (message->parts == message->room) {
    message->room = 2 * message->room + 1;
    message->part = reallocate(message->part, message->room, l->part_size, "messages of the mesh");
  }
  message->floats += floats;
  return (char *)message->part + message->parts++ * l->part_size;
}

/** Free messages from the given one on. */
static void leave_messages(struct mesh_messages *list, uint32_t first) {
  for (uint32_t k = first; k < list->count; k++) {
    for (uint32_t set = 0; set < SETS_MOST; set++) handle_drop(&list->message[k].handle[set]);
    free(list->message[k].part);
    free(list->message[k].node);
  }
  list->count = first < list->count ? first : list->count;
}

void messages_end(struct listing *l, uint32_t sets) {
  leave_messages(l->list, l->count);
  for (uint32_t k = 0; k < l->count; k++) {
    struct mesh_message *m = &l->list->message[k];
    m->room = m->parts;
    m->part = reallocate(m->part, m->room, l->part_size, "messages of the mesh");
    for (uint32_t set = 0; set < sets; set++) handle_fit(&m->handle[set], m->floats);
  }
  free(l->last);
}

void messages_free(struct mesh_messages *list) {
  leave_messages(list, 0);
  free(list->message);
  *list = (struct mesh_messages){0};
}

size_t messages_bytes(const struct mesh_messages *list, size_t part_size) {
  size_t bytes = list->count * sizeof *list->message;
  for (uint32_t k = 0; k < list->count; k++)
    bytes += list->message[k].room * part_size +
             list->message[k].nodes * sizeof *list->message[k].node;
  return bytes;
}
