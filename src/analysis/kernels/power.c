/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Deposit of particles on the two meshes of a power spectrum, by cubic B-splines: rows of four cells along z. The weights
 * are those of power_spline(), computed for the three axes at once; they and all that is made of them stay in registers. */
#include "photons/analysis/kernels.h"
#include "src/analysis/power_deposit.h"

typedef float floats4 __attribute__((vector_size(16)));
typedef int32_t integers4 __attribute__((vector_size(16)));
typedef uint32_t whole4 __attribute__((vector_size(16)));
typedef int32_t cells4 __attribute__((vector_size(16), aligned(4), may_alias));

/* As many rows as a register has room for. */
#ifdef __AVX2__
enum { ROWS = 2 };
typedef float floats __attribute__((vector_size(32)));
typedef int32_t integers __attribute__((vector_size(32)));
#define REPEAT(v) __builtin_shufflevector(v, v, 0, 1, 2, 3, 0, 1, 2, 3)
#define SPREAD(v, lane) \
  __builtin_shufflevector(v, v, lane, lane, lane, lane, lane, lane, lane, lane)
#define SPREAD_ROWS(v, row) \
  __builtin_shufflevector((v)[row], (v)[(row) + 1], 1, 1, 1, 1, 5, 5, 5, 5)
#define ROW(v, row)                                       \
  ((row) == 0 ? __builtin_shufflevector(v, v, 0, 1, 2, 3) \
              : __builtin_shufflevector(v, v, 4, 5, 6, 7))
#else
enum { ROWS = 1 };
typedef floats4 floats;
typedef integers4 integers;
#define REPEAT(v) (v)
#define SPREAD(v, lane) __builtin_shufflevector(v, v, lane, lane, lane, lane)
#define SPREAD_ROWS(v, row) SPREAD((v)[row], 1)
#define ROW(v, row) (v)
#endif
enum { X, Y, Z, WIDTH = 4 };

/** What a particle touches: the first cell along each axis, and the weights of the four cells by axis. */
struct stencil {
  size_t first[3];
  floats4 weight[WIDTH];
};

/** @param fraction  of a cell, 2^-32, by axis */
static inline void find_weights(whole4 fraction, floats4 weight[WIDTH]) {
  const floats4 sixth = {1.0f / 6.0f, 1.0f / 6.0f, 1.0f / 6.0f, 1.0f / 6.0f};
  /* the only rounding is that of the sum */
  const floats4 d = (__builtin_convertvector((integers4)(fraction >> 16), floats4) * 0x1p16f +
                     __builtin_convertvector((integers4)(fraction & 0xffff), floats4)) *
                    0x1p-32f,
                e = 1.0f - d;
  weight[0] = e * e * e * sixth;
  weight[1] = 2.0f / 3.0f - d * d * (1.0f - 0.5f * d);
  weight[2] = 2.0f / 3.0f - e * e * (1.0f - 0.5f * e);
  weight[3] = d * d * d * sixth;
}

/** The stencils on both meshes. */
static inline void find_stencils(const uint32_t x[3], size_t n, struct stencil s[2]) {
  whole4 fraction = {0};
  for (int c = 0; c < 3; c++) {
    const uint64_t position = (uint64_t)x[c] * n, whole = position >> 32;
    const uint32_t part = (uint32_t)position;
    fraction[c] = part;
    s[0].first[c] = whole > 0 ? whole - 1 : n - 1;
    /* Half a cell before that is the cell before, or the same one. */
    const size_t before = s[0].first[c] > 0 ? s[0].first[c] - 1 : n - 1;
    s[1].first[c] = part < POWER_SHIFT ? before : s[0].first[c];
  }
  find_weights(fraction, s[0].weight);
  find_weights(fraction ^ (uint32_t)POWER_SHIFT, s[1].weight);
}

/** Where four planes or rows begin in memory, in bytes. */
static inline void find_places(const struct power_target *t, int axis, size_t first, size_t stride,
                               size_t place[WIDTH]) {
  const size_t all = t->count[axis] * stride, from = t->from[axis];
  place[0] = (first >= from ? first - from : first + t->n - from) * stride;
  for (size_t c = 1; c < WIDTH; c++) place[c] = place[c - 1] + stride;
  if (place[WIDTH - 1] < all) return;
  for (size_t c = 1; c < WIDTH; c++) place[c] -= place[c] < all ? 0 : all;
}

/** Add to four cells. @return the sums */
static inline integers4 add_four(unsigned char *cells, integers4 add) {
  cells4 *four = (cells4 *)(void *)cells;
  return *four += add;
}

/** @param amount  the mass in units
 * @return OR of the bits of all sums */
static inline integers4 deposit(const struct power_target *t, int32_t *mesh,
                                const struct stencil *s, float amount) {
  size_t plane[WIDTH], row[WIDTH];
  find_places(t, X, s->first[X], t->plane * sizeof *mesh, plane);
  find_places(t, Y, s->first[Y], t->row * sizeof *mesh, row);
  const floats4 *w = s->weight;
  const floats wz = REPEAT(((floats4){w[0][Z], w[1][Z], w[2][Z], w[3][Z]}));
  integers4 bits = {0};
#pragma GCC unroll 4
  for (size_t a = 0; a < WIDTH; a++) {
    const floats4 scaled = w[a] * amount;
    const floats wx = SPREAD(scaled, X);
    unsigned char *cells = (unsigned char *)(mesh + s->first[Z]) + plane[a];
    __asm__("" : "+r"(cells)); /* else each row has its own sum of three addends */
#pragma GCC unroll 4
    for (size_t c = 0; c < WIDTH; c += ROWS) {
      const floats wy = SPREAD_ROWS(w, c);
      const integers add = __builtin_convertvector(wx * wy * wz + 0.5f, integers);
#pragma GCC unroll 2
      for (size_t r = 0; r < ROWS; r++) bits |= add_four(cells + row[c + r], ROW(add, r));
    }
  }
  return bits;
}

bool KERNEL(power_deposit_points)(const struct power_target *t, size_t count,
                                  const uint32_t (*x)[3], const float *mass) {
  integers4 bits = {0};
  for (size_t i = 0; i < count; i++) {
    struct stencil s[2];
    const float amount = (mass ? mass[i] : 1.0f) * t->per_unit;
    find_stencils(x[i], t->n, s);
    for (int mesh = 0; mesh < 2; mesh++) bits |= deposit(t, t->mesh[mesh], &s[mesh], amount);
  }
  return (bits[0] | bits[1] | bits[2] | bits[3]) < 0;
}

extern const struct power_kernels KERNEL(power_kernels);
const struct power_kernels KERNEL(power_kernels) = {KERNEL(power_deposit_points)};
