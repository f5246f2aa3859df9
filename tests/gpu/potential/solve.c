/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Solutions of groups, and what they give to coarser ones. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "photons/base/error.h"
#include "photons/potential/gravity.h"
#include "photons/potential/potential_blocks.h"
#include "photons/potential/stress.h"
#include "tests/gpu/potential/stages.h"

enum { FACTOR_PERCENT = 70, MEAN_PERCENT = 110 };
static const double factor = FACTOR_PERCENT / 100.0, mean = MEAN_PERCENT / 100.0;

struct gpu_density solve_density(const struct prepared *t, bool massive) {
  return (struct gpu_density){.cells = t->d->cells,
                              .mass = massive ? (const double *)(void *)t->d->mass.device : NULL,
                              .factor = factor,
                              .mean = mean};
}

static const double *block_of(const struct prepared *t, uint32_t i) {
  return (const double *)(void *)t->blocks.host + i * (size_t)POISSON_CELLS;
}

static const double *wide_of(const struct prepared *t, uint32_t i) {
  return (const double *)(void *)t->wide.host + i * (size_t)WIDE_CELLS;
}

static double find_source(const struct prepared *t, uint32_t i, bool massive, double *source) {
  const double *mass = (const double *)(void *)t->d->mass.host + i * (size_t)GAS_GROUP_CELLS;
  return t->s->g->gravity->kernels->source(t->cells + i * gas_group_bytes(t->s->g), factor, mean,
                                           massive ? mass : NULL, source);
}

static void compare_cubes(const struct prepared *t, struct difference *d, const double *cpu,
                          const double *gpu) {
  double *back = allocate(t->b->count, CUBE_BYTES, "results of the GPU");
  copy_back(t->s, back, gpu, t->b->count * CUBE_BYTES);
  compare_numbers(d, sizeof *cpu, cpu, back, t->b->count * CUBE_BYTES);
  free(back);
}

void check_density(const struct prepared *t) {
  const struct gpu_gas g = batch_on_gpu(t->s, t->b);
  const struct gpu_density density = solve_density(t, false);
  double *cpu = allocate(t->b->count, CUBE_BYTES, "densities");
  for (uint32_t i = 0; i < t->b->count; i++)
    t->s->g->gravity->kernels->source(t->cells + i * gas_group_bytes(t->s->g), 1.0, 0.0, NULL,
                                      cpu + i * (size_t)GAS_GROUP_CELLS);
  gpu_gas_density(&g, &density, t->out);
  compare_cubes(t, &t->s->density, cpu, t->out);
  free(cpu);
}

/** What the CPU finds for a group, directly. Groups that are not solved keep their potential, or get 0.
 * @param old  its potential; NULL: it has none */
static void solve_group(const struct prepared *t, uint32_t i, struct gpu_half half, bool massive,
                        const double *old, const double *block, double *cube) {
  const struct self_gravity *gravity = t->s->g->gravity;
  double source[GAS_GROUP_CELLS], work[POISSON_CELLS];
  if (!is_half(t->s, t->level, t->b->first + i, half)) {
    memset(cube, 0, CUBE_BYTES);
    if (half.others == GPU_OTHERS_COPY) memcpy(cube, old, CUBE_BYTES);
    return;
  }
  find_source(t, i, massive, source);
  memcpy(work, block, sizeof work);
  gravity->poisson->solve_directly(&gravity->waves, source, work, cube);
  for (int k = 0; k < GAS_GROUP_CELLS && half.excess != 0.0; k++)
    cube[k] += half.excess * (cube[k] - old[k]);
}

void compare_direct(const struct prepared *t, const struct gpu_gas *g,
                    const struct gpu_solved *batch, struct gpu_half half, bool massive,
                    const double *old, const double *blocks) {
  const struct poisson_waves *waves = &t->s->g->gravity->waves;
  double *cpu = allocate(t->b->count, CUBE_BYTES, "potentials"),
         *pivot = to_device(waves->pivot, sizeof waves->pivot);
  for (uint32_t i = 0; i < t->b->count; i++) {
    const size_t at = i * (size_t)GAS_GROUP_CELLS;
    solve_group(t, i, half, massive, old ? old + at : NULL, blocks + i * (size_t)POISSON_CELLS,
                cpu + at);
  }
  gpu_gas_solve_directly(g, waves, pivot, batch, 1, &half, 1);
  compare_cubes(t, &t->s->solved, cpu, t->out);
  CUDA(cudaFree(pivot));
  free(cpu);
}

void check_relaxation(struct prepared *t, struct gpu_half half, bool massive) {
  const struct poisson_kernels *k = t->s->g->gravity->poisson;
  const struct gpu_gas g = batch_on_gpu(t->s, t->b);
  const struct gpu_density density = solve_density(t, massive);
  const double tolerance = 1e-10, *blocks = (const double *)(void *)t->blocks.device;
  double *cpu = allocate(t->b->count, CUBE_BYTES, "potentials");
  for (uint32_t i = 0; i < t->b->count; i++) {
    double source[GAS_GROUP_CELLS], block[POISSON_CELLS], old[GAS_GROUP_CELLS],
        *cube = cpu + i * (size_t)GAS_GROUP_CELLS;
    const double sum = find_source(t, i, massive, source);
    memcpy(block, block_of(t, i), sizeof block);
    potential_inner(block, old);
    if (is_half(t->s, t->level, t->b->first + i, half))
      k->solve(source, tolerance * sum, POISSON_SWEEPS_MAX, block);
    potential_inner(block, cube);
    for (int c = 0; c < GAS_GROUP_CELLS; c++) cube[c] += half.excess * (cube[c] - old[c]);
  }
  gpu_gas_relax(&g, &density, tolerance, 0.0, (const struct gas_links *)(void *)t->d->links.device,
                half, blocks, t->out);
  compare_cubes(t, &t->s->relaxed, cpu, t->out);
  free(cpu);
}

static const struct stress_kick stress_kicks[] = {
    {STRESS_FIRST, -0.5, 0.0}, {STRESS_BETWEEN, 0.5, 0.0}, {STRESS_LAST, 0.25, 2.0}};
enum { STRESS_KICKS = sizeof stress_kicks / sizeof *stress_kicks };

void check_shares(struct prepared *t, bool massive) {
  const struct gpu_gas g = batch_on_gpu(t->s, t->b);
  const struct gpu_density density = solve_density(t, massive);
  const size_t bytes = t->b->count * sizeof(struct poisson_share);
  struct poisson_share *cpu = allocate(bytes, 1, "shares"), *gpu = allocate(bytes, 1, "shares"),
                       *out = device_memory(bytes);
  struct stress_sum *sums = device_memory(t->b->count * sizeof *sums);
  for (uint32_t i = 0; i < t->b->count; i++) {
    double source[GAS_GROUP_CELLS];
    struct stress_sum sum;
    find_source(t, i, massive, source);
    t->s->g->gravity->poisson->share(block_of(t, i), source, &cpu[i]);
    t->s->g->gravity->poisson->stress(wide_of(t, i), mean, &cpu[i]);
    for (int k = 0; k < STRESS_KICKS; k++)
      t->s->g->gravity->poisson->sum_stress(stress_kicks[k], &cpu[i], &sum);
  }
  gpu_gas_share(&g, &density, (const double *)(void *)t->blocks.device, out);
  gpu_gas_stress(&g, mean, (const double *)(void *)t->wide.device, out);
  for (int k = 0; k < STRESS_KICKS; k++) gpu_gas_sum_stress(&g, &stress_kicks[k], out, sums);
  copy_back(t->s, gpu, out, bytes);
  compare_numbers(&t->s->shares, sizeof(double), cpu, gpu, bytes);
  CUDA(cudaFree(out));
  CUDA(cudaFree(sums));
  free(cpu);
  free(gpu);
}

/** What a link of gas_batch.around says of the host's shares. */
static const struct poisson_share *share_at(const struct prepared *t, gas_link_t link) {
  if (link == NO_GROUP) return NULL;
  const uint32_t batch = t->b->around.batch[link >> GAS_LINK_SHIFT];
  return (const struct poisson_share *)(void *)t->s->data[t->level + 1][batch].shares.host +
         (link & GAS_LINK_MASK);
}

/** Put the finer means of a patch, or of the one beyond its face, into a block. */
static void put_means(const struct poisson_share *share, int patch, int face, double *block) {
  for (int i = 0; share && i < GAS_PATCH_CELLS; i++) {
    int at = 0;
    bool inside = true;
    for (int c = 2; c >= 0; c--) {
      int cell = 1 + GAS_PATCH_SIDE * (patch >> c & 1) + (i >> 3 * c & 7);
      if (face >= 0 && c == face / 2) cell += face % 2 ? GAS_PATCH_SIDE : -GAS_PATCH_SIDE;
      inside = inside && cell >= 0 && cell < POISSON_SIDE;
      at = POISSON_SIDE * at + cell;
    }
    if (inside) block[at] = share->mean[i];
  }
}

/** @param block  of the group, which gets the finer means */
static void find_pseudo_mass(const struct prepared *t, uint32_t i, double *block, double *cube,
                             double *inner) {
  const struct poisson_kernels *k = t->s->g->gravity->poisson;
  const struct gas_links *l = &t->b->link[i];
  double source[GAS_GROUP_CELLS];
  bool told = false;
  find_source(t, i, false, source);
  memset(cube, 0, CUBE_BYTES);
  for (int p = 0; p < GAS_PATCHES; p++) {
    put_means(share_at(t, l->share[p]), p, -1, block);
    for (int face = 0; face < GAS_FACES; face++)
      if ((p >> face / 2 & 1) == face % 2)
        put_means(share_at(t, l->share_beside[p][face]), p, face, block);
  }
  for (int p = 0; p < GAS_PATCHES; p++) {
    const struct poisson_share *mine = share_at(t, l->share[p]);
    if (mine) k->cover(block, source, mine, p, 1.0 / factor, cube);
    told = told || mine;
    for (int face = 0; face < GAS_FACES && !mine; face++) {
      const struct poisson_share *beside = share_at(t, l->share_beside[p][face]);
      if (beside) k->sheet(block, p, face, beside->slope[face ^ 1], 1.0 / factor, cube);
      t->s->sheets += beside != NULL;
      told = told || beside;
    }
  }
  t->s->untold += !told;
  potential_inner(block, inner);
}

void check_sheets(struct prepared *t) {
  const struct gpu_gas g = batch_on_gpu(t->s, t->b);
  const struct gpu_density density = solve_density(t, false);
  const struct mode mode = {.near = true, .inner = true};
  struct source_lists near = lists_of(t->s, t->level, t->b, mode);
  const struct gpu_potentials from = given_potentials(&near, t->d, mode);
  const uint32_t finer = t->b->around.count;
  const char **shares = allocate(finer, sizeof *shares, "shares");
  double *mass = allocate(t->b->count, CUBE_BYTES, "pseudo-mass"),
         *inner = allocate(t->b->count, CUBE_BYTES, "potentials"),
         *inner_out = device_memory(t->b->count * CUBE_BYTES),
         *blocks = allocate(t->b->count, sizeof(double[POISSON_CELLS]), "blocks");
  make_blocks(t->s, t->level, t->b, mode, &near, blocks);
  for (uint32_t i = 0; i < finer; i++)
    shares[i] = t->s->data[t->level + 1][t->b->around.batch[i]].shares.device;
  for (uint32_t i = 0; i < t->b->count; i++)
    find_pseudo_mass(t, i, blocks + i * (size_t)POISSON_CELLS, mass + i * (size_t)GAS_GROUP_CELLS,
                     inner + i * (size_t)GAS_GROUP_CELLS);
  gpu_gas_sheet(&g, &from, shares, finer, &density, t->out, inner_out);
  compare_cubes(t, &t->s->mass, mass, t->out);
  compare_cubes(t, &t->s->means, inner, inner_out);
  CUDA(cudaFree(inner_out));
  free(near.host);
  free(near.device);
  free(blocks);
  free(mass);
  free(inner);
  free(shares);
}

void check_kick(struct prepared *t) {
  const struct gas *g = t->s->g;
  const struct gpu_gas gpu = batch_on_gpu(t->s, t->b);
  const size_t bytes = t->b->count * gas_group_bytes(g);
  char *cpu = memcpy(allocate(bytes, 1, "cells"), t->cells, bytes),
       *back = allocate(bytes, 1, "cells");
  void *out = to_device(t->cells, bytes);
  for (uint32_t i = 0; i < t->b->count; i++)
    g->gravity->kernels->kick(block_of(t, i), 0.1, cpu + i * gas_group_bytes(g));
  gpu_gas_kick(&gpu, 0.1, (const double *)(void *)t->blocks.device, out);
  copy_back(t->s, back, out, bytes);
  compare_numbers(&t->s->kicked, g->scheme.kernels->real_size, cpu, back, bytes);
  CUDA(cudaFree(out));
  free(cpu);
  free(back);
}

static const struct border_kick border_kick = {0.1, FACTOR_PERCENT / 100.0, MEAN_PERCENT / 100.0,
                                               true};

/** Kick a group's cells beside refined patches. */
static void kick_border(const struct prepared *t, uint32_t i, char *cells) {
  const struct gas_links *l = &t->b->link[i];
  for (int p = 0; p < GAS_PATCHES; p++)
    for (int face = 0; face < GAS_FACES; face++)
      if (l->finer[p][face] != NO_GROUP)
        t->s->g->gravity->kernels->border(
            wide_of(t, i), p, face, share_at(t, l->share_beside[p][face]), border_kick, cells);
}

void check_border(struct prepared *t) {
  const struct gas *g = t->s->g;
  const struct gpu_gas gpu = batch_on_gpu(t->s, t->b);
  const size_t bytes = t->b->count * gas_group_bytes(g);
  const uint32_t finer = t->b->fine.count;
  const char **shares = allocate(finer, sizeof *shares, "shares");
  char *cpu = memcpy(allocate(bytes, 1, "cells"), t->cells, bytes),
       *back = allocate(bytes, 1, "cells");
  void *out = to_device(t->cells, bytes);
  for (uint32_t i = 0; i < finer; i++)
    shares[i] = t->s->data[t->level + 1][t->b->fine.batch[i]].shares.device;
  for (uint32_t i = 0; i < t->b->count; i++) kick_border(t, i, cpu + i * gas_group_bytes(g));
  gpu_gas_border(&gpu, &border_kick, (const struct gas_links *)(void *)t->d->links.device, shares,
                 finer, (const double *)(void *)t->wide.device, out);
  copy_back(t->s, back, out, bytes);
  compare_numbers(&t->s->border, g->scheme.kernels->real_size, cpu, back, bytes);
  CUDA(cudaFree(out));
  free(shares);
  free(cpu);
  free(back);
}

/** Some mass fluxes. */
static void make_fluxes(size_t real, char *mass, size_t bytes) {
  for (size_t i = 0; i < bytes / real; i++) {
    const double flux = 0.01 * sin((double)i);
    const float single = (float)flux;
    memcpy(mass + i * real, real == sizeof flux ? (const void *)&flux : &single, real);
  }
}

/** From the potentials of the blocks to those of the next groups' blocks. */
void check_work(struct prepared *t) {
  const struct gas *g = t->s->g;
  const struct gpu_gas gpu = batch_on_gpu(t->s, t->b);
  const size_t bytes = t->b->count * gas_group_bytes(g), flux = gas_mass_bytes(g),
               cube = POISSON_CELLS * sizeof(double);
  char *cpu = memcpy(allocate(bytes, 1, "cells"), t->cells, bytes),
       *back = allocate(bytes, 1, "cells"), *mass = allocate(t->b->count, flux, "fluxes"),
       *later = allocate(t->b->count, cube, "blocks");
  make_fluxes(g->scheme.kernels->real_size, mass, t->b->count * flux);
  for (uint32_t i = 0; i < t->b->count; i++) {
    memcpy(later + i * cube, block_of(t, (i + 1) % t->b->count), cube);
    g->gravity->kernels->work(&g->scheme.physics, 0.1, block_of(t, i),
                              (const double *)(void *)(later + i * cube), mass + i * flux,
                              t->cells + i * gas_group_bytes(g), cpu + i * gas_group_bytes(g));
  }
  void *out = to_device(t->cells, bytes), *before = to_device(t->cells, bytes),
       *later_out = to_device(later, t->b->count * cube),
       *mass_out = to_device(mass, t->b->count * flux);
  gpu_gas_work(&gpu, 0.1, (const double *)(void *)t->blocks.device, later_out, mass_out, before,
               out);
  copy_back(t->s, back, out, bytes);
  compare_numbers(&t->s->kicked, g->scheme.kernels->real_size, cpu, back, bytes);
  void *const device[] = {out, before, later_out, mass_out};
  for (size_t k = 0; k < sizeof device / sizeof *device; k++) CUDA(cudaFree(device[k]));
  free(cpu);
  free(back);
  free(mass);
  free(later);
}

void check_field(struct prepared *t) {
  const struct gas *g = t->s->g;
  const struct gpu_gas gpu = batch_on_gpu(t->s, t->b);
  const double cell = gas_cell(g, t->level);
  struct gas_field *field;
  CUDA(cudaMallocHost((void **)&field, t->b->count * sizeof *field));
  gpu_gas_field(&gpu, (const struct gas_links *)(void *)t->d->links.device, cell,
                (const double *)(void *)t->blocks.device,
                &(struct gpu_density){.cells = t->d->cells}, field);
  CUDA(cudaStreamSynchronize(t->s->stream));
  for (uint32_t i = 0; i < t->b->count; i++) {
    struct gas_field cpu = {0};
    for (unsigned p = 0; p < GAS_PATCHES; p++) {
      double sum;
      const double most = g->gravity->kernels->measure(block_of(t, i),
                                                       t->cells + i * gas_group_bytes(g), p, &sum);
      cpu.acceleration = fmax(cpu.acceleration, most / (2.0 * cell));
      if (g->topology.level[t->level].group[t->b->first + i].son[p] == NO_GROUP)
        cpu.energy += 0.5 * sum;
    }
    compare_numbers(&t->s->energy, sizeof(double), &cpu.energy, &field[i].energy, sizeof(double));
    compare_numbers(&t->s->acceleration, sizeof(double), &cpu.acceleration, &field[i].acceleration,
                    sizeof(double));
  }
  CUDA(cudaFreeHost(field));
}
