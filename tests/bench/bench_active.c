/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Time of direct forces where a share of the particles is active, as in the sub-steps of block time
 * steps: PHOTONS_BENCH_SNAPSHOT, a Gadget snapshot, else the clustered force set. Active are the
 * particles with the largest accelerations. The pairs' time should fall as their number. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "photons/base/error.h"
#include "photons/config/parameters.h"
#include "photons/domain/codelets.h"
#include "photons/runtime/message.h"
#include "photons/runtime/task_log.h"
#include "photons/step/step.h"
#include "src/step/forces.h"
#include "support/force_set.h"
#include "support/starpu_fixture.h"

enum { ACTIVE = 1, REPEATS = 5 }; /* the rung of active particles */

static double square_of(const struct particle_block *b, size_t i) {
  double sum = 0.0;
  for (int c = 0; c < 3; c++) sum += (double)b->acc[c][i] * (double)b->acc[c][i];
  return sum;
}

static int compare_falling(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x < y) - (x > y);
}

/** All squared accelerations, falling. */
static double *sorted_squares(const struct particles *s) {
  double *square = allocate(s->count, sizeof *square, "accelerations");
  size_t n = 0;
  for (size_t g = 0; g < s->blocks; g++) {
    const struct particle_block b = particles_block(s, g);
    for (size_t i = 0; i < b.count; i++) square[n++] = square_of(&b, i);
  }
  qsort(square, n, sizeof *square, compare_falling);
  return square;
}

/** Make the particles with larger squared accelerations active. */
static void activate(struct nbody *n, double least) {
  domain_acquire(&n->domain);
  size_t block = 0;
  uint8_t *rung = n->domain.particles.rung;
  FOR_GROUPS(&n->domain, g) {
    const struct particle_block b = particles_block(&n->domain.particles, block++);
    g->targets = 0;
    g->moved = 0.0f;
    for (size_t i = 0; i < b.count; i++, rung++) {
      *rung = square_of(&b, i) >= least ? ACTIVE : 0;
      g->targets += *rung == ACTIVE;
    }
  }
  domain_release(&n->domain);
}

static void choose(struct nbody *n, struct group *g, void *unused) {
  (void)unused;
  targets_pack(&n->short_range, g, ACTIVE, g->targets);
}

static void compute(struct nbody *n) {
  domain_find_neighbours(&n->domain);
  forces_submit(n, false, choose, NULL);
  FOR_GROUPS(&n->domain, g) if (g->targets > 0) targets_release(&n->short_range, g);
  message_wait();
}

static double seconds_of(const struct usage *u, const char *stage) {
  for (uint32_t i = 0; i < stage_count(); i++)
    if (strcmp(stage_name(stage_at(i)), stage) == 0) return u->seconds[i];
  fail(EXIT_RUN_FAILED, "no stage %s", stage);
}

static void measure(struct nbody *n, double share, const double *squares) {
  const size_t all = n->domain.particles.all, active = (size_t)(share * (double)all);
  activate(n, squares[active > 0 ? active - 1 : 0]);
  double pack = 0.0, walk = 0.0, p2p = INFINITY;
  uint64_t pairs = 0;
  for (int repeat = 0; repeat < REPEATS; repeat++) { /* the fastest counts */
    struct usage cores, gpus;
    compute(n);
    task_log_take(0, &cores, &gpus, NULL, NULL);
    if (seconds_of(&cores, "p2p") >= p2p) continue;
    p2p = seconds_of(&cores, "p2p");
    pack = seconds_of(&cores, "pack");
    walk = seconds_of(&cores, "walk");
    pairs = short_range_work(&n->short_range).pairs;
  }
  printf("%7.1f %% %11.3g %9.4f %9.4f %9.4f %11.3g\n", 100.0 * share, (double)pairs, pack, walk,
         p2p, (double)pairs / p2p);
}

int main(void) {
  const char *snapshot = getenv("PHOTONS_BENCH_SNAPSHOT");
  if (!snapshot || !*snapshot) snapshot = force_set_path("late.hdf5");
  static const double shares[] = {1.0, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.001};
  start_starpu_for_tests();
  struct parameters p;
  struct nbody *n = solver_of_gadget_file(snapshot, &p);
  printf("%zu particles of %s, %u workers; core seconds, the fastest of %d\n",
         n->domain.particles.all, snapshot, starpu_worker_get_count(), REPEATS);
  printf("   active       pairs      pack      walk       p2p     pairs/s\n");
  step_first_forces(n);
  task_log_begin();
  domain_acquire(&n->domain);
  double *squares = sorted_squares(&n->domain.particles);
  domain_release(&n->domain);
  for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) measure(n, shares[i], squares);
  task_log_end();
  free(squares);
  nbody_free(n);
  engine_stop();
  return 0;
}
