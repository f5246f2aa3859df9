/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "deflate_planes.h"

#include <endian.h>
#include <libdeflate.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
  STORED_MOST = 65535, /* bytes of a stored block */
  LONGEST_CODE = 15,   /* bits */
  END = 256, /* symbol of the end of a block; lower ones are bytes, higher ones lengths of runs */
  SYMBOLS = 286,
  RUN_LEAST = 3,
  RUN_MOST = 258,
  RUN_SEEN = 8,    /* equal bytes that are looked for */
  LENGTH_CODE = 4, /* bits of each code length */
  HEADER = 200     /* bytes of the codes of a block, and of its end, at most */
};
#define NOISE 0.97 /* share of its bytes that a plane is worth coding below */

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

/** Store bytes as they are. */
static void put_stored(struct bits *b, size_t count, const unsigned char *data) {
  for (size_t first = 0; first < count; first += STORED_MOST) {
    const size_t here = count - first < STORED_MOST ? count - first : STORED_MOST;
    put(b, 0, 3); /* not the last block, stored */
    fill_byte(b);
    put(b, here, 16);
    put(b, ~here & 0xffff, 16);
    flush(b);
    memcpy(b->out, data + first, here);
    b->out += here;
  }
}

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

/** A token in the stream. */
struct code {
  uint32_t bits;
  unsigned count;
};

/** How runs of a length are coded. */
struct length_code {
  uint16_t symbol;
  uint8_t more, beyond; /* bits behind the symbol, and what they say */
};

/** Bytes that repeat the one before them. */
struct run {
  uint32_t first, length;
};

/** A plane as bytes and runs. */
struct plane {
  const unsigned char *data;
  size_t count, runs;
  struct run *run;
  uint32_t number[SYMBOLS];
  struct length_code of_length[RUN_MOST + 1]; /* of all planes */
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
static void add_run(struct plane *p, size_t first, size_t length) {
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

/** Find runs of RUN_SEEN bytes and more, and how often each symbol occurs. @param number  of each byte */
static void find_runs(struct plane *p, const uint32_t number[256]) {
  memset(p->number, 0, sizeof p->number);
  memcpy(p->number, number, 256 * sizeof *number);
  p->number[END] = 1;
  p->runs = 0;
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

/** A symbol that occurs, or two nodes of a Huffman tree together. */
struct branch {
  uint32_t number, symbol;
  int above;
};

static int compare_branches(const void *a, const void *b) {
  const struct branch *x = a, *y = b;
  if (x->number != y->number) return x->number < y->number ? -1 : 1;
  return (x->symbol > y->symbol) - (x->symbol < y->symbol);
}

/** The rarer one of the next symbol and the next pair that are not in a pair yet. */
static int take_rarest(const struct branch *b, int *symbol, int symbols, int *pair, int pairs) {
  if (*pair == pairs || (*symbol < symbols && b[*symbol].number <= b[*pair].number))
    return (*symbol)++;
  return (*pair)++;
}

/** Huffman's code lengths (Huffman 1952, Proc. IRE 40, 1098) of two or more symbols. @return the longest */
static unsigned find_lengths(int symbols, struct branch *b, unsigned char length[SYMBOLS]) {
  int symbol = 0, pair = symbols, all = symbols;
  qsort(b, (size_t)symbols, sizeof *b, compare_branches);
  for (; all < 2 * symbols - 1; all++) {
    const int one = take_rarest(b, &symbol, symbols, &pair, all),
              two = take_rarest(b, &symbol, symbols, &pair, all);
    b[all].number = b[one].number + b[two].number;
    b[one].above = b[two].above = all;
  }
  unsigned longest = 0;
  int depth[2 * SYMBOLS];
  depth[all - 1] = 0;
  for (int i = all - 2; i >= 0; i--) {
    depth[i] = depth[b[i].above] + 1;
    if (i < symbols) length[b[i].symbol] = (unsigned char)depth[i];
    longest = (unsigned)depth[i] > longest ? (unsigned)depth[i] : longest;
  }
  return longest;
}

/** Code lengths of at most LONGEST_CODE bits: numbers are made more alike until these do.
 * @param number  [symbol] how often each occurs */
static void limit_lengths(uint32_t number[SYMBOLS], unsigned char length[SYMBOLS]) {
  struct branch b[2 * SYMBOLS];
  for (;;) {
    int symbols = 0;
    memset(length, 0, SYMBOLS);
    for (uint32_t s = 0; s < SYMBOLS; s++)
      if (number[s] > 0) b[symbols++] = (struct branch){number[s], s, 0};
    if (find_lengths(symbols, b, length) <= LONGEST_CODE) return;
    for (uint32_t s = 0; s < SYMBOLS; s++) number[s] = (number[s] + 1) / 2;
  }
}

static uint32_t reversed(uint32_t code, unsigned bits) {
  uint32_t r = 0;
  for (unsigned k = 0; k < bits; k++) r |= (code >> k & 1U) << (bits - 1 - k);
  return r;
}

/** Codes from their lengths (RFC 1951, section 3.2.2). */
static void find_codes(const unsigned char length[SYMBOLS], struct code code[SYMBOLS]) {
  uint32_t next = 0;
  for (unsigned bits = 1; bits <= LONGEST_CODE; bits++, next <<= 1)
    for (unsigned s = 0; s < SYMBOLS; s++)
      if (length[s] == bits) code[s] = (struct code){reversed(next++, bits), bits};
}

/** The head of a block with codes of its own (RFC 1951, section 3.2.7). Code lengths have the same number of bits each. */
static void put_lengths(struct bits *b, const unsigned char length[SYMBOLS]) {
  put(b, 4, 3); /* not the last block, with its own codes */
  put(b, SYMBOLS - 257, 5);
  put(b, 0, 5); /* one distance */
  put(b, 15,
      4); /* all code lengths of code lengths follow; the first three, of repetitions, are not used */
  flush(b);
  for (int k = 0; k < 19; k++) {
    put(b, k < 3 ? 0 : LENGTH_CODE, 3);
    flush(b);
  }
  for (int s = 0; s < SYMBOLS; s++) {
    flush(b);
    put(b, reversed(length[s], LENGTH_CODE), LENGTH_CODE);
  }
  put(b, reversed(1, LENGTH_CODE), LENGTH_CODE);
  flush(b);
}

static inline void put_code(struct bits *b, struct code c) { put(b, c.bits, c.count); }

static inline void put_bytes(struct bits *b, const struct code code[SYMBOLS],
                             const unsigned char *data, size_t count) {
  size_t i = 0;
  for (; i + 3 <= count; i += 3) {
    put_code(b, code[data[i]]);
    put_code(b, code[data[i + 1]]);
    put_code(b, code[data[i + 2]]);
    flush(b);
  }
  for (; i < count; i++) {
    put_code(b, code[data[i]]);
    flush(b);
  }
}

/** Of a run its symbol, more bits, and one bit for the distance, which is 1. */
static void put_run(struct bits *b, const struct code code[SYMBOLS], const struct plane *p,
                    const struct run *run) {
  size_t left = run->length;
  while (left >= RUN_LEAST) {
    const size_t here = next_piece(left);
    const struct length_code *l = &p->of_length[here];
    put_code(b, code[l->symbol]);
    put(b, l->beyond, l->more + 1U);
    flush(b);
    left -= here;
  }
  put_bytes(b, code, p->data + run->first, left);
}

static void put_runs(struct bits *b, const struct plane *p) {
  uint32_t number[SYMBOLS];
  unsigned char length[SYMBOLS];
  struct code code[SYMBOLS] = {{0}};
  memcpy(number, p->number, sizeof number);
  limit_lengths(number, length);
  find_codes(length, code);
  put_lengths(b, length);
  struct bits here = *b;
  size_t at = 0;
  for (size_t r = 0; r < p->runs; at = p->run[r].first + p->run[r].length, r++) {
    put_bytes(&here, code, p->data + at, p->run[r].first - at);
    put_run(&here, code, p, &p->run[r]);
  }
  put_bytes(&here, code, p->data + at, p->count - at);
  put_code(&here, code[END]);
  flush(&here);
  *b = here;
}

static inline void count_eight(uint64_t eight, uint32_t part[8][256]) {
  part[0][eight & 255]++;
  part[1][eight >> 8 & 255]++;
  part[2][eight >> 16 & 255]++;
  part[3][eight >> 24 & 255]++;
  part[4][eight >> 32 & 255]++;
  part[5][eight >> 40 & 255]++;
  part[6][eight >> 48 & 255]++;
  part[7][eight >> 56]++;
}

static void count_bytes(size_t count, const unsigned char *data, uint32_t number[256]) {
  uint32_t part[8][256] = {{0}}; /* of every eighth byte: equal ones do not wait for each other */
  size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    uint64_t eight;
    memcpy(&eight, data + i, sizeof eight);
    count_eight(eight, part);
  }
  for (; i < count; i++) part[0][data[i]]++;
  for (int v = 0; v < 256; v++) {
    number[v] = 0;
    for (int k = 0; k < 8; k++) number[v] += part[k][v];
  }
}

/** Whether a code of its own would leave most of a plane's bytes, by the entropy of single bytes. */
static bool is_noise(size_t count, const uint32_t number[256]) {
  double bits = 0.0;
  for (int v = 0; v < 256; v++)
    if (number[v] > 0) bits -= number[v] * log2(number[v] / (double)count);
  return bits / 8.0 + HEADER > NOISE * (double)count;
}

static void put_plane(struct bits *b, struct plane *p) {
  uint32_t number[256];
  count_bytes(p->count, p->data, number);
  if (is_noise(p->count, number)) {
    put_stored(b, p->count, p->data);
  } else {
    find_runs(p, number);
    put_runs(b, p);
  }
}

size_t deflate_planes_bound(size_t planes, size_t count) {
  /* A code has at most a bit for each byte more than its entropy. */
  return 64 + planes * (count + count / 8 + 2 * HEADER + 5 * (count / STORED_MOST + 1));
}

size_t deflate_planes(size_t planes, size_t count, const unsigned char *data, unsigned char *out) {
  struct plane p = {.count = count, .run = malloc((count / RUN_SEEN + 1) * sizeof *p.run)};
  if (!p.run) return 0;
  find_length_codes(p.of_length);
  struct bits b = {.out = out};
  put(&b, 0x0178, 16);
  for (size_t plane = 0; plane < planes; plane++) {
    p.data = data + plane * count;
    put_plane(&b, &p);
  }
  put(&b, 1, 3); /* the last block, stored and empty */
  fill_byte(&b);
  put(&b, 0xffff0000U, 32);
  flush(&b);
  put(&b, __builtin_bswap32(libdeflate_adler32(1, data, planes * count)), 32);
  flush(&b);
  free(p.run);
  return (size_t)(b.out - out);
}
