/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A block of a deflate stream as bytes and runs of equal bytes, and the symbols of both (RFC 1951, section 3.2.5). For deflate_planes.c. */
#ifndef PHOTONS_DEFLATE_BLOCK_H
#define PHOTONS_DEFLATE_BLOCK_H

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
  BLOCK = 1 << 14,   /* bytes of a code, at most: neighbours in the box are alike */
  LONGEST_CODE = 12, /* bits: with its length a code has 16 */
  VALUES = 256,
  END = VALUES, /* symbol of the end of a block; lower ones are bytes, higher ones lengths of runs */
  SYMBOLS = 286,
  RUN_LEAST = 3,
  RUN_MOST = 258,
  RUN_SEEN = 8 /* equal bytes that are looked for */
};

/** Lengths of runs: symbols from END + 1 on, how many have so many more bits each, and what these say. */
static unsigned run_symbol(unsigned length, unsigned *base, unsigned *more) {
  if (length == RUN_MOST) {
    *base = RUN_MOST;
    *more = 0;
    return SYMBOLS - 1;
  }
  unsigned symbol = END + 1, first = RUN_LEAST, bits = 0;
  for (unsigned k = 0;; k++, symbol++, first += 1U << bits) {
    bits = k < 8 ? 0 : k / 4 - 1;
    if (length < first + (1U << bits)) break;
  }
  *base = first;
  *more = bits;
  return symbol;
}

/** How runs of a length are coded. */
struct length_code {
  uint16_t symbol;
  uint8_t more, beyond; /* bits behind the symbol, and what they say */
};

/** Bytes that repeat the one before them. */
struct run {
  uint32_t first, length;
};

/** A block as bytes and runs. */
struct block {
  const unsigned char *data;
  size_t count, runs;
  struct run run[BLOCK / RUN_SEEN + 1];
  uint32_t number[SYMBOLS];
  unsigned char length[SYMBOLS];              /* of codes */
  struct length_code of_length[RUN_MOST + 1]; /* of all blocks */
};

static void find_length_codes(struct length_code of_length[RUN_MOST + 1]) {
  for (unsigned length = RUN_LEAST; length <= RUN_MOST; length++) {
    unsigned base, more;
    const unsigned symbol = run_symbol(length, &base, &more);
    of_length[length] = (struct length_code){(uint16_t)symbol, (uint8_t)more,
                                             (uint8_t)(length - base)};
  }
}

static inline size_t next_piece(size_t run) { return run < RUN_MOST ? run : RUN_MOST; }

/** Note a run, of which RUN_LEAST - 1 bytes at most remain bytes. */
static void add_run(struct block *p, size_t first, size_t length) {
  p->run[p->runs++] = (struct run){(uint32_t)first, (uint32_t)length};
  for (size_t left = length; left >= RUN_LEAST;) {
    const size_t here = next_piece(left);
    p->number[p->of_length[here].symbol]++;
    p->number[p->data[first]] -= (uint32_t)here;
    left -= here;
  }
}

static size_t run_length(const unsigned char *data, size_t count, unsigned char value) {
  const uint64_t equal = value * UINT64_C(0x0101010101010101);
  size_t run = 0;
  for (uint64_t eight; count - run >= sizeof eight; run += sizeof eight) {
    memcpy(&eight, data + run, sizeof eight);
    if (eight != equal) return run + (size_t)__builtin_ctzll(le64toh(eight ^ equal)) / 8;
  }
  while (run < count && data[run] == value) run++;
  return run;
}

/** Where eight bytes differ from those before them: the bits of the byte that is `i` behind are 8 i and those above. */
static inline uint64_t changes(const unsigned char *data) {
  uint64_t before, eight;
  memcpy(&before, data - 1, sizeof before);
  memcpy(&eight, data, sizeof eight);
  return le64toh(eight ^ before);
}

/** Find runs of RUN_SEEN bytes and more. */
static void find_runs(struct block *p) {
  for (size_t i = 1; i + RUN_SEEN <= p->count;) {
    const uint64_t different = changes(p->data + i);
    if (different) { /* no run contains the last one of these */
      i += 8 - (size_t)__builtin_clzll(different) / 8;
      continue;
    }
    const size_t run = run_length(p->data + i, p->count - i, p->data[i]);
    add_run(p, i, run);
    i += run + 1;
  }
}

#endif
