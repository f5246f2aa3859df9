/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Friends of friends and halos against plain searches over all particles. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sorted_particles.h" /* before cmocka, whose fail() is a macro */

#include <cmocka.h>
#include <gsl/gsl_math.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>

#include "assert_near.h"
#include "photons/halo.h"
#include "photons/ic.h"

#define BOX 50.0

/** N particles, ids 0 .. N-1 in no order. Clustered: half of them in clumps of all sizes and densities, some of them across
 * the edges and corners of the box, some points more than once. */
static struct particles make_particles(size_t n, bool clustered, unsigned long seed) {
  gsl_rng *rng = gsl_rng_alloc(gsl_rng_ranlxd1);
  gsl_rng_set(rng, seed);
  struct particles s = particles_create(n, BOX, 1.0);
  double centre[3] = {0.0, 0.0, 0.0}, width = 1.0;
  for (size_t i = 0; i < n; i++) {
    if (gsl_rng_uniform(rng) < 0.01) {
      for (int c = 0; c < 3; c++) centre[c] = gsl_rng_uniform(rng) < 0.3 ? 0.0 : BOX * gsl_rng_uniform(rng);
      width = pow(10.0, -2.5 + 2.7 * gsl_rng_uniform(rng));
    }
    const bool in_clump = clustered && gsl_rng_uniform(rng)<0.5, twin = i> 0 && gsl_rng_uniform(rng) < 0.01;
    for (size_t c = 0; c < 3; c++) {
      const double x = in_clump ? centre[c] + gsl_ran_gaussian(rng, width) : BOX * gsl_rng_uniform(rng);
      s.position[c * n + i] = twin ? s.position[c * n + i - 1] : position_to_integer(x, BOX);
      s.momentum[c * n + i] = (float)gsl_ran_gaussian(rng, 300.0);
    }
    s.id[i] = i * 7919 % n; /* n is no multiple of this prime */
  }
  gsl_rng_free(rng);
  return s;
}

static struct particles copy_particles(const struct particles *s) {
  struct particles out = particles_create(s->count, s->box, s->mass);
  memcpy(out.position, s->position, 3 * s->count * sizeof *s->position);
  memcpy(out.momentum, s->momentum, 3 * s->count * sizeof *s->momentum);
  memcpy(out.id, s->id, s->count * sizeof *s->id);
  return out;
}

/* The reference: along x from particle to particle, no tree, no cells; labels by id are the lowest id of the group. */

static const struct particles *compared; /* qsort has no context */

static int compare_x(const void *a, const void *b) {
  const uint32_t x = compared->position[*(const uint32_t *)a], y = compared->position[*(const uint32_t *)b];
  return (x > y) - (x < y);
}

static uint64_t *root(uint64_t *label, uint64_t id) {
  while (label[id] != id) id = label[id] = label[label[id]];
  return &label[id];
}

/** @return label of each id; @p s in one block */
static uint64_t *plain_search(const struct particles *s, uint64_t length2) {
  const size_t n = s->count;
  const uint32_t *x = s->position, *y = x + n, *z = y + n;
  uint32_t *order = calloc(n, sizeof *order);
  uint64_t *label = calloc(n, sizeof *label);
  const double length = sqrt((double)length2) + 1.0;
  for (uint32_t i = 0; i < n; i++) label[i] = order[i] = i;
  compared = s;
  qsort(order, n, sizeof *order, compare_x);
  for (size_t i = 0; i < n; i++)
    for (size_t k = 1; k < n; k++) {
      const uint32_t p = order[i], q = order[(i + k) % n];
      if ((double)(uint32_t)(x[q] - x[p]) > length) break; /* round the box at the end */
      const int64_t d[3] = {(int32_t)(x[q] - x[p]), (int32_t)(y[q] - y[p]), (int32_t)(z[q] - z[p])};
      if ((uint64_t)(d[0] * d[0]) + (uint64_t)(d[1] * d[1]) + (uint64_t)(d[2] * d[2]) > length2) continue;
      uint64_t *a = root(label, s->id[p]), *b = root(label, s->id[q]);
      if (*a < *b)
        *b = *a;
      else
        *a = *b;
    }
  for (uint64_t i = 0; i < n; i++) label[i] = *root(label, i);
  free(order);
  return label;
}

/** Labels by id of the groups that fof_find() found. */
static uint64_t *labels_by_id(const struct fof *f) {
  const struct particles *s = f->particles;
  uint64_t *lowest = malloc(s->count * sizeof *lowest), *label = malloc(s->count * sizeof *label);
  memset(lowest, 0xff, s->count * sizeof *lowest);
  for (size_t i = 0; i < s->count; i++)
    lowest[f->head[i]] = s->id[i] < lowest[f->head[i]] ? s->id[i] : lowest[f->head[i]];
  for (size_t i = 0; i < s->count; i++) label[s->id[i]] = lowest[f->head[i]];
  free(lowest);
  return label;
}

static void check_partition(const struct particles *unsorted, double length, const uint32_t (*cuts)[2],
                            size_t cut_count) {
  uint64_t *expected = plain_search(unsorted, fof_length2(length, unsorted->box));
  for (size_t i = 0; i < cut_count; i++) {
    struct particles s = copy_particles(unsorted);
    sort_particles(&s, cuts[i][0], cuts[i][1]);
    struct fof *f = fof_find(&s, cuts[i][1], length);
    uint64_t *found = labels_by_id(f);
    assert_memory_equal(found, expected, s.count * sizeof *found);
    for (size_t p = 0; p < s.count; p++) assert_true(f->head[p] <= p && f->head[f->head[p]] == f->head[p]);
    free(found);
    fof_free(f);
    particles_free(&s);
  }
  free(expected);
}

static void test_partition(void **state) {
  (void)state;
  static const uint32_t cuts[][2] = {{1, 0}, {1, 6}, {2, 5}, {8, 0}, {8, 4}, {64, 2}, {256, 3}};
  for (int clustered = 0; clustered <= 1; clustered++) {
    const size_t n = 5001;
    struct particles s = make_particles(n, clustered, 1);
    const double spacing = BOX / cbrt((double)n);
    for (int i = 0; i < 3; i++)
      check_partition(&s, (double[]){0.03, 0.2, 0.8}[i] * spacing, cuts, sizeof cuts / sizeof *cuts);
    particles_free(&s);
  }
}

static void test_few_particles(void **state) {
  (void)state;
  static const uint32_t cuts[][2] = {{1, 0}, {2, 0}, {1, 1}};
  for (size_t n = 2; n <= 9; n++) {
    struct particles s = make_particles(n, false, n);
    check_partition(&s, 0.2 * BOX, cuts, sizeof cuts / sizeof *cuts);
    particles_free(&s);
  }
}

/* A chain round the box whose links have exactly the linking length, and one unit more. */
static void test_exact_length(void **state) {
  (void)state;
  for (uint32_t more = 0; more <= 1; more++) {
    const size_t n = 64;
    struct particles s = particles_create(n, BOX, 1.0);
    for (size_t i = 0; i < n; i++) {
      s.position[i] = (uint32_t)i * ((1u << 26) + more);
      s.position[2 * n + i] = UINT32_MAX;
      s.id[i] = i;
    }
    sort_particles(&s, 4, 2);
    struct fof *f = fof_find(&s, 2, BOX / 64.0);
    size_t groups = 0;
    for (size_t i = 0; i < n; i++) groups += f->head[i] == i;
    assert_int_equal(groups, more ? n - 1 : 1); /* the link from the last back to the first is shorter then */
    fof_free(f);
    particles_free(&s);
  }
}

static void test_simulated(void **state) {
  (void)state;
  static const uint32_t cuts[][2] = {{16, 5}, {64, 4}, {1, 10}};
  const char *folder = getenv("PHOTONS_TEST_DATA");
  struct parameters p;
  parameters_default(&p);
  snprintf(p.ic.file, sizeof p.ic.file, "%s/forces/late32.hdf5", folder ? folder : "");
  if (!folder || access(p.ic.file, R_OK) != 0) skip();
  struct particles s = ic_read_gadget(&p);
  for (size_t i = 0; i < s.count; i++) s.id[i] = i;
  check_partition(&s, 0.2 * s.box / cbrt((double)s.count), cuts, sizeof cuts / sizeof *cuts);
  particles_free(&s);
}

/* Halos. */

/** Particles inside the largest sphere about the centre with the threshold density that find_crossing() may consider:
 * from all distances, sorted. */
static int compare_doubles(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static size_t direct_sphere(const struct particles *s, const struct halo *h, double threshold) {
  const double unit = 4.0 / 3.0 * M_PI * threshold / s->mass;
  double *r = malloc(s->count * sizeof *r);
  for (size_t g = 0, i = 0; g < s->blocks; g++) {
    const struct particle_block b = particles_block(s, g);
    for (size_t k = 0; k < b.count; k++) {
      double r2 = 0.0;
      for (int c = 0; c < 3; c++) {
        const double d = position_from_integer(b.x[c][k], s->box) - h->centre[c];
        r2 += gsl_pow_2(d - s->box * rint(d / s->box));
      }
      r[i++] = sqrt(r2);
    }
  }
  qsort(r, s->count, sizeof *r, compare_doubles);
  double reach = cbrt(2.0 * (double)h->count / unit);
  size_t inside = 0, found = 0;
  for (;; reach *= 1.5) {
    while (inside < s->count && r[inside] <= reach) inside++;
    if (cbrt((double)inside / unit) < reach) break;
  }
  for (size_t j = 1; j <= inside; j++) {
    const double radius = cbrt((double)j / unit), next = j < inside ? r[j] : reach;
    if (r[j - 1] <= radius && radius < next) found = j;
  }
  free(r);
  return found;
}

static size_t index_of(const struct particles *s, uint64_t id) {
  size_t i = 0;
  while (s->id[i] != id) i++;
  return i;
}

static void check_halo(const struct particles *s, const struct halo_catalogue *c, const struct halo *h,
                       double threshold) {
  double position[3] = {0}, momentum[3] = {0}, first[3] = {0};
  for (uint64_t m = 0; m < h->count; m++) {
    const size_t i = index_of(s, c->particles->id[c->member[h->first + m]]); /* s: one block */
    for (size_t k = 0; k < 3; k++) {
      const double x = position_from_integer(s->position[k * s->count + i], s->box);
      if (m == 0) first[k] = x;
      position[k] += (x - first[k] - s->box * rint((x - first[k]) / s->box)) / (double)h->count;
      momentum[k] += (double)s->momentum[k * s->count + i] / (double)h->count;
    }
  }
  for (size_t k = 0; k < 3; k++) {
    const double d = position[k] + first[k] - h->position[k];
    assert_near(d - s->box * rint(d / s->box), 0.0, 1e-8); /* positions have 2^-32 of the box */
    assert_near(momentum[k], h->momentum[k], 1e-9);
    assert_true(h->position[k] >= 0.0 && h->position[k] < s->box);
  }
  assert_int_equal(h->count_200, direct_sphere(c->particles, h, threshold));
  if (h->count_200) /* the radius belongs to the mass */
    assert_near((double)h->count_200 * s->mass / (4.0 / 3.0 * M_PI * gsl_pow_3(h->r_200) * threshold), 1.0, 1e-12);
}

static void test_halos(void **state) {
  (void)state;
  static const uint32_t cuts[][2] = {{8, 4}, {1, 0}, {2, 7}, {64, 3}};
  const size_t n = 6001, least = 10;
  struct particles unsorted = make_particles(n, true, 5);
  const double length = 0.2 * BOX / cbrt((double)n), threshold = 200.0 * (double)n / gsl_pow_3(BOX);
  uint64_t *label = plain_search(&unsorted, fof_length2(length, BOX)), *size = calloc(n, sizeof *size), *ids = NULL;
  struct halo_catalogue *reference = NULL;
  for (size_t i = 0; i < n; i++) size[label[i]]++;
  size_t expected = 0;
  for (size_t i = 0; i < n; i++) expected += size[i] >= least;
  assert_true(expected > 5);
  for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
    struct particles s = copy_particles(&unsorted);
    sort_particles(&s, cuts[i][0], cuts[i][1]);
    struct fof *f = fof_find(&s, cuts[i][1], length);
    struct halo_catalogue *c = halo_catalogue_create(f, least, threshold);
    assert_int_equal(c->count, expected);
    uint64_t *member_ids = calloc(c->members, sizeof *member_ids);
    uint64_t before = UINT64_MAX, total = 0;
    for (size_t h = 0; h < c->count; h++) {
      const struct halo *halo = &c->halo[h];
      assert_true(halo->count <= before && halo->first == total);
      before = halo->count;
      total += halo->count;
      for (uint64_t m = halo->first; m < total; m++) {
        member_ids[m] = s.id[c->member[m]];
        assert_int_equal(label[member_ids[m]], halo->lowest_id);
        if (m > halo->first) assert_true(member_ids[m] > member_ids[m - 1]);
      }
      assert_int_equal(halo->count, size[halo->lowest_id]);
      if (i == 0) check_halo(&unsorted, c, halo, threshold);
    }
    assert_int_equal(total, c->members);
    if (i == 0) { /* all other ways to cut the particles must give the same bits */
      ids = member_ids;
      reference = c;
    } else {
      assert_memory_equal(member_ids, ids, total * sizeof *ids);
      assert_memory_equal(c->halo, reference->halo, c->count * sizeof *c->halo);
      free(member_ids);
    }
    struct particles ordered = halo_ordered_particles(c);
    for (size_t m = 0; m < c->members; m++) assert_int_equal(ordered.id[m], ids[m]);
    uint64_t sum = 0;
    for (size_t k = 0; k < n; k++) {
      sum += ordered.id[k];
      if (k % 50 == 0) { /* id and coordinates moved together */
        const size_t at = index_of(&unsorted, ordered.id[k]);
        for (size_t x = 0; x < 3; x++) assert_int_equal(ordered.position[x * n + k], unsorted.position[x * n + at]);
      }
    }
    assert_int_equal(sum, n * (n - 1) / 2);
    particles_free(&ordered);
    if (i > 0) halo_catalogue_free(c);
    fof_free(f);
    particles_free(&s);
  }
  halo_catalogue_free(reference);
  free(ids);
  free(size);
  free(label);
  particles_free(&unsorted);
}

/* 4000 particles with rho ~ r^-2 out to R: M(<r) = N r/R, so that the sphere of mean density Delta has
 * r = R sqrt(Delta(R)/Delta). Tolerance: 5/sqrt(N inside) for counting, 2 % for the centre. */
static void test_isothermal_sphere(void **state) {
  (void)state;
  const size_t n = 4096;
  const double radius = 4.0, centre[3] = {0.1, 49.9, 25.0};
  gsl_rng *rng = gsl_rng_alloc(gsl_rng_ranlxd1);
  struct particles s = particles_create(n, BOX, 1.0);
  for (size_t i = 0; i < n; i++) {
    double x, y, z;
    gsl_ran_dir_3d(rng, &x, &y, &z);
    const double r = radius * gsl_rng_uniform(rng), direction[3] = {x, y, z};
    for (size_t c = 0; c < 3; c++) s.position[c * n + i] = position_to_integer(centre[c] + r * direction[c], BOX);
    s.id[i] = i + 1;
  }
  gsl_rng_free(rng);
  sort_particles(&s, 8, 4);
  struct fof *f = fof_find(&s, 4, 1.0);
  const double mean = (double)n / (4.0 / 3.0 * M_PI * gsl_pow_3(radius));
  struct halo_catalogue *c = halo_catalogue_create(f, 20, 16.0 * mean); /* r = R/4 */
  assert_int_equal(c->count, 1);
  for (int k = 0; k < 3; k++) {
    const double d = c->halo[0].centre[k] - centre[k];
    assert_near(d - BOX * rint(d / BOX), 0.0, 0.02 * radius);
  }
  assert_near(c->halo[0].r_200 / (0.25 * radius), 1.0, 5.0 / sqrt((double)n / 4.0) + 0.02);
  halo_catalogue_free(c);
  fof_free(f);
  particles_free(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_partition),    cmocka_unit_test(test_few_particles),
                                     cmocka_unit_test(test_exact_length), cmocka_unit_test(test_simulated),
                                     cmocka_unit_test(test_halos),        cmocka_unit_test(test_isothermal_sphere)};
  int failed = 0;
  for (int workers = 1; workers <= 3 && !failed; workers += 2) {
    start_workers(workers);
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    starpu_shutdown();
  }
  return failed;
}
