/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Particles get new groups: codelets/pm/gas_arrive.c. One block of threads a group. */
#include "cuda/amr/real.cuh"
#include "cuda/pm/gpu_pm.h"

enum { ARRIVE_THREADS = 256 };

/** What gas_arrivals has, in device memory. */
struct arrivals {
  const struct gas_particle *particle;
  const struct gas_arrival *group;
  const uint32_t *leaver;
  const struct gas_particle *const *old;
};

/** A particle's place in its group is the number of those before it. */
static __global__ void __launch_bounds__(ARRIVE_THREADS)
    arrive(const __grid_constant__ arrivals s, struct gas_particle *particle) {
  const struct gas_arrival g = s.group[blockIdx.x];
  const struct gas_particle *old = g.olds > 0 ? s.old[g.from] : NULL,
                            *arrival = s.particle + g.arrival;
  const uint32_t *leaver = s.leaver + g.leaver;
  struct gas_particle *to = particle + g.first;
  for (uint32_t i = threadIdx.x; i < g.olds; i += ARRIVE_THREADS) {
    const uint32_t gone = leavers_before(leaver, g.leavers, g.old + i);
    if (gone < g.leavers && leaver[gone] == g.old + i) continue;
    const struct gas_particle p = old[g.old + i];
    to[i - gone + particles_before(arrival, g.arrivals, p.number)] = p;
  }
  for (uint32_t i = threadIdx.x; i < g.arrivals; i += ARRIVE_THREADS) {
    const struct gas_particle p = arrival[i];
    const uint32_t before = g.olds > 0 ? particles_before(old + g.old, g.olds, p.number) : 0;
    to[i + before - leavers_before(leaver, g.leavers, g.old + before)] = p;
  }
}

void gpu_gas_arrive(struct gpu *gpu, uint32_t groups, const struct gas_arrivals *s,
                    const char *const *old, struct gas_particle *particle) {
  const size_t addresses = (s->batches * sizeof *old + 15) / 16 * 16;
  char *table = (char *)gpu_scratch(gpu, SCRATCH_TABLE, addresses + s->bytes);
  gpu_upload(gpu, table, old, s->batches * sizeof *old);
  gpu_copy(gpu, table + addresses, s->memory, s->bytes);
  const char *copy = table + addresses;
  arrivals d = {};
  d.particle = (const struct gas_particle *)(copy + ((const char *)s->particle - s->memory));
  d.group = (const struct gas_arrival *)(copy + ((const char *)s->group - s->memory));
  d.leaver = (const uint32_t *)(copy + ((const char *)s->leaver - s->memory));
  d.old = (const struct gas_particle *const *)table;
  arrive<<<groups, ARRIVE_THREADS, 0, gpu->stream>>>(d, particle);
  gpu_launched("arrive");
}
