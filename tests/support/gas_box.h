/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A box of patch groups on one level, for tests of the gas kernels: all cells in double precision,
 * advanced group by group with the kernels under test. */
#ifndef PHOTONS_TESTS_GAS_BOX_H
#define PHOTONS_TESTS_GAS_BOX_H

#include <stdlib.h>
#include <string.h>

#include "photons/amr/kernels.h"

enum box_boundary { BOX_PERIODIC, BOX_OUTFLOW };

struct gas_box {
  const struct gas_kernels *kernels;
  struct gas_physics physics;
  enum box_boundary boundary;
  int n[3];     /**< cells along x, y, z: multiples of 16 */
  double *u;    /**< [variable][z][y][x] */
  double *next; /**< the same after a step */
  void *block, *group, *fluxes, *mass, *scratch;
  struct gas_fault fault; /**< the first of the last step */
};

static inline double box_get(const struct gas_kernels *k, const void *array, size_t i) {
  return k->real_size == sizeof(float) ? (double)((const float *)array)[i]
                                       : ((const double *)array)[i];
}
static inline void box_put(const struct gas_kernels *k, void *array, size_t i, double value) {
  if (k->real_size == sizeof(float))
    ((float *)array)[i] = (float)value;
  else
    ((double *)array)[i] = value;
}

static inline size_t box_cells(const struct gas_box *b) {
  return (size_t)b->n[0] * (size_t)b->n[1] * (size_t)b->n[2];
}

static inline struct gas_box box_create(const struct gas_physics *physics, bool double_precision,
                                        enum box_boundary boundary, int nx, int ny, int nz) {
  struct gas_box b = {.kernels = gas_kernels_select(double_precision),
                      .physics = *physics,
                      .boundary = boundary,
                      .n = {nx, ny, nz}};
  const size_t variables = gas_variables(physics);
  b.u = calloc(variables * box_cells(&b), sizeof *b.u);
  b.next = calloc(variables * box_cells(&b), sizeof *b.next);
  b.block = calloc(variables * GAS_BLOCK_CELLS, sizeof(double));
  b.group = calloc(variables * GAS_GROUP_CELLS, sizeof(double));
  b.fluxes = calloc(variables * GAS_PATCHES * GAS_FACES * GAS_FACE_CELLS, sizeof(double));
  b.mass = calloc(GAS_MASS_FLUXES, sizeof(double));
  b.scratch = aligned_alloc(64, (b.kernels->scratch_bytes + 63) / 64 * 64);
  if (!b.u || !b.next || !b.block || !b.group || !b.fluxes || !b.mass || !b.scratch) abort();
  b.fault.patch = -1;
  return b;
}

static inline void box_free(struct gas_box *b) {
  free(b->u);
  free(b->next);
  free(b->block);
  free(b->group);
  free(b->fluxes);
  free(b->mass);
  free(b->scratch);
}

/* Index of the cell at x, y, z, which may lie outside the box. */
static inline size_t box_index(const struct gas_box *b, int x, int y, int z) {
  int at[3] = {x, y, z};
  for (int a = 0; a < 3; a++) {
    const int n = b->n[a];
    if (b->boundary == BOX_PERIODIC)
      at[a] = (at[a] % n + n) % n;
    else
      at[a] = at[a] < 0 ? 0 : at[a] >= n ? n - 1 : at[a];
  }
  return (size_t)at[0] + (size_t)b->n[0] * ((size_t)at[1] + (size_t)b->n[1] * (size_t)at[2]);
}

/** Sets a cell from density, velocity and pressure. */
static inline void box_set(struct gas_box *b, size_t i, double density, const double v[3],
                           double pressure) {
  const size_t cells = box_cells(b);
  const double gamma = b->physics.gamma;
  b->u[i] = density;
  for (size_t a = 0; a < 3; a++) b->u[(1 + a) * cells + i] = density * v[a];
  b->u[4 * cells + i] = 0.5 * density * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) +
                        pressure / (gamma - 1.0);
  if (gas_solved(&b->physics) > 5) b->u[5 * cells + i] = pressure * pow(density, 1.0 - gamma);
}

static inline double box_pressure(const struct gas_box *b, const double *u, size_t i) {
  const size_t cells = box_cells(b);
  const double *m = u + cells + i;
  return (b->physics.gamma - 1.0) *
         (u[4 * cells + i] -
          0.5 * (m[0] * m[0] + m[cells] * m[cells] + m[2 * cells] * m[2 * cells]) / u[i]);
}

/** Fills b->block with the cells of the group whose first cell is x, y, z, and its ghost cells. */
static inline void box_load(struct gas_box *b, int x, int y, int z) {
  size_t to = 0;
  for (int k = -GAS_GHOSTS; k < GAS_GROUP_SIDE + GAS_GHOSTS; k++)
    for (int j = -GAS_GHOSTS; j < GAS_GROUP_SIDE + GAS_GHOSTS; j++)
      for (int i = -GAS_GHOSTS; i < GAS_GROUP_SIDE + GAS_GHOSTS; i++, to++) {
        const size_t from = box_index(b, x + i, y + j, z + k);
        for (size_t q = 0; q < gas_variables(&b->physics); q++)
          box_put(b->kernels, b->block, q * GAS_BLOCK_CELLS + to, b->u[q * box_cells(b) + from]);
      }
}

/** Place of a cell of a group in [patch][z][y][x]. */
static inline size_t group_place(int x, int y, int z) {
  const int patch = x / 8 + 2 * (y / 8) + 4 * (z / 8);
  return (size_t)patch * GAS_PATCH_CELLS + (size_t)(x % 8 + 8 * (y % 8) + 64 * (z % 8));
}

static inline void box_store(struct gas_box *b, int x, int y, int z) {
  for (int k = 0; k < GAS_GROUP_SIDE; k++)
    for (int j = 0; j < GAS_GROUP_SIDE; j++)
      for (int i = 0; i < GAS_GROUP_SIDE; i++) {
        const size_t from = group_place(i, j, k), to = box_index(b, x + i, y + j, z + k);
        for (size_t q = 0; q < gas_variables(&b->physics); q++)
          b->next[q * box_cells(b) + to] = box_get(b->kernels, b->group,
                                                   q * GAS_GROUP_CELLS + from);
      }
}

static inline void box_solve(struct gas_box *b, double dt_dh, bool reversed,
                             struct gas_fault *fault) {
  b->kernels->solve(&b->physics, dt_dh, reversed, b->block, b->group, b->fluxes, b->mass,
                    b->scratch, fault);
}

/** One step of all groups. */
static inline void box_step(struct gas_box *b, double dt_dh, bool reversed) {
  uint64_t first_order = 0;
  b->fault.patch = -1;
  for (int z = 0; z < b->n[2]; z += GAS_GROUP_SIDE)
    for (int y = 0; y < b->n[1]; y += GAS_GROUP_SIDE)
      for (int x = 0; x < b->n[0]; x += GAS_GROUP_SIDE) {
        struct gas_fault fault;
        box_load(b, x, y, z);
        box_solve(b, dt_dh, reversed, &fault);
        box_store(b, x, y, z);
        first_order += fault.first_order;
        if (b->fault.patch < 0) b->fault = fault;
      }
  b->fault.first_order = first_order;
  double *swap = b->u;
  b->u = b->next;
  b->next = swap;
}

/** The largest speed of all groups. */
static inline double box_speed(struct gas_box *b) {
  double speed = 0.0;
  const size_t cells = box_cells(b);
  for (size_t first = 0; first < cells; first += GAS_GROUP_CELLS) { /* any cells make a group */
    for (size_t q = 0; q < gas_variables(&b->physics); q++)
      for (size_t i = 0; i < GAS_GROUP_CELLS; i++)
        box_put(b->kernels, b->group, q * GAS_GROUP_CELLS + i, b->u[q * cells + first + i]);
    struct gas_fault fault;
    const double here = b->kernels->largest_speed(&b->physics, b->group, &fault);
    if (here > speed) speed = here;
    if (fault.patch >= 0 && b->fault.patch < 0) b->fault = fault;
  }
  return speed;
}

/** Pairs of steps of equal length, x y z and z y x, until `time` in units of the length of a cell.
 * The last pair is shortened. Returns the time that was reached: less after a fault. */
static inline double box_run(struct gas_box *b, double courant, double time) {
  double t = 0.0;
  while (t < time * (1.0 - 1e-12) && b->fault.patch < 0) {
    const double longest = courant / box_speed(b), rest = 0.5 * (time - t);
    const double dt = longest < rest ? longest : rest;
    for (int reversed = 0; reversed <= 1 && b->fault.patch < 0; reversed++) {
      box_step(b, dt, reversed);
      t += dt;
    }
  }
  return t;
}

#endif
