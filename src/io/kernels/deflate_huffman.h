/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Huffman codes of the symbols of a block. For deflate_planes.c. */
#ifndef PHOTONS_DEFLATE_HUFFMAN_H
#define PHOTONS_DEFLATE_HUFFMAN_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "deflate_block.h"

/** Codes by symbol. */
struct codes {
  uint32_t bits[SYMBOLS], count[SYMBOLS];
};

/** A symbol that occurs, or two nodes of a Huffman tree together. */
struct branch {
  uint32_t number, symbol;
  int above;
};

/** Sort by number; equal ones stay in the order of symbols. Numbers are below 2^16: those of samples of a block and of runs of a
 * stream, as a plane has fewer than 2^24 bytes. */
static void sort_branches(size_t symbols, struct branch *b) {
  enum { DIGIT = 8 }; /* bits */
  struct branch room[SYMBOLS];
  for (unsigned shift = 0; shift < 2 * DIGIT; shift += DIGIT) {
    uint16_t place[(1 << DIGIT) + 1] = {0};
    struct branch *from = shift == 0 ? b : room, *to = shift == 0 ? room : b;
    for (size_t i = 0; i < symbols; i++) place[(from[i].number >> shift & 255) + 1]++;
    for (size_t d = 0; d < 1 << DIGIT; d++) place[d + 1] = (uint16_t)(place[d + 1] + place[d]);
    for (size_t i = 0; i < symbols; i++) to[place[from[i].number >> shift & 255]++] = from[i];
  }
}

/** The rarer one of the next symbol and the next pair that are not in a pair yet. */
static inline int take_rarest(const struct branch *b, int *symbol, int symbols, int *pair,
                              int pairs) {
  if (*pair == pairs || (*symbol < symbols && b[*symbol].number <= b[*pair].number))
    return (*symbol)++;
  return (*pair)++;
}

/** The depths in Huffman's tree (Huffman 1952, Proc. IRE 40, 1098) of two or more symbols, sorted by number. */
static void find_depths(int symbols, struct branch *b, int *depth) {
  int symbol = 0, pair = symbols, all = symbols;
  for (; all < 2 * symbols - 1; all++) {
    const int one = take_rarest(b, &symbol, symbols, &pair, all),
              two = take_rarest(b, &symbol, symbols, &pair, all);
    b[all].number = b[one].number + b[two].number;
    b[one].above = b[two].above = all;
  }
  depth[all - 1] = 0;
  for (int i = all - 2; i >= 0; i--) depth[i] = depth[b[i].above] + 1;
}

/** Make depths at most LONGEST_CODE, and fill the tree (Kraft's equality). @param depth  of the symbols, the rarest first */
static void limit_depths(int symbols, int *depth) {
  const unsigned whole = 1U << LONGEST_CODE;
  unsigned used = 0;
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
  struct branch b[2 * SYMBOLS];
  int symbols = 0, depth[2 * SYMBOLS];
  memset(p->length, 0, sizeof p->length);
  for (uint32_t s = 0; s < SYMBOLS; s++)
    if (p->number[s] > 0) b[symbols++] = (struct branch){p->number[s], s, 0};
  sort_branches((size_t)symbols, b);
  find_depths(symbols, b, depth);
  limit_depths(symbols, depth);
  size_t bits = 0;
  for (int i = 0; i < symbols; i++) {
    p->length[b[i].symbol] = (unsigned char)depth[i];
    bits += (size_t)depth[i] * b[i].number;
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
  uint32_t next[LONGEST_CODE + 1], number[LONGEST_CODE + 1] = {0};
  for (unsigned s = 0; s < SYMBOLS; s++) number[length[s]]++;
  for (unsigned bits = 1, sum = 0; bits <= LONGEST_CODE; bits++) {
    next[bits] = sum;
    sum = (sum + number[bits]) << 1;
  }
  for (unsigned s = 0; s < SYMBOLS; s++) {
    c->count[s] = length[s];
    c->bits[s] = length[s] == 0 ? 0 : reversed(next[length[s]]++, length[s]);
  }
}

#endif
