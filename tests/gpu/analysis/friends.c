/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Friends of friends: CUDA against CPU. Heads are the same numbers. */
#include <stdio.h>
#include <stdlib.h>

#include "support/force_set.h" /* before fof_shares.h, whose `share` is a type */

#include "photons/analysis/fof.h"
#include "photons/base/error.h"
#include "photons/config/parameters.h"
#include "photons/runtime/engine.h"
#include "support/fof_shares.h"
#include "tests/gpu/checks.h"
#include "tests/gpu/compare.h"

enum shape { UNIFORM, CLUSTERED, POINT, CHAIN };
static const char *const shapes[] = {"uniform", "clustered", "a point", "a chain"};

/** Particles in ORB groups, and the linking length over their mean spacing. */
static const struct friends_case {
  enum shape shape;
  size_t particles;
  uint32_t groups;
  unsigned depth;
  double length;
} cases[] = {
    {UNIFORM, 3001, 1, 7, 0.2},   {CLUSTERED, 3001, 1, 0, 0.2},  {CLUSTERED, 3001, 8, 4, 0.03},
    {CLUSTERED, 5001, 2, 6, 0.2}, {CLUSTERED, 3001, 4, 5, 0.8},  {POINT, 300, 1, 3, 0.2},
    {POINT, 300, 4, 1, 0.2},      {CHAIN, 64, 1, 2, 1.0 / 16.0}, {CHAIN, 64, 4, 2, 1.0 / 16.0},
    {UNIFORM, 1, 1, 0, 0.2},      {UNIFORM, 33, 1, 0, 0.2},      {UNIFORM, 2, 2, 0, 0.2}};
enum { CASES = sizeof cases / sizeof *cases };

/** All particles at a corner of the box; or a chain around the box, whose links have exactly the linking
 * length. */
static void move_particles(struct particles *s, enum shape shape) {
  for (size_t i = 0; i < 3 * s->count; i++) s->position[i] = 0;
  for (size_t i = 0; shape == CHAIN && i < s->count; i++)
    s->position[i] = (uint32_t)i * (uint32_t)(POSITION_TURN / (double)s->count);
}

/** The heads of a case, to be freed with free(). */
static uint32_t *heads_of(const struct friends_case *k) {
  struct particles s = make_particles(k->particles, k->shape == CLUSTERED, 1);
  if (k->shape >= POINT) move_particles(&s, k->shape);
  sort_particles(&s, k->groups, k->depth);
  struct fof *f = fof_find(&s, k->depth, k->length * BOX / cbrt((double)k->particles));
  uint32_t *head = allocate(k->particles, sizeof *head, "heads of groups");
  memcpy(head, f->head, k->particles * sizeof *head);
  fof_free(f);
  particles_free(&s);
  return head;
}

static uint64_t find_all(bool gpu, uint32_t *head[CASES]) {
  struct parameters p;
  parameters_from_text(&p, "[box]\nsize = 100\nnpart_side = 2\n", NULL, 0);
  start_engine(&p, gpu);
  starpu_profiling_status_set(STARPU_PROFILING_ENABLE);
  for (size_t i = 0; i < CASES; i++) head[i] = heads_of(&cases[i]);
  const uint64_t tasks = gpu_tasks();
  engine_stop();
  return tasks;
}

static void compare_case(const struct friends_case *k, uint32_t *cpu, uint32_t *gpu) {
  size_t different = 0, groups = 0;
  for (size_t i = 0; i < k->particles; i++) {
    different += cpu[i] != gpu[i];
    groups += cpu[i] == i;
  }
  printf("  %-9s %5zu particles in %u ORB groups, length %5.3f: %5zu groups, %s\n",
         shapes[k->shape], k->particles, k->groups, k->length, groups,
         different ? "DIFFERENT heads" : "the same heads");
  failures += different > 0;
  free(cpu);
  free(gpu);
}

void check_friends(void) {
  uint32_t *cpu[CASES], *gpu[CASES];
  find_all(false, cpu);
  const uint64_t tasks = find_all(true, gpu);
  printf("friends of friends: CPU, and %llu tasks of GPUs:\n", (unsigned long long)tasks);
  for (size_t i = 0; i < CASES; i++) compare_case(&cases[i], cpu[i], gpu[i]);
  report_whether("tasks of GPUs", tasks > 0);
}
