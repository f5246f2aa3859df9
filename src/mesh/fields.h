/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The messages by which ranks get the cells of the fields that their groups read. */
#ifndef PHOTONS_MESH_FIELDS_H
#define PHOTONS_MESH_FIELDS_H

#include "photons/mesh/long_range.h"

/** Find what this rank sends and receives, from the field boxes of the groups on its list. Both ends of a message
 * find the same, as both know the boxes of those groups of the receiver that read planes of the sender. */
void fields_place(struct long_range *l);
/** Free the messages. */
void fields_leave(struct long_range *l);
/** Bytes of the lists. */
size_t fields_bytes(const struct long_range *l);

#endif
