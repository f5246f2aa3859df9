/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cuda_check gas-gravity: self-gravity of gas on GPUs beside that on cores. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/pm/gpu_pm.h"
#include "cuda/potential/gpu_potential.h"
#include "photons/amr/matter.h"
#include "photons/base/clock.h"
#include "photons/config/parameters.h"
#include "photons/gas/create.h"
#include "photons/gas/evolve.h"
#include "photons/pm/particles.h"
#include "photons/potential/gravity.h"
#include "photons/potential/potential_blocks.h"
#include "photons/runtime/engine.h"
#include "photons/runtime/handle.h"
#include "support/force_set.h"
#include "tests/unit/cuda_check_gas.h"

enum { PRECISIONS = 2, TEXT = 2000, CUBE_BYTES = GAS_GROUP_CELLS * sizeof(double) };
static const char *const precisions[PRECISIONS] = {
    [GAS_SINGLE] = "single", [GAS_DOUBLE] = "double"};
/* Potentials are in double precision whatever the cells are: the order of operations and fused ones
 * differ, by some units in the last place of the largest terms. The solution of a group adds up some
 * hundred terms for each cell. Relaxation ends where its residual is small, in both. */
static const double potential_bar = 1e-14, solution_bar = 1e-13, relaxed_bar = 1e-8;
/* Cells that were kicked, and whole runs: a relaxation to 1e-12 may end a sweep earlier or later. */
static const double cell_bar[PRECISIONS] = {2e-6, 4e-15}, run_bar[PRECISIONS] = {1e-5, 1e-10};

static int failures;

/* Stages. */

/** The same numbers on the host and on the device. */
struct mirrored {
  char *host, *device;
  size_t bytes;
};

/** What tasks read of a batch. */
struct batch_data {
  struct mirrored old, now; /* potentials */
  struct mirrored mass, shares, links;
  char *cells;
};

struct stages {
  struct gas *g;
  struct gpu *gpu;
  cudaStream_t stream;
  struct batch_data *data[GAS_LEVELS_MAX];
  uint32_t random;
  struct number_difference blocks, ghosts, kept, solved, relaxed, shares, mass, means, kicked,
      energy, acceleration, cut, paste, means_of_matter;
  uint32_t beyond, sheets; /* faces at ends of the box; patches beside refined ones */
};

static double next_random(struct stages *s) {
  s->random = s->random * 1664525u + 1013904223u;
  return s->random * 0x1p-31 - 1.0;
}

static struct mirrored mirror(const void *from, size_t bytes) {
  char *host = memcpy(allocate(bytes, 1, "test data"), from, bytes);
  return (struct mirrored){host, gas_to_device(host, bytes), bytes};
}

static struct mirrored random_numbers(struct stages *s, size_t bytes) {
  double *numbers = allocate(bytes, 1, "test data");
  for (size_t i = 0; i < bytes / sizeof *numbers; i++) numbers[i] = next_random(s);
  const struct mirrored m = mirror(numbers, bytes);
  free(numbers);
  return m;
}

static void free_mirrored(struct mirrored *m) {
  free(m->host);
  CUDA(cudaFree(m->device));
}

static struct batch_data make_data(struct stages *s, const struct gas_level *l,
                                   const struct gas_batch *b) {
  const size_t cubes = b->count * CUBE_BYTES;
  return (struct batch_data){
      .old = random_numbers(s, cubes),
      .now = random_numbers(s, cubes),
      .mass = random_numbers(s, cubes),
      .shares = random_numbers(s, b->count * sizeof(struct poisson_share)),
      .links = mirror(b->link, b->count * sizeof *b->link),
      .cells = gas_to_device(gas_cells(s->g, (int)(l - s->g->level), b->first),
                             b->count * gas_group_bytes(s->g)),
  };
}

static void free_data(struct batch_data *d) {
  struct mirrored *all[] = {&d->old, &d->now, &d->mass, &d->shares, &d->links};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) free_mirrored(all[i]);
  CUDA(cudaFree(d->cells));
}

static void copy_back(const struct stages *s, void *to, const void *from, size_t bytes) {
  CUDA(cudaStreamSynchronize(s->stream));
  CUDA(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost));
}

/** What a block is made from. */
struct mode {
  bool near, coarse, change, inner;
  double weight;
};

/** The lists of a block's sources, on the host and on the device. */
struct source_lists {
  const char **host, **device;
  uint32_t near, begin, end;
};

static void add_list(const struct stages *s, struct source_lists *a, int level,
                     const struct batch_list *list, bool now) {
  const uint32_t first = a->near + a->begin + a->end;
  for (uint32_t i = 0; i < list->count; i++) {
    const struct batch_data *d = &s->data[level][list->batch[i]];
    a->host[first + i] = now ? d->now.host : d->old.host;
    a->device[first + i] = now ? d->now.device : d->old.device;
  }
}

static struct source_lists lists_of(const struct stages *s, int level, const struct gas_batch *b,
                                    struct mode m) {
  const size_t most = b->near.count + 2 * (size_t)b->coarse.count;
  struct source_lists a = {.host = allocate(most, sizeof *a.host, "lists"),
                           .device = allocate(most, sizeof *a.device, "lists")};
  if (m.near) add_list(s, &a, level, &b->near, true);
  a.near = m.near ? b->near.count : 0;
  if (m.coarse && (m.weight < 1.0 || m.change)) {
    add_list(s, &a, level - 1, &b->coarse, false);
    a.begin = b->coarse.count;
  }
  if (m.coarse && m.weight > 0.0) {
    add_list(s, &a, level - 1, &b->coarse, true);
    a.end = b->coarse.count;
  }
  return a;
}

static struct gpu_gas gpu_gas_of_batch(const struct stages *s, const struct gas_batch *b) {
  return (struct gpu_gas){s->gpu, s->g->physics, s->g->kernels->real_size == sizeof(double),
                          b->count};
}

/** The CPU's blocks. */
static void make_blocks(const struct stages *s, int level, const struct gas_batch *b, struct mode m,
                        const struct source_lists *a, double *blocks) {
  const struct potential_sources from = {
      .gas = s->g,
      .level = level,
      .near = {m.near ? &b->near : NULL, a->host},
      .begin = {m.coarse ? &b->coarse : NULL, a->host + a->near},
      .end = {m.coarse ? &b->coarse : NULL, a->host + a->near + a->begin},
      .weight = m.weight};
  for (uint32_t i = 0; i < b->count; i++)
    (m.change  ? m.inner ? potential_block_corrected : potential_ghosts_corrected
     : m.inner ? potential_block
               : potential_ghosts)(&from, b->first + i, blocks + i * (size_t)POISSON_CELLS);
}

/** Compare inner cells of a block, or ghost cells beyond faces. */
static void compare_block(struct number_difference *d, bool inner, const double *cpu,
                          const double *gpu) {
  for (size_t i = 0; i < POISSON_CELLS; i++) {
    int outside = 0;
    for (size_t step = 1; step < POISSON_CELLS; step *= POISSON_SIDE) {
      const size_t at = i / step % POISSON_SIDE;
      outside += at == 0 || at == POISSON_SIDE - 1;
    }
    if (outside == (inner ? 0 : 1)) compare_numbers(d, sizeof *cpu, &cpu[i], &gpu[i], sizeof *cpu);
  }
}

static bool is_solved(const struct stages *s, int level, uint32_t group, struct gpu_half half) {
  return topology_is_odd(s->g->topology.level[level].key[group]) == half.odd;
}

enum { HALVES = 4 };
/** Even or odd groups are solved, and the others keep their potential or not. */
static struct gpu_half half_of(int i, const struct batch_data *d) {
  return (struct gpu_half){i & 1, i >> 1, (const struct gas_links *)(void *)d->links.device};
}

static void compare_whole(struct stages *s, const struct gas_batch *b, const double *cpu,
                          const double *gpu) {
  for (size_t at = 0; at < b->count * (size_t)POISSON_CELLS; at += POISSON_CELLS)
    for (int inner = 0; inner < 2; inner++) compare_block(&s->blocks, inner, cpu + at, gpu + at);
}

/** Compare ghost cells of groups that are solved, and inner cells of groups that keep them.
 * @param now  potential of the groups; NULL: blocks are not made from it */
static void compare_half(struct stages *s, int level, const struct gas_batch *b,
                         struct gpu_half half, const double *now, const double *cpu,
                         const double *gpu) {
  for (uint32_t i = 0; i < b->count; i++) {
    const size_t at = i * (size_t)POISSON_CELLS;
    double inner[GAS_GROUP_CELLS];
    if (is_solved(s, level, b->first + i, half)) {
      compare_block(&s->ghosts, false, cpu + at, gpu + at);
    } else if (half.keep && now) {
      potential_inner(gpu + at, inner);
      compare_numbers(&s->kept, sizeof *inner, now + i * (size_t)GAS_GROUP_CELLS, inner,
                      sizeof inner);
    }
  }
}

static void check_blocks(struct stages *s, int level, const struct gas_batch *b,
                         const struct batch_data *d, struct mode m) {
  const size_t bytes = b->count * sizeof(double[POISSON_CELLS]);
  const struct gpu_gas g = gpu_gas_of_batch(s, b);
  struct source_lists a = lists_of(s, level, b, m);
  double *cpu = allocate(bytes, 1, "blocks"), *gpu = allocate(bytes, 1, "blocks");
  double *out = gas_device_memory(bytes);
  const struct gpu_potentials from = {.cells = a.device,
                                      .near = a.near,
                                      .begin = a.begin,
                                      .end = a.end,
                                      .weight = m.weight,
                                      .change = m.change,
                                      .links = (const struct gas_links *)(void *)d->links.device};
  make_blocks(s, level, b, m, &a, cpu);
  if (m.inner) {
    gpu_gas_potential_blocks(&g, &from, out);
    copy_back(s, gpu, out, bytes);
    compare_whole(s, b, cpu, gpu);
  }
  for (int i = 0; i < HALVES && !m.inner; i++) {
    const struct gpu_half half = half_of(i, d);
    gpu_gas_potential_ghosts(&g, &from, half, out);
    copy_back(s, gpu, out, bytes);
    compare_half(s, level, b, half,
                 m.near && !m.change ? (const double *)(void *)d->now.host : NULL, cpu, gpu);
  }
  CUDA(cudaFree(out));
  free(a.host);
  free(a.device);
  free(cpu);
  free(gpu);
}

/** A batch with blocks, which are the same on the host and on the device. */
struct prepared {
  struct stages *s;
  int level;
  const struct gas_batch *b;
  const struct batch_data *d;
  struct mirrored blocks;
  const char *cells; /* on the host */
  double *out;       /* device memory for numbers of a cube each */
};

enum { FACTOR_PERCENT = 70, MEAN_PERCENT = 110 };
static const double factor = FACTOR_PERCENT / 100.0, mean = MEAN_PERCENT / 100.0;

static struct gpu_density density_of(const struct prepared *t, bool massive) {
  return (struct gpu_density){.cells = t->d->cells,
                              .mass = massive ? (const double *)(void *)t->d->mass.device : NULL,
                              .factor = factor,
                              .mean = mean};
}

static const double *block_of(const struct prepared *t, uint32_t i) {
  return (const double *)(void *)t->blocks.host + i * (size_t)POISSON_CELLS;
}

static double find_source(const struct prepared *t, uint32_t i, bool massive, double *source) {
  const double *mass = (const double *)(void *)t->d->mass.host + i * (size_t)GAS_GROUP_CELLS;
  return t->s->g->gravity->kernels->source(t->cells + i * gas_group_bytes(t->s->g), factor, mean,
                                           massive ? mass : NULL, source);
}

static void compare_cubes(const struct prepared *t, struct number_difference *d, const double *cpu,
                          const double *gpu) {
  double *back = allocate(t->b->count, CUBE_BYTES, "results of the GPU");
  copy_back(t->s, back, gpu, t->b->count * CUBE_BYTES);
  compare_numbers(d, sizeof *cpu, cpu, back, t->b->count * CUBE_BYTES);
  free(back);
}

/** What the CPU finds for a group. Groups that are not solved keep the potential of their blocks,
 * or get 0. */
static void solve_group(struct prepared *t, uint32_t i, bool direct, struct gpu_half half,
                        bool massive, double tolerance, double *cube) {
  const struct self_gravity *gravity = t->s->g->gravity;
  double source[GAS_GROUP_CELLS], block[POISSON_CELLS];
  const double sum = find_source(t, i, massive, source);
  memcpy(block, block_of(t, i), sizeof block);
  const bool solved = is_solved(t->s, t->level, t->b->first + i, half);
  if (solved && direct) {
    gravity->poisson->solve_directly(&gravity->waves, source, block, cube);
    return;
  }
  if (solved) gravity->poisson->solve(source, tolerance * sum, POISSON_SWEEPS_MAX, block);
  potential_inner(block, cube);
  if (!solved && !half.keep) memset(cube, 0, CUBE_BYTES);
}

static void check_solution(struct prepared *t, bool direct, struct gpu_half half, bool massive) {
  const struct self_gravity *gravity = t->s->g->gravity;
  const struct gpu_gas g = gpu_gas_of_batch(t->s, t->b);
  const struct gpu_density density = density_of(t, massive);
  const double tolerance = 1e-10, *blocks = (const double *)(void *)t->blocks.device;
  double *cpu = allocate(t->b->count, CUBE_BYTES, "potentials");
  for (uint32_t i = 0; i < t->b->count; i++)
    solve_group(t, i, direct, half, massive, tolerance, cpu + i * (size_t)GAS_GROUP_CELLS);
  if (direct) {
    double *pivot = gas_to_device(gravity->waves.pivot, sizeof gravity->waves.pivot);
    gpu_gas_solve_directly(&g, &gravity->waves, pivot, &density, half, blocks, t->out);
    compare_cubes(t, &t->s->solved, cpu, t->out);
    CUDA(cudaFree(pivot));
  } else {
    gpu_gas_relax(&g, &density, tolerance, 0.0, half, blocks, t->out);
    compare_cubes(t, &t->s->relaxed, cpu, t->out);
  }
  free(cpu);
}

static void check_shares(struct prepared *t, bool massive) {
  const struct gpu_gas g = gpu_gas_of_batch(t->s, t->b);
  const struct gpu_density density = density_of(t, massive);
  const size_t bytes = t->b->count * sizeof(struct poisson_share);
  struct poisson_share *cpu = allocate(bytes, 1, "shares"), *gpu = allocate(bytes, 1, "shares"),
                       *out = gas_device_memory(bytes);
  for (uint32_t i = 0; i < t->b->count; i++) {
    double source[GAS_GROUP_CELLS];
    find_source(t, i, massive, source);
    t->s->g->gravity->poisson->share(block_of(t, i), source, &cpu[i]);
  }
  gpu_gas_share(&g, &density, (const double *)(void *)t->blocks.device, out);
  copy_back(t->s, gpu, out, bytes);
  compare_numbers(&t->s->shares, sizeof(double), cpu, gpu, bytes);
  CUDA(cudaFree(out));
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

static void find_pseudo_mass(const struct prepared *t, uint32_t i, double *cube, double *inner) {
  const struct poisson_kernels *k = t->s->g->gravity->poisson;
  const struct gas_links *l = &t->b->link[i];
  double source[GAS_GROUP_CELLS], block[POISSON_CELLS];
  memcpy(block, block_of(t, i), sizeof block);
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
    for (int face = 0; face < GAS_FACES && !mine; face++) {
      const struct poisson_share *beside = share_at(t, l->share_beside[p][face]);
      if (beside) k->sheet(block, p, face, beside->slope[face ^ 1], 1.0 / factor, cube);
      t->s->sheets += beside != NULL;
    }
  }
  potential_inner(block, inner);
}

static void check_sheets(struct prepared *t) {
  const struct gpu_gas g = gpu_gas_of_batch(t->s, t->b);
  const struct gpu_density density = density_of(t, false);
  const uint32_t finer = t->b->around.count;
  const char **shares = allocate(finer, sizeof *shares, "shares");
  double *mass = allocate(t->b->count, CUBE_BYTES, "pseudo-mass"),
         *inner = allocate(t->b->count, CUBE_BYTES, "potentials"),
         *inner_out = gas_device_memory(t->b->count * CUBE_BYTES),
         *blocks = gas_to_device(t->blocks.host, t->blocks.bytes);
  for (uint32_t i = 0; i < finer; i++)
    shares[i] = t->s->data[t->level + 1][t->b->around.batch[i]].shares.device;
  for (uint32_t i = 0; i < t->b->count; i++)
    find_pseudo_mass(t, i, mass + i * (size_t)GAS_GROUP_CELLS, inner + i * (size_t)GAS_GROUP_CELLS);
  gpu_gas_sheet(&g, (const struct gas_links *)(void *)t->d->links.device, shares, finer, &density,
                blocks, t->out, inner_out);
  compare_cubes(t, &t->s->mass, mass, t->out);
  compare_cubes(t, &t->s->means, inner, inner_out);
  CUDA(cudaFree(inner_out));
  CUDA(cudaFree(blocks));
  free(mass);
  free(inner);
  free(shares);
}

static void check_kick(struct prepared *t) {
  const struct gas *g = t->s->g;
  const struct gpu_gas gpu = gpu_gas_of_batch(t->s, t->b);
  const size_t bytes = t->b->count * gas_group_bytes(g);
  char *cpu = memcpy(allocate(bytes, 1, "cells"), t->cells, bytes),
       *back = allocate(bytes, 1, "cells");
  void *out = gas_to_device(t->cells, bytes);
  for (uint32_t i = 0; i < t->b->count; i++)
    g->gravity->kernels->kick(block_of(t, i), 0.1, cpu + i * gas_group_bytes(g));
  gpu_gas_kick(&gpu, 0.1, (const double *)(void *)t->blocks.device, out);
  copy_back(t->s, back, out, bytes);
  compare_numbers(&t->s->kicked, g->kernels->real_size, cpu, back, bytes);
  CUDA(cudaFree(out));
  free(cpu);
  free(back);
}

static void check_field(struct prepared *t) {
  const struct gas *g = t->s->g;
  const struct gpu_gas gpu = gpu_gas_of_batch(t->s, t->b);
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

/** Where value k of a part is in a group. */
static size_t value_of_part(enum gpu_ghost_kind kind, size_t part, size_t k) {
  if (kind == GPU_GHOST_SHARES) return k;
  const size_t first = kind == GPU_GHOST_MATTER ? offsetof(struct gas_matter, coarse) / 8 : 0;
  const size_t x = 4 * (part & 3) + (k & 3), y = 4 * (part >> 2 & 3) + (k >> 2 & 3),
               z = 4 * (part >> 4) + (k >> 4);
  return first + (z * GAS_GROUP_SIDE + y) * GAS_GROUP_SIDE + x;
}

/** Means of densities of all groups of a batch, from the first ones to the last ones. */
static void check_means(struct stages *s, const struct gas_batch *b, const struct mirrored *from) {
  const struct gas_matter *matter = (const struct gas_matter *)(void *)from->host;
  struct gpu_ghost *ghost = allocate(b->count, sizeof *ghost, "ghosts");
  const size_t bytes = b->count * sizeof(double[GAS_PATCH_CELLS]);
  double(*packed)[GAS_PATCH_CELLS] = allocate(bytes, 1, "message");
  struct gas_matter *pasted = allocate(b->count, sizeof *pasted, "ghosts");
  double *packed_out = gas_device_memory(bytes);
  struct gas_matter *pasted_out = gas_to_device(pasted, from->bytes); /* zeros */
  for (uint32_t i = 0; i < b->count; i++) {
    ghost[i] = (struct gpu_ghost){.group = i, .first = i, .patch = (3 * i + 1) % 8, .parts = 1};
    matter_means(&matter[i], packed[i]);
    matter_put_means(packed[i], (int)ghost[i].patch, &pasted[i]);
  }
  const char *const batches[] = {from->device}, *const to[] = {(char *)pasted_out};
  const struct gpu_gas g = gpu_gas_of_batch(s, b);
  gpu_gas_cut(&g, &(struct gpu_message){GPU_GHOST_MATTER_MEANS, ghost, batches, 1}, packed_out);
  gpu_gas_paste(&g, &(struct gpu_message){GPU_GHOST_MATTER_MEANS, ghost, to, 1}, packed_out);
  char *back = allocate(from->bytes, 1, "ghosts");
  copy_back(s, back, packed_out, bytes);
  compare_numbers(&s->means_of_matter, sizeof(double), packed, back, bytes);
  copy_back(s, back, pasted_out, from->bytes);
  compare_numbers(&s->means_of_matter, sizeof(double), pasted, back, from->bytes);
  CUDA(cudaFree(packed_out));
  CUDA(cudaFree(pasted_out));
  free(ghost);
  free(packed);
  free(pasted);
  free(back);
}

/** A message with parts of all groups of a batch: of potentials, shares or densities of particles. */
static void check_ghosts(struct stages *s, const struct gas_batch *b, const struct mirrored *from,
                         enum gpu_ghost_kind kind) {
  const bool shares = kind == GPU_GHOST_SHARES;
  const size_t group = from->bytes / b->count / sizeof(double), values = shares ? group : 64;
  const double *inside = (const double *)(void *)from->host;
  struct gpu_ghost *ghost = allocate(b->count, sizeof *ghost, "ghosts");
  double *packed = allocate(b->count * (shares ? values : GAS_GROUP_CELLS), sizeof *packed,
                            "message"),
         *pasted = allocate(from->bytes, 1, "ghosts"), *back = allocate(from->bytes, 1, "ghosts");
  uint32_t parts = 0;
  for (uint32_t i = 0; i < b->count; i++) {
    const uint64_t of_group = shares ? 1 : 0x8000400020001u * (i + 3);
    ghost[i] = (struct gpu_ghost){.group = i, .first = parts, .parts = of_group};
    for (size_t part = 0; part < 64; part++)
      for (size_t k = 0; (of_group >> part & 1) && k < values; k++) {
        const size_t at = i * group + value_of_part(kind, part, k);
        packed[parts * values + k] = pasted[at] = inside[at];
        if (k + 1 == values) parts++;
      }
  }
  double *packed_out = gas_device_memory(parts * values * sizeof *packed),
         *pasted_out = gas_to_device(back, from->bytes); /* zeros */
  const char *const batches[] = {from->device}, *const to[] = {(char *)pasted_out};
  const struct gpu_gas g = gpu_gas_of_batch(s, b);
  gpu_gas_cut(&g, &(struct gpu_message){kind, ghost, batches, 1}, packed_out);
  gpu_gas_paste(&g, &(struct gpu_message){kind, ghost, to, 1}, packed_out);
  copy_back(s, back, pasted_out, from->bytes);
  compare_numbers(&s->paste, sizeof *back, pasted, back, from->bytes);
  free(back);
  back = allocate(parts * values, sizeof *back, "message");
  copy_back(s, back, packed_out, parts * values * sizeof *back);
  compare_numbers(&s->cut, sizeof *back, packed, back, parts * values * sizeof *back);
  CUDA(cudaFree(packed_out));
  CUDA(cudaFree(pasted_out));
  free(ghost);
  free(packed);
  free(pasted);
  free(back);
}

static void check_batch(struct stages *s, int level, uint32_t number) {
  static const struct mode modes[] = {
      {.coarse = true, .weight = 0.3, .inner = true},
      {.coarse = true, .weight = 0.0},
      {.near = true, .coarse = true, .weight = 1.0, .inner = true},
      {.near = true, .coarse = true, .weight = 0.3, .inner = true},
      {.near = true, .coarse = true, .weight = 0.3},
      {.near = true, .coarse = true, .weight = 1.0, .change = true, .inner = true},
      {.near = true, .coarse = true, .weight = 1.0, .change = true},
      {.near = true, .inner = true}};
  const struct gas_batch *b = &s->g->level[level].batch[number];
  const struct batch_data *d = &s->data[level][number];
  for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
    if (level == 0 && modes[i].coarse) continue;
    check_blocks(s, level, b, d, modes[i]);
  }
  for (uint32_t i = 0; i < b->count; i++)
    for (uint32_t edges = b->link[i].edges; edges; edges &= edges - 1) s->beyond++;
  struct prepared t = {.s = s,
                       .level = level,
                       .b = b,
                       .d = d,
                       .blocks = random_numbers(s, b->count * sizeof(double[POISSON_CELLS])),
                       .cells = gas_cells(s->g, level, b->first),
                       .out = gas_device_memory(b->count * CUBE_BYTES)};
  for (int massive = 0; massive < 2; massive++) {
    for (int i = 0; i < HALVES; i++) {
      const struct gpu_half half = half_of(i, d);
      check_solution(&t, true, half, massive);
      if (half.keep) check_solution(&t, false, half, massive);
    }
    check_shares(&t, massive);
  }
  struct mirrored matter = random_numbers(s, b->count * sizeof(struct gas_matter));
  check_ghosts(s, b, &d->now, GPU_GHOST_POTENTIALS);
  check_ghosts(s, b, &d->shares, GPU_GHOST_SHARES);
  check_ghosts(s, b, &matter, GPU_GHOST_MATTER);
  check_means(s, b, &matter);
  free_mirrored(&matter);
  check_sheets(&t);
  check_kick(&t);
  check_field(&t);
  free_mirrored(&t.blocks);
  CUDA(cudaFree(t.out));
}

/** Take over all present cells, or give them back. */
static void hold_cells(struct gas *g, bool hold) {
  if (hold)
    gas_acquire(g, STARPU_R);
  else
    gas_release(g);
}

/** All stages on three levels, with potentials of random numbers. */
static void check_stages(int precision, bool periodic) {
  static const char text[] =
      "[run]\nsystem = gas\n[ic]\nsource = %s\ndirection = diagonal\n[gas]\nroot = %s\n"
      "levels = 2\nregrid = 100\nbuffer = 4\nbatch = 6\n%sprecision = %s\ngravity = self\n"
      "[time]\nend = 1\n";
  static const char outflow[] =
      "flag_gradient_density = 0.05\nx_low = outflow\nx_high = outflow\ny_low = outflow\n"
      "y_high = outflow\nz_low = outflow\nz_high = outflow\n";
  struct parameters p;
  char given[TEXT];
  const char *root = STAGES_ROOT;
  if (periodic) root = "32, 32, 32";
  snprintf(given, sizeof given, text, periodic ? "blast" : "sod", root,
           periodic ? "flag_gradient_pressure = 0.3\n" : outflow, precisions[precision]);
  parameters_from_text(&p, given, NULL, 0);
  start_engine(&p, true);
  const struct gas_ic ic = gas_ic_make(&p);
  struct stages s = {.g = gas_create(&p), .random = 1};
  gas_begin(s.g, &ic);
  hold_cells(s.g, true);
  CUDA(cudaStreamCreate(&s.stream));
  s.gpu = gpu_create(s.stream, NULL);
  const int levels = topology_levels(&s.g->topology);
  printf("  %s precision, %s, %d levels: difference of CUDA from CPU, relative\n",
         precisions[precision], periodic ? "periodic" : "in empty space", levels);
  for (int l = 0; l < levels; l++) {
    s.data[l] = allocate(s.g->level[l].batch_count, sizeof *s.data[l], "batches");
    for (uint32_t i = 0; i < s.g->level[l].batch_count; i++)
      s.data[l][i] = make_data(&s, &s.g->level[l], &s.g->level[l].batch[i]);
  }
  for (int l = 0; l < levels; l++)
    for (uint32_t i = 0; i < s.g->level[l].batch_count; i++) check_batch(&s, l, i);
  failures += !report_whether("levels", levels == 3);
  failures += !report_whether("ends", (s.beyond == 0) == periodic);
  failures += !report_difference("blocks", s.blocks, potential_bar);
  failures += !report_difference("ghosts", s.ghosts, potential_bar);
  failures += !report_difference("kept", s.kept, 0.0);
  failures += !report_difference("direct", s.solved, solution_bar);
  failures += !report_difference("sor", s.relaxed, relaxed_bar);
  failures += !report_difference("shares", s.shares, potential_bar);
  failures += !report_whether("sheets", s.sheets > 0);
  failures += !report_difference("mass", s.mass, potential_bar);
  failures += !report_difference("means", s.means, potential_bar);
  failures += !report_difference("kick", s.kicked, cell_bar[precision]);
  failures += !report_difference("energy", s.energy, solution_bar);
  failures += !report_difference("gradient", s.acceleration, potential_bar);
  failures += !report_difference("cut", s.cut, 0.0);
  failures += !report_difference("paste", s.paste, 0.0);
  failures += !report_difference("matter", s.means_of_matter, potential_bar);
  for (int l = 0; l < levels; l++) {
    for (uint32_t i = 0; i < s.g->level[l].batch_count; i++) free_data(&s.data[l][i]);
    free(s.data[l]);
  }
  gpu_free(s.gpu);
  CUDA(cudaStreamDestroy(s.stream));
  hold_cells(s.g, false);
  gas_free(s.g);
  engine_stop();
}

/* Whole runs. */

/** A blast that its own gravity holds back, and a ball that collapses in empty space. */
static void check_runs(int precision) {
  static const char text[] =
      "[run]\nsystem = gas\n[ic]\nsource = %s\n[gas]\nroot = 32, 48, 32\nlevels = 2\nregrid = 2\n"
      "batch = 5\nprecision = %s\ngravity = self\npoisson = %s\n%s\n[time]\nend = 1\n";
  static const struct {
    const char *name, *source, *poisson, *more;
  } runs[] = {{"periodic", "blast", "direct",
               "flag_gradient_pressure = 0.3\nbuffer = 4\nnewton_constant = 0.1\n"},
              {"with equal steps, sor", "blast", "sor",
               "flag_gradient_pressure = 0.3\nbuffer = 4\nnewton_constant = 0.1\nsteps = shared\n"
               "sor_tolerance = 1e-12\n"},
              {"in empty space", "collapse", "direct",
               "flag_density = 0.5, 0.5\nx_low = outflow\nx_high = outflow\ny_low = outflow\n"
               "y_high = outflow\nz_low = outflow\nz_high = outflow\nbuffer = 2\n"}};
  for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
    char given[TEXT], name[TEXT];
    snprintf(given, sizeof given, text, runs[i].source, precisions[precision], runs[i].poisson,
             runs[i].more);
    snprintf(name, sizeof name, "%s, %s precision", runs[i].name, precisions[precision]);
    failures += compare_gas_runs(given, name, GAS_STEPS, run_bar[precision], run_bar[precision]);
  }
}

int check_gas_gravity(void) {
  failures = 0;
  puts("stages of self-gravity:");
  for (int precision = 0; precision < PRECISIONS; precision++)
    for (int periodic = 0; periodic < 2; periodic++) check_stages(precision, periodic);
  puts("runs with self-gravity:");
  for (int precision = 0; precision < PRECISIONS; precision++) check_runs(precision);
  return failures;
}

/* Rates. */

/** Groups of random density between random ghost cells, each of which is its own neighbour. */
struct bench {
  struct gpu_gas g;
  struct self_gravity gravity;
  cudaStream_t stream;
  float *cells; /* on the device, as all that follows */
  double *blocks, *potentials, *pivot;
  struct gas_links *links;
  const char *near[1];
};

enum solution { GHOSTS, DIRECT, SOR, KICK, SOLUTIONS };

static void run_solution(struct bench *b, enum solution which) {
  const struct gpu_density density = {.cells = b->cells, .factor = 1.0, .mean = 1.0};
  const struct gpu_potentials from = {
      .cells = b->near, .near = 1, .weight = 1.0, .links = b->links};
  const struct gpu_half even = {.keep = true, .links = b->links};
  switch (which) {
  case GHOSTS: gpu_gas_potential_ghosts(&b->g, &from, even, b->blocks); break;
  case DIRECT:
    gpu_gas_solve_directly(&b->g, &b->gravity.waves, b->pivot, &density, even, b->blocks,
                           b->potentials);
    break;
  case SOR: gpu_gas_relax(&b->g, &density, 1e-7, 0.0, even, b->blocks, b->potentials); break;
  default: gpu_gas_kick(&b->g, 1e-9, b->blocks, b->cells);
  }
}

static double *random_doubles(size_t count) {
  double *numbers = allocate(count, sizeof *numbers, "numbers");
  uint32_t random = 1;
  for (size_t i = 0; i < count; i++) {
    random = random * 1664525u + 1013904223u;
    numbers[i] = random * 0x1p-32;
  }
  return numbers;
}

static void measure_groups(uint32_t groups) {
  enum { REPEATS = 50, VARIABLES = 5 };
  struct bench b = {.g = {.physics = {.solver = GAS_RTVD}, .groups = groups}};
  const size_t cells = (size_t)groups * GAS_GROUP_CELLS, blocks = (size_t)groups * POISSON_CELLS;
  double *numbers = random_doubles(blocks);
  float *density = allocate(VARIABLES * cells, sizeof *density, "cells");
  struct gas_links *links = allocate(groups, sizeof *links, "links");
  memset(links, 0xff, groups * sizeof *links);
  for (uint32_t i = 0; i < groups; i++) {
    links[i].edges = links[i].refined = links[i].patch = 0; /* even groups: all are solved */
    for (int n = 0; n < NEIGHBOURS; n++) links[i].near[n] = i;
  }
  for (size_t i = 0; i < VARIABLES * cells; i++) density[i] = (float)numbers[i % blocks];
  poisson_waves_make(&b.gravity.waves);
  CUDA(cudaStreamCreate(&b.stream));
  b.g.gpu = gpu_create(b.stream, NULL);
  b.cells = gas_to_device(density, VARIABLES * cells * sizeof *density);
  b.blocks = gas_to_device(numbers, blocks * sizeof *numbers);
  b.potentials = gas_to_device(numbers, cells * sizeof *numbers);
  b.pivot = gas_to_device(b.gravity.waves.pivot, sizeof b.gravity.waves.pivot);
  b.links = gas_to_device(links, groups * sizeof *links);
  b.near[0] = (const char *)b.potentials;
  printf("  GPU       %5u", groups);
  for (int which = 0; which < SOLUTIONS; which++) {
    run_solution(&b, (enum solution)which);
    CUDA(cudaStreamSynchronize(b.stream));
    const double begin = wall_clock();
    for (int i = 0; i < REPEATS; i++) run_solution(&b, (enum solution)which);
    CUDA(cudaStreamSynchronize(b.stream));
    printf(" %10.3e", REPEATS * (double)cells / (wall_clock() - begin));
  }
  printf("\n");
  gpu_free(b.g.gpu);
  CUDA(cudaStreamDestroy(b.stream));
  void *const device[] = {b.cells, b.blocks, b.potentials, b.pivot, b.links};
  for (size_t i = 0; i < sizeof device / sizeof *device; i++) CUDA(cudaFree(device[i]));
  free(links);
  free(density);
  free(numbers);
}

/** The same solutions of one group on one core. */
static void measure_core(void) {
  const struct poisson_kernels *k = poisson_kernels_select();
  struct poisson_waves waves;
  double *source = random_doubles(GAS_GROUP_CELLS), *from = random_doubles(POISSON_CELLS),
         cube[GAS_GROUP_CELLS], block[POISSON_CELLS], sum = 0.0;
  poisson_waves_make(&waves);
  for (int i = 0; i < GAS_GROUP_CELLS; i++) sum += source[i];
  printf("  one core      1           ");
  for (int direct = 1; direct >= 0; direct--) {
    const int repeats = direct ? 20000 : 500;
    const double begin = wall_clock();
    for (int i = 0; i < repeats; i++) {
      memcpy(block, from, sizeof block);
      if (direct)
        k->solve_directly(&waves, source, block, cube);
      else
        k->solve(source, 1e-7 * sum, POISSON_SWEEPS_MAX, block);
    }
    printf("%s%10.3e", direct ? "" : " ",
           repeats * (double)GAS_GROUP_CELLS / (wall_clock() - begin));
  }
  printf("\n");
  free(source);
  free(from);
}

/** Steps of a ball that collapses in a root level of 64^3 cells with two finer levels. */
static void measure_run(bool gpu) {
  static const char text[] =
      "[run]\nsystem = gas\n[ic]\nsource = collapse\n[gas]\nroot = 64, 64, 64\nlevels = 2\n"
      "flag_density = 0.5, 0.5\ngravity = self\nx_low = outflow\nx_high = outflow\n"
      "y_low = outflow\ny_high = outflow\nz_low = outflow\nz_high = outflow\n[time]\nend = 1\n";
  enum { STEPS = 3 };
  struct parameters p;
  parameters_from_text(&p, text, NULL, 0);
  const struct gas_ic ic = gas_ic_make(&p);
  start_engine(&p, gpu);
  struct gas *g = gas_create(&p);
  gas_begin(g, &ic);
  gravity_solve(g, 0, 1.0);
  double dt = 0.4 * gas_measure(g).longest_step, begin = 0.0, updates = 0.0;
  for (int i = 0; i <= STEPS; i++) {
    if (i == 1) begin = wall_clock(); /* the first step warms up */
    gas_step(g, dt);
    dt = 0.4 * gas_measure(g).longest_step;
    for (int l = 0; i > 0 && l <= 2; l++) updates += (double)g->updates[l];
  }
  const double time = wall_clock() - begin;
  printf("  %-8s %9.4f  %.3e  patches", gpu ? "GPU" : "cores", time / STEPS, updates / time);
  for (int l = 0; l < topology_levels(&g->topology); l++)
    printf(" %u", GAS_PATCHES * g->topology.level[l].count);
  printf("\n");
  gas_free(g);
  engine_stop();
}

void benchmark_gas_gravity(void) {
  printf("cells a second of the groups of a batch, cells in single precision\n"
         "            groups     ghosts     direct        sor       kick\n");
  measure_core();
  for (uint32_t groups = 32; groups <= 2048; groups *= 2) measure_groups(groups);
  printf("whole steps: seconds of a step, and cell updates a second\n");
  measure_run(false);
  measure_run(true);
}
