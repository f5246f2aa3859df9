/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Values of things 0 .. n - 1, of which each rank has any set, brought into the order of their
 * indices and dealt out evenly: rank r receives comm_first(n, r) .. comm_first(n, r + 1) - 1, as
 * particles_create_share() has them. All functions but index_order_free() are collective. */
#ifndef PHOTONS_INDEX_ORDER_H
#define PHOTONS_INDEX_ORDER_H

#include <stddef.h>
#include <stdint.h>

struct index_order {
  size_t count;           /**< things that this rank receives */
  size_t *send, *receive; /**< [rank] things to and from each rank */
  size_t *place;          /**< [received] place among this rank's things; NULL: things arrive in
                           *   order */
};

/**
 * Every index 0 .. n - 1 must be given once, on one rank.
 * @param count  things that this rank has
 * @param index  [count] their indices, increasing
 */
struct index_order index_order_create(size_t n, size_t count, const uint64_t *index);
/**
 * Bring values into the order of the indices.
 * @param values   of the things that this rank has, `size` bytes (4 or 8) each
 * @param ordered  [o->count] on return: values of the things that this rank receives
 */
void index_order_apply(const struct index_order *o, const void *values, size_t size, void *ordered);
/** Where values may be put before index_order_apply(): one rank alone has them in order, and puts them where they belong.
 * index_order_apply() has nothing to do then.
 * @param room  for the values of the things that this rank has */
void *index_order_room(void *room, void *ordered);
void index_order_free(struct index_order *o);

#endif
