/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The messages by which ranks get the cells of the fields that their groups read. */
#ifndef PHOTONS_MESH_FIELDS_H
#define PHOTONS_MESH_FIELDS_H

#include "messages.h"
#include "photons/mesh/long_range.h"
#include "unite.h"

/** Find what this rank sends and receives, from the field boxes of the groups on its list. Both ends of a message
 * find the same, as both know the boxes of those groups of the receiver that read planes of the sender. */
void fields_place(struct long_range *l);
/** Put boxes of cells into messages from one rank to another. A box that is larger than a message is halved.
 * @param fields  of the mesh */
void fields_add(struct listing *messages, int from, int to, const struct mesh_boxes *boxes,
                uint32_t fields);
/** Bytes of the lists. */
size_t fields_bytes(const struct long_range *l);
/** Put the parts of a message in the order of a tree, for parts_near(). */
void part_tree_make(struct mesh_message *m);

#endif
