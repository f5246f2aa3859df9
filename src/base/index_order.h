/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Values of things 0 .. n - 1 that processes have in any shares, brought to the shares of particles_create_share().
 * All functions on every process. */
#ifndef PHOTONS_INDEX_ORDER_H
#define PHOTONS_INDEX_ORDER_H

#include <stddef.h>
#include <stdint.h>

struct index_order {
  size_t count;           /**< of this process's share */
  size_t *send, *receive; /**< things to and from each process */
  size_t *place;          /**< in the share, of what is received; NULL: it comes in order */
};

/**
 * Every index 0 .. n - 1 must be given once, by one process.
 * @param index  of the `count` things here, increasing
 */
struct index_order index_order_create(size_t n, size_t count, const uint64_t *index);
/** `values`, of `size` bytes (4 or 8) each, in the order of the indices; `ordered`: those of the share. */
void index_order_apply(const struct index_order *o, const void *values, size_t size, void *ordered);
void index_order_free(struct index_order *o);

#endif
