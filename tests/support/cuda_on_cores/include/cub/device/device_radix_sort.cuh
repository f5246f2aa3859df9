/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The functions of CUB that this project calls, on the processor. */
#ifndef PHOTONS_CORES_RADIX_SORT
#define PHOTONS_CORES_RADIX_SORT

#include <algorithm>
#include <numeric>
#include <vector>

namespace cub {
template <typename T> struct DoubleBuffer {
  T *d_buffers[2] = {nullptr, nullptr};
  int selector = 0;
  DoubleBuffer() = default;
  DoubleBuffer(T *current, T *other) : d_buffers{current, other} {}
  T *Current() const { return d_buffers[selector]; }
  T *Alternate() const { return d_buffers[1 - selector]; }
};

struct DeviceRadixSort {
  /** Bits [begin, end) are compared; equal keys keep their order. */
  template <typename K, typename V, typename N>
  static cudaError_t SortPairs(void *room, size_t &bytes, DoubleBuffer<K> &keys,
                               DoubleBuffer<V> &values, N n, int begin, int end, cudaStream_t) {
    if (!room) {
      bytes = 1;
      return cudaSuccess;
    }
    const K mask = (end - begin >= (int)(8 * sizeof(K)) ? ~K(0) : (K(1) << (end - begin)) - 1)
                   << begin;
    std::vector<size_t> order((size_t)n);
    std::iota(order.begin(), order.end(), 0);
    const K *key = keys.Current();
    std::stable_sort(order.begin(), order.end(),
                     [=](size_t a, size_t b) { return (key[a] & mask) < (key[b] & mask); });
    for (size_t i = 0; i < (size_t)n; i++) {
      keys.Alternate()[i] = key[order[i]];
      if (values.Current()) values.Alternate()[i] = values.Current()[order[i]];
    }
    keys.selector ^= 1;
    values.selector ^= 1;
    return cudaSuccess;
  }
  template <typename K, typename N>
  static cudaError_t SortKeys(void *room, size_t &bytes, DoubleBuffer<K> &keys, N n, int begin,
                              int end, cudaStream_t stream) {
    DoubleBuffer<K> none;
    return SortPairs(room, bytes, keys, none, n, begin, end, stream);
  }
};
} // namespace cub

#endif
