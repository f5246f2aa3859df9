/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A block of a deflate stream as bytes and runs of equal bytes, and the symbols of both (RFC 1951, section 3.2.5). For deflate_planes.c. */
#ifndef PHOTONS_DEFLATE_BLOCK_H
#define PHOTONS_DEFLATE_BLOCK_H

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __AVX2__
#include <immintrin.h>
#endif

enum {
  BLOCK = 1 << 14,   /* bytes of a code, at most: neighbours in the box are alike */
  LONGEST_CODE = 12, /* bits: with its length a code has 16, and four codes have 48 */
  SHORT_CODE = 6,    /* bits, of which eight codes have 48 */
  VALUES = 256,
  END = VALUES, /* symbol of the end of a block; lower ones are bytes, higher ones lengths of runs */
  SYMBOLS = 286,
  RUN_LEAST = 3,
  RUN_MOST = 258,
  RUN_SEEN = 8 /* bytes equal to the one before them: shorter runs are not looked for */
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

/** A block as bytes and runs. */
struct block {
  const unsigned char *data;
  size_t count, runs;
  struct run run[BLOCK / RUN_SEEN + 1];
  uint32_t number[SYMBOLS];
  unsigned char length[SYMBOLS];              /* of codes */
  struct length_code of_length[RUN_MOST + 1]; /* of all blocks */
};

/** Lengths of runs have symbols from END + 1 on. A symbol stands for one length, or for 2, 4, 8, 16 or 32, of which more bits choose one; the last symbol is of the longest
 * one alone. */
static void find_length_codes(struct length_code of_length[RUN_MOST + 1]) {
  uint16_t symbol = END + 1;
  for (unsigned length = RUN_LEAST; length < RUN_MOST; symbol++) {
    const unsigned number = symbol - END - 1, more = number < 8 ? 0 : number / 4 - 1;
    for (unsigned k = 0; k < 1U << more; k++)
      of_length[length++] = (struct length_code){symbol, (uint8_t)more, (uint8_t)k};
  }
  of_length[RUN_MOST] = (struct length_code){SYMBOLS - 1, 0, 0};
}

#ifdef __AVX2__
/** The bits of those of 32 bytes that are equal to others. */
static inline uint32_t equal_bytes(const unsigned char *data, __m256i others) {
  const __m256i here = _mm256_loadu_si256((const __m256i *)data);
  return (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(here, others));
}

/** The bits of those of 64 bytes that are equal to the one before them. */
static inline uint64_t same_as_before(const unsigned char *data) {
  const __m256i low = _mm256_loadu_si256((const __m256i *)(data - 1)),
                high = _mm256_loadu_si256((const __m256i *)(data + 31));
  return (uint64_t)equal_bytes(data + 32, high) << 32 | equal_bytes(data, low);
}
#endif

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

/** How many bytes are a value before another one. */
static size_t run_length(const unsigned char *data, size_t count, unsigned char value) {
  const uint64_t equal = value * UINT64_C(0x0101010101010101);
  size_t run = 0;
#ifdef __AVX2__
  const __m256i wide = _mm256_set1_epi8((char)value);
  for (; count - run >= sizeof wide; run += sizeof wide) {
    const uint32_t differ = ~equal_bytes(data + run, wide);
    if (differ) return run + (size_t)__builtin_ctz(differ);
  }
#endif
  for (uint64_t eight; count - run >= sizeof eight; run += sizeof eight) {
    memcpy(&eight, data + run, sizeof eight);
    if (eight != equal) return run + (size_t)__builtin_ctzll(le64toh(eight ^ equal)) / 8;
  }
  while (run < count && data[run] == value) run++;
  return run;
}

/** Note the run that begins with the i-th byte. @return where to look for the next one */
static size_t take_run(struct block *p, size_t i) {
  const size_t run = run_length(p->data + i, p->count - i, p->data[i]);
  add_run(p, i, run);
  return i + run + 1;
}

#ifdef __AVX2__
/** Find runs as long as 64 bytes are left. @return where to go on */
static size_t find_runs_wide(struct block *p) {
  size_t i = 1;
  while (i + 64 <= p->count) {
    const uint64_t same = same_as_before(p->data + i);
    uint64_t begin = same &
                     same >> 1; /* of RUN_SEEN bytes that are the same as those before them */
    begin &= begin >> 2;
    begin &= begin >> 4;
    if (begin)
      i = take_run(p, i + (size_t)__builtin_ctzll(begin));
    else /* a run may begin in the last bytes */
      i += 64 - (size_t)__builtin_clzll(~same);
  }
  return i;
}
#else
static size_t find_runs_wide(struct block *p) {
  (void)p;
  return 1;
}
#endif

/** Where eight bytes differ from those before them: the bits of the byte that is `i` behind are 8 i and those above. */
static inline uint64_t changes(const unsigned char *data) {
  uint64_t before, eight;
  memcpy(&before, data - 1, sizeof before);
  memcpy(&eight, data, sizeof eight);
  return le64toh(eight ^ before);
}

/** Find runs of RUN_SEEN bytes and more. */
static void find_runs(struct block *p) {
  for (size_t i = find_runs_wide(p); i + RUN_SEEN <= p->count;) {
    const uint64_t different = changes(p->data + i);
    if (different) /* no run contains the last one of these */
      i += 8 - (size_t)__builtin_clzll(different) / 8;
    else
      i = take_run(p, i);
  }
}

#endif
