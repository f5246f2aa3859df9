/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which patches are to be refined. */
#ifndef PHOTONS_HYDRO_KERNELS_FLAGS_H
#define PHOTONS_HYDRO_KERNELS_FLAGS_H

#include "sweep.h"

enum { STEP_Y = GAS_BLOCK_SIDE, STEP_Z = GAS_BLOCK_SIDE * GAS_BLOCK_SIDE };

/* |u(i + 1) - u(i - 1)| / 2 of each axis, the largest, over u(i). */
INLINE real relative_gradient(const real *u) {
  const real x = fabs(u[1] - u[-1]), y = fabs(u[STEP_Y] - u[-STEP_Y]),
             z = fabs(u[STEP_Z] - u[-STEP_Z]);
  return (real)0.5 * largest(largest(x, y), z) / u[0];
}

/* Loehner's estimate: second differences over first differences, each from -1 to +1 twice. */
INLINE real loehner_estimate(const real *u, real filter) {
  static const int step[3] = {1, STEP_Y, STEP_Z};
  real second = 0, first = 0;
  for (int p = 0; p < 3; p++)
    for (int q = 0; q < 3; q++) {
      const real *after = u + step[q], *before = u - step[q];
      const real change_after = after[step[p]] - after[-step[p]],
                 change_before = before[step[p]] - before[-step[p]];
      const real size = fabs(after[step[p]]) + fabs(after[-step[p]]) + fabs(before[step[p]]) +
                        fabs(before[-step[p]]);
      const real change = change_after - change_before;
      const real sum = fabs(change_after) + fabs(change_before) + filter * size;
      second += change * change;
      first += sum * sum;
    }
  return first > 0 ? sqrt(second / first) : 0;
}

/* Flags along a row of the group; a criterion that is not in use is 0. */
INLINE void flag_row(const struct gas_flags *f, const real *density, const real *pressure,
                     uint8_t flagged[GAS_GROUP_SIDE]) {
  const real most = (real)f->density, density_step = (real)f->gradient_density,
             pressure_step = (real)f->gradient_pressure, loehner = (real)f->loehner,
             filter = (real)f->loehner_filter;
  memset(flagged, 0, GAS_GROUP_SIDE);
  for (int x = 0; x < GAS_GROUP_SIDE; x++) {
    if (most > 0) flagged[x] |= density[x] > most;
    if (density_step > 0) flagged[x] |= relative_gradient(density + x) >= density_step;
    if (pressure_step > 0) flagged[x] |= relative_gradient(pressure + x) >= pressure_step;
    if (loehner > 0)
      flagged[x] |= (loehner_estimate(density + x, filter) >= loehner) |
                    (loehner_estimate(pressure + x, filter) >= loehner);
  }
}

/* Flags by density, of gas and particles together and of particles alone. */
INLINE void flag_density(const struct gas_flags *f, const real *density, const double *more,
                         uint8_t flagged[GAS_GROUP_SIDE]) {
  for (int x = 0; x < GAS_GROUP_SIDE; x++) {
    if (f->density > 0) flagged[x] |= (double)density[x] + more[x] > f->density;
    if (f->particles > 0) flagged[x] |= more[x] > f->particles;
  }
}

/* Bits 0, 1, 2 for directions -1, 0, 1 that a cell at `place` of a patch's side reaches. */
INLINE unsigned directions(int place, int buffer) {
  return (place < buffer ? 1u : 0u) | 2u | (place >= GAS_PATCH_SIDE - buffer ? 4u : 0u);
}

/* The mask of the neighbours that a cell at x, y, z of a patch reaches. */
INLINE uint32_t reach(int x, int y, int z, int buffer) {
  const uint32_t row = directions(x, buffer);
  const unsigned of_y = directions(y, buffer), of_z = directions(z, buffer);
  uint32_t plane = 0, mask = 0;
  for (int d = 0; d < 3; d++)
    if (of_y >> d & 1) plane |= row << 3 * d;
  for (int d = 0; d < 3; d++)
    if (of_z >> d & 1) mask |= plane << 9 * d;
  return mask;
}

static void flag(const struct gas_physics *physics, const struct gas_flags *flags,
                 const void *block, const double *more, int buffer, uint32_t masks[8]) {
  const struct constants c = constants_of(physics);
  real pressure[GAS_BLOCK_CELLS];
  for (size_t i = 0; i < GAS_BLOCK_CELLS; i++)
    pressure[i] = pressure_of(&c, cell_at(block, GAS_BLOCK_CELLS, i, c.has_entropy));
  memset(masks, 0, GAS_PATCHES * sizeof *masks);
  for (int z = 0; z < GAS_GROUP_SIDE; z++)
    for (int y = 0; y < GAS_GROUP_SIDE; y++) {
      const int row = GAS_GHOSTS + (y + GAS_GHOSTS) * STEP_Y + (z + GAS_GHOSTS) * STEP_Z;
      uint8_t flagged[GAS_GROUP_SIDE];
      flag_row(flags, (const real *)block + row, pressure + row, flagged);
      if (more)
        flag_density(flags, (const real *)block + row,
                     more + (z * GAS_GROUP_SIDE + y) * GAS_GROUP_SIDE, flagged);
      for (int x = 0; x < GAS_GROUP_SIDE; x++)
        if (flagged[x])
          masks[x / 8 + 2 * (y / 8) + 4 * (z / 8)] |= reach(x % 8, y % 8, z % 8, buffer);
    }
}

#endif
