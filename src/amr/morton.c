/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Morton keys of places, of 21 bits a coordinate. */
#include "photons/amr/topology.h"

/** The bits of a coordinate, two zeros after each: halves are moved apart, then their halves. */
static uint64_t spread(uint64_t bits) {
  bits &= UINT64_C(0x1fffff);
  bits = (bits | bits << 32) & UINT64_C(0x001f00000000ffff);
  bits = (bits | bits << 16) & UINT64_C(0x001f0000ff0000ff);
  bits = (bits | bits << 8) & UINT64_C(0x100f00f00f00f00f);
  bits = (bits | bits << 4) & UINT64_C(0x10c30c30c30c30c3);
  return (bits | bits << 2) & UINT64_C(0x1249249249249249);
}

/** Each third bit of a key. */
static uint32_t gather(uint64_t key) {
  key &= UINT64_C(0x1249249249249249);
  key = (key | key >> 2) & UINT64_C(0x10c30c30c30c30c3);
  key = (key | key >> 4) & UINT64_C(0x100f00f00f00f00f);
  key = (key | key >> 8) & UINT64_C(0x001f0000ff0000ff);
  key = (key | key >> 16) & UINT64_C(0x001f00000000ffff);
  return (uint32_t)((key | key >> 32) & UINT64_C(0x1fffff));
}

uint64_t morton_key(const uint32_t place[3]) {
  return spread(place[0]) | spread(place[1]) << 1 | spread(place[2]) << 2;
}

void morton_place(uint64_t key, uint32_t place[3]) {
  for (int c = 0; c < 3; c++) place[c] = gather(key >> c);
}
