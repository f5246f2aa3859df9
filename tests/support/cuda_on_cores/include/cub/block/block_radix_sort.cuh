/* SPDX-License-Identifier: GPL-3.0-or-later */
/* CUB's sort by a CUDA block, as far as this project calls it, on the processor. */
#ifndef PHOTONS_CORES_BLOCK_RADIX_SORT
#define PHOTONS_CORES_BLOCK_RADIX_SORT

#include <algorithm>

namespace cub {
template <typename K, int BLOCK, int ITEMS> struct BlockRadixSort {
  struct TempStorage {
    K key[BLOCK * ITEMS];
  };
  TempStorage &storage;
  explicit BlockRadixSort(TempStorage &storage) : storage(storage) {}

  /** Bits [begin, end) are compared. Thread i brings keys i * ITEMS and following ones, and gets keys
   * i, i + BLOCK, i + 2 * BLOCK and so on. */
  void SortBlockedToStriped(K (&key)[ITEMS], int begin, int end) {
    const K mask = (end - begin >= (int)(8 * sizeof(K)) ? ~K(0) : (K(1) << (end - begin)) - 1)
                   << begin;
    for (int k = 0; k < ITEMS; k++) storage.key[threadIdx.x * ITEMS + k] = key[k];
    __syncthreads();
    if (threadIdx.x == 0)
      std::stable_sort(storage.key, storage.key + BLOCK * ITEMS,
                       [=](K a, K b) { return (a & mask) < (b & mask); });
    __syncthreads();
    for (int k = 0; k < ITEMS; k++) key[k] = storage.key[k * BLOCK + threadIdx.x];
  }
};
} // namespace cub

#endif
