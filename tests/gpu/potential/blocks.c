/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Blocks of potentials with their ghost cells. */
#include <stdlib.h>

#include "photons/base/error.h"
#include "photons/potential/potential_blocks.h"
#include "tests/gpu/potential/stages.h"

static void add_list(const struct stages *s, struct source_lists *a, int level,
                     const struct batch_list *list, bool now) {
  const uint32_t first = a->near + a->begin + a->end;
  for (uint32_t i = 0; i < list->count; i++) {
    const struct batch_data *d = &s->data[level][list->batch[i]];
    a->host[first + i] = now ? d->now.host : d->old.host;
    a->device[first + i] = now ? d->now.device : d->old.device;
  }
}

struct source_lists lists_of(const struct stages *s, int level, const struct gas_batch *b,
                             struct mode m) {
  const size_t most = b->near.count + 2 * (size_t)b->coarse.count;
  struct source_lists a = {.host = allocate(most, sizeof *a.host, "lists"),
                           .device = allocate(most, sizeof *a.device, "lists")};
  if (m.near) add_list(s, &a, level, &b->near, true);
  a.near = m.near ? b->near.count : 0;
  if (m.coarse && (m.weight < 1.0 || m.change != 0.0)) {
    add_list(s, &a, level - 1, &b->coarse, false);
    a.begin = b->coarse.count;
  }
  if (m.coarse && m.weight > 0.0) {
    add_list(s, &a, level - 1, &b->coarse, true);
    a.end = b->coarse.count;
  }
  return a;
}

void make_blocks(const struct stages *s, int level, const struct gas_batch *b, struct mode m,
                 const struct source_lists *a, double *blocks) {
  const struct potential_sources from = {
      .gas = s->g,
      .level = level,
      .near = {m.near ? &b->near : NULL, a->host},
      .begin = {m.coarse ? &b->coarse : NULL, a->host + a->near},
      .end = {m.coarse ? &b->coarse : NULL, a->host + a->near + a->begin},
      .weight = m.weight,
      .change = m.change};
  for (uint32_t i = 0; i < b->count; i++)
    (m.change != 0.0 ? m.inner ? potential_block_corrected : potential_ghosts_corrected
     : m.inner       ? potential_block
                     : potential_ghosts)(&from, b->first + i, blocks + i * (size_t)POISSON_CELLS);
}

static void compare_whole(struct stages *s, const struct gas_batch *b, const double *cpu,
                          const double *gpu) {
  for (size_t i = 0; i < b->count * (size_t)POISSON_CELLS; i++) {
    int outside = 0;
    for (size_t step = 1; step < POISSON_CELLS; step *= POISSON_SIDE) {
      const size_t at = i / step % POISSON_SIDE;
      outside += at == 0 || at == POISSON_SIDE - 1;
    }
    if (outside < 2) compare_numbers(&s->blocks, sizeof *cpu, &cpu[i], &gpu[i], sizeof *cpu);
  }
}

struct gpu_potentials given_potentials(const struct source_lists *a, const struct batch_data *d,
                                       struct mode m) {
  return (struct gpu_potentials){.cells = a->device,
                                 .near = a->near,
                                 .begin = a->begin,
                                 .end = a->end,
                                 .weight = m.weight,
                                 .change = m.change,
                                 .links = (const struct gas_links *)(void *)d->links.device};
}

void check_blocks(struct stages *s, int level, const struct gas_batch *b,
                  const struct batch_data *d, struct mode m) {
  const size_t bytes = b->count * sizeof(double[POISSON_CELLS]);
  const struct gpu_gas g = batch_on_gpu(s, b);
  struct source_lists a = lists_of(s, level, b, m);
  double *cpu = allocate(bytes, 1, "blocks"), *gpu = allocate(bytes, 1, "blocks");
  double *out = device_memory(bytes);
  const struct gpu_potentials from = given_potentials(&a, d, m);
  make_blocks(s, level, b, m, &a, cpu);
  gpu_gas_potential_blocks(&g, &from, out);
  copy_back(s, gpu, out, bytes);
  compare_whole(s, b, cpu, gpu);
  CUDA(cudaFree(out));
  free(a.host);
  free(a.device);
  free(cpu);
  free(gpu);
}

void check_direct(const struct prepared *t, struct mode m, bool massive) {
  const struct gpu_gas g = batch_on_gpu(t->s, t->b);
  struct source_lists a = lists_of(t->s, t->level, t->b, m);
  double *blocks = allocate(t->b->count, sizeof(double[POISSON_CELLS]), "blocks");
  const struct gpu_solved batch = {.density = solve_density(t, massive),
                                   .from = given_potentials(&a, t->d, m),
                                   .to = t->out,
                                   .groups = t->b->count};
  const double *old = m.near ? (const double *)(void *)t->d->now.host : NULL;
  make_blocks(t->s, t->level, t->b, m, &a, blocks);
  for (int i = 0; i < HALVES; i++) {
    const struct gpu_half half = half_of(i);
    if (half.others == GPU_OTHERS_COPY && !old) continue;
    compare_direct(t, &g, &batch, half, massive, old, blocks);
  }
  free(a.host);
  free(a.device);
  free(blocks);
}
