/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Blocks with codes of their own: the head that tells the codes, and what is coded (RFC 1951, section 3.2.7). For deflate_planes.c. */
#ifndef PHOTONS_DEFLATE_CODED_H
#define PHOTONS_DEFLATE_CODED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "deflate_bits.h"
#include "deflate_block.h"
#include "deflate_huffman.h"

#ifdef __AVX512BW__
#include <immintrin.h>
#endif

/* Symbols among code lengths: 0 .. LONGEST_CODE, the length before for 3 .. 6 more symbols, and 0 for 11 .. 138 of them. Of
 * all that RFC 1951 has, 13, 14 and 15 are not used, and the others have codes of four bits in their order. */
enum { REPEATED = 16, ABSENT = 18, LENGTH_CODE = 4 };

static void put_length(struct bits *b, unsigned symbol) {
  put(b, reversed(symbol <= LONGEST_CODE ? symbol : symbol - 3, LENGTH_CODE), LENGTH_CODE);
}

/** The lengths of codes of symbols that follow each other and have equal ones. */
static void put_equal_lengths(struct bits *b, unsigned length, size_t count) {
  while (length == 0 && count >= 11) {
    const size_t here = count < 138 ? count : 138;
    put_length(b, ABSENT);
    put(b, here - 11, 7);
    flush(b);
    count -= here;
  }
  for (bool first = true; count > 0; first = false) {
    const size_t here = first || count < 3 ? 1 : count < 6 ? count : 6;
    put_length(b, here > 1 ? REPEATED : length);
    if (here > 1) put(b, here - 3, 2);
    flush(b);
    count -= here;
  }
}

/** The head of a block with codes of its own (RFC 1951, section 3.2.7). */
static void put_lengths(struct bits *b, const unsigned char length[SYMBOLS]) {
  static const unsigned char order[] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                        11, 4,  12, 3, 13, 2, 14, 1, 15};
  put(b, 4, 3); /* not the last block, with its own codes */
  put(b, SYMBOLS - 257, 5);
  put(b, 0, 5); /* one distance */
  put(b, sizeof order - 4, 4);
  flush(b);
  for (size_t k = 0; k < sizeof order; k++) {
    put(b, order[k] <= LONGEST_CODE || order[k] >= REPEATED ? LENGTH_CODE : 0, 3);
    flush(b);
  }
  for (size_t s = 0, same; s < SYMBOLS; s += same) {
    for (same = 1; s + same < SYMBOLS && length[s + same] == length[s];) same++;
    put_equal_lengths(b, length[s], same);
  }
  put_length(b, 1);
  flush(b);
}

static inline void put_code(struct bits *b, const struct codes *c, unsigned symbol) {
  put(b, c->bits[symbol], c->count[symbol]);
}

#ifdef __AVX512BW__
/** The codes of 32 bytes, and of each four the bits together and their number. */
static inline void join_codes(const uint16_t of[VALUES], const unsigned char *data,
                              uint64_t bits[8], uint64_t count[8]) {
  const __m512i byte = _mm512_cvtepu8_epi16(_mm256_loadu_si256((const __m256i *)data));
  __m512i c[4];
  for (int q = 0; q < 4; q++) /* 64 entries of the table, of which six bits of a byte choose one */
    c[q] = _mm512_permutex2var_epi16(_mm512_loadu_si512(of + 64 * q), byte,
                                     _mm512_loadu_si512(of + 64 * q + 32));
  const __mmask32 odd = _mm512_test_epi16_mask(byte, _mm512_set1_epi16(64)),
                  high = _mm512_test_epi16_mask(byte, _mm512_set1_epi16(128));
  const __m512i found = _mm512_mask_blend_epi16(high, _mm512_mask_blend_epi16(odd, c[0], c[1]),
                                                _mm512_mask_blend_epi16(odd, c[2], c[3]));
  __m512i n = _mm512_srli_epi16(found, LONGEST_CODE),
          b = _mm512_and_si512(found, _mm512_set1_epi16((1 << LONGEST_CODE) - 1));
  const __m512i low2 = _mm512_set1_epi32(0xffff), low4 = _mm512_set1_epi64(0xffffffff);
  __m512i first = _mm512_and_si512(n, low2);
  b = _mm512_or_si512(_mm512_and_si512(b, low2),
                      _mm512_sllv_epi32(_mm512_srli_epi32(b, 16), first));
  n = _mm512_add_epi32(first, _mm512_srli_epi32(n, 16));
  first = _mm512_and_si512(n, low4);
  b = _mm512_or_si512(_mm512_and_si512(b, low4),
                      _mm512_sllv_epi64(_mm512_srli_epi64(b, 32), first));
  n = _mm512_add_epi64(first, _mm512_srli_epi64(n, 32));
  _mm512_storeu_si512(bits, b);
  _mm512_storeu_si512(count, n);
}

/** Put as many bytes as registers are filled with. @return how many */
static size_t put_many(struct bits *b, const struct codes *c, const unsigned char *data,
                       size_t count) {
  enum { REGISTER = 32, STRIP = 8 * REGISTER };
  struct bits here = *b; /* which what is put cannot overwrite: it stays in registers */
  size_t i = 0;
  for (size_t n; i + REGISTER <= count; i += n) {
    uint64_t bits[STRIP / 4], number[STRIP / 4];
    n = (count - i < STRIP ? count - i : STRIP) / REGISTER * REGISTER;
    for (size_t k = 0; k < n; k += REGISTER)
      join_codes(c->joined, data + i + k, bits + k / 4, number + k / 4);
    for (size_t k = 0; k < n / 4; k++) {
      put(&here, bits[k], (unsigned)number[k]);
      flush(&here);
    }
  }
  *b = here;
  return i;
}
#else
/** Codes one after the other. */
struct joined {
  uint64_t bits;
  unsigned count;
};

static inline struct joined join(struct joined a, struct joined b) {
  return (struct joined){a.bits | b.bits << a.count, a.count + b.count};
}

static inline struct joined code_of(const struct codes *c, unsigned symbol) {
  return (struct joined){c->bits[symbol], c->count[symbol]};
}

static inline struct joined four(const struct codes *c, const unsigned char *data) {
  return join(join(code_of(c, data[0]), code_of(c, data[1])),
              join(code_of(c, data[2]), code_of(c, data[3])));
}

/** Put as many bytes as are a multiple of `step`, of which the codes have 48 bits at most. @return how many */
static inline size_t put_steps(struct bits *b, const struct codes *c, const unsigned char *data,
                               size_t count, size_t step) {
  struct bits here = *b; /* which what is put cannot overwrite: it stays in registers */
  size_t i = 0;
  for (; i + step <= count; i += step) {
    const struct joined all = step == 8 ? join(four(c, data + i), four(c, data + i + 4))
                                        : four(c, data + i);
    put(&here, all.bits, all.count);
    flush(&here);
  }
  *b = here;
  return i;
}

static inline size_t put_many(struct bits *b, const struct codes *c, const unsigned char *data,
                              size_t count) {
  return c->short_ones ? put_steps(b, c, data, count, 8) : put_steps(b, c, data, count, 4);
}
#endif

static inline void put_bytes(struct bits *b, const struct codes *c, const unsigned char *data,
                             size_t count) {
  for (size_t i = put_many(b, c, data, count); i < count; i++) {
    put_code(b, c, data[i]);
    flush(b);
  }
}

/** Of a run its symbol, more bits, and one bit for the distance, which is 1. */
static void put_run(struct bits *b, const struct codes *c, const struct block *p,
                    const struct run *run) {
  size_t left = run->length;
  while (left >= RUN_LEAST) {
    const size_t here = next_piece(left);
    const struct length_code *l = &p->of_length[here];
    put_code(b, c, l->symbol);
    put(b, l->beyond, l->more + 1U);
    flush(b);
    left -= here;
  }
  put_bytes(b, c, p->data + run->first, left);
}

static void put_coded(struct bits *b, const struct block *p) {
  struct codes c;
  find_codes(p->length, &c);
  put_lengths(b, p->length);
  struct bits here = *b;
  size_t at = 0;
  for (size_t r = 0; r < p->runs; at = p->run[r].first + p->run[r].length, r++) {
    put_bytes(&here, &c, p->data + at, p->run[r].first - at);
    put_run(&here, &c, p, &p->run[r]);
  }
  put_bytes(&here, &c, p->data + at, p->count - at);
  put_code(&here, &c, END);
  flush(&here);
  *b = here;
}

#endif
