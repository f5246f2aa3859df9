/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cells of new groups. */
#include <stdlib.h>
#include <string.h>

#include "photons/amr/blocks.h"
#include "photons/base/error.h"
#include "tests/gpu/hydro/stages.h"

/** A new batch whose groups come from two batches and by interpolation in turn. */
static void check_moves(struct stages *s, int level, const struct gas_batch *b, struct twin *t) {
  const struct gas *g = s->g;
  const struct gas_level *l = &g->level[level];
  const struct gas_tree_level *tree = &g->topology.level[level];
  const size_t bytes = gas_group_bytes(g), n = b->near.count + 2 * (size_t)b->coarse.count;
  const char *host[n + 1], *device[n + 1];
  list_sources(s, level, b, host, device);
  const char *const old[] = {on_host(b->handle[l->now]), on_host(l->batch[0].handle[1 - l->now])},
                    *const old_out[] = {t->now, s->twin[level][0].before};
  const struct block_sources cpu = {
      .gas = g, .level = level, .coarse = {&b->coarse, host + b->near.count}, .weight = 1.0};
  struct gpu_sources gpu = {.cells = device + b->near.count, .weight = 1.0};
  if (level > 0) {
    gpu.coarse = b->coarse.count;
    gpu.links = t->links;
  }
  memcpy(gpu.boundary, g->topology.boundary, sizeof gpu.boundary);
  struct gas_move move[b->count];
  char *cells = allocate(b->count, bytes, "cells"),
       *block = allocate(1, gas_block_bytes(g), "block");
  for (uint32_t i = 0; i < b->count; i++) {
    const uint32_t group = b->first + i, data = i % 2, groups = data ? l->batch[0].count : b->count;
    move[i] = (struct gas_move){level > 0 && i % 3 == 1 ? NO_GROUP : data, (5 * i + 2) % groups};
    if (move[i].data == NO_GROUP) {
      block_refine(&cpu, tree->group[group].father, (int)(tree->key[group] & 7), block,
                   cells + i * bytes);
      s->interpolated++;
    } else {
      memcpy(cells + i * bytes, old[data] + move[i].group * bytes, bytes);
    }
  }
  char *cells_out = device_memory(b->count * bytes);
  const struct gpu_gas on_gpu = gas_on_gpu(s, b);
  gpu_gas_regrid(&on_gpu, &gpu, old_out, 2, move, cells_out);
  compare_device(s, &s->regrid, cells, cells_out, b->count * bytes);
  CUDA(cudaFree(cells_out));
  free(block);
  free(cells);
}

void check_regrid(struct stages *s, int level, const struct gas_batch *b, struct twin *t) {
  const struct gas_physics physics = s->g->scheme.physics;
  check_moves(s, level, b, t);
  s->g->scheme.physics = cold_physics(&physics);
  check_moves(s, level, b, t);
  s->g->scheme.physics = physics;
}
