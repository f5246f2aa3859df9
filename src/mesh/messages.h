/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lists of the messages in which ranks send each other parts of patches, or of fields. */
#ifndef PHOTONS_MESH_MESSAGES_H
#define PHOTONS_MESH_MESSAGES_H

#include "photons/mesh/long_range.h"

/** Messages of a step while they are listed. They have the places, the memory and the data of those of the step before. */
struct listing {
  struct mesh_messages *list;
  uint32_t count;   /**< so far */
  size_t part_size; /**< bytes of a part */
  size_t most;      /**< floats of a message */
  uint32_t *last;   /**< [pair] the last message, counted from 1; 0: there is none */
};

/** This rank is one end of each message. The place of the two ranks in a table of pairs_most(). */
size_t pair_place(int from, int to);
size_t pairs_most(void);

struct listing messages_begin(struct mesh_messages *list, size_t part_size, size_t most);
/** The last message from one rank to another if so many floats have room in it, else a new one. */
struct mesh_message *messages_with_room(struct listing *l, int from, int to, size_t floats);
/** Add a part. @return where it is written */
void *message_add_part(const struct listing *l, struct mesh_message *message, size_t floats);
/** Free what is left of the step before, and make data. @param sets  that are in memory at a time */
void messages_end(struct listing *l, uint32_t sets);
void messages_free(struct mesh_messages *list);
/** Bytes of a list. */
size_t messages_bytes(const struct mesh_messages *list, size_t part_size);

#endif
