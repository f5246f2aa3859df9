/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Groups: with GPUs a rebuild moves particles into groups, and tasks sort the particles of each
 * group. The result is that of a rebuild on cores, also where many particles have equal
 * coordinates. Runs on any number of ranks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "photons/base/comm.h"
#include "photons/domain/domain.h"
#include "photons/domain/group_sort.h"
#include "src/domain/rebuild.h"
#include "support/checksum.h"

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
      p.p[1][i] = (float)s->id[p.first + i];
    }
  }
}

/** Particles after two rebuilds, the second from the groups of the first. */
static struct particles groups(uint32_t count, bool tasks) {
  struct particles s = particles_create_share(PARTICLES, 100.0, 1.0);
  particles_add_block_columns(&s); /* of one byte a particle, too */
  for (size_t i = 0; i < s.count; i++) {
    s.id[i] = particles_first(&s) + i;
    s.rung[i] = (uint8_t)s.id[i];
  }
  const struct domain_layout layout = {.group_count = count, .depth = DEPTH};
  struct domain d = domain_make(s, &layout, (struct geometry){0});
  for (uint64_t round = 0; round < 2; round++) {
    place(&d.particles, round);
    orb_rebuild(&d, !tasks);
    for (size_t b = 0; tasks && b < d.particles.blocks; b++) {
      const struct particle_block p = particles_block(&d.particles, b);
      void *column[PARTICLE_COLUMN_COUNT] = {NULL};
      FOR_PARTICLE_COLUMNS(&d.particles, k)
      column[k] = (char *)particles_column(&d.particles, k) +
                  p.first * particle_column_bytes(&particle_columns[k]);
      /* Coordinates count from half a box below the centre: here from 0. */
      group_sort((uint32_t)p.count, DEPTH, (uint32_t[3]){1u << 31, 1u << 31, 1u << 31}, column);
    }
  }
  return d.particles;
}

static void groups_are_the_same(uint32_t count) {
  struct particles cores = groups(count, false), tasks = groups(count, true);
  assert_int_equal(cores.count, tasks.count);
  FOR_PARTICLE_COLUMNS(&cores, k) {
    const size_t bytes = cores.count * particle_column_bytes(&particle_columns[k]);
    assert_memory_equal(particles_column(&cores, k), particles_column(&tasks, k), bytes);
  }
  uint64_t sum = 0;
  for (size_t i = 0; i < tasks.count; i++) {
    assert_int_equal(tasks.rung[i], (uint8_t)tasks.id[i]);
    sum += checksum_term(particles_first(&tasks) + i, tasks.id[i]);
  }
  for (size_t b = 0; b < tasks.blocks; b++) {
    const struct particle_block p = particles_block(&tasks, b);
    for (size_t i = 0; i < p.count; i++) assert_true(p.p[1][i] == (float)tasks.id[p.first + i]);
  }
  checksum_print("groups", sum);
  particles_free(&cores);
  particles_free(&tasks);
}

static void tasks_and_cores_make_the_same_groups(void **state) {
  (void)state;
  groups_are_the_same(4);   /* fewer groups than the levels that are split together */
  groups_are_the_same(256); /* more */
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(tasks_and_cores_make_the_same_groups)};
  comm_start(&argc, &argv);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  comm_end();
  return failed;
}
