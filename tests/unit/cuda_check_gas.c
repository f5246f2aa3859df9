/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cuda_check gas: gas on GPUs beside gas on cores. */
#include <cuda_runtime_api.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/hydro/gpu_hydro.h"
#include "photons/amr/blocks.h"
#include "photons/amr/matter.h"
#include "photons/base/clock.h"
#include "photons/base/error.h"
#include "photons/config/parameters.h"
#include "photons/gas/create.h"
#include "photons/gas/evolve.h"
#include "photons/pm/particles.h"
#include "photons/potential/gravity.h"
#include "photons/runtime/engine.h"
#include "photons/runtime/handle.h"
#include "photons/runtime/message.h"
#include "support/force_set.h"
#include "tests/unit/cuda_check_gas.h"

enum { SOLVERS = 2, PRECISIONS = 2, TEXT = 2000 };
static const char *const solvers[SOLVERS] = {[GAS_RTVD] = "rtvd", [GAS_MUSCL] = "muscl"};
static const char *const precisions[PRECISIONS] = {
    [GAS_SINGLE] = "single", [GAS_DOUBLE] = "double"};
/* Of the root mean square of all values: the order of operations and fused ones differ, and single
 * precision divides with an error of two units in the last place. Whole runs: gas.md. */
static const double stage_bar[PRECISIONS] = {2e-6, 4e-15}, run_bar[PRECISIONS] = {1e-5, 1e-12};

/* pressure/density, between those on the two sides of the tube. */
#define LEAST_HEAT 0.9

static int failures;

static double value(size_t real, const void *array, size_t i) {
  return real == sizeof(double) ? ((const double *)array)[i] : (double)((const float *)array)[i];
}

void compare_numbers(struct number_difference *d, size_t real, const void *cpu, const void *gpu,
                     size_t bytes) {
  for (size_t i = 0; i < bytes / real; i++) {
    const double a = value(real, cpu, i), b = value(real, gpu, i);
    d->difference2 += isfinite(b) ? (a - b) * (a - b) : INFINITY;
    d->reference2 += a * a;
  }
}

bool report_difference(const char *what, struct number_difference d, double bar) {
  const double relative = sqrt(d.difference2 / fmax(d.reference2, 1e-300));
  const bool good = relative <= bar;
  printf("    %-10s %.1e%s\n", what, relative, good ? "" : "  TOO LARGE");
  return good;
}

static void report(const char *stage, struct number_difference d, double bar) {
  failures += !report_difference(stage, d, bar);
}

bool report_whether(const char *what, bool good) {
  printf("    %-10s %s\n", what, good ? "as they should be" : "WRONG");
  return good;
}

static void report_good(const char *what, bool good) { failures += !report_whether(what, good); }

void *gas_device_memory(size_t bytes) {
  void *memory;
  CUDA(cudaMalloc(&memory, bytes));
  return memory;
}

void *gas_to_device(const void *from, size_t bytes) {
  void *to = gas_device_memory(bytes);
  CUDA(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice));
  return to;
}

/* Stages. */

/** A batch with all that stages write, on the host and on the device. */
struct twin {
  char *now, *before;                                    /* cells, on the device */
  char *blocks, *cells, *fluxes, *sides;                 /* the CPU's results */
  char *blocks_out, *cells_out, *fluxes_out, *sides_out; /* the GPU's, on the device */
  struct gas_links *links;                               /* on the device */
};

struct stages {
  struct gas *g;
  struct gpu *gpu;
  cudaStream_t stream;
  struct twin *twin[GAS_LEVELS_MAX];
  struct number_difference prepare, solve, fluxes, close, fix, restricted, regrid, cut, paste,
      speed, sum;
  bool same_flags, same_faults;
  uint32_t faces, interpolated; /* whose fluxes were replaced; groups */
  uint32_t warmed;              /* cells */
};

static size_t real_of(const struct stages *s) { return s->g->kernels->real_size; }
static struct gpu_gas gpu_gas_of(const struct stages *s, const struct gas_batch *b) {
  return (struct gpu_gas){s->gpu, s->g->physics, real_of(s) == sizeof(double), b->count};
}

/** What the GPU wrote, on the host; free() it. */
static void *from_device(const struct stages *s, const void *from, size_t bytes) {
  void *to = allocate(bytes, 1, "results of the GPU");
  CUDA(cudaStreamSynchronize(s->stream));
  CUDA(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost));
  return to;
}

static void compare_device(struct stages *s, struct number_difference *d, const void *cpu,
                           const void *gpu, size_t bytes) {
  void *back = from_device(s, gpu, bytes);
  compare_numbers(d, real_of(s), cpu, back, bytes);
  free(back);
}

/** Cells on the host, whose handle is acquired. */
static const char *on_host(starpu_data_handle_t cells) {
  return (const char *)starpu_vector_get_local_ptr(cells);
}

static void make_twin(const struct stages *s, const struct gas_level *l, const struct gas_batch *b,
                      struct twin *t) {
  const struct gas *g = s->g;
  const size_t cells = b->count * gas_group_bytes(g), blocks = b->count * gas_block_bytes(g),
               fluxes = b->count * gas_fluxes_bytes(g), sides = b->count * gas_sides_bytes(g);
  t->now = gas_to_device(on_host(b->handle[l->now]), cells);
  t->before = gas_to_device(on_host(b->handle[1 - l->now]), cells);
  t->blocks = allocate(blocks, 1, "blocks");
  t->cells = allocate(cells, 1, "cells");
  t->fluxes = allocate(fluxes, 1, "fluxes");
  t->sides = allocate(sides, 1, "sides");
  t->blocks_out = gas_device_memory(blocks);
  t->cells_out = gas_device_memory(cells);
  t->fluxes_out = gas_device_memory(fluxes);
  t->sides_out = gas_device_memory(sides);
  t->links = gas_to_device(b->link, b->count * sizeof *b->link);
}

static void free_twin(struct twin *t) {
  free(t->blocks);
  free(t->cells);
  free(t->fluxes);
  free(t->sides);
  void *const device[] = {t->now,        t->before,    t->blocks_out, t->cells_out,
                          t->fluxes_out, t->sides_out, t->links};
  for (size_t i = 0; i < sizeof device / sizeof *device; i++) CUDA(cudaFree(device[i]));
}

/** Host and device addresses of what a block is made from. */
static size_t list_sources(const struct stages *s, int level, const struct gas_batch *b,
                           const char **host, const char **device) {
  size_t n = 0;
  for (int part = 0; part < 3; part++) {
    const struct batch_list *list = part == 0 ? &b->near : &b->coarse;
    const int from = part == 0 ? level : level - 1;
    for (uint32_t i = 0; i < list->count; i++, n++) {
      const struct gas_level *l = &s->g->level[from];
      const struct twin *t = &s->twin[from][list->batch[i]];
      host[n] = on_host(l->batch[list->batch[i]].handle[part < 2 ? l->now : 1 - l->now]);
      device[n] = part < 2 ? t->now : t->before;
    }
  }
  return n;
}

static void check_prepare(struct stages *s, int level, const struct gas_batch *b, struct twin *t) {
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
    const struct gpu_gas g = gpu_gas_of(s, b);
    gpu_gas_prepare(&g, &gpu, t->blocks_out);
    compare_device(s, &s->prepare, t->blocks, t->blocks_out, b->count * gas_block_bytes(s->g));
  }
  CUDA(cudaMemcpy(t->blocks_out, t->blocks, b->count * gas_block_bytes(s->g),
                  cudaMemcpyHostToDevice));
}

static void check_step(struct stages *s, int level, const struct gas_batch *b, struct twin *t,
                       struct gas_fault *fault) {
  const struct gas *g = s->g;
  const struct gas_kernels *k = g->kernels;
  const struct gpu_gas gpu = gpu_gas_of(s, b);
  const double dt_dh = 0.4 / g->level[level].speed[b->first];
  void *scratch = aligned_alloc(64, (k->scratch_bytes + 63) / 64 * 64);
  for (int reversed = 1; reversed >= 0; reversed--) {
    for (uint32_t i = 0; i < b->count; i++) {
      struct gas_fault found;
      fault[i].patch = -1;
      k->solve(&g->physics, dt_dh, reversed, t->blocks + i * gas_block_bytes(g),
               t->cells + i * gas_group_bytes(g), t->fluxes + i * gas_fluxes_bytes(g), scratch,
               &found);
    }
    gpu_gas_solve(&gpu, dt_dh, reversed, t->blocks_out, t->cells_out, t->fluxes_out, fault);
    compare_device(s, &s->solve, t->cells, t->cells_out, b->count * gas_group_bytes(g));
    compare_device(s, &s->fluxes, t->fluxes, t->fluxes_out, b->count * gas_fluxes_bytes(g));
    for (uint32_t i = 0; i < b->count; i++) s->same_faults &= fault[i].patch == -1;
  }
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
  const double gamma = s->g->physics.gamma;
  uint32_t count = 0;
  for (size_t i = 0; i < (size_t)b->count * GAS_GROUP_CELLS; i++) {
    const char *cell = t->cells + i / GAS_GROUP_CELLS * gas_group_bytes(s->g);
    double u[GAS_ENERGY + 1], square = 0.0;
    for (size_t v = 0; v <= GAS_ENERGY; v++)
      u[v] = value(real_of(s), cell, v * GAS_GROUP_CELLS + i % GAS_GROUP_CELLS);
    for (int v = GAS_MOMENTUM_X; v <= GAS_MOMENTUM_Z; v++) square += u[v] * u[v];
    const double heat = (gamma - 1.0) * (u[GAS_ENERGY] - 0.5 * square / u[0]) / u[0];
    count += fabs(heat - LEAST_HEAT) < 1e-4;
  }
  return count;
}

static void check_solve(struct stages *s, int level, const struct gas_batch *b, struct twin *t,
                        struct gas_fault *fault) {
  const struct gas *g = s->g;
  const struct gas_physics physics = g->physics;
  if (b->first == 0) { /* the first batch of a level is enough */
    s->g->physics = comoving(&physics);
    check_step(s, level, b, t, fault);
    s->warmed += count_warmed(s, b, t);
    s->g->physics = physics;
  }
  check_step(s, level, b, t, fault);
  CUDA(
      cudaMemcpy(t->fluxes_out, t->fluxes, b->count * gas_fluxes_bytes(g), cudaMemcpyHostToDevice));
}

static void check_close(struct stages *s, const struct gas_batch *b, struct twin *t) {
  const struct gas *g = s->g;
  const struct gpu_gas gpu = gpu_gas_of(s, b);
  for (int step = 0; step < 2; step++) {
    for (uint32_t i = 0; i < b->count; i++)
      g->kernels->flux_add(g->variables, t->fluxes + i * gas_fluxes_bytes(g), 0.5,
                           t->sides + i * gas_sides_bytes(g));
    gpu_gas_close(&gpu, 0.5, step == 0, t->fluxes_out, t->sides_out);
  }
  compare_device(s, &s->close, t->sides, t->sides_out, b->count * gas_sides_bytes(g));
  CUDA(cudaMemcpy(t->sides_out, t->sides, b->count * gas_sides_bytes(g), cudaMemcpyHostToDevice));
}

/** Speeds, and the fault of a cell without a positive energy. */
static void check_speed(struct stages *s, const struct gas_batch *b, struct twin *t, void *pinned) {
  const struct gas *g = s->g;
  const struct gpu_gas gpu = gpu_gas_of(s, b);
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
      const double cpu = g->kernels->largest_speed(&g->physics, broken + i * gas_group_bytes(g),
                                                   &found);
      s->same_faults &= fault[i].patch == found.patch && (found.patch < 0) == (pass == 0 || i > 0);
      s->same_faults &= found.patch < 0 || found.cell == fault[i].cell;
      compare_numbers(&s->speed, sizeof cpu, &cpu, &speed[i], sizeof cpu);
    }
    memset(broken + wrong, 0, real_of(s)); /* the energy of a cell of the first group is 0 */
  }
  free(broken);
}

static void check_sum(struct stages *s, int level, const struct gas_batch *b, struct twin *t,
                      void *pinned) {
  const struct gas *g = s->g;
  const struct gpu_gas gpu = gpu_gas_of(s, b);
  double(*sum)[GAS_VARIABLES_MAX] = pinned;
  gpu_gas_sum(&gpu, t->links, t->now, sum);
  CUDA(cudaStreamSynchronize(s->stream));
  for (uint32_t i = 0; i < b->count; i++)
    for (unsigned v = 0; v < g->variables; v++) {
      const void *cells = on_host(b->handle[g->level[level].now]) + i * gas_group_bytes(g);
      double cpu = 0.0;
      for (size_t k = 0; k < GAS_GROUP_CELLS; k++)
        if (g->topology.level[level].group[b->first + i].son[k / GAS_PATCH_CELLS] == NO_GROUP)
          cpu += value(real_of(s), cells, v * GAS_GROUP_CELLS + k);
      compare_numbers(&s->sum, sizeof cpu, &cpu, &sum[i][v], sizeof cpu);
    }
}

/** A message with all groups of two batches. */
struct ghost_check {
  enum gpu_ghost_kind kind;
  uint32_t ghosts, parts;
  struct gpu_ghost *ghost;
  size_t bytes;            /* of a group in the batches */
  const char *from[2];     /* the batches on the host */
  const char *from_out[2]; /* and on the device */
  uint32_t groups[2];      /* of the batches */
  size_t packed_bytes;
};

static struct ghost_check make_ghosts(const struct stages *s, int level, const struct gas_batch *b,
                                      const struct twin *t, enum gpu_ghost_kind kind) {
  const struct gas *g = s->g;
  const struct gas_level *l = &g->level[level];
  const struct gas_batch *batch[] = {&l->batch[0], b};
  const struct twin *twin[] = {&s->twin[level][0], t};
  const bool sides = kind == GPU_GHOST_SIDES;
  struct ghost_check c = {.kind = kind,
                          .ghosts = batch[0]->count + b->count,
                          .bytes = sides ? gas_sides_bytes(g) : gas_group_bytes(g)};
  c.ghost = allocate(c.ghosts, sizeof *c.ghost, "ghosts");
  uint64_t random = 1;
  for (uint32_t k = 0, n = 0; k < 2; k++) {
    c.from[k] = sides ? twin[k]->sides : on_host(batch[k]->handle[l->now]);
    c.from_out[k] = sides ? twin[k]->sides_out : twin[k]->now;
    c.groups[k] = batch[k]->count;
    for (uint32_t i = 0; i < batch[k]->count; i++, n++) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      const uint64_t parts = kind == GPU_GHOST_MEANS ? 1 : sides ? random >> 58 : random;
      c.ghost[n] = (struct gpu_ghost){k, i, c.parts, (3 * n + 1) % GAS_PATCHES, parts};
      c.parts += (uint32_t)__builtin_popcountll(parts);
    }
  }
  if (kind == GPU_GHOST_MEANS)
    c.packed_bytes = (c.parts + GAS_PATCHES - 1) / GAS_PATCHES * gas_group_bytes(g);
  else
    c.packed_bytes = c.parts * g->variables * (size_t)GAS_FACE_CELLS * real_of(s);
  return c;
}

/** Cell x, y, z of a group. */
static size_t place_of(size_t variable, size_t x, size_t y, size_t z) {
  const size_t patch = x / 8 + 2 * (y / 8) + 4 * (z / 8);
  return ((variable * GAS_PATCHES + patch) * 8 + z % 8) * 64 + y % 8 * 8 + x % 8;
}

/** Value k of part `part` of a group. */
static size_t value_of_part(const struct gas *g, enum gpu_ghost_kind kind, size_t part, size_t k) {
  if (kind == GPU_GHOST_SIDES) return part * g->variables * GAS_FACE_CELLS + k;
  const size_t cell = k % GAS_FACE_CELLS;
  return place_of(k / GAS_FACE_CELLS, 4 * (part & 3) + (cell & 3),
                  4 * (part >> 2 & 3) + (cell >> 2 & 3), 4 * (part >> 4) + (cell >> 4));
}

/** What the message must hold, and what becomes of zeroed batches by pasting it. */
static void expect_ghosts(const struct stages *s, const struct ghost_check *c, char *packed,
                          char *const pasted[2]) {
  const struct gas *g = s->g;
  const size_t real = real_of(s), values = g->variables * (size_t)GAS_FACE_CELLS;
  for (uint32_t i = 0; i < c->ghosts; i++) {
    const struct gpu_ghost *ghost = &c->ghost[i];
    const char *from = c->from[ghost->batch] + ghost->group * c->bytes;
    char *to = pasted[ghost->batch] + ghost->group * c->bytes;
    if (c->kind == GPU_GHOST_MEANS) {
      char *group = packed + i / GAS_PATCHES * gas_group_bytes(g);
      g->kernels->restrict_group(g->variables, from, group, (int)(i % GAS_PATCHES));
      for (size_t v = 0; v < g->variables; v++)
        memcpy(to + (v * GAS_PATCHES + ghost->patch) * GAS_PATCH_CELLS * real,
               group + (v * GAS_PATCHES + i % GAS_PATCHES) * GAS_PATCH_CELLS * real,
               GAS_PATCH_CELLS * real);
      continue;
    }
    char *next = packed + ghost->first * values * real;
    for (size_t part = 0; part < 64; part++)
      for (size_t k = 0; (ghost->parts >> part & 1) && k < values; k++, next += real) {
        const size_t at = value_of_part(g, c->kind, part, k) * real;
        memcpy(next, from + at, real);
        memcpy(to + at, from + at, real);
      }
  }
}

static void check_ghosts(struct stages *s, int level, const struct gas_batch *b, struct twin *t) {
  for (int kind = GPU_GHOST_CELLS; kind <= GPU_GHOST_MEANS; kind++) {
    struct ghost_check c = make_ghosts(s, level, b, t, (enum gpu_ghost_kind)kind);
    char *packed = allocate(c.packed_bytes, 1, "a message"), *pasted[2], *pasted_out[2];
    for (int k = 0; k < 2; k++) {
      pasted[k] = allocate(c.groups[k], c.bytes, "ghosts");
      pasted_out[k] = gas_to_device(pasted[k], c.groups[k] * c.bytes);
    }
    char *packed_out = gas_to_device(packed, c.packed_bytes);
    expect_ghosts(s, &c, packed, pasted);
    struct gpu_gas g = gpu_gas_of(s, b);
    g.groups = c.ghosts;
    struct gpu_message m = {(enum gpu_ghost_kind)kind, c.ghost, c.from_out, 2};
    gpu_gas_cut(&g, &m, packed_out);
    compare_device(s, &s->cut, packed, packed_out, c.packed_bytes);
    m.batch = (const char *const *)pasted_out;
    gpu_gas_paste(&g, &m, packed_out);
    for (int k = 0; k < 2; k++) {
      compare_device(s, &s->paste, pasted[k], pasted_out[k], c.groups[k] * c.bytes);
      CUDA(cudaFree(pasted_out[k]));
      free(pasted[k]);
    }
    CUDA(cudaFree(packed_out));
    free(packed);
    free(c.ghost);
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

/** Where the entropy decides everywhere, interpolation and fix-up keep it. */
static struct gas_physics cold(const struct gas_physics *physics) {
  struct gas_physics p = *physics;
  p.dual_energy_switch = 2.0;
  p.dual_energy_change = 0.1;
  p.least_heat = LEAST_HEAT;
  return p;
}

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
  char *cells_out = gas_device_memory(b->count * bytes);
  const struct gpu_gas on_gpu = gpu_gas_of(s, b);
  gpu_gas_regrid(&on_gpu, &gpu, old_out, 2, move, cells_out);
  compare_device(s, &s->regrid, cells, cells_out, b->count * bytes);
  CUDA(cudaFree(cells_out));
  free(block);
  free(cells);
}

static void check_regrid(struct stages *s, int level, const struct gas_batch *b, struct twin *t) {
  const struct gas_physics physics = s->g->physics;
  check_moves(s, level, b, t);
  s->g->physics = cold(&physics);
  check_moves(s, level, b, t);
  s->g->physics = physics;
}

/** Flags of thresholds that some cells reach and others do not. */
static void check_flags(struct stages *s, const struct gas_batch *b, struct twin *t, void *pinned) {
  static const struct gas_flags criteria[] = {{.density = 0.6},
                                              {.particles = 2.9},
                                              {.gradient_density = 0.0123},
                                              {.gradient_pressure = 0.0123},
                                              {.loehner = 0.4321, .loehner_filter = 0.01}};
  const struct gpu_gas gpu = gpu_gas_of(s, b);
  uint32_t(*flags)[GAS_PATCHES] = pinned;
  struct gas_matter *matter = make_matter(b->count),
                    *matter_out = gas_to_device(matter, b->count * sizeof *matter);
  for (size_t c = 0; c < 2 * (sizeof criteria / sizeof *criteria); c++) {
    const struct gas_flags *criterion = &criteria[c / 2];
    gpu_gas_flag(&gpu, criterion, 3, t->blocks_out, c % 2 ? matter_out : NULL, flags);
    CUDA(cudaStreamSynchronize(s->stream));
    for (uint32_t i = 0; i < b->count; i++) {
      uint32_t cpu[GAS_PATCHES];
      double more[GAS_GROUP_CELLS];
      for (size_t k = 0; k < GAS_GROUP_CELLS; k++) more[k] = matter_density(&matter[i], k);
      s->g->kernels->flag(&s->g->physics, criterion, t->blocks + i * gas_block_bytes(s->g),
                          c % 2 ? more : NULL, 3, cpu);
      s->same_flags &= memcmp(cpu, flags[i], sizeof cpu) == 0;
    }
  }
  CUDA(cudaFree(matter_out));
  free(matter);
}

/** The fix-up of a batch, whose finer batches have been solved.
 * @param cells, cells_out  of the batch, on the host and on the device */
static void check_fix(struct stages *s, const struct gas_batch *b, struct twin *t,
                      const struct twin *finer, char *cells, char *cells_out) {
  const struct gas *g = s->g;
  const struct gpu_gas gpu = gpu_gas_of(s, b);
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
        g->kernels->flux_fix(&g->physics, dt_dh, face,
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

static void check_cold_fix(struct stages *s, const struct gas_batch *b, struct twin *t,
                           const struct twin *finer) {
  const struct gas_physics physics = s->g->physics;
  const size_t bytes = b->count * gas_group_bytes(s->g);
  char *cells = memcpy(allocate(bytes, 1, "cells"), t->cells, bytes),
       *cells_out = gas_to_device(cells, bytes);
  s->g->physics = cold(&physics);
  check_fix(s, b, t, finer, cells, cells_out);
  s->g->physics = physics;
  CUDA(cudaFree(cells_out));
  free(cells);
}

static void check_restrict(struct stages *s, int level, const struct gas_batch *b, struct twin *t) {
  const struct gas *g = s->g;
  const struct gpu_gas gpu = gpu_gas_of(s, b);
  const struct gas_group *group = &g->topology.level[level].group[b->first];
  const char *cells[b->sons.count + 1];
  for (uint32_t i = 0; i < b->sons.count; i++)
    cells[i] = s->twin[level + 1][b->sons.batch[i]].cells_out;
  for (uint32_t i = 0; i < b->count; i++)
    for (int p = 0; p < GAS_PATCHES; p++) {
      const uint32_t son = group[i].son[p];
      if (son == NO_GROUP) continue;
      const struct twin *f = &s->twin[level + 1][son / g->batch];
      g->kernels->restrict_group(g->variables, f->cells + son % g->batch * gas_group_bytes(g),
                                 t->cells + i * gas_group_bytes(g), p);
    }
  if (b->sons.count > 0) gpu_gas_restrict(&gpu, t->links, cells, b->sons.count, t->cells_out);
  compare_device(s, &s->restricted, t->cells, t->cells_out, b->count * gas_group_bytes(g));
}

static void check_batch(struct stages *s, int level, uint32_t i) {
  const struct gas_batch *b = &s->g->level[level].batch[i];
  struct twin *t = &s->twin[level][i];
  const size_t bytes = b->count *
                       (sizeof(double[1 + GAS_VARIABLES_MAX]) + sizeof(struct gas_fault));
  void *pinned;
  CUDA(cudaMallocHost(&pinned, bytes));
  check_prepare(s, level, b, t);
  check_solve(s, level, b, t, pinned);
  check_close(s, b, t);
  check_speed(s, b, t, pinned);
  check_sum(s, level, b, t, pinned);
  check_flags(s, b, t, pinned);
  CUDA(
      cudaMemcpy(t->cells_out, t->cells, b->count * gas_group_bytes(s->g), cudaMemcpyHostToDevice));
  check_cold_fix(s, b, t, s->twin[level + 1]);
  check_fix(s, b, t, s->twin[level + 1], t->cells, t->cells_out);
  check_restrict(s, level, b, t);
  check_regrid(s, level, b, t);
  check_ghosts(s, level, b, t);
  CUDA(
      cudaMemcpy(t->cells_out, t->cells, b->count * gas_group_bytes(s->g), cudaMemcpyHostToDevice));
  CUDA(cudaFreeHost(pinned));
}

void start_engine(const struct parameters *p, bool gpu) {
  struct parameters settings = *p;
  settings.runtime.gpu = gpu ? GPU_REQUIRE : GPU_NO;
  engine_start(&settings, NULL);
}

/** Take over all cells, present ones and those before the last step, or give them back. */
static void hold_cells(struct gas *g, bool hold) {
  for (int level = 0; level < topology_levels(&g->topology); level++)
    for (uint32_t i = 0; i < g->level[level].batch_count; i++)
      for (int k = 0; k < 2; k++) {
        starpu_data_handle_t handle = g->level[level].batch[i].handle[k];
        if (hold)
          handle_acquire(handle, STARPU_R);
        else
          starpu_data_release(handle);
      }
}

/** All stages on the levels of a tube along the diagonal, with each kind of boundary. */
static void check_stages(int solver, int precision) {
  static const char text[] =
      "[run]\nsystem = gas\n[ic]\nsource = sod\ndirection = diagonal\n[gas]\n"
      "root = " STAGES_ROOT "\nlevels = 2\nregrid = 100\nbuffer = 4\nbatch = 6\n"
      "flag_gradient_density = 0.05\nx_low = outflow\nx_high = reflecting\n"
      "z_low = reflecting\nz_high = outflow\nsolver = %s\nprecision = %s\n"
      "[time]\nend = 1\n";
  struct parameters p;
  char given[TEXT];
  snprintf(given, sizeof given, text, solvers[solver], precisions[precision]);
  parameters_from_text(&p, given, NULL, 0);
  start_engine(&p, true);
  const struct gas_ic ic = gas_ic_make(&p);
  struct stages s = {.g = gas_create(&p), .same_flags = true, .same_faults = true};
  gas_begin(s.g, &ic);
  for (int i = 0; i < 3; i++) gas_step(s.g, 0.4 * gas_measure(s.g).longest_step);
  gas_measure(s.g);
  hold_cells(s.g, true);
  CUDA(cudaStreamCreate(&s.stream));
  s.gpu = gpu_create(s.stream, NULL);
  const int levels = topology_levels(&s.g->topology);
  printf("  %s, %s precision, %d levels: difference of CUDA from CPU, relative\n", solvers[solver],
         precisions[precision], levels);
  for (int l = 0; l < levels; l++) {
    s.twin[l] = allocate(s.g->level[l].batch_count, sizeof *s.twin[l], "batches");
    for (uint32_t i = 0; i < s.g->level[l].batch_count; i++)
      make_twin(&s, &s.g->level[l], &s.g->level[l].batch[i], &s.twin[l][i]);
  }
  for (int l = levels - 1; l >= 0; l--)
    for (uint32_t i = 0; i < s.g->level[l].batch_count; i++) check_batch(&s, l, i);
  const double bar = stage_bar[precision];
  report_good("levels", levels == 3);
  report("prepare", s.prepare, bar);
  report("solve", s.solve, bar);
  report_good("warmed", s.warmed > 0);
  report("fluxes", s.fluxes, bar);
  report("close", s.close, bar);
  report_good("faces", s.faces > 0);
  report("fix", s.fix, bar);
  report("restrict", s.restricted, bar);
  report_good("new groups", s.interpolated > 0);
  report("regrid", s.regrid, bar);
  report("cut", s.cut, bar);
  report("paste", s.paste, bar);
  report("speed", s.speed, bar);
  report("sum", s.sum, 1e-13);
  report_good("flags", s.same_flags);
  report_good("faults", s.same_faults);
  for (int l = 0; l < levels; l++) {
    for (uint32_t i = 0; i < s.g->level[l].batch_count; i++) free_twin(&s.twin[l][i]);
    free(s.twin[l]);
  }
  gpu_free(s.gpu);
  CUDA(cudaStreamDestroy(s.stream));
  hold_cells(s.g, false);
  gas_free(s.g);
  engine_stop();
}

/* Whole runs. */

struct result {
  int levels;
  uint32_t count[GAS_LEVELS_MAX];
  uint64_t *keys[GAS_LEVELS_MAX];
  char *cells[GAS_LEVELS_MAX], *potential[GAS_LEVELS_MAX]; /* potential: NULL without gravity */
  size_t real, bytes;                                      /* of a number, of a group */
  struct gas_totals begin, end;
  unsigned variables;
  uint64_t host_bytes; /* that the host took over in regriddings after the start */
  size_t particles;
  struct gas_particle *particle; /* in the order of their numbers */
};

static int compare_particles(const void *a, const void *b) {
  const struct gas_particle *x = a, *y = b;
  return (x->number > y->number) - (x->number < y->number);
}

/** The particles of all levels; the host has them. */
static void copy_particles(const struct gas_particles *s, struct result *r) {
  r->particles = s->count;
  r->particle = allocate(r->particles, sizeof *r->particle, "particles");
  for (size_t l = 0, n = 0; l < GAS_LEVELS_MAX; n += s->level[l++].count)
    for (size_t i = 0; i < s->level[l].count; i++) r->particle[n + i] = s->level[l].particle[i];
  qsort(r->particle, r->particles, sizeof *r->particle, compare_particles);
}

static struct result run(const struct parameters *p, bool gpu, int steps) {
  const struct gas_ic ic = gas_ic_make(p);
  start_engine(p, gpu);
  struct gas *g = gas_create(p);
  if (g->particles) gas_particles_begin(g, p);
  gas_begin(g, &ic);
  if (g->gravity) gravity_solve(g, 0, 1.0);
  struct result r = {.begin = gas_measure(g)};
  r.end = r.begin;
  r.host_bytes = g->host_bytes;
  for (int i = 0; i < steps; i++) {
    gas_step(g, 0.4 * r.end.longest_step);
    r.end = gas_measure(g);
  }
  r.host_bytes = g->host_bytes - r.host_bytes;
  r.levels = topology_levels(&g->topology);
  r.real = g->kernels->real_size;
  r.bytes = gas_group_bytes(g);
  r.variables = g->variables;
  gas_acquire(g, STARPU_R);
  for (int l = 0; l < r.levels; l++) {
    const struct gas_tree_level *t = &g->topology.level[l];
    r.count[l] = t->count;
    r.keys[l] = memcpy(allocate(t->count, sizeof *t->key, "keys"), t->key,
                       t->count * sizeof *t->key);
    r.cells[l] = allocate(t->count, r.bytes, "cells");
    for (uint32_t i = 0; i < t->count; i++)
      memcpy(r.cells[l] + i * r.bytes, gas_cells(g, l, i), r.bytes);
    if (!g->gravity) continue;
    r.potential[l] = allocate(t->count, GAS_GROUP_CELLS * r.real, "potentials");
    for (uint32_t i = 0; i < t->count; i++)
      gravity_copy_potential(g, l, i, r.potential[l] + i * GAS_GROUP_CELLS * r.real);
  }
  if (g->particles) copy_particles(g->particles, &r);
  gas_release(g);
  gas_free(g);
  engine_stop();
  return r;
}

static void free_result(struct result *r) {
  free(r->particle);
  for (int l = 0; l < r->levels; l++) {
    free(r->keys[l]);
    free(r->cells[l]);
    free(r->potential[l]);
  }
}

/** Mass and energy; the momentum is zero by symmetry, and is measured against the mass. */
static double lost(const struct result *r) {
  double most = 0.0;
  for (int v = GAS_DENSITY; v <= GAS_ENERGY; v++) {
    const double size = v == GAS_ENERGY ? r->begin.conserved[v] : r->begin.conserved[GAS_DENSITY];
    most = fmax(most, fabs(r->end.conserved[v] - r->begin.conserved[v]) / size);
  }
  return most;
}

static bool same_topology(const struct result *a, const struct result *b) {
  bool same = a->levels == b->levels;
  for (int l = 0; same && l < a->levels; l++)
    same = a->count[l] == b->count[l] &&
           memcmp(a->keys[l], b->keys[l], a->count[l] * sizeof *a->keys[l]) == 0;
  return same;
}

/** Variables of cells whose numbers are of one size. */
enum cell_kind { KIND_DENSITY, KIND_MOMENTUM, KIND_ENERGY, KIND_ENTROPY, CELL_KINDS };
static const char *const kinds[CELL_KINDS] = {"density", "momentum", "energy", "entropy"};

static void compare_cells(struct number_difference d[CELL_KINDS], const struct result *cpu,
                          const struct result *gpu, int level) {
  static const enum cell_kind kind_of[GAS_VARIABLES_MAX] = {
      KIND_DENSITY, KIND_MOMENTUM, KIND_MOMENTUM, KIND_MOMENTUM, KIND_ENERGY, KIND_ENTROPY};
  const size_t bytes = GAS_GROUP_CELLS * cpu->real;
  for (size_t i = 0; i < (size_t)cpu->count[level] * cpu->variables; i++)
    compare_numbers(&d[kind_of[i % cpu->variables]], cpu->real, cpu->cells[level] + i * bytes,
                    gpu->cells[level] + i * bytes, bytes);
}

static bool report_particles(const struct result *cpu, const struct result *gpu, double bar) {
  struct number_difference place = {0, 0}, velocity = {0, 0};
  for (size_t i = 0; i < cpu->particles; i++) {
    const struct gas_particle *a = &cpu->particle[i], *b = &gpu->particle[i];
    compare_numbers(&place, sizeof(double), a->position, b->position, sizeof a->position);
    compare_numbers(&velocity, sizeof(double), a->velocity, b->velocity, sizeof a->velocity);
  }
  const bool good = report_difference("places", place, bar);
  return report_difference("velocities", velocity, bar) && good;
}

int compare_gas_runs(const char *text, const char *name, int steps, double bar,
                     double entropy_bar) {
  struct parameters p;
  parameters_from_text(&p, text, NULL, 0);
  struct result cpu = run(&p, false, steps), gpu = run(&p, true, steps);
  struct number_difference cells[CELL_KINDS] = {{0, 0}}, potentials = {0, 0};
  int wrong = 0;
  printf("  %s: %d steps on %d levels\n", name, steps, gpu.levels);
  const bool same = same_topology(&cpu, &gpu);
  wrong += !report_whether("refinement", same);
  if (p.gas.solver != GAS_NONE) /* the host makes empty cells */
    wrong += !report_whether("no copies", gpu.host_bytes == 0);
  for (int l = 0; same && l < cpu.levels; l++) {
    compare_cells(cells, &cpu, &gpu, l);
    if (cpu.potential[l])
      compare_numbers(&potentials, cpu.real, cpu.potential[l], gpu.potential[l],
                      cpu.count[l] * GAS_GROUP_CELLS * cpu.real);
  }
  for (int kind = 0; kind < CELL_KINDS; kind++)
    if (cells[kind].reference2 > 0.0 || cells[kind].difference2 > 0.0)
      wrong += !report_difference(kinds[kind], cells[kind],
                                  kind == KIND_ENTROPY ? entropy_bar : bar);
  if (cpu.particles > 0) wrong += !report_particles(&cpu, &gpu, bar);
  if (cpu.potential[0])
    wrong += !report_difference("potential", potentials, bar);
  else /* gravity changes momentum and energy */
    wrong += !report_difference("conserved",
                                (struct number_difference){lost(&gpu) * lost(&gpu), 1.0}, bar);
  free_result(&cpu);
  free_result(&gpu);
  return wrong;
}

/** A blast in a periodic box on three levels that follow it, on cores and on GPUs. */
static void check_run(int solver, int precision, bool fused) {
  static const char text[] =
      "[run]\nsystem = gas\n[ic]\nsource = blast\n[gas]\nroot = 32, 32, 32\nlevels = 2\n"
      "regrid = 2\nbuffer = 4\nbatch = 12\nflag_gradient_pressure = 0.3\nsolver = %s\n"
      "precision = %s\nfused = %s\n[time]\nend = 1\n";
  char given[TEXT], name[TEXT];
  snprintf(given, sizeof given, text, solvers[solver], precisions[precision], fused ? "yes" : "no");
  snprintf(name, sizeof name, "%s, %s precision, fused = %s", solvers[solver],
           precisions[precision], fused ? "yes" : "no");
  failures += compare_gas_runs(given, name, GAS_STEPS, run_bar[precision], run_bar[precision]);
}

#ifdef CUDA_ON_CORES
extern unsigned long cores_launches(int gpu);

/** Runs on two GPUs, neither of which can read the other's memory: small batches, so that both have
 * some, groups that move between batches, and self-gravity. */
static void check_two_gpus(void) {
  static const char text[] =
      "[run]\nsystem = gas\n[ic]\nsource = blast\n[gas]\nroot = 32, 32, 32\nlevels = 2\n"
      "regrid = 1\nbuffer = 4\nbatch = 4\nflag_gradient_pressure = 0.3\n%s\n[time]\nend = 1\n";
  static const char *const more[] = {"solver = rtvd", "fused = no\nprecision = double",
                                     "gravity = self\nnewton_constant = 0.1"};
  static const double bar[] = {1e-5, 1e-12, 1e-5};
  puts("runs of gas on two GPUs:");
  setenv("CORES_GPUS", "2", 1);
  setenv("STARPU_NWORKER_PER_CUDA", "1", 1);
  for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
    char given[TEXT];
    const unsigned long before[2] = {cores_launches(0), cores_launches(1)};
    snprintf(given, sizeof given, text, more[i]);
    failures += compare_gas_runs(given, more[i], GAS_STEPS, bar[i], bar[i]);
    report_good("both GPUs", cores_launches(0) > before[0] && cores_launches(1) > before[1]);
  }
  unsetenv("CORES_GPUS");
  unsetenv("STARPU_NWORKER_PER_CUDA");
}
#else
static void check_two_gpus(void) {}
#endif

int check_gas_on_two_gpus(void) {
  failures = 0;
  check_two_gpus();
  return failures;
}

int check_gas(void) {
  failures = 0;
  puts("stages of gas:");
  for (int solver = 0; solver < SOLVERS; solver++)
    for (int precision = 0; precision < PRECISIONS; precision++) check_stages(solver, precision);
  puts("runs of gas:");
  for (int solver = 0; solver < SOLVERS; solver++)
    for (int precision = 0; precision < PRECISIONS; precision++)
      for (int fused = 1; fused >= 0; fused--) check_run(solver, precision, fused);
  check_two_gpus();
  return failures;
}

/* Rates. */

/** A batch of groups, each of which is its own neighbour on all sides, on the device. */
struct bench {
  struct gpu *gpu;
  cudaStream_t stream;
  struct gpu_gas g;
  struct gpu_sources sources;
  const char *cells[1];
  char *blocks, *fluxes, *sides;
  double *pinned;
};

enum bench_stage { PREPARE, SOLVE, CLOSE, CFL, SUM, FLAG, BENCH_STAGES };

static void run_stage(struct bench *b, enum bench_stage stage, bool odd) {
  static const struct gas_flags criteria = {.loehner = 0.9, .loehner_filter = 0.01};
  void *cells = (void *)(uintptr_t)b->cells[0];
  switch (stage) {
  case PREPARE: gpu_gas_prepare(&b->g, &b->sources, b->blocks); break;
  case SOLVE:
    gpu_gas_solve(&b->g, 0.2, odd, b->blocks, cells, b->fluxes, (struct gas_fault *)b->pinned);
    break;
  case CLOSE: gpu_gas_close(&b->g, 0.5, false, b->fluxes, b->sides); break;
  case CFL:
    gpu_gas_cfl(&b->g, cells, b->pinned + 3 * (size_t)b->g.groups, (struct gas_fault *)b->pinned);
    break;
  case SUM:
    gpu_gas_sum(&b->g, b->sources.links, cells, (double(*)[GAS_VARIABLES_MAX])(void *)b->pinned);
    break;
  default:
    gpu_gas_flag(&b->g, &criteria, 4, b->blocks, NULL, (uint32_t(*)[GAS_PATCHES])(void *)b->pinned);
  }
}

/** 10^9 cells a second. */
static double stage_rate(struct bench *b, enum bench_stage stage) {
  enum { REPEATS = 20 };
  for (uint32_t i = 0; i < b->g.groups; i++) ((struct gas_fault *)b->pinned)[i].patch = -1;
  run_stage(b, stage, false);
  CUDA(cudaStreamSynchronize(b->stream));
  const double begin = wall_clock();
  for (int i = 0; i < REPEATS; i++) run_stage(b, stage, i % 2);
  CUDA(cudaStreamSynchronize(b->stream));
  return 1e-9 * REPEATS * (double)b->g.groups * GAS_GROUP_CELLS / (wall_clock() - begin);
}

/** Gas in random subsonic motion. */
static char *random_cells(size_t groups, unsigned variables, size_t real) {
  const size_t values = groups * variables * GAS_GROUP_CELLS;
  char *cells = allocate(values, real, "cells");
  uint32_t random = 1;
  for (size_t i = 0; i < values; i++) {
    const size_t v = i / GAS_GROUP_CELLS % variables;
    random = random * 1664525u + 1013904223u;
    const double x = random * 0x1p-32;
    const double u = v == GAS_DENSITY ? 1.0 + 0.2 * x : v == GAS_ENERGY ? 3.0 + 0.3 * x : 0.4 * x;
    if (real == sizeof(double))
      ((double *)(void *)cells)[i] = u;
    else
      ((float *)(void *)cells)[i] = (float)u;
  }
  return cells;
}

static void measure_batch(int solver, int precision, uint32_t groups) {
  const struct gas_physics physics = {
      (enum gas_solver)solver, GAS_LIMITER_VAN_LEER, 1.5, 1.4, 0.0, 0.0, 0.0};
  const size_t real = precision == GAS_DOUBLE ? sizeof(double) : sizeof(float);
  const size_t size = groups * gas_variables(&physics) * real;
  struct gas_links *links = allocate(groups, sizeof *links, "links");
  memset(links, 0xff, groups * sizeof *links);
  for (uint32_t i = 0; i < groups; i++) {
    links[i].edges = links[i].refined = 0;
    for (int n = 0; n < NEIGHBOURS; n++) links[i].near[n] = i;
  }
  struct bench b = {0};
  char *cells = random_cells(groups, gas_variables(&physics), real);
  struct gas_links *links_out = gas_to_device(links, groups * sizeof *links);
  CUDA(cudaStreamCreate(&b.stream));
  b.gpu = gpu_create(b.stream, NULL);
  b.cells[0] = gas_to_device(cells, size * GAS_GROUP_CELLS);
  b.blocks = gas_device_memory(size * GAS_BLOCK_CELLS);
  b.fluxes = gas_device_memory(size * GAS_PATCHES * GAS_FACES * GAS_FACE_CELLS);
  b.sides = gas_device_memory(size * GAS_FACES * GAS_FACE_CELLS);
  CUDA(cudaMemset(b.sides, 0, size * GAS_FACES * GAS_FACE_CELLS));
  CUDA(cudaMallocHost((void **)&b.pinned, groups * 8 * sizeof *b.pinned));
  b.g = (struct gpu_gas){b.gpu, physics, precision == GAS_DOUBLE, groups};
  b.sources = (struct gpu_sources){.cells = b.cells, .near = 1, .weight = 1.0, .links = links_out};
  printf("  %-6s %-7s %5u ", solvers[solver], precisions[precision], groups);
  for (int stage = 0; stage < BENCH_STAGES; stage++)
    printf(" %8.2f", stage_rate(&b, (enum bench_stage)stage));
  printf("\n");
  gpu_free(b.gpu);
  CUDA(cudaStreamDestroy(b.stream));
  CUDA(cudaFree((void *)(uintptr_t)b.cells[0]));
  CUDA(cudaFree(b.blocks));
  CUDA(cudaFree(b.fluxes));
  CUDA(cudaFree(b.sides));
  CUDA(cudaFree(links_out));
  CUDA(cudaFreeHost(b.pinned));
  free(links);
  free(cells);
}

/** How a run is measured. */
struct timing {
  int solver, precision, side, levels, steps;
  uint32_t batch;
  bool gpu, fused;
  int workers, regrid;
};

/** @return seconds of a cell update */
static double measure_run(struct timing t) {
  static const char text[] =
      "[run]\nsystem = gas\n[ic]\nsource = blast\n[gas]\nroot = %d, %d, %d\nlevels = %d\n"
      "regrid = %d\nbuffer = 4\nbatch = %u\n%ssolver = %s\nprecision = %s\nfused = %s\n"
      "[runtime]\nworkers = %d\n[time]\nend = 1\n";
  enum { WARM_UP = 2 };
  struct parameters p;
  char given[TEXT];
  snprintf(given, sizeof given, text, t.side, t.side, t.side, t.levels, t.regrid, t.batch,
           t.levels > 0 ? "flag_gradient_pressure = 0.3\n" : "", solvers[t.solver],
           precisions[t.precision], t.fused ? "yes" : "no", t.workers);
  parameters_from_text(&p, given, NULL, 0);
  const struct gas_ic ic = gas_ic_make(&p);
  start_engine(&p, t.gpu);
  struct gas *g = gas_create(&p);
  gas_begin(g, &ic);
  double dt = 0.4 * gas_measure(g).longest_step, begin = 0.0, updates = 0.0;
  for (int i = 0; i < WARM_UP + t.steps; i++) {
    if (i == WARM_UP) begin = wall_clock();
    gas_step(g, dt);
    dt = 0.4 * gas_measure(g).longest_step;
    for (int l = 0; i >= WARM_UP && l <= t.levels; l++) updates += (double)g->updates[l];
  }
  const double time = wall_clock() - begin;
  printf("  %-6s %-7s %4d^3 %d %6d %5u  %-3s  %-8s %9.4f  %.3e  patches", solvers[t.solver],
         precisions[t.precision], t.side, t.levels, t.regrid, t.batch, t.fused ? "yes" : "no",
         t.gpu            ? "GPU"
         : t.workers == 1 ? "one core"
                          : "cores",
         time / t.steps, updates / time);
  for (int l = 0; l < topology_levels(&g->topology); l++)
    printf(" %u", GAS_PATCHES * g->topology.level[l].count);
  printf("\n");
  fflush(stdout);
  gas_free(g);
  engine_stop();
  return time / updates;
}

/** Cell updates with regridding, and without. Steps are not compared: without it the grid has fewer
 * patches, because the gas leaves them. */
static void measure_regridding(struct timing t) {
  t.regrid = 4;
  const double with = measure_run(t);
  t.regrid = 1000;
  const double without = measure_run(t);
  printf("  regridding: %+.0f %% of a cell update's time\n", 100.0 * (with / without - 1.0));
}

static void measure_runs(int solver, int precision, int cores) {
  static const uint32_t batches[] = {64, 128, 256, 512};
  struct timing t = {.solver = solver, .precision = precision, .regrid = 4};
  t.side = 64;
  t.steps = 2;
  t.batch = 4;
  t.fused = true;
  t.workers = 1;
  measure_run(t);
  t.side = 128;
  t.workers = cores;
  measure_run(t);
  t.gpu = true;
  t.steps = 20;
  for (size_t i = 0; i < sizeof batches / sizeof *batches; i++)
    for (int fused = 1; fused >= 0; fused--)
      for (int side = 128; side <= 256; side += 128) {
        t.batch = batches[i];
        t.fused = fused;
        t.side = side;
        measure_run(t);
      }
  t.fused = true;
  t.batch = 256;
  t.side = 64;
  t.levels = 3;
  t.steps = 8;
  measure_regridding(t);
  t.gpu = false;
  t.batch = 4;
  t.steps = 4;
  measure_run(t);
}

static double regrid_finest(struct gas *g, int buffer) {
  const double begin = wall_clock();
  g->buffer = buffer;
  message_begin();
  gas_regrid(g, g->topology.finest - 1, 1.0, NULL);
  message_wait();
  return wall_clock() - begin;
}

/** Time of regriddings while nothing else happens: the buffer around flagged cells is wide and narrow
 * in turn, so that the outermost groups of the finest level come and go. */
static void measure_regrids(int solver, int levels) {
  static const char text[] =
      "[run]\nsystem = gas\n[ic]\nsource = blast\n[gas]\nroot = 64, 64, 64\nlevels = %d\n"
      "buffer = 4\nbatch = 256\nflag_gradient_pressure = 0.3\nsolver = %s\n[time]\nend = 1\n";
  enum { REPEATS = 12 };
  struct parameters p;
  char given[TEXT];
  snprintf(given, sizeof given, text, levels, solvers[solver]);
  parameters_from_text(&p, given, NULL, 0);
  const struct gas_ic ic = gas_ic_make(&p);
  start_engine(&p, true);
  struct gas *g = gas_create(&p);
  gas_begin(g, &ic);
  double same = INFINITY, more = INFINITY, fewer = INFINITY;
  uint32_t most = 0, least = 0;
  const uint64_t moved = g->host_bytes;
  for (int i = 0; i < REPEATS; i++) {
    regrid_finest(g, 4);
    same = fmin(same, regrid_finest(g, 4));
    more = fmin(more, regrid_finest(g, 8));
    most = g->topology.level[levels].count;
    fewer = fmin(fewer, regrid_finest(g, 4));
    least = g->topology.level[levels].count;
  }
  printf(
      "  %-6s 64^3 + %d levels: %u groups again %.2f ms, to %u %.2f ms, and back %.2f ms; %.1f MB "
      "through the host\n",
      solvers[solver], levels, least, 1e3 * same, most, 1e3 * more, 1e3 * fewer,
      1e-6 * (double)(g->host_bytes - moved));
  fflush(stdout);
  gas_free(g);
  engine_stop();
}

void benchmark_regrid(void) {
  struct timing t = {
      .side = 64, .levels = 3, .steps = 16, .batch = 256, .gpu = true, .fused = true};
  puts("the shortest of 12 regriddings of the finest level:");
  for (int levels = 2; levels <= 4; levels++) measure_regrids(GAS_RTVD, levels);
  puts("whole steps: seconds of a step, and cell updates a second");
  for (t.solver = 0; t.solver < SOLVERS; t.solver++) measure_regridding(t);
}

void benchmark_gas(void) {
  int cores;
  struct parameters p;
  parameters_from_text(&p, "[box]\nsize = 1\nnpart_side = 2\n", NULL, 0);
  start_engine(&p, false);
  cores = (int)engine_workers();
  engine_stop();
  printf("stages: 10^9 cells a second of the groups of a batch\n"
         "  solver precision batch   prepare    solve    close      cfl      sum  Loehner\n");
  for (int solver = 0; solver < SOLVERS; solver++)
    for (int precision = 0; precision < PRECISIONS; precision++)
      for (uint32_t groups = 32; groups <= 1024; groups *= 2)
        measure_batch(solver, precision, groups);
  printf("whole steps: seconds of a step, and cell updates a second\n"
         "  solver precision root levels regrid batch fused on\n");
  for (int solver = 0; solver < SOLVERS; solver++)
    for (int precision = 0; precision < PRECISIONS; precision++)
      measure_runs(solver, precision, cores - 1);
}
