/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is measured of gas: speeds, sums and flags of refinement. */
#include <stdlib.h>
#include <string.h>

#include "photons/amr/matter.h"
#include "photons/base/error.h"
#include "tests/gpu/hydro/stages.h"

void check_speed(struct stages *s, const struct gas_batch *b, struct twin *t, void *pinned) {
  const struct gas *g = s->g;
  const struct gpu_gas gpu = gas_on_gpu(s, b);
  double *speed = pinned;
  struct gas_fault *fault = (struct gas_fault *)(speed + b->count);
  const size_t bytes = b->count * gas_group_bytes(g);
  const size_t wrong = (GAS_ENERGY * GAS_GROUP_CELLS + 3 * GAS_PATCH_CELLS + 77) * real_of(s);
  char *broken = memcpy(allocate(bytes, 1, "cells"), t->cells, bytes);
  for (int pass = 0; pass < 2; pass++) {
    CUDA(cudaMemcpy(t->cells_out, broken, bytes, cudaMemcpyHostToDevice));
    for (uint32_t i = 0; i < b->count; i++) fault[i].patch = -1;
    gpu_gas_cfl(&gpu, t->cells_out, speed, fault);
    CUDA(cudaStreamSynchronize(s->stream));
    for (uint32_t i = 0; i < b->count; i++) {
      struct gas_fault found;
      const double cpu = g->scheme.kernels->largest_speed(&g->scheme.physics,
                                                          broken + i * gas_group_bytes(g), &found);
      s->same_faults &= fault[i].patch == found.patch && (found.patch < 0) == (pass == 0 || i > 0);
      s->same_faults &= found.patch < 0 || found.cell == fault[i].cell;
      compare_numbers(&s->speed, sizeof cpu, &cpu, &speed[i], sizeof cpu);
    }
    memset(broken + wrong, 0, real_of(s)); /* the energy of a cell of the first group is 0 */
  }
  free(broken);
}

void check_sum(struct stages *s, int level, const struct gas_batch *b, struct twin *t,
               void *pinned) {
  const struct gas *g = s->g;
  const struct gpu_gas gpu = gas_on_gpu(s, b);
  double(*sum)[GAS_VARIABLES_MAX] = pinned;
  gpu_gas_sum(&gpu, t->links, t->now, sum);
  CUDA(cudaStreamSynchronize(s->stream));
  for (uint32_t i = 0; i < b->count; i++)
    for (unsigned v = 0; v < g->scheme.variables; v++) {
      const void *cells = on_host(b->handle[g->level[level].now]) + i * gas_group_bytes(g);
      double cpu = 0.0;
      for (size_t k = 0; k < GAS_GROUP_CELLS; k++)
        if (g->topology.level[level].group[b->first + i].son[k / GAS_PATCH_CELLS] == NO_GROUP)
          cpu += number_at(real_of(s), cells, v * GAS_GROUP_CELLS + k);
      compare_numbers(&s->sum, sizeof cpu, &cpu, &sum[i][v], sizeof cpu);
    }
}

/** A dense spot in some of the groups. */
static struct gas_matter *make_matter(uint32_t groups) {
  struct gas_matter *matter = allocate(groups, sizeof *matter, "densities of particles");
  for (uint32_t i = 0; i < groups; i += 2) {
    matter[i].coarse[(977 * i + 1234) % GAS_GROUP_CELLS] = 3.0;
    matter[i].fine[(1777 * i + 77) % GAS_GROUP_CELLS] = 3.0;
    matter[i].own[5] = 3.0; /* is part of `coarse` */
  }
  return matter;
}

void check_flags(struct stages *s, int level, const struct gas_batch *b, struct twin *t,
                 void *pinned) {
  static const struct gas_flags criteria[] = {{.density = 0.6},
                                              {.particles = 2.9},
                                              {.gradient_density = 0.0123},
                                              {.gradient_pressure = 0.0123},
                                              {.loehner = 0.4321, .loehner_filter = 0.01}};
  const struct gpu_gas gpu = gas_on_gpu(s, b);
  const size_t n = b->near.count + 2 * (size_t)b->coarse.count;
  const char *host[n], *device[n];
  list_sources(s, level, b, host, device);
  struct gpu_sources from = {.cells = device,
                             .near = b->near.count,
                             .coarse = b->coarse.count,
                             .weight = 1.0, /* as check_prepare() leaves the CPU's blocks */
                             .links = t->links};
  memcpy(from.boundary, s->g->topology.boundary, sizeof from.boundary);
  uint32_t(*flags)[GAS_PATCHES] = pinned;
  struct gas_matter *matter = make_matter(b->count),
                    *matter_out = to_device(matter, b->count * sizeof *matter);
  for (size_t c = 0; c < 2 * (sizeof criteria / sizeof *criteria); c++) {
    const struct gas_flags *criterion = &criteria[c / 2];
    gpu_gas_flag(&gpu, &from, criterion, 3, c % 2 ? matter_out : NULL, flags);
    CUDA(cudaStreamSynchronize(s->stream));
    for (uint32_t i = 0; i < b->count; i++) {
      uint32_t cpu[GAS_PATCHES];
      double more[GAS_GROUP_CELLS];
      for (size_t k = 0; k < GAS_GROUP_CELLS; k++) more[k] = matter_density(&matter[i], k);
      s->g->scheme.kernels->flag(&s->g->scheme.physics, criterion,
                                 t->blocks + i * gas_block_bytes(s->g), c % 2 ? more : NULL, 3,
                                 cpu);
      s->same_flags &= memcmp(cpu, flags[i], sizeof cpu) == 0;
    }
  }
  CUDA(cudaFree(matter_out));
  free(matter);
}
