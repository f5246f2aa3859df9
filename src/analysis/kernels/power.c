/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Deposit of particles on the two meshes of a power spectrum, by cubic B-splines: rows of four cells along z. The weights
 * are those of power_spline(), computed for the three axes and both meshes at once; they and all that is made of them stay in
 * registers. */
#ifdef __SSE2__
#include <immintrin.h>
#endif
#include <math.h>
#include <string.h>

#include "photons/analysis/kernels.h"
#include "src/analysis/power_deposit.h"

typedef float floats4 __attribute__((vector_size(16)));
typedef int32_t integers4 __attribute__((vector_size(16)));
typedef float floats8 __attribute__((vector_size(32)));
typedef int32_t integers8 __attribute__((vector_size(32)));
typedef uint32_t whole8 __attribute__((vector_size(32)));
typedef int32_t cells4 __attribute__((vector_size(16), aligned(4), may_alias));

/* As many rows as a register has room for. REPEAT() gives the same four numbers to each row, SPREAD() of these the i-th, and
 * SPREAD_ROWS() the i-th to the first row, the next one to the second. NEAREST() rounds to whole numbers. */
#if defined __AVX512F__
enum { ROWS = 4 };
typedef float floats __attribute__((vector_size(64)));
typedef int32_t integers __attribute__((vector_size(64)));
#define REPEAT(v) (floats) _mm512_broadcast_f32x4((__m128)(v))
#define OF_ROW(v, places) (floats) _mm512_permutevar_ps((__m512)(v), (__m512i)(places))
#define SPREAD(v, i) OF_ROW(v, (integers){0} + (int32_t)(i))
#define SPREAD_ROWS(v, i) OF_ROW(v, ((integers){0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3}))
#define ROW(v, row)                                           \
  ((row) == 0   ? __builtin_shufflevector(v, v, 0, 1, 2, 3)   \
   : (row) == 1 ? __builtin_shufflevector(v, v, 4, 5, 6, 7)   \
   : (row) == 2 ? __builtin_shufflevector(v, v, 8, 9, 10, 11) \
                : __builtin_shufflevector(v, v, 12, 13, 14, 15))
#define NEAREST(v) (integers) _mm512_cvtps_epi32((__m512)(v))
#elif defined __AVX2__
enum { ROWS = 2 };
typedef floats8 floats;
typedef integers8 integers;
#define REPEAT(v) (floats) _mm256_set_m128((__m128)(v), (__m128)(v))
#define OF_ROW(v, places) (floats) _mm256_permutevar_ps((__m256)(v), (__m256i)(places))
#define SPREAD(v, i) OF_ROW(v, (integers){0} + (int32_t)(i))
#define SPREAD_ROWS(v, i) OF_ROW(v, ((integers){0, 0, 0, 0, 1, 1, 1, 1}) + (int32_t)(i))
#define ROW(v, row)                                       \
  ((row) == 0 ? __builtin_shufflevector(v, v, 0, 1, 2, 3) \
              : __builtin_shufflevector(v, v, 4, 5, 6, 7))
#define NEAREST(v) (integers) _mm256_cvtps_epi32((__m256)(v))
#else
enum { ROWS = 1 };
typedef floats4 floats;
typedef integers4 integers;
#define REPEAT(v) (v)
#define SPREAD(v, i) ((floats){(v)[i], (v)[i], (v)[i], (v)[i]})
#define SPREAD_ROWS(v, i) SPREAD(v, i)
#define ROW(v, row) (v)
#ifdef __SSE2__
#define NEAREST(v) (integers) _mm_cvtps_epi32((__m128)(v))
#else
#define NEAREST(v)                                                              \
  (integers) {                                                                  \
    (int32_t) lrintf((v)[0]), (int32_t)lrintf((v)[1]), (int32_t)lrintf((v)[2]), \
        (int32_t)lrintf((v)[3])                                                 \
  }
#endif
#endif
enum { X, Y, Z, WIDTH = 4 };

/** @param f            fraction of a cell, 2^-32, by axis
 * @param[out] weight  by mesh and axis */
static inline void find_weights(const uint32_t f[3], floats8 weight[WIDTH]) {
  const uint32_t half = 1u << 31; /* of a cell */
  const whole8 fraction = (whole8){f[X], f[Y], f[Z], 0, f[X], f[Y], f[Z], 0} ^
                          (whole8) { 0, 0, 0, 0, half, half, half, half };
  const floats8 d = __builtin_convertvector((integers8)(fraction >> 8), floats8) * 0x1p-24f,
                e = 1.0f - d;
  weight[0] = e * e * e * (1.0f / 6.0f);
  weight[1] = 2.0f / 3.0f - d * d * (1.0f - 0.5f * d);
  weight[2] = 2.0f / 3.0f - e * e * (1.0f - 0.5f * e);
  weight[3] = d * d * d * (1.0f / 6.0f);
}

/** Add to four cells, which are found twice: from two copies of one pointer the compiler makes addresses of two registers, and
 * from one a third register for each row.
 * @return the sums */
static inline integers4 add_four(const unsigned char *from, unsigned char *to, size_t row,
                                 integers4 add) {
  const integers4 sum = *(const cells4 *)(const void *)(from + row) + add;
  *(cells4 *)(void *)(to + row) = sum;
  return sum;
}

/** @param cells   of the mesh, from the first one along z on
 * @param plane, row  [2 i] where plane and row i of the four begin
 * @param w       weights of the four cells by axis
 * @param amount  the mass in units
 * @param bits    OR of the bits of all sums before
 * @return the same with those of these sums */
static inline integers4 deposit(unsigned char *cells, const size_t *plane, const size_t *row,
                                const floats4 w[WIDTH], float amount, integers4 bits) {
  const floats4 xy[2] = {__builtin_shufflevector(w[0], w[1], X, X + 4, Y, Y + 4),
                         __builtin_shufflevector(w[2], w[3], X, X + 4, Y, Y + 4)},
                zz[2] = {__builtin_shufflevector(w[0], w[1], Z, Z + 4, 3, 7),
                         __builtin_shufflevector(w[2], w[3], Z, Z + 4, 3, 7)},
                row_x = __builtin_shufflevector(xy[0], xy[1], 0, 1, 4, 5) * amount;
  const floats wx = REPEAT(row_x), wy = REPEAT(__builtin_shufflevector(xy[0], xy[1], 2, 3, 6, 7)),
               wz = REPEAT(__builtin_shufflevector(zz[0], zz[1], 0, 1, 4, 5));
  /* copies: what is stored might be part of the table otherwise */
  const size_t to_row[WIDTH] = {row[0], row[2], row[4], row[6]};
  floats wyz[WIDTH / ROWS];
#pragma GCC unroll 4
  for (size_t c = 0; c < WIDTH; c += ROWS) wyz[c / ROWS] = SPREAD_ROWS(wy, c) * wz;
#pragma GCC unroll 4
  for (size_t a = 0; a < WIDTH; a++) {
    const floats wx_a = SPREAD(wx, a);
    unsigned char *to = cells + plane[2 * a];
    __asm__("" : "+r"(to)); /* else each row has its own sum of three addends */
    const unsigned char *from = to;
    __asm__("" : "+r"(from));
#pragma GCC unroll 4
    for (size_t c = 0; c < WIDTH; c += ROWS) {
      const integers add = NEAREST(wx_a * wyz[c / ROWS]);
#pragma GCC unroll 4
      for (size_t r = 0; r < ROWS; r++) {
        bits |= add_four(from, to, to_row[c + r], ROW(add, r));
        __asm__("" : "+x"(bits)); /* else all sums are kept, to be joined in the end */
      }
    }
  }
  return bits;
}

bool KERNEL(power_deposit_points)(const struct power_target *t, size_t count,
                                  const uint32_t (*x)[3], const float *mass) {
  const struct power_target target = *t; /* a copy, as of rows */
  const uint64_t n = target.n;
  integers4 bits = {0};
  for (size_t i = 0; i < count; i++) {
    const uint64_t position[3] = {x[i][X] * n, x[i][Y] * n, x[i][Z] * n};
    const uint32_t f[3] = {(uint32_t)position[X], (uint32_t)position[Y], (uint32_t)position[Z]};
    floats8 weight[WIDTH];
    find_weights(f, weight);
    const size_t *plane = target.plane + (position[X] >> 31),
                 *row = target.row + (position[Y] >> 31),
                 *column = target.column + (position[Z] >> 31);
    const float amount = (mass ? mass[i] : 1.0f) * target.per_unit;
#pragma GCC unroll 2
    for (int mesh = 0; mesh < 2; mesh++) {
      floats4 w[WIDTH];
#pragma GCC unroll 4
      for (int a = 0; a < WIDTH; a++)
        w[a] = mesh == 0 ? __builtin_shufflevector(weight[a], weight[a], 0, 1, 2, 3)
                         : __builtin_shufflevector(weight[a], weight[a], 4, 5, 6, 7);
      unsigned char *cells = (unsigned char *)target.mesh[mesh] + column[1 - mesh];
      __asm__("" : "+r"(cells));
      bits = deposit(cells, plane + 1 - mesh, row + 1 - mesh, w, amount, bits);
    }
  }
  return (bits[0] | bits[1] | bits[2] | bits[3]) < 0;
}

/** Four cells each of two rows, less the mean. */
static inline void get_cells(const int32_t *low, const int32_t *high, int32_t mean,
                             floats8 *difference) {
  const cells4 four[2] = {*(const cells4 *)(const void *)low, *(const cells4 *)(const void *)high};
  *difference = __builtin_convertvector(
      __builtin_shufflevector(four[0], four[1], 0, 1, 2, 3, 4, 5, 6, 7) - mean, floats8);
}

/** Of four cells each of four rows of both meshes the complex numbers. */
static inline void weave_four(const int32_t *const re[4], const int32_t *const im[4], size_t z,
                              int32_t mean, float *to) {
  floats8 low[2], high[2], a,
      b; /* of rows 0 and 2, 1 and 3: the first two cells, and the last two */
#pragma GCC unroll 2
  for (size_t k = 0; k < 2; k++) {
    get_cells(re[k] + z, re[k + 2] + z, mean, &a);
    get_cells(im[k] + z, im[k + 2] + z, mean, &b);
    low[k] = __builtin_shufflevector(a, b, 0, 8, 1, 9, 4, 12, 5, 13);
    high[k] = __builtin_shufflevector(a, b, 2, 10, 3, 11, 6, 14, 7, 15);
  }
  const floats8 cell[4] = {__builtin_shufflevector(low[0], low[1], 0, 1, 8, 9, 4, 5, 12, 13),
                           __builtin_shufflevector(low[0], low[1], 2, 3, 10, 11, 6, 7, 14, 15),
                           __builtin_shufflevector(high[0], high[1], 0, 1, 8, 9, 4, 5, 12, 13),
                           __builtin_shufflevector(high[0], high[1], 2, 3, 10, 11, 6, 7, 14, 15)};
#pragma GCC unroll 4
  for (size_t k = 0; k < 4; k++) memcpy(to + k * 2 * POWER_ROWS, &cell[k], sizeof cell[k]);
}

void KERNEL(power_weave)(size_t n, const int32_t *const row[2][POWER_ROWS], int32_t mean,
                         float *lines) {
  const size_t step = 2 * POWER_ROWS;
  for (size_t i = 0; i < POWER_ROWS; i += 4) {
    const int32_t *const *re = row[0] + i, *const *im = row[1] + i;
    /* copies, as of rows of a stencil */
    const int32_t *const a[4] = {re[0], re[1], re[2], re[3]}, *const b[4] = {im[0], im[1], im[2],
                                                                             im[3]};
    for (size_t z = 0; z < n + 3; z += 4) weave_four(a, b, z, mean, lines + z * step + 2 * i);
  }
  for (size_t i = 0; i < 3 * step; i++) lines[i] += lines[n * step + i] + (float)mean;
}

extern const struct power_kernels KERNEL(power_kernels);
const struct power_kernels KERNEL(power_kernels) = {KERNEL(power_deposit_points),
                                                    KERNEL(power_weave)};
