/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Transposition between rows (the coefficients of one node follow each other in memory) and lanes
 * (one node in each lane, one coefficient in each vector). Four coefficients are handled at a time:
 * a row is cut into chunks of four floats. Where the length is no multiple of four the last chunk
 * overlaps the one before it, so that nothing outside a row is touched. (Identifiers say `block`
 * for such a chunk.) */
#ifndef PHOTONS_TRANSPOSE_H
#define PHOTONS_TRANSPOSE_H

#include "photons/base/simd.h"

typedef float vblock __attribute__((vector_size(16)));
typedef uint32_t vblock_uint __attribute__((vector_size(16)));
typedef int32_t vlanes_int __attribute__((vector_size(4 * LANES)));

#if defined __AVX512F__
#define SHUFFLE(v, w, a, b, c, d)                                                            \
  __builtin_shufflevector(v, w, a, b, c, d, a + 4, b + 4, c + 4, d + 4, a + 8, b + 8, c + 8, \
                          d + 8, a + 12, b + 12, c + 12, d + 12)
#elif defined __AVX2__
#define SHUFFLE(v, w, a, b, c, d) \
  __builtin_shufflevector(v, w, a, b, c, d, a + 4, b + 4, c + 4, d + 4)
#else
#define SHUFFLE(v, w, a, b, c, d) __builtin_shufflevector(v, w, a, b, c, d)
#endif

/** Floats of the staging area for one chunk of every lane. */
enum { STAGE = 4 * LANES };

/** The place of a lane's chunk in the staging area; with it transpose() brings the lanes into
 * order. */
static inline float *stage_lane(float *stage, int lane) {
  return stage + lane % 4 * LANES + lane / 4 * 4;
}

/** Transpose the 4x4 tiles of four vectors in place. Done twice it is the identity. */
static inline __attribute__((always_inline)) void transpose(vfloat v[4]) {
  vfloat ab_low = SHUFFLE(v[0], v[1], 0, LANES, 1, LANES + 1),
         ab_high = SHUFFLE(v[0], v[1], 2, LANES + 2, 3, LANES + 3);
  vfloat cd_low = SHUFFLE(v[2], v[3], 0, LANES, 1, LANES + 1),
         cd_high = SHUFFLE(v[2], v[3], 2, LANES + 2, 3, LANES + 3);
  v[0] = SHUFFLE(ab_low, cd_low, 0, 1, LANES, LANES + 1);
  v[1] = SHUFFLE(ab_low, cd_low, 2, 3, LANES + 2, LANES + 3);
  v[2] = SHUFFLE(ab_high, cd_high, 0, 1, LANES, LANES + 1);
  v[3] = SHUFFLE(ab_high, cd_high, 2, 3, LANES + 2, LANES + 3);
}

/** Number of chunks of a row of `size` coefficients, and the first coefficient of chunk b. */
static inline int row_blocks(int size) { return (size + 3) / 4; }
static inline int block_first_term(int size, int b) {
  return size >= 4 && 4 * b + 4 > size ? size - 4 : 4 * b;
}

static inline vblock load_block(const float *p) {
  vblock v;
  memcpy(&v, p, sizeof v);
  return v;
}
static inline void store_block(float *p, vblock v) { memcpy(p, &v, sizeof v); }

/** Copy one lane's row into the staging area, which has row_blocks(size) * STAGE floats. */
static inline __attribute__((always_inline)) void stage_row(const float *row, int size,
                                                            float *stage, int lane) {
  if (size < 4)
    for (int i = 0; i < size; i++) stage_lane(stage, lane)[i] = row[i];
  else
    for (int b = 0; b < row_blocks(size); b++)
      store_block(stage_lane(stage + b * STAGE, lane), load_block(row + block_first_term(size, b)));
}

/** Copy one lane's row back from the staging area. */
static inline __attribute__((always_inline)) void unstage_row(float *stage, int lane, int size,
                                                              float *row) {
  if (size < 4)
    for (int i = 0; i < size; i++) row[i] = stage_lane(stage, lane)[i];
  else
    for (int b = 0; b < row_blocks(size); b++)
      store_block(row + block_first_term(size, b), load_block(stage_lane(stage + b * STAGE, lane)));
}

/** All staged rows as vectors of lanes, and back. `out` and `in` have max(size, 4) elements. */
static inline __attribute__((always_inline)) void stage_to_lanes(const float *stage, int size,
                                                                 vfloat *out) {
  for (int b = 0; b < row_blocks(size); b++) {
    vfloat v[4];
    for (int i = 0; i < 4; i++) v[i] = v_load(stage + b * STAGE + i * LANES);
    transpose(v);
    for (int i = 0; i < 4; i++) out[block_first_term(size, b) + i] = v[i];
  }
}

static inline __attribute__((always_inline)) void lanes_to_stage(const vfloat *in, int size,
                                                                 float *stage) {
  for (int b = 0; b < row_blocks(size); b++) {
    vfloat v[4];
    for (int i = 0; i < 4; i++) v[i] = in[block_first_term(size, b) + i];
    transpose(v);
    for (int i = 0; i < 4; i++) memcpy(stage + b * STAGE + i * LANES, &v[i], sizeof v[i]);
  }
}

/** row[i] = sum over the lanes of in[i]. The order of the sum depends only on the number of
 * lanes. */
static inline __attribute__((always_inline)) void sum_lanes(const vfloat *in, int size,
                                                            float *row) {
  for (int b = 0; b < row_blocks(size); b++) {
    vfloat v[4];
    for (int i = 0; i < 4; i++) v[i] = in[block_first_term(size, b) + i];
    transpose(v);
    vfloat tile = (v[0] + v[1]) + (v[2] + v[3]);
    vblock sum = __builtin_shufflevector(tile, tile, 0, 1, 2, 3);
#if defined __AVX2__
    sum += __builtin_shufflevector(tile, tile, 4, 5, 6, 7);
#endif
#if defined __AVX512F__
    sum += __builtin_shufflevector(tile, tile, 8, 9, 10, 11) +
           __builtin_shufflevector(tile, tile, 12, 13, 14, 15);
#endif
    if (size >= 4)
      store_block(row + block_first_term(size, b), sum);
    else
      for (int i = 0; i < size; i++) row[i] = sum[i];
  }
}

#endif
