/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The memory of gas: what it needs, and whether the machines in use have it. */
#include <math.h>

#include "particle_picture.h"
#include "particle_waves.h"
#include "photons/amr/migrate.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/base/installed_memory.h"
#include "photons/config/parameters.h"
#include "photons/gas/create.h"
#include "photons/gas/gas_power.h"
#include "photons/gas/gas_waves.h"
#include "photons/pm/particles.h"
#include "photons/potential/gravity.h"
#include "photons/runtime/engine.h"

double gas_memory(const struct gas *g) {
  double groups = 0.0;
  for (int level = 0; level <= g->topology.finest; level++)
    groups += g->topology.level[level].count;
  return groups * g->tasks.group_memory +
         (double)comm_size() * (double)g->tasks.blocks * (double)gas_batch_groups_most(g) *
             (double)gas_block_bytes(g) +
         (g->gravity
              ? root_poisson_bytes(g->topology.root, g->topology.boundary[0][0] == GAS_PERIODIC)
              : 0.0) +
         (g->particles ? gas_particles_bytes(g->particles->count) : 0.0);
}

/** What initial waves take up: those of the gas, then these and those of the particles. */
static double memory_of_waves(const struct parameters *p) {
  if (p->ic.source != IC_GENERATE) return 0.0;
  const bool gas = p->gas.solver != GAS_NONE;
  const double particles = p->box.npart_side > 0 ? waves_particle_memory(p) : 0.0;
  return fmax(gas ? gas_waves_memory(p) : 0.0, (gas ? gas_waves_held_memory(p) : 0.0) + particles);
}

double gas_memory_at_times(const struct parameters *p, size_t particles, bool begins) {
  return fmax(begins ? memory_of_waves(p) : 0.0,
              fmax(gas_power_memory(p, particles), gas_particles_map_memory(p, particles)));
}

void gas_require_root(const struct parameters *p, bool begins) {
  const size_t particles = p->box.npart_side > 0 ? waves_particle_count(p) : 0;
  const double installed = installed_memory(),
               lasting = gas_root_memory(p) + gas_particles_bytes(particles),
               at_times = gas_memory_at_times(p, particles, begins);
  if (lasting + at_times > installed)
    fail(EXIT_RUN_FAILED,
         "the root level of %g x %g x %g cells needs %.1f GB of memory, and initial waves, power "
         "spectra or pictures %.1f GB more, of %.1f GB: use fewer cells in gas.root, or more "
         "machines",
         p->gas.root[0], p->gas.root[1], p->gas.root[2], 1e-9 * lasting, 1e-9 * at_times,
         1e-9 * installed);
}

void gas_require_memory(const struct gas *g, int level, uint32_t groups) {
  const double installed = installed_memory();
  const double needed = gas_memory(g) + groups * g->tasks.group_memory +
                        (engine_gpu() ? gas_replaced_bytes(g) : 0.0); /* dropped first on cores */
  if (needed > installed)
    fail(EXIT_RUN_FAILED,
         "at %s level %d is to have %.4g patches, and gas would need %.1f GB of memory of %.1f "
         "GB: use fewer gas.levels, larger thresholds of gas.flag_*, or more machines",
         gas_moment(g).text, level, (double)GAS_PATCHES * groups, 1e-9 * needed, 1e-9 * installed);
}
