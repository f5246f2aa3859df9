/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Checksums of rows whose columns stand apart: XXH3 of 64 bits with a seed, of several rows at a time. Each function has the
 * steps that the specification of xxHash 0.8 gives for rows of its length (XXH3_len_4to8_64b(), XXH3_len_9to16_64b() and
 * XXH3_len_17to128_64b() in xxhash.h). */
#include <string.h>

#include "photons/io/kernels.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

/** The sum over rows from the i-th on, one after the other. */
static inline uint64_t sum_rest(size_t columns, size_t size, size_t i, size_t count,
                                const unsigned char *column, uint64_t first) {
  uint64_t sum = 0;
  for (; i < count; i++) {
    unsigned char row[3 * sizeof(uint64_t)];
    for (size_t c = 0; c < columns; c++)
      memcpy(row + c * size, column + (c * count + i) * size, size);
    sum += XXH3_64bits_withSeed(row, columns * size, first + i);
  }
  return sum;
}

#ifdef __AVX2__
#include <immintrin.h>

#ifdef __AVX512BW__
enum { LANES = 8 };
#else
enum { LANES = 4 };
#endif
typedef uint64_t lanes __attribute__((vector_size(LANES * sizeof(uint64_t))));
typedef uint32_t halves __attribute__((vector_size(LANES * sizeof(uint32_t))));

/** Words of the default secret, at these places in it. */
#define SECRET_0 UINT64_C(0xbe4ba423396cfeb8)
#define SECRET_8 UINT64_C(0x1cad21f72c81017c)
#define SECRET_16 UINT64_C(0xdb979083e96dd4de)
#define SECRET_24 UINT64_C(0x1f67b3b7a4a44072)
#define SECRET_32 UINT64_C(0x78e5c0cc4ee679cb)
#define SECRET_40 UINT64_C(0x2172ffcc7dd05a82)
#define SECRET_48 UINT64_C(0x8e2443f7744608b8)
#define PRIME64_1 UINT64_C(0x9e3779b185ebca87)
#define PRIME_MX1 UINT64_C(0x165667919e3779f9)
#define PRIME_MX2 UINT64_C(0x9fb21c651e98df25)

/** Products of the lower halves. */
static inline lanes multiply_halves(lanes a, lanes b) {
#ifdef __AVX512BW__
  return (lanes)_mm512_mul_epu32((__m512i)a, (__m512i)b);
#else
  return (lanes)_mm256_mul_epu32((__m256i)a, (__m256i)b);
#endif
}

/** The upper halves of products of 128 bits, XOR the lower ones. */
static inline lanes fold_product(lanes a, lanes b) {
  const uint64_t lower = 0xffffffff;
  const lanes low = multiply_halves(a, b), low_high = multiply_halves(a, b >> 32),
              high_low = multiply_halves(a >> 32, b), high = multiply_halves(a >> 32, b >> 32),
              cross = (low >> 32) + (high_low & lower) + low_high;
  return (high + (high_low >> 32) + (cross >> 32)) ^ (cross << 32 | (low & lower));
}

/** Bytes in the reverse order. */
static inline lanes swap_bytes(lanes a) {
  const __m128i order = _mm_set_epi8(8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7);
#ifdef __AVX512BW__
  return (lanes)_mm512_shuffle_epi8((__m512i)a, _mm512_broadcast_i32x4(order));
#else
  return (lanes)_mm256_shuffle_epi8((__m256i)a, _mm256_broadcastsi128_si256(order));
#endif
}

static inline lanes rotate(lanes a, int bits) { return a << bits | a >> (64 - bits); }

static inline lanes avalanche(lanes hash) {
  hash ^= hash >> 37;
  hash *= PRIME_MX1;
  return hash ^ hash >> 32;
}

/** Of rows of 4 or 8 bytes. @param input  the last four bytes, and above them the first four */
static inline lanes hash_number(lanes input, uint64_t length, lanes seed) {
  seed ^= swap_bytes(seed) & ~UINT64_C(0xffffffff);
  lanes hash = input ^ ((SECRET_8 ^ SECRET_16) - seed);
  hash ^= rotate(hash, 49) ^ rotate(hash, 24);
  hash *= PRIME_MX2;
  hash ^= (hash >> 35) + length;
  hash *= PRIME_MX2;
  return hash ^ hash >> 28;
}

/** Of rows of 12 bytes. */
static inline lanes hash_three(lanes x, lanes y, lanes z, lanes seed) {
  const lanes low = (x | y << 32) ^ ((SECRET_24 ^ SECRET_32) + seed),
              high = (y | z << 32) ^ ((SECRET_40 ^ SECRET_48) - seed);
  return avalanche(12 + swap_bytes(low) + high + fold_product(low, high));
}

/** Of rows of 24 bytes. */
static inline lanes hash_three_wide(lanes x, lanes y, lanes z, lanes seed) {
  return avalanche(24 * PRIME64_1 + fold_product(x ^ (SECRET_0 + seed), y ^ (SECRET_8 - seed)) +
                   fold_product(y ^ (SECRET_16 + seed), z ^ (SECRET_24 - seed)));
}

static inline lanes load(const unsigned char *numbers, size_t size) {
  lanes wide;
  halves narrow;
  if (size == sizeof(uint64_t)) {
    memcpy(&wide, numbers, sizeof wide);
    return wide;
  }
  memcpy(&narrow, numbers, sizeof narrow);
  return __builtin_convertvector(narrow, lanes);
}

/** @param column  LANES numbers of each column, `stride` bytes from those of the next one */
static inline lanes hash_rows(size_t columns, size_t size, const unsigned char *column,
                              size_t stride, lanes seed) {
  const lanes x = load(column, size);
  if (columns == 1) return hash_number(size == 4 ? x | x << 32 : rotate(x, 32), size, seed);
  const lanes y = load(column + stride, size), z = load(column + 2 * stride, size);
  return size == 4 ? hash_three(x, y, z, seed) : hash_three_wide(x, y, z, seed);
}

static inline lanes first_seeds(uint64_t first) {
  lanes seed;
  for (uint64_t k = 0; k < LANES; k++) seed[k] = first + k;
  return seed;
}

static inline uint64_t add_lanes(lanes a) {
  uint64_t sum = 0;
  for (int k = 0; k < LANES; k++) sum += a[k];
  return sum;
}

static inline uint64_t sum_columns(size_t columns, size_t size, size_t count,
                                   const unsigned char *column, uint64_t first) {
  lanes seed = first_seeds(first), sum = {0};
  size_t i = 0;
  for (; i + LANES <= count; i += LANES, seed += LANES)
    sum += hash_rows(columns, size, column + i * size, count * size, seed);
  return add_lanes(sum) + sum_rest(columns, size, i, count, column, first);
}

static inline uint64_t sum_equal(size_t size, size_t count, const unsigned char *number,
                                 uint64_t first) {
  unsigned char equal[LANES * sizeof(uint64_t)];
  for (size_t k = 0; k < LANES; k++) memcpy(equal + k * size, number, size);
  lanes seed = first_seeds(first), sum = {0};
  size_t i = 0;
  for (; i + LANES <= count; i += LANES, seed += LANES) sum += hash_rows(1, size, equal, 0, seed);
  return add_lanes(sum) + sum_rest(1, size, 0, count - i, equal, first + i);
}
#else
static inline uint64_t sum_columns(size_t columns, size_t size, size_t count,
                                   const unsigned char *column, uint64_t first) {
  return sum_rest(columns, size, 0, count, column, first);
}

static inline uint64_t sum_equal(size_t size, size_t count, const unsigned char *number,
                                 uint64_t first) {
  uint64_t sum = 0;
  for (size_t i = 0; i < count; i++) sum += XXH3_64bits_withSeed(number, size, first + i);
  return sum;
}
#endif

uint64_t KERNEL(checksum_columns)(size_t columns, size_t size, size_t count, const void *column,
                                  uint64_t first) {
  /* With sizes that the compiler knows, a row is a few instructions. */
  if (columns == 1)
    return size == 4 ? sum_columns(1, 4, count, column, first)
                     : sum_columns(1, 8, count, column, first);
  return size == 4 ? sum_columns(3, 4, count, column, first)
                   : sum_columns(3, 8, count, column, first);
}

uint64_t KERNEL(checksum_equal)(size_t size, size_t count, const void *number, uint64_t first) {
  return size == 4 ? sum_equal(4, count, number, first) : sum_equal(8, count, number, first);
}
