/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Vector operations that a loop over float lanes cannot express: masks, compression, fast inverse
 * square roots. The same names stand for AVX-512, AVX2 and GCC's generic vectors (baseline); the
 * flags of the compilation choose between them. */
#ifndef PHOTONS_SIMD_H
#define PHOTONS_SIMD_H

#include <math.h>
#include <stdint.h>
#include <string.h>

/** What v_rank() takes away from the bits of a float, so that those of `least` become INT32_MIN. */
static inline int32_t v_rank_zero(float least) {
  uint32_t bits;
  memcpy(&bits, &least, sizeof bits);
  return (int32_t)(bits ^ 0x80000000u);
}

#if defined __AVX512F__

#include <immintrin.h>
enum { LANES = 16 };
typedef __m512 vfloat;
typedef __m512i vint;
typedef __mmask16 vmask;

static inline vfloat v_set(float a) { return _mm512_set1_ps(a); }
static inline vfloat v_load(const float *p) { return _mm512_loadu_ps(p); }
static inline void v_store(float *p, vfloat a) { _mm512_storeu_ps(p, a); }
static inline vfloat v_fma(vfloat a, vfloat b, vfloat c) { return _mm512_fmadd_ps(a, b, c); }
static inline vfloat v_fnma(vfloat a, vfloat b, vfloat c) { return _mm512_fnmadd_ps(a, b, c); }
static inline vfloat v_fms(vfloat a, vfloat b, vfloat c) { return _mm512_fmsub_ps(a, b, c); }
static inline vfloat v_max(vfloat a, vfloat b) { return _mm512_max_ps(a, b); }
static inline vfloat v_min(vfloat a, vfloat b) { return _mm512_min_ps(a, b); }
static inline vfloat v_abs(vfloat a) { return _mm512_abs_ps(a); }
static inline vfloat v_sqrt(vfloat a) { return _mm512_sqrt_ps(a); }
/** 1/sqrt(a) to RSQRT_BITS bits, by one instruction where there is one. */
static inline vfloat v_rsqrt_rough(vfloat a) { return _mm512_rsqrt14_ps(a); }
#define RSQRT_BITS 14
/** 1/sqrt(a) to 14 bits. */
static inline vfloat v_rsqrt_estimate(vfloat a) { return v_rsqrt_rough(a); }
static inline vmask v_less(vfloat a, vfloat b) { return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ); }
static inline vmask v_both(vmask a, vmask b) { return (vmask)(a & b); }
static inline int v_any(vmask m) { return m != 0; }
/** a in the lanes of m, b in the others. */
static inline vfloat v_select(vmask m, vfloat a, vfloat b) { return _mm512_mask_blend_ps(m, b, a); }
static inline vfloat v_keep(vmask m, vfloat a) { return _mm512_maskz_mov_ps(m, a); }
static inline float v_sum(vfloat a) { return _mm512_reduce_add_ps(a); }
/* Quarters: the lanes in four parts of QUARTER lanes each. */
enum { QUARTER = LANES / 4 };
/** QUARTER floats, the same in each quarter. */
static inline vfloat v_repeat(const float *p) { return _mm512_broadcast_f32x4(_mm_loadu_ps(p)); }
/** p[q] in all lanes of quarter q. */
static inline vfloat v_spread(const float p[4]) {
  const __m512i quarter = _mm512_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3);
  return _mm512_permutexvar_ps(quarter, _mm512_castps128_ps512(_mm_loadu_ps(p)));
}
/** The sum of each quarter. */
static inline void v_sum_quarters(vfloat a, float sum[4]) {
  a = _mm512_add_ps(a, _mm512_permute_ps(a, 0xb1));
  a = _mm512_add_ps(a, _mm512_permute_ps(a, 0x4e));
  const __m512i first = _mm512_setr_epi32(0, 4, 8, 12, 0, 4, 8, 12, 0, 4, 8, 12, 0, 4, 8, 12);
  _mm_storeu_ps(sum, _mm512_castps512_ps128(_mm512_permutexvar_ps(first, a)));
}
/** Positive floats as integers in the same order, except that those below `least` come last. */
static inline vint v_rank(vfloat a, float least) {
  return _mm512_sub_epi32(_mm512_castps_si512(a), _mm512_set1_epi32(v_rank_zero(least)));
}
/** The lower one in each lane. */
static inline vint v_lower(vint a, vint b) { return _mm512_min_epi32(a, b); }
/** The higher one in each lane. */
static inline vint v_higher(vint a, vint b) { return _mm512_max_epi32(a, b); }
static inline vmask v_is_lower(vint a, vint b) { return _mm512_cmplt_epi32_mask(a, b); }
/** The first n lanes. */
static inline vmask v_first(uint32_t n) { return n >= 16 ? (vmask)0xffff : (vmask) ~(~0u << n); }
/** The lanes whose bit is set. */
static inline vmask v_bits(uint32_t bits) { return (vmask)bits; }
/** p[lane] += a[lane] for the lanes in m. The other elements of p are neither read nor written. */
static inline void v_add_to(float *p, vmask m, vfloat a) {
  _mm512_mask_storeu_ps(p, m, _mm512_add_ps(_mm512_maskz_loadu_ps(m, p), a));
}
/** p[lane] for the lanes in m, 0 in the others; elements of p outside m are not read. */
static inline vfloat v_load_some(const float *p, vmask m) { return _mm512_maskz_loadu_ps(m, p); }
/** (float)(int32_t)(p[lane] - c) for the lanes in m; elements of p outside m are not read. */
static inline vfloat v_difference(const uint32_t *p, uint32_t c, vmask m) {
  return _mm512_cvtepi32_ps(
      _mm512_sub_epi32(_mm512_maskz_loadu_epi32(m, p), _mm512_set1_epi32((int)c)));
}
/** The order that brings the lanes in m to the front, for v_permute(). What follows them is any
 * lane. Zen 4 takes 5 cycles for each compression and one for a permutation. */
static inline vint v_order(vmask m) {
  return _mm512_maskz_compress_epi32(
      m, _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
}
static inline vfloat v_permute(vfloat a, vint order) { return _mm512_permutexvar_ps(order, a); }
static inline uint32_t v_count(vmask m) { return (uint32_t)__builtin_popcount(m); }
/** A bit for each lane, the lowest for the first one. */
static inline uint32_t v_to_bits(vmask m) { return m; }
static inline vint v_none(void) { return _mm512_setzero_si512(); }
/** Add 1 in the lanes in m. */
static inline vint v_add_one(vint a, vmask m) {
  return _mm512_mask_add_epi32(a, m, a, _mm512_set1_epi32(1));
}

#elif defined __AVX2__

#include <immintrin.h>
enum { LANES = 8 };
typedef __m256 vfloat;
typedef __m256i vint;
typedef __m256 vmask;

static inline vfloat v_set(float a) { return _mm256_set1_ps(a); }
static inline vfloat v_load(const float *p) { return _mm256_loadu_ps(p); }
static inline void v_store(float *p, vfloat a) { _mm256_storeu_ps(p, a); }
static inline vfloat v_fma(vfloat a, vfloat b, vfloat c) { return _mm256_fmadd_ps(a, b, c); }
static inline vfloat v_fnma(vfloat a, vfloat b, vfloat c) { return _mm256_fnmadd_ps(a, b, c); }
static inline vfloat v_fms(vfloat a, vfloat b, vfloat c) { return _mm256_fmsub_ps(a, b, c); }
static inline vfloat v_max(vfloat a, vfloat b) { return _mm256_max_ps(a, b); }
static inline vfloat v_min(vfloat a, vfloat b) { return _mm256_min_ps(a, b); }
static inline vfloat v_abs(vfloat a) { return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), a); }
static inline vfloat v_sqrt(vfloat a) { return _mm256_sqrt_ps(a); }
static inline vfloat v_rsqrt_rough(vfloat a) { return _mm256_rsqrt_ps(a); }
#define RSQRT_BITS 11
/** 1/sqrt(a): the estimate of 11.4 bits and one Newton step, so that callers may rely on 14 bits as
 * with AVX-512. */
static inline vfloat v_rsqrt_estimate(vfloat a) {
  vfloat y = v_rsqrt_rough(a);
  return _mm256_mul_ps(y, _mm256_fnmadd_ps(_mm256_mul_ps(_mm256_set1_ps(0.5f), a),
                                           _mm256_mul_ps(y, y), _mm256_set1_ps(1.5f)));
}
static inline vmask v_less(vfloat a, vfloat b) { return _mm256_cmp_ps(a, b, _CMP_LT_OQ); }
static inline vmask v_both(vmask a, vmask b) { return _mm256_and_ps(a, b); }
static inline int v_any(vmask m) { return _mm256_movemask_ps(m) != 0; }
static inline vfloat v_select(vmask m, vfloat a, vfloat b) { return _mm256_blendv_ps(b, a, m); }
static inline vfloat v_keep(vmask m, vfloat a) { return _mm256_and_ps(m, a); }
static inline float v_sum(vfloat a) {
  __m128 s = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
  s = _mm_add_ps(s, _mm_movehl_ps(s, s));
  return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
}
enum { QUARTER = LANES / 4 };
static inline vfloat v_repeat(const float *p) {
  double both;
  memcpy(&both, p, sizeof both);
  return _mm256_castpd_ps(_mm256_set1_pd(both));
}
static inline vfloat v_spread(const float p[4]) {
  const __m256i quarter = _mm256_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3);
  return _mm256_permutevar8x32_ps(_mm256_castps128_ps256(_mm_loadu_ps(p)), quarter);
}
static inline void v_sum_quarters(vfloat a, float sum[4]) {
  a = _mm256_add_ps(a, _mm256_permute_ps(a, 0xb1));
  const __m256i first = _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6);
  _mm_storeu_ps(sum, _mm256_castps256_ps128(_mm256_permutevar8x32_ps(a, first)));
}
static inline vint v_rank(vfloat a, float least) {
  return _mm256_sub_epi32(_mm256_castps_si256(a), _mm256_set1_epi32(v_rank_zero(least)));
}
static inline vint v_lower(vint a, vint b) { return _mm256_min_epi32(a, b); }
static inline vint v_higher(vint a, vint b) { return _mm256_max_epi32(a, b); }
static inline vmask v_is_lower(vint a, vint b) {
  return _mm256_castsi256_ps(_mm256_cmpgt_epi32(b, a));
}
static inline vmask v_first(uint32_t n) {
  const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  return _mm256_castsi256_ps(_mm256_cmpgt_epi32(_mm256_set1_epi32(n > 8 ? 8 : (int)n), lane));
}
static inline vmask v_bits(uint32_t bits) {
  const __m256i bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
  return _mm256_castsi256_ps(
      _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32((int)bits), bit), bit));
}
static inline void v_add_to(float *p, vmask m, vfloat a) {
  __m256i mask = _mm256_castps_si256(m);
  _mm256_maskstore_ps(p, mask, _mm256_add_ps(_mm256_maskload_ps(p, mask), a));
}
static inline vfloat v_load_some(const float *p, vmask m) {
  return _mm256_maskload_ps(p, _mm256_castps_si256(m));
}
static inline vfloat v_difference(const uint32_t *p, uint32_t c, vmask m) {
  __m256i v = _mm256_maskload_epi32((const int *)p, _mm256_castps_si256(m));
  return _mm256_cvtepi32_ps(_mm256_sub_epi32(v, _mm256_set1_epi32((int)c)));
}
static inline uint32_t v_count(vmask m) {
  return (uint32_t)__builtin_popcount((unsigned)_mm256_movemask_ps(m));
}
static inline uint32_t v_to_bits(vmask m) { return (uint32_t)_mm256_movemask_ps(m); }
static inline vint v_none(void) { return _mm256_setzero_si256(); }
static inline vint v_add_one(vint a, vmask m) {
  return _mm256_sub_epi32(a, _mm256_castps_si256(m));
}
static inline vint v_order(vmask m) {
  /* Byte k of the order is the k-th set bit of the mask: spread the mask to bytes, then gather 0..7
   * by pext (BMI2). */
  unsigned bits = (unsigned)_mm256_movemask_ps(m);
  uint64_t spread = 0x0101010101010101u;
  spread = __builtin_ia32_pdep_di(bits, spread) * 0xff;
  uint64_t order = __builtin_ia32_pext_di(0x0706050403020100u, spread);
  return _mm256_cvtepu8_epi32(_mm_cvtsi64_si128((long long)order));
}
static inline vfloat v_permute(vfloat a, vint order) { return _mm256_permutevar8x32_ps(a, order); }

#else

enum { LANES = 4 };
typedef float vfloat __attribute__((vector_size(16)));
typedef int32_t vint __attribute__((vector_size(16)));
typedef vint vmask;

static inline vfloat v_set(float a) { return (vfloat){a, a, a, a}; }
static inline vfloat v_load(const float *p) {
  vfloat a;
  memcpy(&a, p, sizeof a);
  return a;
}
static inline void v_store(float *p, vfloat a) { memcpy(p, &a, sizeof a); }
static inline vfloat v_fma(vfloat a, vfloat b, vfloat c) { return a * b + c; }
static inline vfloat v_fnma(vfloat a, vfloat b, vfloat c) { return c - a * b; }
static inline vfloat v_fms(vfloat a, vfloat b, vfloat c) { return a * b - c; }
static inline vfloat v_select(vmask m, vfloat a, vfloat b) {
  return (vfloat)((m & (vint)a) | (~m & (vint)b));
}
static inline vfloat v_keep(vmask m, vfloat a) { return (vfloat)(m & (vint)a); }
static inline vmask v_less(vfloat a, vfloat b) { return a < b; }
static inline vmask v_both(vmask a, vmask b) { return a & b; }
static inline vfloat v_max(vfloat a, vfloat b) { return v_select(a < b, b, a); }
static inline vfloat v_min(vfloat a, vfloat b) { return v_select(a < b, a, b); }
static inline vfloat v_abs(vfloat a) { return (vfloat)((vint)a & 0x7fffffff); }
static inline vfloat v_sqrt(vfloat a) {
  return (vfloat){sqrtf(a[0]), sqrtf(a[1]), sqrtf(a[2]), sqrtf(a[3])};
}
static inline vfloat v_rsqrt_rough(vfloat a) { return v_set(1.0f) / v_sqrt(a); }
#define RSQRT_BITS 22
static inline vfloat v_rsqrt_estimate(vfloat a) { return v_rsqrt_rough(a); }
static inline int v_any(vmask m) { return (m[0] | m[1] | m[2] | m[3]) != 0; }
static inline float v_sum(vfloat a) { return (a[0] + a[2]) + (a[1] + a[3]); }
enum { QUARTER = LANES / 4 };
static inline vfloat v_repeat(const float *p) { return v_set(*p); }
static inline vfloat v_spread(const float p[4]) { return v_load(p); }
static inline void v_sum_quarters(vfloat a, float sum[4]) { v_store(sum, a); }
static inline vint v_rank(vfloat a, float least) {
  typedef uint32_t bits __attribute__((vector_size(16))); /* these may overflow */
  return (vint)((bits)a - (uint32_t)v_rank_zero(least));
}
static inline vint v_lower(vint a, vint b) {
  const vint less = a < b;
  return (less & a) | (~less & b);
}
static inline vint v_higher(vint a, vint b) { return a ^ b ^ v_lower(a, b); }
static inline vmask v_is_lower(vint a, vint b) { return a < b; }
static inline vmask v_first(uint32_t n) {
  int32_t k = n > 4 ? 4 : (int32_t)n;
  return (vint){0, 1, 2, 3} < k;
}
static inline vmask v_bits(uint32_t bits) { return ((vint){1, 2, 4, 8} & (int32_t)bits) != 0; }
static inline void v_add_to(float *p, vmask m, vfloat a) {
  for (int i = 0; i < LANES; i++)
    if (m[i]) p[i] += a[i];
}
static inline vfloat v_load_some(const float *p, vmask m) {
  vfloat a;
  for (int i = 0; i < LANES; i++) a[i] = m[i] ? p[i] : 0.0f;
  return a;
}
static inline vfloat v_difference(const uint32_t *p, uint32_t c, vmask m) {
  vfloat a;
  if (m[0] & m[1] & m[2] & m[3]) {
    typedef uint32_t bits __attribute__((vector_size(16))); /* these may overflow */
    bits all;
    memcpy(&all, p, sizeof all);
    return __builtin_convertvector((vint)(all - c), vfloat);
  }
  for (int i = 0; i < LANES; i++) a[i] = m[i] ? (float)(int32_t)(p[i] - c) : 0.0f;
  return a;
}
static inline uint32_t v_count(vmask m) { return (uint32_t) - (m[0] + m[1] + m[2] + m[3]); }
static inline uint32_t v_to_bits(vmask m) {
  return (uint32_t)((m[0] & 1) | (m[1] & 2) | (m[2] & 4) | (m[3] & 8));
}
static inline vint v_none(void) { return (vint){0}; }
static inline vint v_add_one(vint a, vmask m) { return a - m; }
static inline vint v_order(vmask m) {
  vint order = {0};
  for (int i = 0, n = 0; i < LANES; n -= m[i++]) order[n] = i;
  return order;
}
static inline vfloat v_permute(vfloat a, vint order) {
  return (vfloat){a[order[0]], a[order[1]], a[order[2]], a[order[3]]};
}

#endif

/** List the numbers of the lanes in m, the first lane's being `first`. LANES numbers are written in any case. @return how many
 * are listed */
static inline uint32_t v_list(vmask m, uint32_t first, uint32_t *list) {
  typedef uint32_t numbers __attribute__((vector_size(4 * LANES)));
  const numbers lane = (numbers)v_order(m) + first;
  memcpy(list, &lane, sizeof lane);
  return v_count(m);
}

#endif
