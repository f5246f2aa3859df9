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

/** What a particle touches on a mesh: where four planes and four rows begin in memory; the first cell along z; and the weights
 * of the four cells by axis. */
struct stencil {
  const size_t *plane, *row;
  size_t first;
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

/** Of a position in cells, with 32 bits of fraction, the place in a table from -2 on of the first cell that a particle touches.
 * Half a cell before, on the second mesh, that is the cell before, or the same one. */
static inline size_t first_of(uint64_t position, int mesh) {
  return (position >> 32) + (mesh == 0 || (uint32_t)position >= POWER_SHIFT);
}

/** The stencils on both meshes. */
static inline void find_stencils(const struct power_target *t, const uint32_t x[3],
                                 struct stencil s[2]) {
  const uint64_t n = t->n, position[3] = {x[X] * n, x[Y] * n, x[Z] * n};
  const whole4 fraction = {(uint32_t)position[X], (uint32_t)position[Y], (uint32_t)position[Z], 0};
  for (int mesh = 0; mesh < 2; mesh++) {
    const size_t z = first_of(position[Z], mesh);
    s[mesh].plane = t->plane + first_of(position[X], mesh);
    s[mesh].row = t->row + first_of(position[Y], mesh);
    s[mesh].first = z < 2 ? z + n - 2 : z - 2;
  }
  find_weights(fraction, s[0].weight);
  find_weights(fraction ^ (uint32_t)POWER_SHIFT, s[1].weight);
}

/** Add to four cells. @return the sums */
static inline integers4 add_four(unsigned char *cells, integers4 add) {
  cells4 *four = (cells4 *)(void *)cells;
  return *four += add;
}

/** @param amount  the mass in units
 * @return OR of the bits of all sums */
static inline integers4 deposit(int32_t *mesh, const struct stencil *s, float amount) {
  const size_t *plane = s->plane, *row = s->row;
  const floats4 *w = s->weight;
  const floats wz = REPEAT(((floats4){w[0][Z], w[1][Z], w[2][Z], w[3][Z]}));
  integers4 bits = {0};
#pragma GCC unroll 4
  for (size_t a = 0; a < WIDTH; a++) {
    const floats4 scaled = w[a] * amount;
    const floats wx = SPREAD(scaled, X);
    unsigned char *cells = (unsigned char *)(mesh + s->first) + plane[a];
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
    find_stencils(t, x[i], s);
    for (int mesh = 0; mesh < 2; mesh++) bits |= deposit(t->mesh[mesh], &s[mesh], amount);
  }
  return (bits[0] | bits[1] | bits[2] | bits[3]) < 0;
}

extern const struct power_kernels KERNEL(power_kernels);
const struct power_kernels KERNEL(power_kernels) = {KERNEL(power_deposit_points)};
