/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a run's parameters say of its gas before there is any: its physics, and the memory of its groups. */
#include <math.h>
#include <starpu.h>

#include "photons/base/comm.h"
#include "photons/config/parameters.h"
#include "photons/gas/create.h"
#include "photons/pm/particles.h"
#include "photons/potential/gravity.h"
#include "photons/runtime/scheduler.h"

/* gas_physics.dual_energy_switch and dual_energy_change: where the thermal energy of a flow is mostly the
 * scheme's error. */
#define COLD_FLOW 0.01
#define COLD_CHANGE 0.1

/* Refined levels may need several times the memory of the root level. */
#define MEMORY_OF_LEVELS 4.0

struct gas_physics gas_physics_of(const struct parameters *p) {
  return (struct gas_physics){.solver = p->gas.solver == GAS_NONE ? GAS_RTVD : p->gas.solver,
                              .limiter = GAS_LIMITER_VAN_LEER,
                              .gamma = p->gas.gamma,
                              .dual_energy_switch = COLD_FLOW,
                              .dual_energy_change = COLD_CHANGE,
                              .scalars = (unsigned)p->gas.scalars};
}

double gas_bytes_per_group(const struct parameters *p) {
  const struct gas_physics physics = gas_physics_of(p);
  const double real = p->gas.precision == GAS_DOUBLE ? sizeof(double) : sizeof(float);
  const double faces = GAS_FACES * GAS_FACE_CELLS;
  return gas_variables(&physics) * real * (2.0 * GAS_GROUP_CELLS + (GAS_PATCHES + 1.0) * faces) +
         sizeof(struct gas_group) + (double)comm_size() * sizeof(uint64_t) +
         sizeof(double[1 + GAS_VARIABLES_MAX]) + sizeof(uint32_t[GAS_PATCHES]) +
         sizeof(struct gas_fault) + sizeof(struct gas_field) + sizeof(struct gas_batch) +
         gravity_bytes_per_group(p) + gas_particles_bytes_per_group(p);
}

double gas_root_memory(const struct parameters *p) {
  const double cells = p->gas.root[0] * p->gas.root[1] * p->gas.root[2];
  uint32_t root[3];
  for (int c = 0; c < 3; c++) root[c] = (uint32_t)p->gas.root[c] / GAS_GROUP_SIDE;
  return cells / GAS_GROUP_CELLS * gas_bytes_per_group(p) +
         (p->gas.gravity == GAS_GRAVITY_SELF
              ? root_poisson_bytes(root, p->gas.boundary[0][0] == GAS_PERIODIC)
              : 0.0);
}

double gas_gpus_needed(const struct parameters *p) {
  int device[STARPU_NMAXWORKERS];
  const double bytes = gas_root_memory(p) * (p->gas.levels > 0 ? MEMORY_OF_LEVELS : 1.0),
               memory = scheduler_gpu_memory();
  return memory > 0.0 ? ceil(bytes / (memory / scheduler_gpus(device))) : 0.0;
}
