/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A power spectrum's tasks on a GPU. */
#include "power_gpu.h"

#include <stdlib.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/runtime/background.h"
#include "photons/runtime/engine.h"
#include "photons/runtime/handle.h"
#include "photons/runtime/scheduler.h"

#define SHARE \
  0.25 /* of a GPU's memory that meshes may take; the rest may be in use by tasks of a step */

static size_t plane_bytes(const struct power_layout *l) { return l->plane * sizeof(int32_t); }

/** Memory of a GPU of this rank. */
static double gpu_bytes(void) {
  int device[STARPU_NMAXWORKERS];
  const uint32_t gpus = scheduler_gpus(device);
  return gpus > 0 ? scheduler_gpu_memory() / gpus : 0.0;
}

bool power_gpu_possible(const struct particles *s, const struct power_layout *layout) {
  if (background_here()) return false; /* tasks are the main thread's: steps would wait for them */
  if (comm_size() > 1 || s->all == 0 || !starpu_is_initialized() || !engine_gpu()) return false;
  return 2.0 * (double)layout->n * (double)plane_bytes(layout) <= SHARE * gpu_bytes();
}

static void register_group(struct power_gpu *g, size_t i, bool momenta) {
  const struct particle_block b = particles_block(g->particles, i);
  struct power_group_handles *h = &g->group[i];
  if (b.count == 0) return;
  h->position = handle_register(b.x[0], 3 * b.count, sizeof *b.x[0]);
  if (momenta) h->momentum = handle_register(b.p[0], 3 * b.count, sizeof *b.p[0]);
  if (b.relative_mass) h->mass = handle_register(b.relative_mass, b.count, sizeof *b.relative_mass);
}

struct power_gpu *power_gpu_begin(const struct particles *s, const struct power_layout *layout,
                                  bool momenta, float *const *cells) {
  struct power_gpu *g = allocate(1, sizeof *g, "a power spectrum on a GPU");
  *g = (struct power_gpu){.particles = s, .layout = *layout, .kept = cells != NULL};
  g->group = allocate(s->blocks, sizeof *g->group, "data handles");
  for (size_t i = 0; i < s->blocks; i++) register_group(g, i, momenta);
  for (int set = 0; set < 2; set++)
    g->cells[set] = cells ? handle_register(cells[set], layout->n, plane_bytes(layout))
                          : handle_make(layout->n, plane_bytes(layout));
  g->overflow = handle_register(&g->overflowed, 1, sizeof g->overflowed);
  return g;
}

bool power_gpu_deposit(struct power_gpu *g, const struct power_folding *folding) {
  bool clear = true;
  for (size_t i = 0; i < g->particles->blocks; i++) {
    const size_t count = particles_block(g->particles, i).count;
    if (count == 0) continue;
    power_deposit_submit(&g->layout, folding, (uint32_t)count, &g->group[i], g->cells, g->overflow,
                         clear);
    clear = false;
  }
  handle_acquire(g->overflow, STARPU_R);
  starpu_data_release(g->overflow);
  return g->overflowed != 0;
}

void power_gpu_shells(struct power_gpu *g, double unit, float *table, struct power_shell *shell) {
  starpu_data_handle_t tables = handle_register(table, 3 * g->layout.n, sizeof *table),
                       shells = handle_register(shell, power_shells_of(g->layout.n), sizeof *shell);
  power_shells_submit(&g->layout, unit, g->particles->all, g->cells, tables, shells);
  handle_unregister(&shells);
  handle_unregister(&tables);
}

void power_gpu_end(struct power_gpu *g) {
  if (!g) return;
  for (size_t i = 0; i < g->particles->blocks; i++) {
    handle_drop(&g->group[i].position);
    handle_drop(&g->group[i].momentum);
    handle_drop(&g->group[i].mass);
  }
  for (int set = 0; set < 2; set++) (g->kept ? handle_unregister : handle_drop)(&g->cells[set]);
  handle_drop(&g->overflow);
  free(g->group);
  free(g);
}
