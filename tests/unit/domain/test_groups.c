/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Groups: with GPUs tasks move particles into groups in a rebuild, and sort the particles of each
 * group. The result is that of a rebuild on cores, also where many particles have equal coordinates.
 * All columns of the table follow their particles, also into a copy of some particles. Sums over groups have the bits of a
 * plain sum along the ORB tree. Runs on any number of ranks. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "photons/base/comm.h"
#include "photons/config/parameters.h"
#include "photons/domain/domain.h"
#include "photons/domain/group_sort.h"
#include "photons/runtime/message.h"
#include "src/domain/rebuild.h"
#include "src/domain/regroup.h"
#include "support/checksum.h"
#include "support/sorted_particles.h"

/* Last: it defines a macro fail(). */
#include <cmocka.h>

enum { PARTICLES = 100003, DEPTH = 5 };

/** Move each particle: to one of 256 planes along x, 65536 along y, anywhere along z. */
static void place(struct particles *s, uint64_t round) {
  for (size_t b = 0; b < s->blocks; b++) {
    const struct particle_block p = particles_block(s, b);
    for (size_t i = 0; i < p.count; i++) {
      const uint64_t h = checksum_term(round, s->id[p.first + i]);
      p.x[0][i] = (uint32_t)(h & 0xff) << 24;
      p.x[1][i] = (uint32_t)(h >> 8 & 0xffff) << 16;
      p.x[2][i] = (uint32_t)(h >> 32);
    }
  }
}

/** Call function() for each number of each particle, other than positions and ids.
 * @param value  what a particle with this id is to have there, as long as the number is */
static void for_numbers(struct particles *s,
                        void (*function)(void *number, const void *value, size_t)) {
  FOR_PARTICLE_COLUMNS(s, k) {
    const struct particle_column *column = &particle_columns[k];
    if (k == COLUMN_position || k == COLUMN_id) continue;
    for (size_t b = 0; b < s->blocks; b++) {
      const struct particle_block p = particles_block(s, b);
      char *number = (char *)particles_column(s, k) + p.first * particle_column_bytes(column);
      for (size_t j = 0; j < column->components * p.count; j++, number += column->size) {
        const uint64_t id = s->id[p.first + j % p.count],
                       value = checksum_term(16 * (uint64_t)k + j / p.count, id);
        function(number, &value, column->size);
      }
    }
  }
}
static void fill(void *number, const void *value, size_t size) { memcpy(number, value, size); }
static void require(void *number, const void *value, size_t size) {
  if (memcmp(number, value, size) != 0) fail_msg("a number left its particle");
}

/** How the second rebuild makes groups: cores sort them into trees; or cores make them, and what sorts
 * the particles of a group comes later; or tasks make them. */
enum way { CORES, CORES_THEN_SORT, TASKS_THEN_SORT };

/** Sort the particles of each group, as tasks would do. */
static void sort_groups(struct domain *d) {
  for (size_t b = 0; b < d->particles.blocks; b++) {
    const struct particle_block p = particles_block(&d->particles, b);
    void *column[PARTICLE_COLUMN_COUNT] = {NULL};
    FOR_PARTICLE_COLUMNS(&d->particles, k)
    column[k] = (char *)particles_column(&d->particles, k) +
                p.first * particle_column_bytes(&particle_columns[k]);
    /* Coordinates count from half a box below the centre: here from 0. */
    group_sort((uint32_t)p.count, DEPTH, (uint32_t[3]){1u << 31, 1u << 31, 1u << 31}, column);
  }
}

static void centres_are_right(const struct domain *d, const uint32_t (*centre)[3]) {
  for (size_t b = 0; b < d->particles.blocks; b++) {
    const struct particle_block p = particles_block(&d->particles, b);
    for (size_t c = 0; c < 3; c++) {
      uint32_t low = UINT32_MAX, high = 0;
      for (size_t i = 0; i < p.count; i++) {
        low = p.x[c][i] < low ? p.x[c][i] : low;
        high = p.x[c][i] > high ? p.x[c][i] : high;
      }
      assert_int_equal(centre[b][c], low + (high - low) / 2);
    }
  }
}

static void rebuild(struct domain *d, enum way way) {
  if (way == TASKS_THEN_SORT) {
    uint32_t(*centre)[3] = malloc(d->particles.blocks * sizeof *centre);
    orb_regroup(d, centre);
    domain_acquire(d);
    centres_are_right(d, centre);
    domain_release(d);
    free(centre);
  } else {
    domain_acquire(d);
    orb_rebuild(d, way == CORES);
    domain_release(d);
  }
}

/** Particles after two rebuilds, the second from the groups of the first. */
static struct particles groups(uint32_t count, enum way way) {
  struct particles s = particles_create_share(PARTICLES, 100.0, 1.0);
  particles_add_columns(&s, ((column_set)1 << PARTICLE_COLUMN_COUNT) - 1);
  for (size_t i = 0; i < s.count; i++) s.id[i] = particles_first(&s) + i;
  for_numbers(&s, fill);
  const struct domain_layout layout = {.group_count = count, .depth = DEPTH};
  struct domain d = domain_make(s, &layout, (struct geometry){0});
  place(&d.particles, 0);
  domain_start(&d);
  domain_acquire(&d);
  place(&d.particles, 1);
  domain_release(&d);
  rebuild(&d, way);
  domain_unregister(&d);
  if (way != CORES) sort_groups(&d);
  return d.particles;
}

static void groups_are_the_same(uint32_t count, enum way way) {
  struct particles cores = groups(count, CORES), tasks = groups(count, way);
  assert_int_equal(cores.count, tasks.count);
  FOR_PARTICLE_COLUMNS(&cores, k) {
    const size_t bytes = cores.count * particle_column_bytes(&particle_columns[k]);
    assert_memory_equal(particles_column(&cores, k), particles_column(&tasks, k), bytes);
  }
  uint64_t sum = 0;
  for (size_t i = 0; i < tasks.count; i++)
    sum += checksum_term(particles_first(&tasks) + i, tasks.id[i]);
  for_numbers(&tasks, require);
  checksum_print("groups", sum);
  particles_free(&cores);
  particles_free(&tasks);
}

static void a_copy_of_some_has_all_columns(void **state) {
  (void)state;
  struct particles s = groups(4, CORES);
  bool *keep = malloc(s.count * sizeof *keep);
  for (size_t i = 0; i < s.count; i++) keep[i] = s.id[i] % 3 > 0;
  const column_set acceleration = (column_set)1 << COLUMN_acceleration;
  struct particles without = particles_copy(&s, s.columns & ~acceleration),
                   kept = particles_select(&s, keep), fewer = particles_select(&without, keep);
  assert_int_equal(kept.all, PARTICLES - (PARTICLES + 2) / 3);
  assert_int_equal(kept.columns, s.columns);
  for_numbers(&kept, require);
  assert_int_equal(fewer.columns, without.columns);
  assert_null(fewer.acceleration);
  assert_memory_equal(fewer.id, kept.id, kept.count * sizeof *kept.id);
  assert_memory_equal(fewer.momentum, kept.momentum, 3 * kept.count * sizeof *kept.momentum);
  free(keep);
  particles_free(&s);
  particles_free(&without);
  particles_free(&kept);
  particles_free(&fewer);
}

/* Where particles stay in their groups, ranks have nothing to tell each other. */
static void no_moves_are_not_told(void **state) {
  (void)state;
  struct particles s = particles_create_share(PARTICLES, 100.0, 1.0);
  for (size_t i = 0; i < s.count; i++) s.id[i] = particles_first(&s) + i;
  const struct domain_layout layout = {.group_count = 256, .depth = DEPTH};
  struct domain d = domain_make(s, &layout, (struct geometry){0});
  place(&d.particles, 0);
  domain_start(&d);
  const uint64_t before = comm_sent(COMM_exchanges).bytes;
  rebuild(&d, TASKS_THEN_SORT);
  assert_int_equal(comm_sent(COMM_exchanges).bytes - before, 0);
  domain_unregister(&d);
  particles_free(&d.particles);
}

static void tasks_and_cores_make_the_same_groups(void **state) {
  (void)state;
  /* fewer groups than the levels that cores split together, and more */
  for (uint32_t count = 4; count <= 256; count *= 64) {
    groups_are_the_same(count, CORES_THEN_SORT);
    groups_are_the_same(count, TASKS_THEN_SORT);
  }
}

/* Sums. */

enum { TERMS = 2 };
static double term(uint32_t group, int k) { return sin(1.0 + group + 0.1 * k); }

/** Over the groups of a node of the ORB tree: the left half, then the right one. */
static double node_sum(uint32_t first, uint32_t count, int k) {
  if (count == 1) return term(first, k);
  return node_sum(first, count / 2, k) + node_sum(first + count / 2, count / 2, k);
}
/** Over all groups: nodes from the largest to the smallest. */
static double plain_sum(uint32_t count, int k) {
  double sum = 0.0;
  uint32_t first = 0;
  for (uint32_t node = 1u << 30; node > 0; node /= 2)
    if (count & node) {
      sum += node_sum(first, node, k);
      first += node;
    }
  return sum;
}

/** @param share  rank r has the groups from count (r/ranks)^share on: some ranks may have none */
static void sum_is_right(uint32_t count, double share) {
  const double ranks = comm_size(), rank = comm_rank();
  const size_t first = (size_t)floor(count * pow(rank / ranks, share)),
               end = (size_t)floor(count * pow((rank + 1.0) / ranks, share));
  const struct particles s = {.all_blocks = count, .first_block = first, .blocks = end - first};
  double terms[count][TERMS], sum[TERMS];
  for (uint32_t g = 0; g < s.blocks; g++)
    for (int k = 0; k < TERMS; k++) terms[g][k] = term((uint32_t)first + g, k);
  group_sums(&s, terms[0], TERMS, sum);
  for (int k = 0; k < TERMS; k++) {
    const double plain = plain_sum(count, k);
    assert_memory_equal(&sum[k], &plain, sizeof plain);
  }
}

static void sums_have_the_same_bits(void **state) {
  (void)state;
  for (uint32_t count = 1; count <= 70; count++)
    for (int share = 0; share < 3; share++) sum_is_right(count, (double[]){0.3, 1.0, 3.0}[share]);
}

/** With GPUs: tests/gpu/domain/layout.c. */
static void leaves_on_cores_depend_on_the_kind_of_system(void **state) {
  (void)state;
  for (size_t particles = 1000; particles < 1 << 24; particles *= 16) {
    struct parameters p;
    parameters_default(&p);
    assert_int_equal(domain_layout_choose(&p, particles).leaf_size, 64);
    p.box.boundary = BOUNDARY_ISOLATED;
    assert_int_equal(domain_layout_choose(&p, particles).leaf_size, 16);
    p.runtime.leaf_size = 5;
    assert_int_equal(domain_layout_choose(&p, particles).leaf_size, 5);
  }
}

/** With cores alone one thread submits the tasks of all groups. With GPUs: tests/gpu/domain/layout.c. */
static void large_runs_have_large_groups(void **state) {
  (void)state;
  struct parameters p;
  parameters_default(&p);
  assert_int_equal(domain_layout_choose(&p, 1 << 15).group_count, 16);
  assert_int_equal(domain_layout_choose(&p, 1 << 18).group_count, 32);
  assert_int_equal(domain_layout_choose(&p, 1 << 21).group_count, 128);
  assert_int_equal(domain_layout_choose(&p, 1 << 24).group_count, 256);
  assert_int_equal(domain_layout_choose(&p, 1 << 30).group_count, 1 << 14);
  p.box.boundary = BOUNDARY_ISOLATED;
  assert_int_equal(domain_layout_choose(&p, 1 << 20).group_count, 32);
  assert_int_equal(domain_layout_choose(&p, 1 << 24).group_count, 256);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(leaves_on_cores_depend_on_the_kind_of_system),
                                     cmocka_unit_test(large_runs_have_large_groups),
                                     cmocka_unit_test(tasks_and_cores_make_the_same_groups),
                                     cmocka_unit_test(no_moves_are_not_told),
                                     cmocka_unit_test(a_copy_of_some_has_all_columns),
                                     cmocka_unit_test(sums_have_the_same_bits)};
  comm_start(&argc, &argv);
  start_workers(2);
  message_start(&(struct parameters){.runtime.shared_memory = SHARED_HOST});
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  message_stop();
  starpu_shutdown();
  comm_end();
  return failed;
}
