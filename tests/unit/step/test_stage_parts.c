/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parts of the tasks of a group, whose number follows from the number of its particles: whichever part is run first, they
 * leave what kernels make of the whole group. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "codelets/runtime/task.h"
#include "photons/config/parameters.h"
#include "photons/domain/codelets.h"
#include "photons/domain/group_sort.h"
#include "photons/runtime/handle.h"
#include "photons/runtime/parts.h"
#include "photons/step/codelets.h"
#include "photons/step/step.h"
#include "photons/tree/codelets.h"
#include "support/starpu_fixture.h"

/* Last: it defines a macro fail(). */
#include <cmocka.h>

#define SIDE 1.0 /* Mpc */
#define SPEED 100.0
enum { COUNT = 131072, GROUPS_MOST = COUNT / 1024 };

/** Parts of each task. */
enum { MOVE, REFIT, P2M, SORT, L2L, L2P, STAGES };
static const char *const stages[STAGES] = {"move", "refit", "p2m", "sort", "l2l", "l2p"};
static bool rising; /* the order in which parts are run */
static uint32_t parts_of[STAGES][GROUPS_MOST];

/** In the place of that of codelets/runtime/parts.c: in tasks the last part is the first to be run. */
void parts_run(uint32_t n, void (*function)(void *context, uint32_t i), void *context) {
  uint32_t owner;
  const struct stage *stage = task_stage(&owner);
  for (int k = 0; k < STAGES && stage; k++)
    if (strcmp(stage_name(stage), stages[k]) == 0) parts_of[k][owner] = n;
  for (uint32_t i = 0; i < n; i++) function(context, rising || !stage ? i : n - 1 - i);
}

/** A uniform ball at random velocities; of two masses if these `differ`. */
static struct particles ball(bool differ) {
  struct particles s = particles_create(COUNT, SIDE, 1.0 / COUNT);
  seed = 7;
  for (size_t i = 0; i < COUNT; i++) {
    double x[3], r2 = 2.0;
    while (r2 > 1.0) {
      r2 = 0.0;
      for (int c = 0; c < 3; c++) {
        x[c] = 2.0 * uniform() - 1.0;
        r2 += x[c] * x[c];
      }
    }
    s.id[i] = i + 1;
    for (size_t c = 0; c < 3; c++) {
      s.position[c * COUNT + i] = position_to_integer((0.5 + 0.1 * x[c]) * SIDE, SIDE);
      s.momentum[c * COUNT + i] = (float)(SPEED * (uniform() - 0.5));
      s.acceleration[c * COUNT + i] = (float)(SPEED * (uniform() - 0.5));
    }
  }
  if (!differ) return s;
  particles_add_column(&s, COLUMN_relative_mass);
  for (size_t i = 0; i < COUNT; i++) s.relative_mass[i] = i % 3 ? 0.75F : 1.5F;
  return s;
}

static struct nbody *system_of(struct parameters *p, int64_t group_size, bool differ) {
  parameters_default(p);
  p->box.boundary = BOUNDARY_ISOLATED;
  p->time.step = STEP_FIXED;
  p->runtime.group_size = group_size;
  struct nbody *n = nbody_create(p, ball(differ));
  assert_true(n->domain.particles.blocks <= GROUPS_MOST);
  memset(parts_of, 0, sizeof parts_of);
  return n;
}

static void *copy_of(const void *data, size_t bytes) {
  void *copy = malloc(bytes);
  assert_non_null(copy);
  return memcpy(copy, data, bytes);
}

static void assert_same_data(starpu_data_handle_t handle, const void *expected, size_t bytes) {
  assert_int_equal(starpu_data_acquire(handle, STARPU_R), 0);
  assert_memory_equal((const void *)starpu_vector_get_local_ptr(handle), expected, bytes);
  starpu_data_release(handle);
}

/** What kernels make of a whole group. */
struct whole {
  uint32_t *x;
  struct node *tree;
  float *multipole, *mass;
};

static struct whole drifted(struct nbody *n, const struct group *g, float factor) {
  const struct short_range *s = &n->short_range;
  const struct domain *d = &n->domain;
  const struct particle_block b = particles_block(&d->particles, g->index);
  const uint32_t nodes = tree_nodes(d->depth);
  struct whole w = {.x = copy_of(b.x[0], 3 * b.count * sizeof *w.x),
                    .tree = calloc(nodes, sizeof *w.tree),
                    .multipole = calloc(nodes, fmm_multipole_size(s->order) * sizeof(float)),
                    .mass = calloc(nodes, sizeof *w.mass)};
  assert_true(w.tree && w.multipole && w.mass);
  n->kernels->drift(g->count, 0, g->count, drift_units(n, factor), b.p[0], w.x);
  s->kernels->walk.refit(g->count, d->depth, NULL, 1, d->geometry.scale, 1.0F / s->factor,
                         s->acceptance.newton, w.x, b.acc[0], w.tree);
  s->kernels->fmm.p2m(s->order, g->count, d->depth, 1, expansion_scale(s), w.x, b.relative_mass,
                      w.tree, w.multipole);
  s->kernels->fmm.m2m(s->order, 1, 0, d->depth, expansion_scale(s), w.tree, w.multipole);
  for (uint32_t node = nodes - 1; node > 0 && b.relative_mass; node--) {
    double sum = 0.0;
    for (uint32_t i = node_first(g->count, node); i < node_end(g->count, node); i++)
      sum += (double)b.relative_mass[i];
    w.mass[node] = node_level(node) == d->depth ? (float)sum
                                                : w.mass[2 * node] + w.mass[2 * node + 1];
  }
  return w;
}

static void compare_and_free(struct nbody *n, const struct group *g, struct whole *w) {
  const uint32_t nodes = tree_nodes(n->domain.depth),
                 size = fmm_multipole_size(n->short_range.order);
  assert_same_data(g->column[COLUMN_position], w->x, 3 * (size_t)g->count * sizeof *w->x);
  assert_int_equal(starpu_data_acquire(g->tree, STARPU_R), 0);
  const struct node *tree = (const struct node *)starpu_vector_get_local_ptr(g->tree);
  assert_memory_equal(tree + 1, w->tree + 1, (nodes - 1) * sizeof *tree); /* 0 is unused */
  assert_memory_equal(tree + 1, g->top + 1, (tree_nodes(n->domain.top_depth) - 1) * sizeof *tree);
  starpu_data_release(g->tree);
  starpu_data_handle_t made = expansions_of(&n->short_range, g)->multipole;
  assert_int_equal(starpu_data_acquire(made, STARPU_R), 0);
  const float *multipole = (const float *)starpu_vector_get_local_ptr(made);
  assert_memory_equal(multipole + size, w->multipole + size,
                      (size_t)(nodes - 1) * size * sizeof *multipole);
  starpu_data_release(made);
  if (g->node_mass) assert_same_data(g->node_mass, w->mass, nodes * sizeof *w->mass);
  free(w->x);
  free(w->tree);
  free(w->multipole);
  free(w->mass);
}

/** Groups of so many particles move in so many parts. */
static void check_groups(int64_t group_size, bool differ, uint32_t parts) {
  const float factor = 1e-3F * (float)(SIDE / SPEED);
  struct parameters p;
  struct nbody *n = system_of(&p, group_size, differ);
  struct domain *d = &n->domain;
  struct whole *whole = malloc(d->particles.blocks * sizeof *whole);
  assert_non_null(whole);
  step_refit(n);
  domain_acquire(d);
  FOR_GROUPS(d, g) whole[g->index] = drifted(n, g, factor);
  domain_release(d);
  FOR_GROUPS(d, g) move_submit(n, g, factor);
  handle_wait(n->moves); /* the host looks at boxes behind this wait */
  FOR_GROUPS(d, g) {
    assert_memory_equal(g->top + 1, whole[g->index].tree + 1, sizeof *g->top);
    p2m_submit(&n->short_range, g);
  }
  assert_int_equal(starpu_task_wait_for_all(), 0);
  FOR_GROUPS(d, g) {
    for (int k = MOVE; k <= P2M; k++) assert_int_equal(parts_of[k][g->index], parts);
    compare_and_free(n, g, &whole[g->index]);
  }
  free(whole);
  nbody_free(n);
}

/* At most 4096 particles a part: an isolated system of 2^20 has 256 parts in its 32 groups, and groups of small runs have
 * one. */
static void parts_follow_group_sizes(void **state) {
  (void)state;
  check_groups(1024, false, 1);
  check_groups(4096, false, 1);
  check_groups(8192, false, 2);
  check_groups(32768, false, 8);
  check_groups(65536, false, 16);
}

static void parts_follow_group_sizes_where_masses_differ(void **state) {
  (void)state;
  check_groups(4096, true, 1);
  check_groups(32768, true, 8);
}

/** What group_sort() makes of the positions and identifiers of a group outside of a task. */
static void check_sorted(const struct domain *d, const struct group *g, const uint32_t *x,
                         const uint64_t *id) {
  const struct particle_block b = particles_block(&d->particles, g->index);
  void *column[PARTICLE_COLUMN_COUNT] = {NULL};
  column[COLUMN_position] = copy_of(x + 3 * b.first, 3 * b.count * sizeof *x);
  column[COLUMN_id] = copy_of(id + b.first, b.count * sizeof *id);
  group_sort(g->count, d->depth, g->root.centre, column);
  assert_memory_equal(b.x[0], column[COLUMN_position], 3 * b.count * sizeof *x);
  assert_memory_equal(b.id, column[COLUMN_id], b.count * sizeof *id);
  free(column[COLUMN_position]);
  free(column[COLUMN_id]);
}

static void groups_are_sorted_in_parts(void **state) {
  (void)state;
  struct parameters p;
  struct nbody *n = system_of(&p, 32768, false);
  struct domain *d = &n->domain;
  FOR_GROUPS(d, g) move_submit(n, g, 0.1F * (float)(SIDE / SPEED));
  assert_int_equal(starpu_task_wait_for_all(), 0);
  domain_acquire(d);
  uint32_t *x = copy_of(d->particles.position, 3 * COUNT * sizeof *x);
  uint64_t *id = copy_of(d->particles.id, COUNT * sizeof *id);
  domain_release(d);
  FOR_GROUPS(d, g) {
    g->root = g->top[1];
    sort_submit(d, g);
  }
  assert_int_equal(starpu_task_wait_for_all(), 0);
  domain_acquire(d);
  assert_true(memcmp(id, d->particles.id, COUNT * sizeof *id) != 0);
  FOR_GROUPS(d, g) {
    assert_int_equal(parts_of[SORT][g->index], 8);
    check_sorted(d, g, x, id);
  }
  domain_release(d);
  free(x);
  free(id);
  nbody_free(n);
}

/** The accelerations of all particles, in their order. */
static float *forces(bool parts_rise) {
  struct parameters p;
  rising = parts_rise;
  struct nbody *n = system_of(&p, 32768, false);
  step_first_forces(n);
  rising = false;
  domain_acquire(&n->domain);
  float *acceleration = copy_of(n->domain.particles.acceleration, 3 * COUNT * sizeof *acceleration);
  domain_release(&n->domain);
  FOR_GROUPS(&n->domain, g) { /* leaves of at most 32 particles, and 128 leaves a part of l2l */
    assert_int_equal(parts_of[L2L][g->index], (1u << n->domain.depth) / 128);
    assert_int_equal(parts_of[L2P][g->index], 8);
  }
  nbody_free(n);
  return acceleration;
}

static void forces_do_not_depend_on_the_order_of_parts(void **state) {
  (void)state;
  float *first = forces(false), *second = forces(true);
  assert_memory_equal(first, second, 3 * COUNT * sizeof *first);
  free(first);
  free(second);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(parts_follow_group_sizes),
      cmocka_unit_test(parts_follow_group_sizes_where_masses_differ),
      cmocka_unit_test(groups_are_sorted_in_parts),
      cmocka_unit_test(forces_do_not_depend_on_the_order_of_parts),
  };
  return cmocka_run_group_tests(tests, start, stop);
}
