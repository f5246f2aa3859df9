/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Keys of groups, and the numbers of groups with these keys. */
#ifndef PHOTONS_TOPOLOGY_KEYS_H
#define PHOTONS_TOPOLOGY_KEYS_H

#include "photons/amr/topology.h"

/** The first of some keys, which rise, that is not below one. */
uint32_t keys_from(const uint64_t *keys, uint32_t count, uint64_t key);

/** The number of pieces that begin at a key or before it. */
uint32_t pieces_till(const struct key_pieces *p, uint64_t key);
/** The piece that has a key; NULL: none has. */
const struct key_piece *piece_with(const struct gas_tree_level *l, uint64_t key);

/* The root level: a lattice of groups in the order of their keys. */

/** Keys of groups `first` to `end`; free() them. */
uint64_t *root_keys(const uint32_t root[3], uint32_t first, uint32_t end);
uint64_t root_key(const uint32_t root[3], uint32_t group);
/** The number of the group with a key; NO_GROUP: the key's place is outside the box. */
uint32_t root_with_key(const uint32_t root[3], uint64_t key);

void pieces_free(struct key_pieces *p);

/** topology_fetch() of keys for links or for the host. */
void fetch_keys(struct topology *t, struct key_wants *w, enum key_use use);

/** Ask for the keys that the links of all levels need. */
void want_for_links(const struct topology *t, struct key_wants *w);

#endif
