/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What subhalos need: densities in halos, and potentials of particles in their own field. Tasks of CUDA and of cores against loops
 * on cores. All have the same bits. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/force_set.h"

#include "photons/base/error.h"
#include "photons/config/parameters.h"
#include "photons/runtime/engine.h"
#include "src/analysis/halo_density.h"
#include "src/analysis/subhalo.h"
#include "tests/gpu/checks.h"
#include "tests/gpu/compare.h"

enum shape { HALO, LATTICE, POINT };

/** Halos of all sizes about where there are fewer particles than neighbours, where a warp has all of them, and where levels of
 * the tree begin; and those of which choose() leaves about as many particles as all pairs are summed of. Many have the same
 * distances, or are at one place. */
static const struct density_case {
  uint32_t particles;
  enum shape shape;
} cases[] = {{2049, LATTICE}, {2048, HALO}, {1500, HALO}, {1401, LATTICE}, {1030, LATTICE},
             {512, HALO},     {511, HALO},  {300, POINT}, {257, LATTICE},  {129, HALO},
             {65, HALO},      {64, HALO},   {33, HALO},   {32, HALO},      {27, LATTICE},
             {21, HALO},      {20, HALO},   {19, HALO},   {11, HALO},      {10, POINT},
             {2, HALO},       {1, HALO}};
/* Particles of a task: the largest halo has more tasks than there are at a time. All pairs are summed of up to 1024. */
enum { CASES = sizeof cases / sizeof *cases, TASK = 150, POTENTIALS_TASK = 1056 };

#define TIME 0.003 /* that makes velocities of positions */

/** The same numbers in each call: Lehmer's generator. */
static double next_number(uint32_t *seed) {
  *seed = (uint32_t)((uint64_t)*seed * 48271 % 2147483647);
  return (double)*seed / 2147483647.0;
}

static struct halo_body body_of(enum shape shape, uint32_t i, uint32_t *seed) {
  struct halo_body b = {.x = {0.0}};
  if (shape == HALO) { /* density as 1/r^2, and the same in velocities */
    const double r = next_number(seed), s = next_number(seed);
    for (int c = 0; c < 3; c++) {
      b.x[c] = r * (2.0 * next_number(seed) - 1.0);
      b.v[c] = 300.0 * s * (2.0 * next_number(seed) - 1.0);
    }
  } else if (shape == LATTICE) {
    for (int c = 0; c < 3; c++) b.x[c] = TIME * (double)(i >> (2 * c) & 3);
    for (int c = 0; c < 3; c++) b.v[c] = (double)(i >> (6 + c) & 1);
  }
  return b;
}

static struct halo_body *bodies_of(const struct density_case *k) {
  uint32_t seed = 1 + k->particles;
  struct halo_body *body = allocate(k->particles, sizeof *body, "particles");
  for (uint32_t i = 0; i < k->particles; i++) body[i] = body_of(k->shape, i, &seed);
  return body;
}

static struct halo_tree tree_of(const struct density_case *k) {
  struct halo_body *body = bodies_of(k);
  const struct halo_tree tree = halo_tree_create(k->particles, body, TIME);
  free(body);
  return tree;
}

static const struct halo_background background = {.a = 0.5};
static struct unbinding unbindings[CASES];

static void make_unbindings(void) {
  for (size_t i = 0; i < CASES; i++)
    unbindings[i] = (struct unbinding){bodies_of(&cases[i]), &background, 0.1, 0.02, 20};
}

/** Of two large cases all particles, of others every other one from the first one on: as those of a candidate. */
static uint32_t choose(size_t i, uint32_t *number) {
  const bool all = cases[i].particles == 1500 || cases[i].particles == 1401;
  uint32_t count = 0;
  for (uint32_t k = 0; k < cases[i].particles; k++)
    if (all || k % 2 == 0) number[count++] = k;
  return count;
}

static void potentials_by(bool tasks, struct potentials p[CASES]) {
  struct potentials_request request[CASES];
  for (size_t i = 0; i < CASES; i++) {
    uint32_t *number = allocate(cases[i].particles, sizeof *number, "numbers");
    const uint32_t count = choose(i, number);
    p[i] = tasks ? potentials_list(count, number) : potentials_of(&unbindings[i], count, number);
    request[i] = (struct potentials_request){&unbindings[i], &p[i]};
    free(number);
  }
  if (tasks) potentials_by_tasks(POTENTIALS_TASK, CASES, request);
}

/** What is found of all cases. */
struct found {
  struct densities densities[CASES];
  struct potentials potentials[CASES];
};

static void find_by_loops(struct found *f) {
  potentials_by(false, f->potentials);
  for (size_t i = 0; i < CASES; i++) {
    struct halo_tree tree = tree_of(&cases[i]);
    f->densities[i] = densities_of(&tree);
    halo_tree_free(&tree);
  }
}

/** Numbers of tasks. */
struct tasks {
  uint64_t densities, potentials;
};

/** @return tasks of GPUs */
static struct tasks find_by_tasks(bool gpu, struct found *f) {
  struct halo_tree tree[CASES], *trees[CASES];
  struct densities *all[CASES];
  struct parameters p;
  parameters_from_text(&p, "[box]\nsize = 100\nnpart_side = 2\n", NULL, 0);
  start_engine(&p, gpu);
  starpu_profiling_status_set(STARPU_PROFILING_ENABLE);
  for (size_t i = 0; i < CASES; i++) {
    tree[i] = tree_of(&cases[i]);
    trees[i] = &tree[i];
    all[i] = &f->densities[i];
  }
  densities_by_tasks(TASK, CASES, trees, all);
  struct tasks n = {.densities = gpu_tasks()}; /* which counts from its last call on */
  potentials_by(true, f->potentials);
  n.potentials = gpu_tasks();
  for (size_t i = 0; i < CASES; i++) halo_tree_free(&tree[i]);
  engine_stop();
  return n;
}

/** The tasks of trees of so many rows. One tree has as many as it needs; trees that follow each other have one where they fit. */
static uint64_t tasks_of(uint32_t task, const uint32_t rows[CASES]) {
  uint64_t tasks = 0;
  for (size_t i = 0, next; i < CASES; i = next) {
    uint32_t sum = rows[i];
    for (next = i + 1; next < CASES && sum + rows[next] <= task; next++) sum += rows[next];
    tasks += (sum + task - 1) / task;
  }
  return tasks;
}

static struct tasks expected_tasks(const struct found *f) {
  uint32_t particles[CASES], rows[CASES]; /* rows: in whole warps */
  for (size_t i = 0; i < CASES; i++) {
    particles[i] = cases[i].particles;
    rows[i] = (f->potentials[i].count + 31) / 32 * 32;
  }
  return (struct tasks){tasks_of(TASK, particles), tasks_of(POTENTIALS_TASK, rows)};
}

static bool same_densities(uint32_t n, const struct densities *a, const struct densities *b) {
  return a->linked == b->linked && memcmp(a->density, b->density, n * sizeof *a->density) == 0 &&
         memcmp(a->neighbour, b->neighbour, n * a->linked * sizeof *a->neighbour) == 0;
}

static bool same_potentials(const struct potentials *a, const struct potentials *b) {
  return a->count == b->count &&
         memcmp(a->potential, b->potential, a->count * sizeof *a->potential) == 0;
}

static void found_free(struct found *f) {
  for (size_t i = 0; i < CASES; i++) {
    densities_free(&f->densities[i]);
    potentials_free(&f->potentials[i]);
  }
}

static void compare_all(const char *by, const struct found *expected, struct found *found) {
  size_t different = 0;
  for (size_t i = 0; i < CASES; i++) {
    const uint32_t n = cases[i].particles;
    const bool densities = same_densities(n, &expected->densities[i], &found->densities[i]),
               potentials = same_potentials(&expected->potentials[i], &found->potentials[i]);
    if (!densities) printf("  %u particles: DIFFERENT densities\n", n);
    if (!potentials) printf("  %u particles: DIFFERENT potentials\n", n);
    different += !densities || !potentials;
  }
  found_free(found);
  report_whether(by, different == 0);
}

void check_subhalos(void) {
  static struct found loops, cores, gpus;
  make_unbindings();
  find_by_loops(&loops);
  find_by_tasks(false, &cores);
  const struct tasks expected = expected_tasks(&loops), n = find_by_tasks(true, &gpus);
  printf("densities and potentials in %d halos: CPU, and %llu and %llu tasks of GPUs:\n", CASES,
         (unsigned long long)n.densities, (unsigned long long)n.potentials);
  compare_all("tasks of cores have the bits of loops", &loops, &cores);
  compare_all("tasks of GPUs have the bits of loops", &loops, &gpus);
  found_free(&loops);
  for (size_t i = 0; i < CASES; i++) free((void *)unbindings[i].body);
  report_whether("tasks of GPUs",
                 n.densities == expected.densities && n.potentials == expected.potentials);
}
