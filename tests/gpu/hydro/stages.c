/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The stages of gas on the levels of a tube. */
#include "tests/gpu/hydro/stages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "photons/base/error.h"
#include "photons/config/parameters.h"
#include "photons/gas/create.h"
#include "photons/gas/evolve.h"
#include "photons/runtime/handle.h"
#include "support/force_set.h"
#include "tests/gpu/gas/gas.h"

enum { TEXT = 2000 };
/* Of the root mean square of all values: the order of operations and fused ones differ, and single
 * precision divides with an error of two units in the last place. */
static const double stage_bar[PRECISIONS] = {2e-6, 4e-15};

size_t real_of(const struct stages *s) { return s->g->scheme.kernels->real_size; }

struct gpu_gas gas_on_gpu(const struct stages *s, const struct gas_batch *b) {
  return (struct gpu_gas){s->gpu, s->g->scheme.physics, real_of(s) == sizeof(double), b->count};
}

void *from_device(const struct stages *s, const void *from, size_t bytes) {
  void *to = allocate(bytes, 1, "results of the GPU");
  CUDA(cudaStreamSynchronize(s->stream));
  CUDA(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost));
  return to;
}

void compare_device(struct stages *s, struct difference *d, const void *cpu, const void *gpu,
                    size_t bytes) {
  void *back = from_device(s, gpu, bytes);
  compare_numbers(d, real_of(s), cpu, back, bytes);
  free(back);
}

const char *on_host(starpu_data_handle_t cells) {
  return (const char *)starpu_vector_get_local_ptr(cells);
}

static void make_twin(const struct stages *s, const struct gas_level *l, const struct gas_batch *b,
                      struct twin *t) {
  const struct gas *g = s->g;
  const size_t cells = b->count * gas_group_bytes(g), blocks = b->count * gas_block_bytes(g),
               fluxes = b->count * gas_fluxes_bytes(g), sides = b->count * gas_sides_bytes(g);
  t->now = to_device(on_host(b->handle[l->now]), cells);
  t->before = to_device(on_host(b->handle[1 - l->now]), cells);
  t->blocks = allocate(blocks, 1, "blocks");
  t->cells = allocate(cells, 1, "cells");
  t->fluxes = allocate(fluxes, 1, "fluxes");
  t->sides = allocate(sides, 1, "sides");
  t->blocks_out = device_memory(blocks);
  t->cells_out = device_memory(cells);
  t->fluxes_out = device_memory(fluxes);
  t->sides_out = device_memory(sides);
  t->links = to_device(b->link, b->count * sizeof *b->link);
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

size_t list_sources(const struct stages *s, int level, const struct gas_batch *b, const char **host,
                    const char **device) {
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

struct gas_physics cold_physics(const struct gas_physics *physics) {
  struct gas_physics p = *physics;
  p.dual_energy_switch = 2.0;
  p.dual_energy_change = 0.1;
  p.least_heat = LEAST_HEAT;
  return p;
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
  check_accelerate(s, b, t);
  check_speed(s, b, t, pinned);
  check_sum(s, level, b, t, pinned);
  check_flags(s, level, b, t, pinned);
  CUDA(
      cudaMemcpy(t->cells_out, t->cells, b->count * gas_group_bytes(s->g), cudaMemcpyHostToDevice));
  check_cold_fix(s, b, t, s->twin[level + 1]);
  check_fix(s, b, t, s->twin[level + 1], t->cells, t->cells_out);
  check_restrict(s, level, b, t);
  check_regrid(s, level, b, t);
  check_cell_ghosts(s, level, b, t);
  CUDA(
      cudaMemcpy(t->cells_out, t->cells, b->count * gas_group_bytes(s->g), cudaMemcpyHostToDevice));
  CUDA(cudaFreeHost(pinned));
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

void check_gas_stages(int solver, int precision) {
  static const char text[] =
      "[run]\nsystem = gas\n[ic]\nsource = sod\ndirection = diagonal\n[gas]\n"
      "root = " STAGES_ROOT "\nlevels = 2\nregrid = 100\nbuffer = 4\nbatch = 6\nhomes = 1\n"
      "flag_gradient_density = 0.05\nx_low = outflow\nx_high = reflecting\n"
      "z_low = reflecting\nz_high = outflow\nsolver = %s\nprecision = %s\nscalars = %d\n"
      "[time]\nend = 1\n";
  struct parameters p;
  char given[TEXT];
  snprintf(given, sizeof given, text, gas_solver_names[solver], gas_precision_names[precision],
           solver == precision ? 0 : 2); /* whole runs have the other ones with scalars */
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
  printf("  %s, %s precision, %d levels: difference of CUDA from CPU, relative\n",
         gas_solver_names[solver], gas_precision_names[precision], levels);
  for (int l = 0; l < levels; l++) {
    s.twin[l] = allocate(s.g->level[l].batch_count, sizeof *s.twin[l], "batches");
    for (uint32_t i = 0; i < s.g->level[l].batch_count; i++)
      make_twin(&s, &s.g->level[l], &s.g->level[l].batch[i], &s.twin[l][i]);
  }
  for (int l = levels - 1; l >= 0; l--)
    for (uint32_t i = 0; i < s.g->level[l].batch_count; i++) check_batch(&s, l, i);
  const double bar = stage_bar[precision];
  report_whether("levels", levels == 3);
  report_difference("prepare", s.prepare, bar);
  report_difference("solve", s.solve, bar);
  report_whether("warmed", s.warmed > 0);
  report_difference("fluxes", s.fluxes, bar);
  report_difference("close", s.close, bar);
  report_difference("accelerate", s.accelerated, bar);
  report_whether("faces", s.faces > 0);
  report_difference("fix", s.fix, bar);
  report_difference("restrict", s.restricted, bar);
  report_whether("new groups", s.interpolated > 0);
  report_difference("regrid", s.regrid, bar);
  report_difference("cut", s.cut, bar);
  report_difference("paste", s.paste, bar);
  report_difference("speed", s.speed, bar);
  report_difference("sum", s.sum, 1e-13);
  report_whether("flags", s.same_flags);
  report_whether("faults", s.same_faults);
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
