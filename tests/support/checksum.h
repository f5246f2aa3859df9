/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Checksums that do not depend on the order of the values, to compare results of different numbers
 * of ranks bit by bit. */
#ifndef PHOTONS_TESTS_CHECKSUM_H
#define PHOTONS_TESTS_CHECKSUM_H

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "photons/base/comm.h"

/** Contribution to the sum of the value at an index of the whole array; splitmix64's mixing. */
static inline uint64_t checksum_term(uint64_t index, uint64_t value) {
  uint64_t z = index * UINT64_C(0x9e3779b97f4a7c15) + value;
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return (z ^ (z >> 31)) * (2 * index + 1);
}

static inline uint64_t checksum_double(uint64_t index, double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return checksum_term(index, bits);
}

/** Print the sum over all ranks, for tests/runs/same_particles_on_any_ranks.sh to compare.
 * Collective. */
static inline void checksum_print(const char *name, uint64_t sum) {
  comm_sum_u64(&sum, 1);
  if (comm_rank() == 0) printf("checksum %s %016" PRIx64 "\n", name, sum);
  fflush(stdout); /* else a child process would print it again */
}

#endif
