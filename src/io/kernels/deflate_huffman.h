/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Huffman codes of the symbols of a block. For deflate_planes.c. */
#ifndef PHOTONS_DEFLATE_HUFFMAN_H
#define PHOTONS_DEFLATE_HUFFMAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "deflate_block.h"

/** Codes by symbol. */
struct codes {
  uint64_t bits[SYMBOLS]; /* as wide as what they are shifted into */
  uint32_t count[SYMBOLS];
  bool short_ones; /* of SHORT_CODE bits at most */
#ifdef __AVX512BW__
  uint16_t joined[VALUES]; /* code, and in the highest four bits its length */
#endif
};

/** Huffman's tree of the symbols that occur, the rarest first. A node is a symbol, or further on a pair of nodes. */
struct tree {
  int symbols;
  uint32_t number[SYMBOLS + 1], of_pair[SYMBOLS + 1]; /* behind the last one UINT32_MAX */
  uint16_t symbol[SYMBOLS];
  uint16_t above[2 * SYMBOLS]; /* [node] the pair that it is in */
  int depth[2 * SYMBOLS];      /* [node] */
};

enum { DIGIT = 8, DIGITS = 1 << DIGIT }; /* bits of numbers by which they are sorted at a time */

/** A symbol below how often it occurs. Numbers are below 2^16: those of samples of a block and of runs of a
 * stream, as a plane has fewer than 2^24 bytes. */
static inline uint32_t key_of(uint32_t number, uint32_t symbol) { return number << 16 | symbol; }
static inline uint32_t number_of(uint32_t key) { return key >> 16; }

/** Sort keys by a digit of their numbers. Equal ones keep their order. @param most  the largest digit @param number  of keys with a digit */
static void sort_by_digit(unsigned shift, unsigned most, uint16_t number[DIGITS], size_t keys,
                          const uint32_t *from, uint32_t *to) {
  uint16_t place = 0;
  for (unsigned d = 0; d <= most; d++) {
    const uint16_t here = number[d];
    number[d] = place;
    place = (uint16_t)(place + here);
  }
  for (size_t i = 0; i < keys; i++)
    to[number[number_of(from[i]) >> shift & (DIGITS - 1)]++] = from[i];
}

/** List the symbols that occur, by number; equal ones are in the order of symbols. */
static void list_symbols(const uint32_t number[SYMBOLS], struct tree *t) {
  uint32_t key[SYMBOLS], other[SYMBOLS], *sorted = other, most = 0;
  uint16_t low[DIGITS] = {0}, high[DIGITS] = {0};
  size_t keys = 0;
  for (uint32_t s = 0; s < SYMBOLS; s++) {
    const bool occurs = number[s] > 0;
    key[keys] = key_of(number[s], s);
    low[number[s] & (DIGITS - 1)] = (uint16_t)(low[number[s] & (DIGITS - 1)] + occurs);
    high[number[s] >> DIGIT] = (uint16_t)(high[number[s] >> DIGIT] + occurs);
    most |= number[s];
    keys += occurs;
  }
  sort_by_digit(0, DIGITS - 1, low, keys, key, other);
  if (most >= DIGITS) {
    sort_by_digit(DIGIT, most >> DIGIT, high, keys, other, key);
    sorted = key;
  }
  t->symbols = (int)keys;
  for (size_t i = 0; i < keys; i++) {
    t->number[i] = number_of(sorted[i]);
    t->symbol[i] = (uint16_t)sorted[i];
  }
}

/** The rarer one of the next symbol and the next pair that are not in a pair yet; a symbol where both are equal. @return how often it occurs */
static inline uint32_t take_rarest(struct tree *t, int *symbol, int *pair, int above) {
  const uint32_t one = t->number[*symbol], two = t->of_pair[*pair];
  const bool is_symbol = one <= two;
  t->above[is_symbol ? *symbol : t->symbols + *pair] = (uint16_t)above;
  *symbol += is_symbol;
  *pair += !is_symbol;
  return is_symbol ? one : two;
}

/** The depths in Huffman's tree (Huffman 1952, Proc. IRE 40, 1098) of two or more symbols. */
static void find_depths(struct tree *t) {
  const int pairs = t->symbols - 1, root = t->symbols + pairs - 1;
  int symbol = 0, pair = 0;
  t->number[t->symbols] = UINT32_MAX;
  memset(t->of_pair, 0xff, sizeof t->of_pair);
  for (int k = 0; k < pairs; k++) {
    const uint32_t one = take_rarest(t, &symbol, &pair, t->symbols + k),
                   two = take_rarest(t, &symbol, &pair, t->symbols + k);
    t->of_pair[k] = one + two;
  }
  t->depth[root] = 0;
  for (int i = root - 1; i >= 0; i--) t->depth[i] = t->depth[t->above[i]] + 1;
}

/** Make depths at most LONGEST_CODE, and fill the tree (Kraft's equality). @param depth  of the symbols, the rarest first */
static void limit_depths(int symbols, int *depth) {
  const unsigned whole = 1U << LONGEST_CODE;
  unsigned used = 0;
  if (depth[0] <= LONGEST_CODE) return; /* that of the rarest one is the largest */
  for (int i = 0; i < symbols; i++) {
    if (depth[i] > LONGEST_CODE) depth[i] = LONGEST_CODE;
    used += whole >> depth[i];
  }
  for (int i = 0; used > whole; i++)
    for (; used > whole && depth[i] < LONGEST_CODE; depth[i]++) used -= whole >> (depth[i] + 1);
  for (int i = symbols - 1; used < whole; i--)
    for (; used + (whole >> depth[i]) <= whole; depth[i]--) used += whole >> depth[i];
}

/** The lengths of the codes of a block. @return bits that its symbols take */
static size_t find_lengths(struct block *p) {
  struct tree t;
  memset(p->length, 0, sizeof p->length);
  list_symbols(p->number, &t);
  find_depths(&t);
  limit_depths(t.symbols, t.depth);
  size_t bits = 0;
  for (int i = 0; i < t.symbols; i++) {
    p->length[t.symbol[i]] = (unsigned char)t.depth[i];
    bits += (size_t)t.depth[i] * t.number[i];
  }
  return bits;
}

static uint32_t reversed(uint32_t value, unsigned bits) {
  value = (value & 0x5555) << 1 | (value >> 1 & 0x5555);
  value = (value & 0x3333) << 2 | (value >> 2 & 0x3333);
  value = (value & 0x0f0f) << 4 | (value >> 4 & 0x0f0f);
  value = (value & 0x00ff) << 8 | value >> 8;
  return value >> (16 - bits);
}

/** Codes from their lengths (RFC 1951, section 3.2.2). */
static void find_codes(const unsigned char length[SYMBOLS], struct codes *c) {
  uint32_t next[LONGEST_CODE + 1] = {0}, number[LONGEST_CODE + 1] = {0}, code[SYMBOLS];
  unsigned longest = 0;
  for (unsigned s = 0; s < SYMBOLS; s++) number[length[s]]++;
  for (unsigned bits = 1, sum = 0; bits <= LONGEST_CODE; bits++) {
    next[bits] = sum;
    sum = (sum + number[bits]) << 1;
    if (number[bits] > 0) longest = bits;
  }
  for (unsigned s = 0; s < SYMBOLS; s++) code[s] = next[length[s]]++;
  for (unsigned s = 0; s < SYMBOLS; s++) { /* several at a time */
    c->count[s] = length[s];
    c->bits[s] = length[s] == 0 ? 0 : reversed(code[s], length[s]);
  }
  c->short_ones = longest <= SHORT_CODE;
#ifdef __AVX512BW__
  for (int v = 0; v < VALUES; v++)
    c->joined[v] = (uint16_t)(c->bits[v] | c->count[v] << LONGEST_CODE);
#endif
}

#endif
