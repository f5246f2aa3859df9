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
  RUN = END + 1 - RUN_LEAST, /* token of a run, less its length */
  TOKENS = RUN + RUN_MOST + 1,
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

/** Tokens of a plane: bytes, and RUN + length for runs that repeat the byte before. */
struct tokens {
  uint16_t *token;
  size_t count;
  uint32_t number[TOKENS]; /* of each */
};

static inline void add_token(struct tokens *t, unsigned token) {
  t->token[t->count++] = (uint16_t)token;
}

/** Add a run of a value, of which RUN_LEAST - 1 at most are added as bytes. */
static void add_run(struct tokens *t, size_t run, unsigned char value) {
  while (run >= RUN_LEAST) {
    const unsigned here = (unsigned)(run < RUN_MOST ? run : RUN_MOST);
    add_token(t, RUN + here);
    t->number[RUN + here]++;
    t->number[value] -= here;
    run -= here;
  }
  for (; run > 0; run--) add_token(t, value);
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

/** Whether eight bytes are equal to the one before them. */
static inline bool begins_run(const unsigned char *data) {
  uint64_t before, eight;
  memcpy(&before, data - 1, sizeof before);
  memcpy(&eight, data, sizeof eight);
  return eight == before;
}

/** @param number  of each byte */
static void find_tokens(struct tokens *t, size_t count, const unsigned char *data,
                        const uint32_t number[256]) {
  memset(t->number, 0, sizeof t->number);
  memcpy(t->number, number, 256 * sizeof *number);
  t->count = 0;
  for (size_t i = 0; i < count;) {
    const unsigned char value = data[i++];
    add_token(t, value);
    if (count - i < 8 || !begins_run(data + i)) continue;
    const size_t run = run_length(data + i, count - i, value);
    add_run(t, run, value);
    i += run;
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

/** The codes of tokens: of a run its symbol, more bits, and one bit for the distance, which is 1. */
static void code_tokens(const struct code symbol[SYMBOLS], struct code code[TOKENS]) {
  memcpy(code, symbol, (END + 1) * sizeof *code);
  for (unsigned length = RUN_LEAST; length <= RUN_MOST; length++) {
    unsigned base, more;
    const struct code c = symbol[run_symbol(length, &base, &more)];
    code[RUN + length] = (struct code){c.bits | (length - base) << c.count, c.count + more + 1};
  }
}

/** How often symbols occur. */
static void count_symbols(const struct tokens *t, uint32_t number[SYMBOLS]) {
  memset(number, 0, SYMBOLS * sizeof *number);
  memcpy(number, t->number, END * sizeof *number);
  number[END] = 1;
  for (unsigned length = RUN_LEAST; length <= RUN_MOST; length++) {
    unsigned base, more;
    number[run_symbol(length, &base, &more)] += t->number[RUN + length];
  }
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

static void put_tokens(struct bits *b, const struct tokens *t) {
  uint32_t number[SYMBOLS];
  unsigned char length[SYMBOLS];
  struct code symbol[SYMBOLS] = {{0}}, code[TOKENS] = {{0}};
  count_symbols(t, number);
  limit_lengths(number, length);
  find_codes(length, symbol);
  code_tokens(symbol, code);
  put_lengths(b, length);
  struct bits here = *b;
  t->token[t->count] = END;
  for (size_t i = 0; i <= t->count; i += 2) {
    put(&here, code[t->token[i]].bits, code[t->token[i]].count);
    if (i < t->count) put(&here, code[t->token[i + 1]].bits, code[t->token[i + 1]].count);
    flush(&here);
  }
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

static void put_plane(struct bits *b, struct tokens *t, size_t count, const unsigned char *data) {
  uint32_t number[256];
  count_bytes(count, data, number);
  if (is_noise(count, number)) {
    put_stored(b, count, data);
  } else {
    find_tokens(t, count, data, number);
    put_tokens(b, t);
  }
}

size_t deflate_planes_bound(size_t planes, size_t count) {
  /* A code has at most a bit for each byte more than its entropy. */
  return 64 + planes * (count + count / 8 + 2 * HEADER + 5 * (count / STORED_MOST + 1));
}

size_t deflate_planes(size_t planes, size_t count, const unsigned char *data, unsigned char *out) {
  struct tokens t = {.token = malloc((count + 2) * sizeof *t.token)};
  if (!t.token) return 0;
  struct bits b = {.out = out};
  put(&b, 0x0178, 16);
  for (size_t plane = 0; plane < planes; plane++) put_plane(&b, &t, count, data + plane * count);
  put(&b, 1, 3); /* the last block, stored and empty */
  fill_byte(&b);
  put(&b, 0xffff0000U, 32);
  flush(&b);
  put(&b, __builtin_bswap32(libdeflate_adler32(1, data, planes * count)), 32);
  flush(&b);
  free(t.token);
  return (size_t)(b.out - out);
}
