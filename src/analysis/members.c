/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "members.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/runtime/loop.h"

LOOP_STAGE(galaxies, 0x886644, .untimed = true);

#define KPC 1e3 /* in a Mpc */

/** Call the function for members in one range of particles. */
static void visit_block(const struct members *m, const struct particle_block *block,
                        body_function function, const void *context, double *sum) {
  const struct particles *s = m->particles;
  const double unit = KPC * s->box / POSITION_TURN;
  for (size_t i = 0; i < block->count; i++) {
    const size_t k = block->first + i;
    if (!(m->types >> particle_type(s, k) & 1) || !galaxy_has(m->galaxies, m->galaxy, block->id[i]))
      continue;
    struct body body = {.mass = particle_mass(s, k), .place = particles_first(s) + k};
    for (size_t c = 0; c < 3; c++) {
      body.x[c] = unit * (double)position_difference(block->x[c][i], FRAME_MIDDLE);
      body.v[c] = (double)block->p[c][i];
    }
    function(context, &body, sum);
  }
}

/** A sum at work. */
struct fold {
  const struct members *members;
  body_function function;
  const void *context;
  size_t n;
  double *of_blocks; /* [blocks][n] */
};

static void fold_block(void *context, uint32_t g) {
  const struct fold *f = context;
  const struct particles *s = f->members->particles;
  const struct particle_block block = particles_block(s, g);
  visit_block(f->members, &block, f->function, f->context, f->of_blocks + g * f->n);
}

void members_sum(const struct members *m, body_function function, const void *context, size_t n,
                 double *sum) {
  const struct particles *s = m->particles;
  struct fold f = {m, function, context, n,
                   allocate(s->blocks * n, sizeof *f.of_blocks, "sums over a galaxy")};
  loop_run(&galaxies_stage, (uint32_t)s->blocks, fold_block, &f);
  group_sums(s, f.of_blocks, n, sum);
  free(f.of_blocks);
}

/** Counting at work. */
struct tally {
  const struct members *members;
  body_counter function;
  const void *context;
  size_t n;
  _Atomic uint64_t *count; /* [n], of this rank */
};

/** A counter and where it counts. */
struct block_tally {
  const struct tally *tally;
  uint64_t *count; /* [n] */
};

/** A body_function, which has a sum of doubles. */
static void call_counter(const void *context, const struct body *body,
                         double *sum) { /* NOLINT(readability-non-const-parameter) */
  (void)sum;
  const struct block_tally *t = context;
  t->tally->function(t->tally->context, body, t->count);
}

static void count_block(void *context, uint32_t g) {
  const struct tally *t = context;
  const struct particle_block block = particles_block(t->members->particles, g);
  const struct block_tally here = {t, allocate(t->n, sizeof *here.count, "counts of a group")};
  visit_block(t->members, &block, call_counter, &here, NULL);
  for (size_t k = 0; k < t->n; k++)
    if (here.count[k] > 0) atomic_fetch_add(&t->count[k], here.count[k]);
  free(here.count);
}

void members_count(const struct members *m, body_counter function, const void *context, size_t n,
                   uint64_t *count) {
  struct tally t = {m, function, context, n, allocate(n, sizeof *t.count, "counts over a galaxy")};
  loop_run(&galaxies_stage, (uint32_t)m->particles->blocks, count_block, &t);
  for (size_t k = 0; k < n; k++) count[k] = t.count[k];
  free(t.count);
  comm_sum_u64(count, n);
}

void members_visit(const struct members *m, body_function function, const void *context,
                   double *sum) {
  for (size_t g = 0; g < m->particles->blocks; g++) {
    const struct particle_block block = particles_block(m->particles, g);
    visit_block(m, &block, function, context, sum);
  }
}

double distance_from_centre(const struct body_frame *f, const struct body *b) {
  const double x = b->x[0] - f->centre[0], y = b->x[1] - f->centre[1], z = b->x[2] - f->centre[2];
  return sqrt(x * x + y * y + z * z);
}

double distance_from_axis(const struct body_frame *f, const struct body *b) {
  double x[3];
  position_in(f, b, x);
  return sqrt(x[0] * x[0] + x[1] * x[1]);
}
