/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The bits of a deflate stream (RFC 1951, section 3.1.1). For deflate_planes.c. */
#ifndef PHOTONS_DEFLATE_BITS_H
#define PHOTONS_DEFLATE_BITS_H

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/** Bits that are not in the stream yet. */
struct bits {
  unsigned char *out;
  uint64_t waiting;
  unsigned count;
};

/** Append bits. Before flush(), at most 56 of them may be appended. */
static inline void put(struct bits *b, uint64_t value, unsigned count) {
  b->waiting |= value << b->count;
  b->count += count;
}

/** Bring whole bytes into the stream. Eight bytes behind it are written, too. */
static inline void flush(struct bits *b) {
  const uint64_t eight = htole64(b->waiting);
  memcpy(b->out, &eight, sizeof eight);
  b->out += b->count / 8;
  b->waiting >>= b->count / 8 * 8;
  b->count %= 8;
}

static void fill_byte(struct bits *b) {
  b->count = (b->count + 7) / 8 * 8;
  flush(b);
}

/** Store bytes of a block as they are. */
static void put_stored(struct bits *b, size_t count, const unsigned char *data) {
  put(b, 0, 3); /* not the last block, stored */
  fill_byte(b);
  put(b, count, 16);
  put(b, ~count & 0xffff, 16);
  flush(b);
  memcpy(b->out, data, count);
  b->out += count;
}

#endif
