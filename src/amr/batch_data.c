/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "batch_data.h"

#include <stdlib.h>

#include "photons/base/error.h"
#include "photons/runtime/engine.h"
#include "photons/runtime/handle.h"

enum { CUBE_BYTES = GAS_GROUP_CELLS * sizeof(double) };

/** Cells of a batch; not cleared. */
static void *take_cells(size_t bytes) {
  void *cells = aligned_alloc(GAS_ALIGNMENT,
                              (bytes + GAS_ALIGNMENT - 1) / GAS_ALIGNMENT * GAS_ALIGNMENT);
  if (!cells)
    fail(EXIT_RUN_FAILED,
         "not enough memory for %zu bytes of gas: use fewer gas.levels, larger thresholds of "
         "gas.flag_*, or more machines",
         bytes);
  return cells;
}

void batch_drop_cells(struct gas_batch *b, int i) {
  handle_drop(&b->handle[i]);
  free(b->cells[i]);
  b->cells[i] = NULL;
}

void batch_make_cells(const struct gas *g, struct gas_batch *b) {
  b->cell_bytes = b->room * gas_group_bytes(g);
  for (int i = 0; i < 2; i++) {
    if (b->handle[i]) continue;
    if (engine_gpu()) {
      b->handle[i] = handle_make(b->cell_bytes, 1);
    } else {
      b->cells[i] = take_cells(b->cell_bytes);
      b->handle[i] = handle_register(b->cells[i], b->cell_bytes, 1);
    }
  }
}

void batch_make_sides(const struct gas *g, struct gas_batch *b) {
  b->sides = handle_make(b->room * gas_sides_bytes(g), 1);
}

void batch_make_potentials(const struct gas *g, struct gas_batch *b) {
  (void)g;
  for (int i = 0; i < POTENTIALS; i++) b->potential[i] = handle_make(b->room, CUBE_BYTES);
}

void batch_make_shares(const struct gas *g, struct gas_batch *b) {
  (void)g;
  b->shares = handle_make(b->room, sizeof(struct poisson_share));
}

void batch_make_matter(const struct gas *g, struct gas_batch *b) {
  (void)g;
  b->matter = handle_make(b->room, sizeof(struct gas_matter));
}

void batch_make(const struct gas *g, struct gas_batch *b) {
  batch_make_cells(g, b);
  if (!b->fluxes) b->fluxes = handle_make(b->room * gas_fluxes_bytes(g), 1);
  if (!b->sides) batch_make_sides(g, b);
  if (g->gravity) {
    if (!b->mass) b->mass = handle_make(b->room * gas_mass_bytes(g), 1);
    if (!b->potential[0]) batch_make_potentials(g, b);
    if (!b->sheets) b->sheets = handle_make(b->room, CUBE_BYTES);
    if (!b->shares) batch_make_shares(g, b);
    if (!b->stresses) b->stresses = handle_make(b->room, sizeof(struct stress_sum));
  }
  if (g->particles && !b->matter) batch_make_matter(g, b);
}

void batch_drop_all_but_cells(struct gas_batch *b) {
  handle_drop(&b->fluxes);
  handle_drop(&b->sides);
  handle_drop(&b->mass);
  for (int i = 0; i < POTENTIALS; i++) handle_drop(&b->potential[i]);
  handle_drop(&b->sheets);
  handle_drop(&b->shares);
  handle_drop(&b->stresses);
  handle_drop(&b->matter);
  b->particles = NULL;
  b->pushed = false;
}

void batch_drop(struct gas_batch *b) {
  for (int i = 0; i < 2; i++) batch_drop_cells(b, i);
  batch_drop_all_but_cells(b);
}
