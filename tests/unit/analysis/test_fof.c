/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Friends of friends against a plain search over all particles, on any number of ranks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/fof_shares.h" /* before cmocka, whose fail() is a macro */

#include <cmocka.h>

#include "photons/analysis/fof.h"
#include "photons/analysis/kernels.h"

/** Labels by id of the FoF groups that fof_find() found: the lowest ids. */
static uint64_t *labels_by_id(const struct fof *f) {
  const struct particles *s = f->particles;
  const size_t n = s->all, first = particles_first(s);
  uint64_t *by_index = calloc(n, sizeof *by_index), *label = calloc(n, sizeof *label),
           *lowest = calloc(n, sizeof *lowest);
  for (size_t i = 0; i < s->count; i++)
    label[s->id[i]] = by_index[first + i] = fof_label(f, (uint32_t)i);
  comm_sum_u64(by_index, n); /* each element is nonzero on one rank only */
  comm_sum_u64(label, n);
  for (size_t i = 0; i < n; i++)
    assert_true(by_index[i] <= i && by_index[by_index[i]] == by_index[i]);
  memset(lowest, 0xff, n * sizeof *lowest);
  for (size_t id = n; id-- > 0;) lowest[label[id]] = id;
  for (size_t id = 0; id < n; id++) label[id] = lowest[label[id]];
  free(lowest);
  free(by_index);
  return label;
}

static void check_partition(const struct particles *whole, double length, const struct cut *cuts,
                            size_t cut_count) {
  uint64_t *expected = plain_search(whole, fof_length2(length, whole->box));
  uint32_t *order = NULL;
  for (size_t i = 0; i < cut_count * SHARES; i++) {
    const struct cut *cut = &cuts[i / SHARES];
    if (comm_size() == 1 && i % SHARES > 0) continue; /* on one rank all of them are the same */
    if (i % SHARES == 0) {
      free(order);
      order = order_of_cut(whole, cut);
    }
    struct particles s = take_share(whole, cut, order, shares[i % SHARES]);
    struct fof *f = fof_find(&s, cut->depth, length);
    uint64_t *found = labels_by_id(f);
    assert_memory_equal(found, expected, s.all * sizeof *found);
    for (size_t p = 0; p < s.count; p++)
      assert_true(f->head[p] <= p && f->head[f->head[p]] == f->head[p]);
    free(found);
    fof_free(f);
    particles_free(&s);
  }
  free(order);
  free(expected);
}

static void test_partition(void **state) {
  (void)state;
  static const struct cut cuts[] = {{1, 0, true}, {1, 6, true}, {2, 5, true},  {7, 0, false},
                                    {8, 0, true}, {8, 4, true}, {64, 2, true}, {256, 3, true}};
  for (int clustered = 0; clustered <= 1; clustered++) {
    const size_t n = 5001;
    struct particles s = make_particles(n, clustered, 1);
    const double spacing = BOX / cbrt((double)n);
    for (int i = 0; i < 3; i++)
      check_partition(&s, (double[]){0.03, 0.2, 0.8}[i] * spacing, cuts,
                      sizeof cuts / sizeof *cuts);
    particles_free(&s);
  }
}

static void test_few_particles(void **state) {
  (void)state;
  static const struct cut cuts[] = {{1, 0, true}, {2, 0, true}, {2, 0, false}, {1, 1, true}};
  for (size_t n = 2; n <= 9; n++) {
    struct particles s = make_particles(n, false, n);
    check_partition(&s, 0.2 * BOX, cuts, sizeof cuts / sizeof *cuts);
    particles_free(&s);
  }
}

/* A chain around the box and through all ranks, whose links have exactly the linking length, and
 * one unit more. */
static void test_exact_length(void **state) {
  (void)state;
  for (uint32_t more = 0; more <= 1; more++) {
    const size_t n = 64;
    static const struct cut cuts[] = {{16, 2, true}, {16, 1, false}, {64, 0, true}};
    struct particles whole = particles_create(n, BOX, 1.0);
    for (size_t i = 0; i < n; i++) {
      whole.position[i] = (uint32_t)i * ((1u << 26) + more);
      whole.position[2 * n + i] = UINT32_MAX;
      whole.id[i] = i;
    }
    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
      uint32_t *order = order_of_cut(&whole, &cuts[i]);
      struct particles s = take_share(&whole, &cuts[i], order, even_share);
      struct fof *f = fof_find(&s, cuts[i].depth, BOX / 64.0);
      uint64_t groups = 0;
      for (size_t p = 0; p < s.count; p++)
        groups += fof_label(f, (uint32_t)p) == particles_first(&s) + p;
      comm_sum_u64(&groups, 1);
      /* the link from the last particle back to the first is then shorter */
      assert_int_equal(groups, more ? n - 1 : 1);
      fof_free(f);
      particles_free(&s);
      free(order);
    }
    particles_free(&whole);
  }
}

static void test_simulated(void **state) {
  (void)state;
  static const struct cut cuts[] = {{16, 5, true}, {64, 4, true}, {1, 10, true}};
  struct particles whole = read_simulated();
  check_partition(&whole, 0.2 * whole.box / cbrt((double)whole.count), cuts,
                  sizeof cuts / sizeof *cuts);
  particles_free(&whole);
}

extern const struct fof_kernels fof_kernels_baseline;
enum { POINTS = 61 }; /* not a whole number of vectors */

/** Whether a coordinate is within an interval that is longer by so much at both ends. */
static bool is_within(uint32_t x, uint32_t low, uint64_t extent, uint64_t more) {
  return extent + 2 * more > UINT32_MAX || x - (low - (uint32_t)more) <= extent + 2 * more;
}

/** What is listed is the lanes' own numbers, rising, has all points in the box and none that is further from it than rounding
 * explains. Half of the points are at faces of the box. */
static void check_near_box(const struct fof_kernels *kernels, gsl_rng *rng, uint32_t longest) {
  uint32_t low[3], extent[3], x[3][POINTS], index[POINTS + FOF_PADDING], listed = 0;
  for (int c = 0; c < 3; c++) {
    low[c] = (uint32_t)gsl_rng_get(rng);
    extent[c] = (uint32_t)(gsl_rng_uniform(rng) * longest);
    for (int i = 0; i < POINTS; i++)
      x[c][i] = i % 4 == 0 ? low[c]
                : i % 4 == 1
                    ? low[c] + extent[c]
                    : low[c] - longest + (uint32_t)(uint64_t)(gsl_rng_uniform(rng) * 3.0 * longest);
  }
  const uint32_t found = kernels->near_box(POINTS, x[0], x[1], x[2], low, extent, index);
  for (uint32_t i = 0; i < POINTS; i++) {
    bool inside = true, near = true;
    for (int c = 0; c < 3; c++) {
      inside = inside && is_within(x[c][i], low[c], extent[c], 0);
      near = near && is_within(x[c][i], low[c], extent[c], 4 + extent[c] / 1000000);
    }
    const bool is_listed = listed < found && index[listed] == i;
    assert_true(is_listed ? near : !inside);
    listed += is_listed;
  }
  assert_int_equal(listed, found);
}

static void test_near_box(void **state) {
  (void)state;
  gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
  const uint32_t longest[] = {1, 2, 1000, 1U << 24, 1U << 30, 1U << 31, UINT32_MAX};
  for (size_t k = 0; k < sizeof longest / sizeof *longest; k++)
    for (int i = 0; i < 100; i++) {
      check_near_box(fof_kernels_select(), rng, longest[k]);
      check_near_box(&fof_kernels_baseline, rng, longest[k]);
    }
  gsl_rng_free(rng);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_partition), cmocka_unit_test(test_few_particles),
      cmocka_unit_test(test_exact_length), cmocka_unit_test(test_simulated),
      cmocka_unit_test(test_near_box)};
  int failed = 0;
  comm_start(&argc, &argv);
  /* otherwise the others would wait for a rank that failed */
  if (comm_size() > 1) setenv("CMOCKA_TEST_ABORT", "1", 1);
  /* tests of tasks run on one rank */
  if (comm_size() > 1) failed = cmocka_run_group_tests(tests, NULL, NULL);
  for (int workers = 1; comm_size() == 1 && workers <= 3 && !failed; workers += 2) {
    start_workers(workers);
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    starpu_shutdown();
  }
  comm_end();
  return failed;
}
