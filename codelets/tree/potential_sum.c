/* SPDX-License-Identifier: GPL-3.0-or-later */
/* potential_sum: adds up the potential of a group's particles, times their masses, by their type in
 * double precision, one particle after the other, and copies the potential where the argument says.
 *
 * reads  the potential; masses and types, if they differ
 * writes group_expansions.potential_sum; the memory of the host that the argument names, if any */
#include "codelets/runtime/task.h"
#include "photons/runtime/handle.h"
#include "photons/tree/codelets.h"

struct potential_sum_argument {
  struct group_expansions *e;
  uint32_t count;
  bool masses, types; /* they differ */
  float *of_particles;
};
enum { POTENTIAL, DIFFERENT, SLOTS = DIFFERENT + 2 }; /* masses, then types */

static double potential_sum_work(const struct potential_sum_argument *a) { return a->count; }

static void potential_sum_cpu(void *buffers[], const struct potential_sum_argument *a) {
  const float *potential = VECTOR(const float, buffers[POTENTIAL]);
  const float *mass = a->masses ? VECTOR(const float, buffers[DIFFERENT]) : NULL;
  const uint8_t *type = a->types ? VECTOR(const uint8_t, buffers[DIFFERENT + a->masses]) : NULL;
  double *sum = a->e->potential_sum;
  for (int t = 0; t < PARTICLE_TYPES; t++) sum[t] = 0.0;
  for (uint32_t i = 0; i < a->count; i++)
    sum[type ? type[i] : PARTICLE_HALO] += (mass ? (double)mass[i] : 1.0) * (double)potential[i];
  for (uint32_t i = 0; a->of_particles && i < a->count; i++) a->of_particles[i] = potential[i];
}

STAGE_ON_CPU(potential_sum, 0xcc9988, NULL);

void potential_sum_submit(struct short_range *s, struct group *g, float *of_particles) {
  struct group_expansions *e = expansions_of(s, g);
  const bool masses = particles_have(&s->domain->particles, COLUMN_relative_mass),
             types = particles_have(&s->domain->particles, COLUMN_type);
  struct starpu_data_descr data[SLOTS] = {[POTENTIAL] = {e->potential, STARPU_R}};
  size_t count = DIFFERENT;
  if (masses) data[count++] = (struct starpu_data_descr){g->column[COLUMN_relative_mass], STARPU_R};
  if (types) data[count++] = (struct starpu_data_descr){g->column[COLUMN_type], STARPU_R};
  potential_sum_insert(
      (struct potential_sum_argument){e, g->count, masses, types, of_particles},
      (struct task){.data = data, .count = count, .priority = PRIORITY_LOW, .owner = &g->index});
  handle_release(&e->potential);
}
