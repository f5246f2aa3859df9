/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of CUDA's language that this project uses, for a C++ compiler (compile.py). The threads
 * of a CUDA block are coroutines of the thread that launches the kernel; its CUDA blocks follow each
 * other. A launch returns when the kernel has ended. */
#ifndef PHOTONS_CUDA_ON_CORES_H
#define PHOTONS_CUDA_ON_CORES_H

#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <tuple>
#include <type_traits>

#undef __global__
#undef __device__
#undef __host__
#undef __shared__
#undef __launch_bounds__
#undef __grid_constant__
#undef __forceinline__
#undef __noinline__
#undef __align__
/* Lists of small systems are short, and divided among warps already: here they, too, have several segments. */
#define P2P_SEGMENT 1

#define __global__
#define __device__
#define __host__
#define __shared__ static thread_local
#define __launch_bounds__(...)
#define __grid_constant__
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __align__(n) __attribute__((aligned(n)))
#undef __restrict__
#define __restrict__ __restrict

/** Where the running coroutine is. */
struct cores_place {
  uint3 thread, block;
  dim3 block_size, grid_size;
};
cores_place &cores_here();
#define threadIdx (cores_here().thread)
#define blockIdx (cores_here().block)
#define blockDim (cores_here().block_size)
#define gridDim (cores_here().grid_size)

struct cores_grid {
  dim3 grid, block;
  size_t shared;
  cores_grid(dim3 grid, dim3 block, size_t shared = 0, cudaStream_t = nullptr)
      : grid(grid), block(block), shared(shared) {}
};
void cores_run(const cores_grid &grid, void (*kernel)(void *), void *arguments);
void *cores_dynamic_memory();

/** End the program if a pointer among these bytes is into another GPU's memory. */
void cores_check_pointers(const void *argument, size_t bytes);

/** Look at an argument that may hold pointers: one of their alignment. Padding, and the words of a table
 * of which only a part is filled, hold what was there before. */
template <typename T> void cores_check_argument(T &argument) {
  if constexpr (alignof(T) >= alignof(void *) && (std::is_pointer_v<T> || std::is_class_v<T>)) {
#if __has_builtin(__builtin_clear_padding)
    __builtin_clear_padding(&argument);
#endif
    cores_check_pointers(&argument, sizeof argument);
  }
}

template <typename Kernel, typename... A>
void cores_launch(const cores_grid &grid, Kernel, A... arguments) {
  (cores_check_argument(arguments), ...);
  std::tuple<A...> all(arguments...);
  cores_run(
      grid, [](void *a) { std::apply(Kernel(), *(std::tuple<A...> *)a); }, &all);
}

template <typename Kernel>
static inline cudaError_t cudaFuncSetAttribute(Kernel *, enum cudaFuncAttribute, int) {
  return cudaSuccess;
}

/** Every thread of the CUDA block comes here before any goes on. */
void __syncthreads();
/** Every lane of the mask comes here, with the same mask. @param[out] all  what each lane brings */
void cores_meet(uint32_t mask, uint64_t mine, uint64_t all[32]);
uint32_t cores_lane();
static inline void __threadfence() {}
static inline void __syncwarp(uint32_t mask = ~0u) {
  uint64_t all[32];
  cores_meet(mask, 0, all);
}

template <typename T> static inline uint64_t cores_pack(T value) {
  static_assert(sizeof value <= 8, "a lane brings at most eight bytes");
  uint64_t word = 0;
  memcpy(&word, &value, sizeof value);
  return word;
}
template <typename T> static inline T cores_unpack(uint64_t word) {
  T value;
  memcpy(&value, &word, sizeof value);
  return value;
}
template <typename T> static inline T cores_from(uint32_t mask, T value, uint32_t lane) {
  uint64_t all[32];
  cores_meet(mask, cores_pack(value), all);
  return cores_unpack<T>(all[lane]);
}
template <typename T> static inline T __shfl_sync(uint32_t mask, T value, int lane, int = 32) {
  return cores_from(mask, value, lane & 31);
}
template <typename T> static inline T __shfl_xor_sync(uint32_t mask, T value, int bits, int = 32) {
  return cores_from(mask, value, cores_lane() ^ bits);
}
template <typename T>
static inline T __shfl_up_sync(uint32_t mask, T value, uint32_t by, int width = 32) {
  const uint32_t lane = cores_lane();
  return cores_from(mask, value, lane % width >= by ? lane - by : lane);
}
template <typename T>
static inline T __shfl_down_sync(uint32_t mask, T value, uint32_t by, int width = 32) {
  const uint32_t lane = cores_lane();
  return cores_from(mask, value, lane % width + by < (uint32_t)width ? lane + by : lane);
}
static inline uint32_t __ballot_sync(uint32_t mask, int predicate) {
  uint64_t all[32];
  uint32_t lanes = 0;
  cores_meet(mask, predicate != 0, all);
  for (int i = 0; i < 32; i++) lanes |= (uint32_t)(mask >> i & 1 && all[i]) << i;
  return lanes;
}
static inline int __any_sync(uint32_t mask, int predicate) {
  return __ballot_sync(mask, predicate) != 0;
}
static inline int __all_sync(uint32_t mask, int predicate) {
  return __ballot_sync(mask, !predicate) == 0;
}
template <typename T> static inline uint32_t __match_any_sync(uint32_t mask, T value) {
  uint64_t all[32];
  uint32_t lanes = 0;
  cores_meet(mask, cores_pack(value), all);
  for (int i = 0; i < 32; i++)
    lanes |= (uint32_t)(mask >> i & 1 && all[i] == cores_pack(value)) << i;
  return lanes;
}
static inline uint32_t __reduce_max_sync(uint32_t mask, uint32_t value) {
  uint64_t all[32];
  cores_meet(mask, value, all);
  for (int i = 0; i < 32; i++)
    if (mask >> i & 1 && (uint32_t)all[i] > value) value = (uint32_t)all[i];
  return value;
}

/* Several GPU workers may launch kernels at the same time. */
template <typename T, typename U, typename F>
static inline T cores_change(T *at, U value, F change) {
  T before;
  __atomic_load(at, &before, __ATOMIC_RELAXED);
  for (;;) {
    T after = change(before, (T)value);
    if (__atomic_compare_exchange(at, &before, &after, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
      return before;
  }
}
#define CORES_ATOMIC(name, expression)                                             \
  template <typename T, typename U> static inline T name(T *at, U value) {         \
    return cores_change(at, value, [](T a, T b) -> T { return (T)(expression); }); \
  }
CORES_ATOMIC(atomicAdd, a + b)
CORES_ATOMIC(atomicMax, a > b ? a : b)
CORES_ATOMIC(atomicMin, a < b ? a : b)
CORES_ATOMIC(atomicExch, ((void)a, b))
CORES_ATOMIC(atomicOr, a | b)
template <typename T, typename U, typename V>
static inline T atomicCAS(T *at, U expected, V value) {
  T before = (T)expected, after = (T)value;
  __atomic_compare_exchange(at, &before, &after, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  return before;
}

template <typename T> static inline T __ldg(const T *from) { return *from; }
template <typename T> static inline T __ldcg(const T *from) { return *from; }
static inline int __popc(uint32_t a) { return __builtin_popcount(a); }
static inline int __ffs(uint32_t a) { return __builtin_ffs((int)a); }
static inline int __popcll(unsigned long long a) { return __builtin_popcountll(a); }
static inline int __ffsll(long long a) { return __builtin_ffsll(a); }
static inline int __clz(uint32_t a) { return a ? __builtin_clz(a) : 32; }
static inline float __fmul_rn(float a, float b) { return a * b; }
static inline double __dmul_rn(double a, double b) { return a * b; }
static inline float __fdividef(float a, float b) { return a / b; }
static inline float rsqrtf(float a) { return 1.0f / sqrtf(a); }
static inline float rsqrt(float a) { return 1.0f / sqrtf(a); }
static inline double rsqrt(double a) { return 1.0 / sqrt(a); }
static inline double sinpi(double a) { return sin(M_PI * a); }
static inline double cospi(double a) { return cos(M_PI * a); }
static inline int __float_as_int(float a) { return cores_unpack<int>(cores_pack(a)); }
static inline float __int_as_float(int a) { return cores_unpack<float>(cores_pack(a)); }
static inline long long __double_as_longlong(double a) {
  return cores_unpack<long long>(cores_pack(a));
}
static inline double __longlong_as_double(long long a) {
  return cores_unpack<double>(cores_pack(a));
}
static inline int __float2int_rn(float a) { return (int)lrintf(a); }
static inline long long __float2ll_rn(float a) { return llrintf(a); }
static inline long long __double2ll_rn(double a) { return llrint(a); }
static inline float __ull2float_rn(unsigned long long a) { return (float)a; }
[[noreturn]] static inline void __trap() { abort(); }
/* With one real and one whole number CUDA's functions compare reals, as these do. */
template <typename A, typename B> static inline std::common_type_t<A, B> min(A a, B b) {
  return b < a ? b : a;
}
template <typename A, typename B> static inline std::common_type_t<A, B> max(A a, B b) {
  return a < b ? b : a;
}
using std::abs;
using std::copysign;
using std::exp;
using std::fabs;
using std::floor;
using std::fma;
using std::fmax;
using std::fmin;
using std::isfinite;
using std::log;
using std::pow;
using std::sqrt;

#endif
