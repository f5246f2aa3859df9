/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the operators of the fast multipole method share: the generated expansions, the choice of
 * their order, and vectors between nodes. */
#ifndef PHOTONS_TREE_FMM_LANES_H
#define PHOTONS_TREE_FMM_LANES_H

#include "photons/base/transpose.h"
#include "photons/domain/tree.h"
#include "photons/tree/split.h"

#include "fmm_generated.h"

enum {
  MULTIPOLE_MAX = 56, /* floats per node at order 6 */
  LOCAL_MAX = 83,
  ROW_STAGE_MAX = (LOCAL_MAX + 3) / 4 * STAGE
};

#define INLINE static inline __attribute__((always_inline))
#define NOINLINE static __attribute__((noinline))
#define ALIGNED _Alignas(64)

/** Chooses the generated function of order p. p is a constant wherever it is compiled. */
#define EXPANSION(p, name, ...)         \
  switch (p) {                          \
  case 1: name##_1(__VA_ARGS__); break; \
  case 2: name##_2(__VA_ARGS__); break; \
  case 3: name##_3(__VA_ARGS__); break; \
  case 4: name##_4(__VA_ARGS__); break; \
  case 5: name##_5(__VA_ARGS__); break; \
  case 6: name##_6(__VA_ARGS__); break; \
  default: __builtin_unreachable();     \
  }

/** a - b of two nodes' centres in position units. The unsigned difference is that of the nearest
 * images. The fourth component has no meaning. */
INLINE vblock centre_difference(const struct node *a, const struct node *b) {
  vblock_uint va, vb;
  _Static_assert(sizeof(struct node) >= sizeof va,
                 "the centre and one more word are read from a node");
  memcpy(&va, a, sizeof va);
  memcpy(&vb, b, sizeof vb);
  return (vblock)(va - vb);
}

/** Staged differences of positions as vectors of lengths in units of r_cut. */
INLINE void lengths(const float *stage, float scale, vfloat r[4]) {
  stage_to_lanes(stage, 4, r);
  for (int c = 0; c < 3; c++)
    r[c] = v_set(scale) * __builtin_convertvector((vlanes_int)r[c], vfloat);
}

/** 1/sqrt(x) by an estimate and one Newton step. */
INLINE vfloat inverse_root(vfloat x) {
  const vfloat y = v_rsqrt_estimate(x);
  return v_fma(v_set(0.5f) * y, v_fnma(x * y, y, v_set(1.0f)), y);
}

/* (-1)^j (2j-1)!! */
static const float newton[] = {1.0f, -1.0f, 3.0f, -15.0f, 105.0f, -945.0f, 10395.0f};

/** e[j] = r^j f_(j), 0 <= j <= p, from r^2 and 1/r (f: fmm.h) for Newton's gravity, with Plummer's
 * softening where there is one:
 * f_(j) = (-1)^j (2j-1)!!/s^(2j+1), s^2 = r^2 + epsilon^2. e[0] = f_(0) is the potential. */
INLINE void m2l_newton(int p, const struct split *split, vfloat r2, vfloat inverse, vfloat *e) {
  const vfloat s = inverse_root(r2 + v_set(split->plummer2)), step = r2 * inverse * s * s;
  vfloat power = s;
  e[0] = s;
  for (int j = 1; j <= p; j++) {
    power *= step;
    e[j] = v_set(newton[j]) * power;
  }
}

#endif
