/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stages of a step of gas. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "photons/amr/blocks.h"
#include "photons/base/error.h"
#include "tests/gpu/hydro/stages.h"

void check_prepare(struct stages *s, int level, const struct gas_batch *b, struct twin *t) {
  const size_t n = b->near.count + 2 * (size_t)b->coarse.count;
  const char *host[n], *device[n];
  list_sources(s, level, b, host, device);
  for (double weight = 0.0; weight <= 1.0; weight += 0.5) {
    const struct block_sources cpu = {
        .gas = s->g,
        .level = level,
        .near = {&b->near, host},
        .coarse = {&b->coarse, host + b->near.count},
        .before = {&b->coarse, host + b->near.count + b->coarse.count},
        .weight = weight};
    struct gpu_sources gpu = {.cells = device,
                              .near = b->near.count,
                              .coarse = b->coarse.count,
                              .weight = weight,
                              .links = t->links};
    memcpy(gpu.boundary, s->g->topology.boundary, sizeof gpu.boundary);
    for (uint32_t i = 0; i < b->count; i++)
      block_fill(&cpu, b->first + i, t->blocks + i * gas_block_bytes(s->g));
    const struct gpu_gas g = gas_on_gpu(s, b);
    gpu_gas_prepare(&g, &gpu, t->blocks_out, NULL);
    compare_device(s, &s->prepare, t->blocks, t->blocks_out, b->count * gas_block_bytes(s->g));
  }
  CUDA(cudaMemcpy(t->blocks_out, t->blocks, b->count * gas_block_bytes(s->g),
                  cudaMemcpyHostToDevice));
}

static void check_step(struct stages *s, int level, const struct gas_batch *b, struct twin *t,
                       struct gas_fault *fault) {
  const struct gas *g = s->g;
  const struct gas_kernels *k = g->scheme.kernels;
  const struct gpu_gas gpu = gas_on_gpu(s, b);
  const double dt_dh = 0.4 / g->level[level].speed[b->first];
  const size_t mass_bytes = b->count * gas_mass_bytes(g);
  char *mass = allocate(mass_bytes, 1, "mass fluxes");
  void *scratch = aligned_alloc(64, (k->scratch_bytes + 63) / 64 * 64),
       *mass_out = device_memory(mass_bytes);
  for (int reversed = 1; reversed >= 0; reversed--) {
    for (uint32_t i = 0; i < b->count; i++) {
      struct gas_fault found;
      fault[i].patch = -1;
      k->solve(&g->scheme.physics, dt_dh, reversed, t->blocks + i * gas_block_bytes(g),
               t->cells + i * gas_group_bytes(g), t->fluxes + i * gas_fluxes_bytes(g),
               mass + i * gas_mass_bytes(g), scratch, &found);
    }
    gpu_gas_solve(&gpu, dt_dh, reversed, t->blocks_out, NULL, t->cells_out, t->fluxes_out,
                  GPU_FACES_ALL, mass_out, fault);
    compare_device(s, &s->solve, t->cells, t->cells_out, b->count * gas_group_bytes(g));
    compare_device(s, &s->fluxes, t->fluxes, t->fluxes_out, b->count * gas_fluxes_bytes(g));
    compare_device(s, &s->fluxes, mass, mass_out, mass_bytes);
    for (uint32_t i = 0; i < b->count; i++) s->same_faults &= fault[i].patch == -1;
  }
  CUDA(cudaFree(mass_out));
  free(mass);
  free(scratch);
}

/** A step of gas whose entropy decides where its density changes, with a floor of temperature. Both
 * concern some of the cells. */
static struct gas_physics comoving(const struct gas_physics *physics) {
  struct gas_physics p = *physics;
  p.dual_energy_switch = 0.01;
  p.dual_energy_change = 200.0;
  p.least_heat = LEAST_HEAT;
  return p;
}

/** How many cells of the CPU's have the least heat. */
static uint32_t count_warmed(const struct stages *s, const struct gas_batch *b,
                             const struct twin *t) {
  const double gamma = s->g->scheme.physics.gamma;
  uint32_t count = 0;
  for (size_t i = 0; i < (size_t)b->count * GAS_GROUP_CELLS; i++) {
    const char *cell = t->cells + i / GAS_GROUP_CELLS * gas_group_bytes(s->g);
    double u[GAS_ENERGY + 1], square = 0.0;
    for (size_t v = 0; v <= GAS_ENERGY; v++)
      u[v] = number_at(real_of(s), cell, v * GAS_GROUP_CELLS + i % GAS_GROUP_CELLS);
    for (int v = GAS_MOMENTUM_X; v <= GAS_MOMENTUM_Z; v++) square += u[v] * u[v];
    const double heat = (gamma - 1.0) * (u[GAS_ENERGY] - 0.5 * square / u[0]) / u[0];
    count += fabs(heat - LEAST_HEAT) < 1e-4;
  }
  return count;
}

/** Whether all bytes are those that were there. */
static bool is_untouched(const unsigned char *bytes, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (bytes[i] != 0xff) return false;
  return true;
}

/** Fluxes through sides of groups are enough for the coarser level, and without a reader there are none. */
static void check_kept_fluxes(struct stages *s, int level, const struct gas_batch *b,
                              struct twin *t, struct gas_fault *fault) {
  const struct gpu_gas gpu = gas_on_gpu(s, b);
  const size_t bytes = b->count * gas_fluxes_bytes(s->g), patches = b->count * GAS_PATCHES,
               face = gas_sides_bytes(s->g) / GAS_FACES;
  const double dt_dh = 0.4 / s->g->level[level].speed[b->first];
  for (int outer = 0; outer < 2; outer++) {
    CUDA(cudaMemset(t->fluxes_out, 0xff, bytes));
    gpu_gas_solve(&gpu, dt_dh, false, t->blocks_out, NULL, t->cells_out, t->fluxes_out,
                  outer ? GPU_FACES_OUTER : GPU_FACES_NONE, NULL, fault);
    unsigned char *kept = from_device(s, t->fluxes_out, bytes);
    for (size_t i = 0; i < patches * GAS_FACES; i++) {
      const bool side = outer && (i / GAS_FACES % GAS_PATCHES >> i % GAS_FACES / 2 & 1) == i % 2;
      if (side)
        compare_numbers(&s->fluxes, real_of(s), t->fluxes + i * face, kept + i * face, face);
      else
        s->same_faults &= is_untouched(kept + i * face, face);
    }
    free(kept);
  }
}

void check_solve(struct stages *s, int level, const struct gas_batch *b, struct twin *t,
                 struct gas_fault *fault) {
  const struct gas *g = s->g;
  const struct gas_physics physics = g->scheme.physics;
  if (b->first == 0) { /* the first batch of a level is enough */
    s->g->scheme.physics = comoving(&physics);
    check_step(s, level, b, t, fault);
    s->warmed += count_warmed(s, b, t);
    s->g->scheme.physics = physics;
  }
  check_step(s, level, b, t, fault);
  check_kept_fluxes(s, level, b, t, fault);
  CUDA(
      cudaMemcpy(t->fluxes_out, t->fluxes, b->count * gas_fluxes_bytes(g), cudaMemcpyHostToDevice));
}

void check_close(struct stages *s, const struct gas_batch *b, struct twin *t) {
  const struct gas *g = s->g;
  const struct gpu_gas gpu = gas_on_gpu(s, b);
  for (int step = 0; step < 2; step++) {
    for (uint32_t i = 0; i < b->count; i++)
      g->scheme.kernels->flux_add(g->scheme.variables, t->fluxes + i * gas_fluxes_bytes(g), 0.5,
                                  t->sides + i * gas_sides_bytes(g));
    gpu_gas_close(&gpu, 0.5, step == 0, t->fluxes_out, t->sides_out);
  }
  compare_device(s, &s->close, t->sides, t->sides_out, b->count * gas_sides_bytes(g));
  CUDA(cudaMemcpy(t->sides_out, t->sides, b->count * gas_sides_bytes(g), cudaMemcpyHostToDevice));
}

void check_accelerate(struct stages *s, const struct gas_batch *b, const struct twin *t) {
  static const double change[3] = {0.3, -0.2, 0.1};
  const struct gpu_gas gpu = gas_on_gpu(s, b);
  const size_t bytes = b->count * gas_group_bytes(s->g);
  char *cpu = memcpy(allocate(bytes, 1, "cells"), t->cells, bytes), *out = to_device(cpu, bytes);
  for (uint32_t i = 0; i < b->count; i++)
    s->g->scheme.kernels->accelerate(change, cpu + i * gas_group_bytes(s->g));
  gpu_gas_accelerate(&gpu, change, out);
  compare_device(s, &s->accelerated, cpu, out, bytes);
  CUDA(cudaFree(out));
  free(cpu);
}

void check_fix(struct stages *s, const struct gas_batch *b, struct twin *t,
               const struct twin *finer, char *cells, char *cells_out) {
  const struct gas *g = s->g;
  const struct gpu_gas gpu = gas_on_gpu(s, b);
  const size_t face_bytes = gas_sides_bytes(g) / GAS_FACES;
  const char *sides[b->fine.count + 1];
  for (uint32_t i = 0; i < b->fine.count; i++) sides[i] = finer[b->fine.batch[i]].sides_out;
  const double dt_dh = 0.01;
  for (uint32_t i = 0; i < b->count; i++)
    for (int p = 0; p < GAS_PATCHES; p++)
      for (int face = 0; face < GAS_FACES; face++) {
        const gas_link_t link = b->link[i].finer[p][face];
        if (link == NO_GROUP) continue;
        s->faces++;
        const struct twin *f = &finer[b->fine.batch[link >> GAS_LINK_SHIFT]];
        g->scheme.kernels->flux_fix(&g->scheme.physics, dt_dh, face,
                                    t->fluxes + i * gas_fluxes_bytes(g) +
                                        (size_t)(p * GAS_FACES + face) * face_bytes,
                                    f->sides + (link & GAS_LINK_MASK) * gas_sides_bytes(g) +
                                        (size_t)(face ^ 1) * face_bytes,
                                    cells + i * gas_group_bytes(g), p);
      }
  if (b->fine.count > 0)
    gpu_gas_fix(&gpu, dt_dh, t->links, sides, b->fine.count, t->fluxes_out, cells_out);
  compare_device(s, &s->fix, cells, cells_out, b->count * gas_group_bytes(g));
}

void check_cold_fix(struct stages *s, const struct gas_batch *b, struct twin *t,
                    const struct twin *finer) {
  const struct gas_physics physics = s->g->scheme.physics;
  const size_t bytes = b->count * gas_group_bytes(s->g);
  char *cells = memcpy(allocate(bytes, 1, "cells"), t->cells, bytes),
       *cells_out = to_device(cells, bytes);
  s->g->scheme.physics = cold_physics(&physics);
  check_fix(s, b, t, finer, cells, cells_out);
  s->g->scheme.physics = physics;
  CUDA(cudaFree(cells_out));
  free(cells);
}

void check_restrict(struct stages *s, int level, const struct gas_batch *b, struct twin *t) {
  const struct gas *g = s->g;
  const struct gpu_gas gpu = gas_on_gpu(s, b);
  const struct gas_group *group = &g->topology.level[level].group[b->first];
  const char *cells[b->sons.count + 1];
  for (uint32_t i = 0; i < b->sons.count; i++)
    cells[i] = s->twin[level + 1][b->sons.batch[i]].cells_out;
  for (uint32_t i = 0; i < b->count; i++)
    for (int p = 0; p < GAS_PATCHES; p++) {
      const uint32_t son = group[i].son[p];
      if (son == NO_GROUP) continue;
      const struct twin *f = &s->twin[level + 1][son / b->sons.groups];
      g->scheme.kernels->restrict_group(g->scheme.variables,
                                        f->cells + son % b->sons.groups * gas_group_bytes(g),
                                        t->cells + i * gas_group_bytes(g), p);
    }
  if (b->sons.count > 0) gpu_gas_restrict(&gpu, t->links, cells, b->sons.count, t->cells_out);
  compare_device(s, &s->restricted, t->cells, t->cells_out, b->count * gas_group_bytes(g));
}
