/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Time of regriddings: groups of the finest level come and go while nothing else happens. The
 * buffer around flagged cells is wide and narrow in turn, so that each regridding makes or drops
 * the outermost groups. The bytes are those that a GPU would copy to or from the host. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/config/parameters.h"
#include "photons/gas/create.h"
#include "photons/gas/evolve.h"
#include "photons/gas/gas_ic.h"
#include "photons/runtime/engine.h"
#include "photons/runtime/message.h"
#include "support/force_set.h"

enum { REPEATS = 12 };

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/** Regrid the finest level but one; seconds. */
static double regrid(struct gas *g, int buffer) {
  const double start = seconds();
  g->refinement.buffer = buffer;
  message_begin();
  gas_regrid(g, g->topology.finest - 1, 1.0, NULL);
  message_wait();
  return seconds() - start;
}

/** Of the present cells of the finest level before and after, and of the next coarser one. */
static size_t all_bytes(const struct gas *g, uint32_t before, uint32_t after) {
  return ((size_t)before + after + g->topology.level[g->topology.finest - 1].count) *
         gas_group_bytes(g);
}

static void bench(int side, int levels) {
  static const char text[] =
      "[run]\nsystem = gas\n[ic]\nsource = blast\n[gas]\nsolver = rtvd\nroot = %d, %d, %d\n"
      "levels = %d\nbuffer = 4\nflag_gradient_pressure = 0.3\n[runtime]\nworkers = 1\n[time]\n"
      "end = 1\n";
  char given[sizeof text + 64];
  struct parameters p;
  snprintf(given, sizeof given, text, side, side, side, levels);
  parameters_from_text(&p, given, NULL, 0);
  const struct gas_ic ic = gas_ic_make(&p);
  engine_start(&p, NULL);
  struct gas *g = gas_create(&p);
  gas_begin(g, &ic);
  double same = 1e9, more = 1e9, fewer = 1e9;
  uint32_t most = 0, least = 0;
  uint64_t moved = 0;
  for (int i = 0; i < REPEATS; i++) {
    double time = regrid(g, 4);
    same = i > 0 && time < same ? time : same;
    const uint64_t before = g->counts.host_bytes;
    time = regrid(g, 8);
    moved = g->counts.host_bytes - before;
    more = time < more ? time : more;
    most = g->topology.level[levels].count;
    regrid(g, 8);
    time = regrid(g, 4);
    fewer = time < fewer ? time : fewer;
    least = g->topology.level[levels].count;
    time = regrid(g, 4);
    same = time < same ? time : same;
  }
  printf("%3d^3 + %d levels, batches of %2u: %6u groups, the same again %8.3f ms; to %6u %8.3f ms, "
         "%.1f MB of %.1f by the host; and back %8.3f ms\n",
         side, levels, g->tasks.batch, least, 1e3 * same, most, 1e3 * more, 1e-6 * (double)moved,
         1e-6 * (double)all_bytes(g, least, most), 1e3 * fewer);
  gas_free(g);
  engine_stop();
}

int main(int argc, char **argv) {
  comm_start(&argc, &argv);
  for (int levels = 2; levels <= 4; levels++) bench(64, levels);
  comm_end();
  return 0;
}
