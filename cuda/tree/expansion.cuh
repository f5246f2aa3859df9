/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The generated expansions (tools/generate_fmm.c) for one thread: a vector of one lane. */
#ifndef PHOTONS_EXPANSION_CUH
#define PHOTONS_EXPANSION_CUH

#include "cuda/runtime/gpu.cuh"
#include "photons/domain/geometry.h"
#include "photons/domain/tree.h"

typedef float vfloat;
typedef bool vmask;

static __device__ inline float v_set(float a) { return a; }
static __device__ inline float v_fma(float a, float b, float c) { return fmaf(a, b, c); }
static __device__ inline float v_keep(bool m, float a) { return m ? a : 0.0f; }

#define GENERATED static __device__ __forceinline__
#include "fmm_generated.h"

/** Call the generated function of order P, a template argument. */
#define EXPANSION(P, name, ...) \
  do {                          \
    if constexpr (P == 1)       \
      name##_1(__VA_ARGS__);    \
    else if constexpr (P == 2)  \
      name##_2(__VA_ARGS__);    \
    else if constexpr (P == 3)  \
      name##_3(__VA_ARGS__);    \
    else if constexpr (P == 4)  \
      name##_4(__VA_ARGS__);    \
    else if constexpr (P == 5)  \
      name##_5(__VA_ARGS__);    \
    else                        \
      name##_6(__VA_ARGS__);    \
  } while (0)

/** Call a host function template with the expansion order as its argument. */
#define FOR_ORDER(order, function, ...)       \
  do {                                        \
    switch (order) {                          \
    case 1: function<1>(__VA_ARGS__); break;  \
    case 2: function<2>(__VA_ARGS__); break;  \
    case 3: function<3>(__VA_ARGS__); break;  \
    case 4: function<4>(__VA_ARGS__); break;  \
    case 5: function<5>(__VA_ARGS__); break;  \
    default: function<6>(__VA_ARGS__); break; \
    }                                         \
  } while (0)

/** Floats of one node at order P, as constants. */
template <int P> struct expansion {
  static constexpr int multipole = P * (P + 1) * (P + 2) / 6;
  static constexpr int local = (P + 1) * (P + 2) * (P + 3) / 6 - 1;
};

/** a - b of two nodes' centres along axis c; the integer difference is that of the nearest
 * image. */
static __device__ inline float centre_difference(const struct node *a, const struct node *b, int c,
                                                 float scale) {
  return (float)position_difference(a->centre[c], b->centre[c]) * scale;
}

#endif
