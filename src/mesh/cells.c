/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cells of the particle mesh: their number, and the boxes of them that groups deposit to and read. */
#include "photons/mesh/mesh.h"

uint32_t mesh_good_size(uint32_t n) {
  for (uint32_t size = n < 2 ? 2 : n + n % 2;; size += 2) {
    uint32_t rest = size;
    const uint32_t primes[] = {2, 3, 5, 7};
    for (size_t i = 0; i < 4; i++)
      while (rest % primes[i] == 0) rest /= primes[i];
    if (rest == 1) return size;
  }
}

struct patch patch_for_box(const struct mesh *m, const uint32_t centre[3], const double half[3]) {
  struct patch patch;
  for (int c = 0; c < 3; c++) {
    const uint32_t width = c == 2 ? 4 : assignment_width(m->assignment);
    /* Positions are integers: rounding the half width down loses none of them, and all that follows
     * is exact. */
    const int64_t reach = (int64_t)half[c];
    const int64_t low = (int64_t)centre[c] - reach, high = (int64_t)centre[c] + reach;
    const int64_t first = (low * m->cells + (int64_t)assignment_offset(m, 0, false)) >> 32;
    const int64_t last = ((high * m->cells + (int64_t)assignment_offset(m, 0, m->interlace)) >>
                          32) +
                         width - 1;
    const bool whole = last - first + 1 >= m->cells;
    patch.size[c] = whole ? m->cells : (uint32_t)(last - first + 1);
    patch.origin[c] = whole ? 0 : (uint32_t)((first + m->cells) % m->cells);
  }
  return patch;
}

struct field_box field_box_for_patch(const struct mesh *m, const struct patch *patch) {
  /* differences reach two cells beyond the window */
  const uint32_t margin = m->gradient == GRADIENT_FD4 ? 2 : 0;
  uint32_t origin[3], size[3];
  for (int c = 0; c < 3; c++) {
    const bool whole = patch->size[c] + 2 * margin >= m->cells;
    origin[c] = whole ? 0 : (patch->origin[c] + m->cells - margin) % m->cells;
    size[c] = whole ? m->cells : patch->size[c] + 2 * margin;
  }
  return (struct field_box){.first = origin[0],
                            .planes = size[0],
                            .origin = {origin[1], origin[2]},
                            .size = {size[1], size[2]},
                            .row = size[2] + 4};
}
