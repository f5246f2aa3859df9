/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whole steps of gas, and regriddings. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "photons/base/clock.h"
#include "photons/config/parameters.h"
#include "photons/gas/create.h"
#include "photons/gas/evolve.h"
#include "photons/runtime/engine.h"
#include "photons/runtime/message.h"
#include "support/force_set.h"
#include "tests/gpu/compare.h"
#include "tests/gpu/gas/gas.h"
#include "tests/gpu/rates/rates.h"

enum { TEXT = 2000 };

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
           t.levels > 0 ? "flag_gradient_pressure = 0.3\n" : "", gas_solver_names[t.solver],
           gas_precision_names[t.precision], t.fused ? "yes" : "no", t.workers);
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
    for (int l = 0; i >= WARM_UP && l <= t.levels; l++) updates += (double)g->counts.updates[l];
  }
  const double time = wall_clock() - begin;
  printf("  %-6s %-7s %4d^3 %d %6d %5u  %-3s  %-8s %9.4f  %.3e  patches",
         gas_solver_names[t.solver], gas_precision_names[t.precision], t.side, t.levels, t.regrid,
         t.batch, t.fused ? "yes" : "no",
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
  g->refinement.buffer = buffer;
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
  snprintf(given, sizeof given, text, levels, gas_solver_names[solver]);
  parameters_from_text(&p, given, NULL, 0);
  const struct gas_ic ic = gas_ic_make(&p);
  start_engine(&p, true);
  struct gas *g = gas_create(&p);
  gas_begin(g, &ic);
  double same = INFINITY, more = INFINITY, fewer = INFINITY;
  uint32_t most = 0, least = 0;
  const uint64_t moved = g->counts.host_bytes;
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
      gas_solver_names[solver], levels, least, 1e3 * same, most, 1e3 * more, 1e3 * fewer,
      1e-6 * (double)(g->counts.host_bytes - moved));
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
