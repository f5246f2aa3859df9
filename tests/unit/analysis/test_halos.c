/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Halos against plain searches over all particles, on any number of ranks. */
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
#include <hdf5.h>

#include "photons/analysis/halo.h"
#include "photons/analysis/kernels.h"
#include "photons/config/parameters.h"
#include "photons/cosmology/linear_theory.h"
#include "photons/cosmology/mass_function.h"
#include "src/analysis/halo_home.h"
#include "src/analysis/halo_near.h"
#include "src/analysis/halo_sources.h"
#include "src/analysis/rising.h"
#include "src/analysis/subhalo.h"
#include "src/io/hdf5_checksum.h"
#include "support/assert_near.h"
#include "support/flip_bits.h"

/** The particles inside the largest sphere about the centre with the threshold density that
 * find_crossing() may consider, from all distances, sorted. */
static int compare_doubles(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static size_t direct_sphere(const struct particles *s, const struct halo *h, double threshold) {
  const double unit = 4.0 / 3.0 * M_PI * threshold / s->mass;
  double *r = allocate(s->count, sizeof *r, "distances");
  for (size_t i = 0; i < s->count; i++) {
    double r2 = 0.0;
    for (size_t c = 0; c < 3; c++) {
      const double d = position_from_integer(s->position[c * s->count + i], s->box) - h->centre[c];
      r2 += gsl_pow_2(d - s->box * rint(d / s->box));
    }
    r[i] = sqrt(r2);
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

/** A whole catalogue on every rank. */
struct whole_catalogue {
  struct halo *halo;
  uint64_t *id; /* of all members */
  size_t count, members;
};

static struct whole_catalogue gather_catalogue(const struct halo_catalogue *c) {
  const size_t ranks = (size_t)comm_size();
  struct whole_catalogue w = {malloc((c->all + 1) * sizeof *w.halo),
                              malloc((c->all_members + 1) * sizeof *w.id), c->all, c->all_members};
  size_t *bytes = calloc(ranks, sizeof *bytes);
  const size_t mine = c->count * sizeof *w.halo;
  comm_gather_all(&mine, sizeof mine, bytes);
  comm_gather_all_sizes(c->halo, bytes, w.halo);
  for (int r = 0; r < comm_size(); r++)
    bytes[r] = (comm_first(c->all_members, r + 1) - comm_first(c->all_members, r)) * sizeof *w.id;
  uint64_t *ids = halo_member_ids(c);
  comm_gather_all_sizes(ids, bytes, w.id);
  free(ids);
  free(bytes);
  return w;
}

static void free_catalogue(struct whole_catalogue *w) {
  free(w->halo);
  free(w->id);
}

/** A background in which spheres have multiples of the density @p threshold. */
static struct halo_background background_of(double threshold) {
  return (struct halo_background){.a = 1.0,
                                  .hubble = HUBBLE_0,
                                  .density = {[CRIT_200] = threshold,
                                              [MEAN_200] = 0.3 * threshold,
                                              [CRIT_500] = 2.5 * threshold,
                                              [TOP_HAT_200] = 0.5 * threshold}};
}

/** The spheres of all definitions against all distances. */
static void check_spheres(const struct particles *s, const struct halo *h,
                          const struct halo_background *background) {
  for (int m = 0; m < HALO_MASSES; m++) {
    const struct halo_sphere *found = &h->sphere[m];
    assert_int_equal(found->count, direct_sphere(s, h, background->density[m]));
    if (found->count > 0) /* the radius must fit the mass */
      assert_near((double)found->count * s->mass /
                      (4.0 / 3.0 * M_PI * gsl_pow_3(found->radius) * background->density[m]),
                  1.0, 1e-12);
  }
}

static void check_halo(const struct particles *s, const struct whole_catalogue *c,
                       const struct halo *h, const struct halo_background *background) {
  double position[3] = {0}, momentum[3] = {0}, first[3] = {0};
  for (uint64_t m = 0; m < h->count; m++) {
    const size_t i = index_of(s, c->id[h->first + m]);
    for (size_t k = 0; k < 3; k++) {
      const double x = position_from_integer(s->position[k * s->count + i], s->box);
      if (m == 0) first[k] = x;
      position[k] += (x - first[k] - s->box * rint((x - first[k]) / s->box)) / (double)h->count;
      momentum[k] += (double)s->momentum[k * s->count + i] / (double)h->count;
    }
  }
  for (size_t k = 0; k < 3; k++) {
    const double d = position[k] + first[k] - h->position[k];
    /* positions are rounded to 2^-32 of the box */
    assert_near(d - s->box * rint(d / s->box), 0.0, 1e-8);
    assert_near(momentum[k], h->momentum[k], 1e-9);
    assert_true(h->position[k] >= 0.0 && h->position[k] < s->box);
  }
  check_spheres(s, h, background);
}

/** All FoF groups of the plain search with enough members are there, in order, each by rising
 * id. */
static void check_members(const struct whole_catalogue *c, size_t n, const uint64_t *label,
                          size_t least) {
  uint64_t *size = allocate(n, sizeof *size, "sizes of groups"), total = 0;
  size_t expected = 0;
  for (size_t i = 0; i < n; i++) size[label[i]]++;
  for (size_t i = 0; i < n; i++) expected += size[i] >= least;
  assert_true(expected > 5);
  assert_int_equal(c->count, expected);
  for (size_t h = 0; h < c->count; h++) {
    const struct halo *halo = &c->halo[h], *before = halo - 1;
    assert_int_equal(halo->first, total);
    if (h > 0)
      assert_true(halo->count < before->count ||
                  (halo->count == before->count && halo->lowest_id > before->lowest_id));
    total += halo->count;
    assert_int_equal(halo->count, size[halo->lowest_id]);
    assert_int_equal(halo->lowest_id, c->id[halo->first]);
    for (uint64_t m = halo->first; m < total; m++) {
      assert_int_equal(label[c->id[m]], halo->lowest_id);
      if (m > halo->first) assert_true(c->id[m] > c->id[m - 1]);
    }
  }
  assert_int_equal(total, c->members);
  free(size);
}

/** Members by row, then all others; ids and coordinates moved together. */
static void check_order(const struct halo_catalogue *c,
                        const struct whole_catalogue *whole_catalogue,
                        const struct particles *whole) {
  const size_t n = whole->count;
  struct particles ordered = gather_particles(halo_ordered_particles(c, NULL, true));
  assert_int_equal(ordered.count, n);
  assert_memory_equal(ordered.id, whole_catalogue->id,
                      whole_catalogue->members * sizeof *ordered.id);
  uint64_t sum = 0;
  for (size_t k = 0; k < n; k++) {
    sum += ordered.id[k];
    if (k % 50 > 0) continue;
    const size_t at = index_of(whole, ordered.id[k]);
    for (size_t x = 0; x < 3; x++) {
      assert_int_equal(ordered.position[x * n + k], whole->position[x * n + at]);
      assert_near(ordered.momentum[x * n + k], whole->momentum[x * n + at], 0.0);
    }
  }
  assert_int_equal(sum, n * (n - 1) / 2);
  particles_free(&ordered);
}

static void read_dataset(hid_t file, const char *name, hid_t type, void *values) {
  const hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT);
  assert_true(dataset >= 0 && H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
  H5Dclose(dataset);
}

/** Flip one bit of each dataset, one after the other. */
static void check_damage(const char *path, const char *name) {
  char reason[512];
  const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT),
              dataset = H5Dopen2(file, name, H5P_DEFAULT);
  const haddr_t offset = H5Dget_offset(dataset);
  const hsize_t size = H5Dget_storage_size(dataset);
  H5Dclose(dataset);
  H5Fclose(file);
  comm_barrier();
  if (comm_rank() == 0) flip_bits(path, (long)(offset + size / 2), 1);
  comm_barrier();
  assert_false(hdf5_intact(path, NULL, reason, sizeof reason));
  assert_non_null(strstr(reason, strrchr(name, '/') + 1)); /* the message names the dataset */
  comm_barrier();
  if (comm_rank() == 0) flip_bits(path, (long)(offset + size / 2), 1);
  comm_barrier();
  assert_true(hdf5_intact(path, NULL, reason, sizeof reason));
}

/** Check the files that all ranks wrote. */
static void check_files(const struct halo_catalogue *c, const struct whole_catalogue *w,
                        size_t least) {
  const char *catalogue = "test_halos_output.hdf5", *counts = "test_halos_output.txt";
  struct parameters p;
  parameters_default(&p);
  p.output.unit_length = LENGTH_MPC_H;
  halo_catalogue_write(catalogue, &p, c, 1.0, 0.2);
  const struct linear_theory unknown = {.a = 1.0};
  mass_function_write(counts, c, least, &unknown, NULL);
  char reason[512] = "";
  if (!hdf5_intact(catalogue, NULL, reason, sizeof reason)) print_error("%s\n", reason);
  assert_string_equal(reason, "");
  if (w->members > 0) {
    check_damage(catalogue, "/IDs/ID");
    check_damage(catalogue, "/Group/GroupLen");
    check_damage(catalogue, "/Group/GroupPeakPos");
    check_damage(catalogue, "/Group/GroupOffsetType");
  }
  if (comm_rank() == 0) {
    const hid_t file = H5Fopen(catalogue, H5F_ACC_RDONLY, H5P_DEFAULT);
    assert_true(file >= 0);
    uint64_t *id = calloc(w->members + 1, sizeof *id),
             *length = calloc(w->count + 1, sizeof *length);
    double *centre = calloc(w->count + 1, 3 * sizeof *centre);
    read_dataset(file, "/IDs/ID", H5T_NATIVE_UINT64, id);
    read_dataset(file, "/Group/GroupLen", H5T_NATIVE_UINT64, length);
    read_dataset(file, "/Group/GroupPeakPos", H5T_NATIVE_DOUBLE, centre);
    H5Fclose(file);
    assert_memory_equal(id, w->id, w->members * sizeof *id);
    for (size_t h = 0; h < w->count; h++) {
      assert_int_equal(length[h], w->halo[h].count);
      for (size_t k = 0; k < 3; k++) assert_near(centre[3 * h + k], w->halo[h].centre[k], 0.0);
    }
    free(id);
    free(length);
    free(centre);
    FILE *bins = fopen(counts, "r");
    assert_non_null(bins);
    char line[512];
    double all = 0.0;
    while (fgets(line, sizeof line, bins)) {
      char *end = line;
      for (int i = 0; i < 2; i++) strtod(end, &end); /* the third column counts FoF halos */
      if (line[0] != '#') all += strtod(end, NULL);
    }
    assert_near(all, (double)w->count, 0.0);
    fclose(bins);
    unlink(catalogue);
    unlink(counts);
  }
  comm_barrier();
}

/** Without rows of members, halos have the same bits. */
static void check_without_rows(const struct fof *f, const struct halo_catalogue *with, size_t least,
                               const struct halo_background *background) {
  struct halo_catalogue *c = halo_catalogue_create(f, least, false, 0, background);
  assert_int_equal(c->all_members, with->all_members);
  assert_int_equal(c->count, with->count);
  assert_memory_equal(c->halo, with->halo, c->count * sizeof *c->halo);
  assert_int_equal(c->members, 0);
  halo_catalogue_free(c);
}

/** The first division, with all particles on one rank, is compared with plain searches. All other
 * divisions must give the same bits. */
static void check_halos(const struct particles *whole, size_t least, const struct cut *cuts,
                        size_t cut_count) {
  const size_t n = whole->count;
  const double length = 0.2 * whole->box / cbrt((double)n),
               threshold = 200.0 * (double)n * whole->mass / gsl_pow_3(whole->box);
  const struct halo_background background = background_of(threshold);
  uint64_t *label = plain_search(whole, fof_length2(length, whole->box));
  struct whole_catalogue reference = {0};
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
    struct halo_catalogue *c = halo_catalogue_create(f, least, true, 0, &background);
    struct whole_catalogue found = gather_catalogue(c);
    check_order(c, &found, whole);
    if (i == 0) {
      reference = found;
      check_members(&found, n, label, least);
      for (size_t h = (size_t)comm_rank(); h < found.count; h += (size_t)comm_size())
        check_halo(whole, &found, &found.halo[h], &background);
      uint64_t sum = 0;
      for (size_t k = 0; k < found.members; k++) sum += checksum_term(k, found.id[k]);
      for (size_t k = 0; k < found.count * sizeof *found.halo / sizeof sum; k++)
        sum += checksum_term(found.members + k, ((const uint64_t *)(const void *)found.halo)[k]);
      checksum_print("halos", comm_rank() == 0 ? sum : 0);
    } else {
      assert_int_equal(found.count, reference.count);
      assert_int_equal(found.members, reference.members);
      assert_memory_equal(found.id, reference.id, found.members * sizeof *found.id);
      assert_memory_equal(found.halo, reference.halo, found.count * sizeof *found.halo);
    }
    if (i <= 1) check_files(c, &found, least);
    check_without_rows(f, c, least, &background);
    if (i > 0) free_catalogue(&found);
    halo_catalogue_free(c);
    fof_free(f);
    particles_free(&s);
  }
  free_catalogue(&reference);
  free(order);
  free(label);
}

static void test_halos(void **state) {
  (void)state;
  static const struct cut cuts[] = {
      {8, 4, true}, {1, 0, true}, {2, 7, true}, {7, 0, false}, {64, 3, true}};
  struct particles whole = make_particles(6001, true, 5);
  check_halos(&whole, 10, cuts, sizeof cuts / sizeof *cuts);
  particles_free(&whole);
}

static void test_simulated_halos(void **state) {
  (void)state;
  static const struct cut cuts[] = {{32, 5, true}, {128, 3, true}};
  struct particles whole = read_simulated();
  check_halos(&whole, 20, cuts, sizeof cuts / sizeof *cuts);
  particles_free(&whole);
}

/* 4000 particles with rho ~ r^-2 out to R: M(<r) = N r/R, so that the sphere of mean density Delta
 * has r = R sqrt(Delta(R)/Delta). Tolerance: 5/sqrt(N inside) for counting, 2 % for the centre. */
static void test_isothermal_sphere(void **state) {
  (void)state;
  const size_t n = 4096;
  const double radius = 4.0, centre[3] = {0.1, 49.9, 25.0};
  gsl_rng *rng = gsl_rng_alloc(gsl_rng_ranlxd1);
  struct particles whole = particles_create(n, BOX, 1.0);
  for (size_t i = 0; i < n; i++) {
    double x, y, z;
    gsl_ran_dir_3d(rng, &x, &y, &z);
    const double r = radius * gsl_rng_uniform(rng), direction[3] = {x, y, z};
    for (size_t c = 0; c < 3; c++)
      whole.position[c * n + i] = position_to_integer(centre[c] + r * direction[c], BOX);
    whole.id[i] = i + 1;
  }
  gsl_rng_free(rng);
  static const struct cut cut = {8, 4, true};
  uint32_t *order = order_of_cut(&whole, &cut);
  struct particles s = take_share(&whole, &cut, order, even_share);
  struct fof *f = fof_find(&s, cut.depth, 1.0);
  const double mean = (double)n / (4.0 / 3.0 * M_PI * gsl_pow_3(radius));
  const struct halo_background background = background_of(16.0 * mean); /* r = R/4 */
  struct halo_catalogue *c = halo_catalogue_create(f, 20, true, 0, &background);
  assert_int_equal(c->all, 1);
  assert_int_equal(c->count, comm_rank() == 0);
  for (int k = 0; k < 3 && c->count > 0; k++) {
    const double d = c->halo[0].centre[k] - centre[k];
    assert_near(d - BOX * rint(d / BOX), 0.0, 0.02 * radius);
  }
  if (c->count > 0)
    assert_near(c->halo[0].sphere[CRIT_200].radius / (0.25 * radius), 1.0,
                5.0 / sqrt((double)n / 4.0) + 0.02);
  halo_catalogue_free(c);
  fof_free(f);
  free(order);
  particles_free(&s);
  particles_free(&whole);
}

/** Mass of an NFW halo inside x scale radii, in its own unit. */
static double nfw_mass(double x) { return log1p(x) - x / (1.0 + x); }

/* An NFW halo, cut at r_200, of concentration 8, flattened to axes 1 : 0.8 : 0.5 in the second case, and
 * rotating about z with v = omega x r, at rest otherwise. */
struct nfw_case {
  double axis[3], omega;
};

static struct particles make_nfw(size_t n, double concentration, double radius,
                                 const struct nfw_case *shape) {
  gsl_rng *rng = gsl_rng_alloc(gsl_rng_ranlxd1);
  struct particles s = particles_create(n, BOX, 1.0);
  for (size_t i = 0; i < n; i++) {
    double low = 0.0, high = concentration, x[3];
    const double inside = ((double)i + 0.5) / (double)n * nfw_mass(concentration);
    for (int k = 0; k < 60; k++)
      *(nfw_mass(0.5 * (low + high)) < inside ? &low : &high) = 0.5 * (low + high);
    gsl_ran_dir_3d(rng, &x[0], &x[1], &x[2]);
    for (size_t c = 0; c < 3; c++) {
      x[c] *= low / concentration * radius * shape->axis[c];
      s.position[c * n + i] = position_to_integer(0.5 * BOX + x[c], BOX);
    }
    s.momentum[i] = (float)(-shape->omega * x[1]);
    s.momentum[n + i] = (float)(shape->omega * x[0]);
    s.id[i] = i + 1;
  }
  gsl_rng_free(rng);
  return s;
}

/* Tolerances: 5/sqrt(N) for counting, with N particles inside v_max or in all; concentration goes as a
 * high power of v_max. */
static void check_nfw(const struct nfw_case *shape) {
  const size_t n = 20000;
  const double concentration = 8.0, radius = 1.0;
  struct particles whole = make_nfw(n, concentration, radius, shape);
  static const struct cut cut = {8, 4, true};
  uint32_t *order = order_of_cut(&whole, &cut);
  struct particles s = take_share(&whole, &cut, order, even_share);
  struct fof *f = fof_find(&s, cut.depth, 1.0);
  struct halo_background background = background_of((double)n /
                                                    (4.0 / 3.0 * M_PI * gsl_pow_3(radius)));
  background.hubble = 0.0;
  struct halo_catalogue *c = halo_catalogue_create(f, 20, true, 0, &background);
  assert_int_equal(c->all, 1);
  const bool round = shape->axis[2] > 0.99;
  if (c->count > 0) {
    const struct halo *h = &c->halo[0];
    assert_near(h->axis_ratio[0], shape->axis[1], 0.04);
    assert_near(h->axis_ratio[1], shape->axis[2], 0.04);
    assert_true(h->offset < 0.03 * radius);
    if (round) {
      const double v_200 = sqrt(GRAVITY * (double)n / radius), peak = 2.1626;
      assert_near(h->sphere[CRIT_200].radius / radius, 1.0, 0.01);
      assert_near(h->v_max / v_200,
                  sqrt(concentration / peak * nfw_mass(peak) / nfw_mass(concentration)), 0.02);
      assert_near(h->r_max / (peak / concentration * radius), 1.0, 0.3); /* a wide maximum */
      assert_near(h->concentration / concentration, 1.0, 0.1);
      /* J/M = omega <x^2 + y^2> = 2/3 omega <r^2>, sigma^2 = omega^2 <x^2 + y^2>/3 */
      double r2 = 0.0;
      for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < 3; k++)
          r2 += gsl_pow_2(position_from_integer(whole.position[k * n + i], BOX) - 0.5 * BOX) /
                (double)n;
      assert_near(h->spin / (2.0 / 3.0 * shape->omega * r2 / (M_SQRT2 * v_200 * radius)), 1.0,
                  0.05);
      assert_near(h->dispersion / (shape->omega * sqrt(2.0 / 9.0 * r2)), 1.0, 0.05);
    }
  }
  halo_catalogue_free(c);
  fof_free(f);
  free(order);
  particles_free(&s);
  particles_free(&whole);
}

static void test_nfw_halo(void **state) {
  (void)state;
  check_nfw(&(struct nfw_case){{1.0, 1.0, 1.0}, 100.0});
  check_nfw(&(struct nfw_case){{1.0, 0.8, 0.5}, 0.0});
}

/** Bryan & Norman: 18 pi^2 where all is matter; 101.1 times the critical density for Omega_m = 0.3. */
static void test_definitions(void **state) {
  (void)state;
  const struct cosmology eds = {.omega_m = 1.0, .w0 = -1.0},
                         flat = {.omega_m = 0.3, .omega_lambda = 0.7, .w0 = -1.0};
  const struct halo_background early = halo_background_at(&eds, 0.5),
                               now = halo_background_at(&flat, 1.0);
  assert_near(early.density[TOP_HAT_200] / RHO_CRITICAL, 18.0 * M_PI * M_PI, 1e-9);
  assert_near(early.density[CRIT_200], early.density[MEAN_200], 1e-9 * early.density[CRIT_200]);
  assert_near(now.density[TOP_HAT_200] / RHO_CRITICAL, 101.14, 0.01);
  assert_near(now.density[MEAN_200] / RHO_CRITICAL, 60.0, 1e-9);
  assert_near(now.density[CRIT_500] / now.density[CRIT_200], 2.5, 1e-12);
  assert_near(now.hubble, HUBBLE_0, 1e-12);
}

/* A made halo with subhalos: Plummer spheres of particles with isotropic velocities (Aarseth, Henon &
 * Wielen 1974, A&A 37, 183), cut where 90 % of the mass is inside. */

/** A sphere of particles. Interlopers have a speed instead, and are not bound. */
struct sphere {
  size_t count;
  double scale, centre[3], velocity[3], speed;
};

enum { MAIN, LARGE_CLUMP, SMALL_CLUMP, FAST_CLUMP, INTERLOPERS, SPHERES };
static const struct sphere spheres[SPHERES] = {
    [MAIN] = {36000, 1.0, {49.9, 0.1, 25.0}, {0.0, 0.0, 0.0}, 0.0},
    [LARGE_CLUMP] = {1500, 0.05, {48.4, 0.1, 25.5}, {0.0, 600.0, 100.0}, 0.0},
    [SMALL_CLUMP] = {600, 0.04, {50.9, 1.1, 24.0}, {-500.0, 0.0, 300.0}, 0.0},
    /* in the middle of the main halo: apart in velocity alone */
    [FAST_CLUMP] = {300, 0.03, {49.9, 0.1, 25.0}, {0.0, -1200.0, 0.0}, 0.0},
    [INTERLOPERS] = {100, 0.05, {48.4, 0.1, 25.5}, {0.0, 0.0, 0.0}, 9000.0},
};

/** Speed over the escape speed, from q^2 (1 - q^2)^(7/2). */
static double plummer_speed(gsl_rng *rng) {
  for (;;) {
    const double q = gsl_rng_uniform(rng);
    if (0.1 * gsl_rng_uniform(rng) < q * q * pow(1.0 - q * q, 3.5)) return q;
  }
}

static void add_sphere(struct particles *s, size_t first, const struct sphere *p, gsl_rng *rng) {
  for (size_t i = first; i < first + p->count; i++) {
    double x[3], v[3];
    gsl_ran_dir_3d(rng, &x[0], &x[1], &x[2]);
    gsl_ran_dir_3d(rng, &v[0], &v[1], &v[2]);
    const double r = p->scale / sqrt(pow(0.9 * gsl_rng_uniform_pos(rng), -2.0 / 3.0) - 1.0);
    const double escape = sqrt(2.0 * GRAVITY * (double)p->count / hypot(r, p->scale)),
                 speed = p->speed > 0.0 ? p->speed : escape * plummer_speed(rng);
    for (size_t c = 0; c < 3; c++) {
      s->position[c * s->count + i] = position_to_integer(p->centre[c] + r * x[c], BOX);
      s->momentum[c * s->count + i] = (float)(p->velocity[c] + speed * v[c]);
    }
  }
}

/** Particles of sphere k have ids from first_id(k) on. */
static size_t first_id(int k) {
  size_t first = 0;
  for (int i = 0; i < k; i++) first += spheres[i].count;
  return first;
}

static struct particles make_subhalos(void) {
  gsl_rng *rng = gsl_rng_alloc(gsl_rng_ranlxd1);
  struct particles s = particles_create(first_id(SPHERES), BOX, 1.0);
  for (int k = 0; k < SPHERES; k++) add_sphere(&s, first_id(k), &spheres[k], rng);
  for (size_t i = 0; i < s.count; i++) s.id[i] = i;
  gsl_rng_free(rng);
  return s;
}

static double periodic(double d) { return d - BOX * rint(d / BOX); }

/** How many of the ids are of sphere k. */
static size_t count_of(const uint64_t *id, size_t n, int k) {
  size_t count = 0;
  for (size_t i = 0; i < n; i++) count += id[i] >= first_id(k) && id[i] < first_id(k + 1);
  return count;
}

/** The particles follow each other by rising energy, from direct sums. The tree's potentials and softening
 * may exchange neighbours. */
static void check_energies(const struct particles *s, const uint64_t *id, const struct subhalo *h) {
  double before = -1e30, deepest = 0.0;
  for (size_t i = 0; i < h->count; i++) {
    double energy = 0.0;
    for (size_t j = 0; j < h->count; j++) {
      double r2 = 0.0;
      for (size_t c = 0; c < 3; c++)
        r2 += gsl_pow_2(periodic(position_from_integer(s->position[c * s->count + id[i]], BOX) -
                                 position_from_integer(s->position[c * s->count + id[j]], BOX)));
      if (i != j) energy -= GRAVITY * s->mass / sqrt(r2 + gsl_pow_2(0.005));
    }
    for (size_t c = 0; c < 3; c++)
      energy += 0.5 * gsl_pow_2((double)s->momentum[c * s->count + id[i]] - h->velocity[c]);
    if (i == 0) deepest = -energy;
    assert_true(energy < 0.01 * deepest && energy > before - 0.03 * deepest);
    before = energy;
  }
}

/** All of the clump, and few particles of the main halo that are bound to it. Tolerance of means: 5/sqrt(N). */
static void check_clump(const struct particles *s, const uint64_t *id, const struct subhalo *h,
                        int k) {
  const struct sphere *made = &spheres[k];
  const size_t mine = count_of(id, h->count, k);
  assert_int_equal(h->parent, 0);
  assert_true(mine > made->count * 98 / 100 && h->count < made->count * 105 / 100);
  assert_true(mine > h->count * 95 / 100);
  const double sigma = sqrt(GRAVITY * (double)made->count / (6.0 * made->scale));
  double position = 0.0;
  for (size_t c = 0; c < 3; c++) {
    position += gsl_pow_2(periodic(h->position[c] - made->centre[c]));
    assert_near(h->velocity[c], made->velocity[c], 5.0 * sigma / sqrt((double)made->count));
    assert_near(periodic(h->mean_position[c] - made->centre[c]), 0.0, 0.3 * made->scale);
  }
  assert_true(sqrt(position) < 0.5 * made->scale);
  /* Plummer: v_max^2 = 2/(3 sqrt(3)) G M/scale at sqrt(2) scale */
  assert_near(h->v_max / sqrt(0.3849 * GRAVITY * (double)made->count / made->scale), 1.0, 0.1);
  assert_near(h->r_max / (M_SQRT2 * made->scale), 1.0, 0.4);
  /* half of 90 % of the mass is inside 1.16 scale */
  assert_near(h->half_radius / (1.16 * made->scale), 1.0, 0.2);
  check_energies(s, id, h);
}

static void check_subhalos(const struct particles *s, const struct halo_catalogue *c,
                           const struct whole_catalogue *w, const struct subhalo *subhalo) {
  assert_int_equal(w->count, 1);
  assert_int_equal(c->all_subhalos, INTERLOPERS);
  assert_int_equal(w->halo[0].subhalos, INTERLOPERS);
  assert_int_equal(w->halo[0].first_subhalo, 0);
  uint64_t row = 0;
  for (size_t k = 0; k < INTERLOPERS; k++) {
    assert_int_equal(subhalo[k].halo, 0);
    assert_int_equal(subhalo[k].rank, k);
    assert_int_equal(subhalo[k].first, row);
    assert_int_equal(subhalo[k].id, w->id[row]);
    assert_int_equal(count_of(w->id + row, subhalo[k].count, INTERLOPERS), 0);
    row += subhalo[k].count;
  }
  for (uint64_t k = row + 1; k < w->members; k++) assert_true(w->id[k] > w->id[k - 1]);
  assert_true(count_of(w->id, subhalo[0].count, MAIN) > spheres[MAIN].count * 98 / 100);
  for (int k = LARGE_CLUMP; k < INTERLOPERS; k++)
    check_clump(s, w->id + subhalo[k].first, &subhalo[k], k);
}

/** The subhalos of all ranks, on every rank. */
static struct subhalo *gather_subhalos(const struct halo_catalogue *c) {
  size_t *bytes = calloc((size_t)comm_size(), sizeof *bytes);
  const size_t mine = c->subhalos * sizeof *c->subhalo;
  struct subhalo *all = malloc(c->all_subhalos * sizeof *all + 1);
  comm_gather_all(&mine, sizeof mine, bytes);
  comm_gather_all_sizes(c->subhalo, bytes, all);
  free(bytes);
  return all;
}

/** Three subhalos where three were made, without the interlopers. All divisions give the same bits. */
static void test_subhalos(void **state) {
  (void)state;
  static const struct cut cut = {8, 4, true};
  struct particles whole = make_subhalos();
  uint32_t *order = order_of_cut(&whole, &cut);
  struct halo_background background = background_of(1e5);
  background.hubble = 0.0;
  background.density[CRIT_200] = 4e4; /* clumps are denser than halos */
  uint64_t reference = 0;
  for (size_t i = 0; i < (comm_size() == 1 ? 1 : SHARES); i++) {
    struct particles s = take_share(&whole, &cut, order, shares[i]);
    struct fof *f = fof_find(&s, cut.depth, 1.0);
    struct halo_catalogue *c = halo_catalogue_create(f, 20, true, 20, &background);
    struct whole_catalogue w = gather_catalogue(c);
    struct subhalo *subhalo = gather_subhalos(c);
    if (i == 0) check_subhalos(&whole, c, &w, subhalo);
    uint64_t sum = 0;
    for (size_t k = 0; k < w.members; k++) sum += checksum_term(k, w.id[k]);
    for (size_t k = 0; k < c->all_subhalos * sizeof *subhalo / sizeof sum; k++)
      sum += checksum_term(w.members + k, ((const uint64_t *)(const void *)subhalo)[k]);
    if (i == 0) reference = sum;
    assert_int_equal(sum, reference);
    free(subhalo);
    free_catalogue(&w);
    halo_catalogue_free(c);
    fof_free(f);
    particles_free(&s);
  }
  checksum_print("halos", comm_rank() == 0 ? reference : 0);
  free(order);
  particles_free(&whole);
}

/** The main halo and the large clump, about the middle of the main halo; free(). */
static struct halo_body *host_and_clump(void) {
  struct particles s = make_subhalos();
  struct halo_body *body = malloc(first_id(SMALL_CLUMP) * sizeof *body);
  for (size_t i = 0; i < first_id(SMALL_CLUMP); i++)
    for (size_t c = 0; c < 3; c++) {
      const double x = position_from_integer(s.position[c * s.count + i], BOX);
      body[i].x[c] = periodic(x - spheres[MAIN].centre[c]);
      body[i].v[c] = (double)s.momentum[c * s.count + i];
    }
  particles_free(&s);
  return body;
}

/** A clump that begins with its inner part gets its outer part from the host, and little of the host. */
static void test_growth(void **state) {
  (void)state;
  const size_t all = first_id(SMALL_CLUMP), first = first_id(LARGE_CLUMP);
  struct halo_body *body = host_and_clump();
  struct halo_background background = background_of(1e5);
  background.hubble = 0.0;
  const struct unbinding u = {body, &background, 1.0, 0.005, 20};
  uint32_t *core = malloc(spheres[LARGE_CLUMP].count * sizeof *core), core_count = 0;
  uint32_t *rest = malloc(all * sizeof *rest), *numbers = malloc(all * sizeof *numbers), count = 0;
  double middle[3];
  for (size_t c = 0; c < 3; c++)
    middle[c] = periodic(spheres[LARGE_CLUMP].centre[c] - spheres[MAIN].centre[c]);
  for (uint32_t i = 0; i < all; i++) {
    numbers[i] = i;
    if (i >= first && body_distance(body[i].x, middle) < spheres[LARGE_CLUMP].scale)
      core[core_count++] = i;
    else
      rest[count++] = i;
  }
  assert_true(core_count < spheres[LARGE_CLUMP].count / 2);
  struct candidate clump = {.member = potentials_of(&u, core_count, core)};
  struct potentials known = potentials_of(&u, (uint32_t)all, numbers);
  struct candidate *const inside[] = {&clump};
  clump.centre = subhalo_unbind(&u, &clump.member);
  subhalos_grow(&u, 3.7e-4, count, rest, rest[0], &known, 1, inside);
  size_t own = 0;
  for (uint32_t k = 0; k < clump.member.count; k++) own += clump.member.number[k] >= first;
  assert_true(own > spheres[LARGE_CLUMP].count * 95 / 100);
  assert_true(clump.member.count < spheres[LARGE_CLUMP].count * 110 / 100);
  potentials_free(&clump.member);
  potentials_free(&known);
  free(numbers);
  free(core);
  free(rest);
  free(body);
}

/** One FoF group of `n` particles, of which `together` are at the same point and the others within
 * 0.2 of it: the centre of the halo is that point. */
static void check_centre(size_t n, size_t together) {
  static const double point[3] = {49.95, 0.05, 25.0};
  static const struct cut cut = {8, 4, true};
  gsl_rng *rng = gsl_rng_alloc(gsl_rng_ranlxd1);
  struct particles whole = particles_create(n, BOX, 1.0);
  for (size_t i = 0; i < n; i++) {
    for (size_t c = 0; c < 3; c++) {
      const double away = i < together ? 0.0 : 0.4 * gsl_rng_uniform(rng) - 0.2;
      whole.position[c * n + i] = position_to_integer(point[c] + away, BOX);
    }
    whole.id[i] = i + 1;
  }
  gsl_rng_free(rng);
  uint32_t *order = order_of_cut(&whole, &cut);
  struct particles s = take_share(&whole, &cut, order, even_share);
  struct fof *f = fof_find(&s, cut.depth, 1.0);
  const struct halo_background background = background_of((double)n);
  struct halo_catalogue *c = halo_catalogue_create(f, 20, true, 20, &background);
  assert_int_equal(c->all, 1);
  for (int k = 0; k < 3 && c->count > 0; k++)
    assert_int_equal(position_to_integer(c->halo[0].centre[k], BOX), whole.position[(size_t)k * n]);
  if (c->count > 0) assert_int_equal(c->halo[0].count, n);
  for (size_t k = 0; k < c->subhalos; k++) assert_true(isfinite(c->subhalo[k].v_max));
  halo_catalogue_free(c);
  fof_free(f);
  free(order);
  particles_free(&s);
  particles_free(&whole);
}

/* The last sphere should have 10 members, or 0.5 % of all. Here more of them are at one point. */
static void test_members_at_one_point(void **state) {
  (void)state;
  check_centre(20, 11);
  check_centre(20, 20);
  check_centre(1000, 300);
  check_centre(5000, 4000);
  check_centre(3000, 3000);
}

enum { HEAVY_ALL = 6000, HEAVY_HALOS = 40 };

/** Places of a reproducible sequence, and masses of 1, 1.5 and 8. */
static struct particles particles_of_masses(void) {
  struct particles s = particles_create_share(HEAVY_ALL, BOX, 2.0);
  particles_add_column(&s, COLUMN_relative_mass);
  for (size_t i = 0; i < s.count; i++) {
    const uint64_t id = particles_first(&s) + i;
    s.id[i] = id;
    for (size_t c = 0; c < 3; c++) {
      uint64_t mixed = (3 * id + c + 1) * UINT64_C(0x9e3779b97f4a7c15);
      mixed = (mixed ^ mixed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
      s.position[c * s.count + i] = (uint32_t)(mixed >> 32);
    }
    s.relative_mass[i] = (const float[]){1.0F, 1.5F, 8.0F}[id % 3];
  }
  return s;
}

/** Halos of this rank: spheres of many radii, some about places near the ends of the box. */
static void place_halos(struct halo_catalogue *c, struct halo *halo, double widest) {
  c->first_halo = comm_first(HEAVY_HALOS, comm_rank());
  c->count = comm_first(HEAVY_HALOS, comm_rank() + 1) - c->first_halo;
  c->halo = halo;
  for (size_t i = 0; i < c->count; i++) {
    const size_t h = c->first_halo + i;
    halo[i] = (struct halo){.sphere[CRIT_200].radius = widest * (double)(h % 5) / 4.0 * BOX};
    for (size_t k = 0; k < 3; k++) halo[i].centre[k] = BOX * (double)((7 * h + 3 * k) % 20) / 20.0;
  }
}

/** The heavy particles in a sphere, of all ranks; x 8 and their mass 2 are exact. */
static uint64_t direct_heavy(const struct particles *s, const struct halo *h) {
  uint64_t found = 0;
  for (size_t i = 0; i < s->count; i++) {
    double r2 = 0.0;
    for (size_t c = 0; c < 3; c++) {
      const double d = position_from_integer(s->position[c * s->count + i], s->box) - h->centre[c];
      r2 += gsl_pow_2(d - s->box * rint(d / s->box));
    }
    found += s->relative_mass[i] > 2.0F && r2 < gsl_pow_2(h->sphere[CRIT_200].radius);
  }
  return found;
}

/** Heavy particles in halos, on a grid of many cells and of one, against all distances. */
static void test_heavy_particles(void **state) {
  (void)state;
  const double widest[] = {0.08, 0.15, 0.3, 0.49};
  struct particles s = particles_of_masses();
  for (size_t w = 0; w < sizeof widest / sizeof *widest; w++) {
    struct halo halo[HEAVY_HALOS] = {{0}}, all[HEAVY_HALOS] = {{0}};
    struct halo_catalogue c = {.all = HEAVY_HALOS};
    uint64_t found[HEAVY_HALOS] = {0}, sum = 0;
    place_halos(&c, halo, widest[w]);
    halo_count_heavy(&c, &s, 2.0 * 2.0);
    assert_true(c.heavy);
    for (size_t h = 0; h < HEAVY_HALOS; h++) { /* the halos of all ranks */
      all[h] = (struct halo){.sphere[CRIT_200].radius = widest[w] * (double)(h % 5) / 4.0 * BOX};
      for (size_t k = 0; k < 3; k++) all[h].centre[k] = BOX * (double)((7 * h + 3 * k) % 20) / 20.0;
      found[h] = direct_heavy(&s, &all[h]);
    }
    comm_sum_u64(found, HEAVY_HALOS);
    for (size_t i = 0; i < c.count; i++) {
      assert_int_equal(halo[i].heavy_count, found[c.first_halo + i]);
      assert_near(halo[i].heavy_mass, 16.0 * (double)halo[i].heavy_count, 0.0);
    }
    for (size_t h = 0; h < HEAVY_HALOS; h++) sum += found[h];
    assert_true(sum > 10);
  }
  particles_free(&s);
}

extern const struct halo_kernels halo_kernels_baseline;

enum { BODIES = 3000 };

/** The sum of 1/sqrt(r^2 + softening^2) over bodies. */
static double direct_sum(uint32_t count, const struct halo_body *body, const double x[3],
                         double softening) {
  double sum = 0.0;
  for (uint32_t i = 0; i < count; i++)
    sum += 1.0 / sqrt(gsl_pow_2(body_distance(body[i].x, x)) + softening * softening);
  return sum;
}

/** Bodies in a cube, most of them near its middle, so that neighbours follow each other; free(). */
static struct halo_body *bodies_in_order(void) {
  const double weyl[3] = {0.8191725134, 0.6710436067, 0.5497004779};
  struct halo_body *body = calloc(BODIES, sizeof *body), *ordered = calloc(BODIES, sizeof *body);
  for (size_t i = 0; i < BODIES; i++)
    for (size_t c = 0; c < 3; c++)
      body[i].x[c] = 7.0 + 4.0 * gsl_pow_3(fmod((double)i * weyl[c], 1.0) - 0.5);
  struct halo_tree tree = halo_tree_create(BODIES, body, 0.0);
  for (size_t i = 0; i < BODIES; i++) ordered[i] = body[tree.body[i]];
  halo_tree_free(&tree);
  free(body);
  return ordered;
}

/** Of points of consecutive places, potentials are those of direct sums within the error of the tree, and have the same bits
 * with any instruction set. Lists of a walk are filled more than once. */
static void test_potentials(void **state) {
  (void)state;
  const float softening = 0.02F;
  double squares = 0.0;
  struct halo_body *body = bodies_in_order();
  struct halo_sources sources = halo_sources_create(body, BODIES, NULL, true);
  for (int first = 0; first < BODIES; first += HALO_POINTS) {
    struct halo_points points = {.count = BODIES - first < HALO_POINTS ? BODIES - first
                                                                       : HALO_POINTS - 1};
    for (int k = 0; k < points.count; k++)
      for (int c = 0; c < 3; c++) points.x[c][k] = sources.x[c][first + k];
    struct halo_points plain = points;
    halo_kernels_select()->potentials(&sources, softening, &points);
    halo_kernels_baseline.potentials(&sources, softening, &plain);
    assert_memory_equal(plain.sum, points.sum, (size_t)points.count * sizeof(double));
    for (int k = 0; k < points.count; k++) {
      const double sum = direct_sum(BODIES, body, body[first + k].x, (double)softening);
      assert_near(points.sum[k], sum, 0.01 * sum);
      squares += gsl_pow_2(points.sum[k] / sum - 1.0) / BODIES;
    }
  }
  assert_true(sqrt(squares) < 3e-3);
  halo_sources_free(&sources);
  free(body);
}

/** Sums over all pairs of any number of particles are direct sums, and have the same bits with any instruction set. */
static void test_pairs(void **state) {
  (void)state;
  const float softening = 0.02F;
  static double sum[HALO_PAIRS], plain[HALO_PAIRS];
  const uint32_t counts[] = {1, 15, 16, 17, 100, HALO_PAIRS - 1, HALO_PAIRS};
  struct halo_body *body = bodies_in_order();
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
    struct halo_sources sources = halo_sources_create(body, counts[i], NULL, false);
    halo_kernels_select()->pairs(&sources, softening, sum);
    halo_kernels_baseline.pairs(&sources, softening, plain);
    assert_memory_equal(plain, sum, counts[i] * sizeof *sum);
    for (uint32_t k = 0; k < counts[i]; k++) {
      const double right = direct_sum(counts[i], body, body[k].x, (double)softening);
      assert_near(sum[k], right, 2e-5 * right);
    }
    halo_sources_free(&sources);
  }
  free(body);
}

/** Potentials that follow the change of a set are those of direct sums: few particles leave and come, or many, or the set
 * that is the nearest of two is not the first one. */
static void test_potentials_of_changed_sets(void **state) {
  (void)state;
  struct halo_body *body = bodies_in_order();
  struct halo_background background = background_of(1e5);
  const struct unbinding u = {body, &background, 1.0, 0.02, 20};
  const double unit = GRAVITY * u.mass / background.a;
  for (uint32_t gone = 10; gone < 1000; gone *= 9) {
    uint32_t before[BODIES], now[BODIES], few[50], count = 0;
    for (uint32_t i = 0; i < BODIES; i++) {
      before[i] = i;
      if (i % gone != 3) now[count++] = i;
    }
    for (uint32_t i = 0; i < 50; i++) few[i] = 7 * i;
    struct potentials known = potentials_of(&u, BODIES - 100, before),
                      other = potentials_of(&u, 50, few);
    const struct potentials *const sets[] = {&other, &known};
    struct potentials p = potentials_from(&u, 2, sets, count, now);
    assert_int_equal(p.count, count);
    for (uint32_t k = 0; k < count; k += 37) {
      double sum = -1.0 / u.softening;
      assert_int_equal(p.number[k], now[k]);
      for (uint32_t j = 0; j < count; j++)
        sum += direct_sum(1, body + now[j], body[now[k]].x, u.softening);
      assert_near(p.potential[k], -unit * sum, 0.01 * unit * sum);
    }
    potentials_free(&p);
    potentials_free(&known);
    potentials_free(&other);
  }
  free(body);
}

/** The list of a set that is much longer or much shorter than the one wanted is not read: there is none here. */
static void test_potentials_beside_a_large_host(void **state) {
  (void)state;
  enum { COUNT = 100 };
  struct halo_body *body = bodies_in_order();
  struct halo_background background = background_of(1e5);
  const struct unbinding u = {body, &background, 1.0, 0.02, 20};
  const struct potentials host = {COUNT + COUNT / 2, NULL, NULL},
                          core = {COUNT - COUNT / 4, NULL, NULL};
  const struct potentials *const sets[] = {&core, &host};
  uint32_t number[COUNT];
  for (uint32_t i = 0; i < COUNT; i++) number[i] = 5 * i;
  struct potentials right = potentials_of(&u, COUNT, number),
                    p = potentials_from(&u, 2, sets, COUNT, number);
  assert_int_equal(p.count, COUNT);
  assert_memory_equal(p.number, right.number, sizeof number);
  assert_memory_equal(p.potential, right.potential, COUNT * sizeof *p.potential);
  potentials_free(&p);
  potentials_free(&right);
  free(body);
}

enum { NEAR_BODIES = 1000, AT_ONE_PLACE = 40, IN_CLUMP = 300 };

/** Bodies of very different density: many at one place, many in a clump whose coordinates differ in the last bits that a float
 * has, others far apart. */
static void place_bodies(struct halo_body body[NEAR_BODIES]) {
  for (size_t i = 0; i < NEAR_BODIES; i++)
    for (size_t c = 0; c < 3; c++) {
      const double size = i < AT_ONE_PLACE ? 0.0 : i < AT_ONE_PLACE + IN_CLUMP ? 1e-7 : 1.0;
      body[i].x[c] = 0.3 + size * sin((double)(7 * i + 3) * (double)(c + 1) * 0.61);
      body[i].v[c] = 300.0 * size * sin((double)(5 * i + 2) * (double)(c + 1) * 0.47);
    }
}

static int compare_neighbours(const void *a, const void *b) {
  const struct neighbour *x = a, *y = b;
  if (x->distance2 != y->distance2) return x->distance2 < y->distance2 ? -1 : 1;
  return (x->index > y->index) - (x->index < y->index);
}

static void assert_nearest(const struct halo_tree *t, uint32_t place, const struct neighbour *found,
                           size_t count) {
  static struct neighbour all[NEAR_BODIES];
  for (uint32_t i = 0; i < t->count; i++) {
    double d[HALO_AXES];
    for (int c = 0; c < HALO_AXES; c++) d[c] = t->x[i][c] - t->x[place][c];
    all[i] = (struct neighbour){
        d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + d[3] * d[3] + d[4] * d[4] + d[5] * d[5], i};
  }
  qsort(all, t->count, sizeof *all, compare_neighbours);
  for (size_t k = 0; k < count; k++) {
    assert_memory_equal(&found[k].distance2, &all[k].distance2, sizeof(double));
    assert_int_equal(found[k].index, all[k].index);
  }
}

static void check_neighbours(const struct halo_tree *tree, const struct halo_kernels *kernels) {
  struct halo_near near = halo_near_create(tree, HALO_NEAREST_MOST);
  near.kernels = kernels;
  for (uint32_t leaf = 1U << tree->depth; leaf < 2U << tree->depth; leaf++) {
    halo_near_leaf(&near, leaf);
    for (uint32_t i = node_first(tree->count, leaf); i < node_end(tree->count, leaf); i++) {
      struct neighbour found[HALO_NEAREST_MOST];
      halo_near_find(&near, i, found);
      assert_nearest(tree, i, found, HALO_NEAREST_MOST);
    }
  }
  halo_near_free(&near);
}

/** Neighbours are the first of all particles sorted by distance, with any instruction set: in trees of many particles and of
 * few, and among particles that are all at one place. */
static void test_neighbours(void **state) {
  (void)state;
  static struct halo_body body[NEAR_BODIES];
  place_bodies(body);
  const struct {
    uint32_t first, count;
  } parts[] = {{0, NEAR_BODIES},
               {AT_ONE_PLACE + IN_CLUMP - 100, 257},
               {30, 256},
               {300, 200},
               {0, HALO_NEAREST_MOST},
               {0, AT_ONE_PLACE}};
  for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
    struct halo_tree tree = halo_tree_create(parts[k].count, body + parts[k].first, 0.5 / 200.0);
    check_neighbours(&tree, halo_kernels_select());
    check_neighbours(&tree, &halo_kernels_baseline);
    halo_tree_free(&tree);
  }
}

/** Distances, of which most are in a clump far from the point, against the library's sort. */
static void check_distances(gsl_rng *rng, size_t n, double clump) {
  double *found = allocate(n, sizeof *found, "numbers"),
         *right = allocate(n, sizeof *right, "numbers");
  for (size_t i = 0; i < n; i++)
    found[i] = right[i] = i % 7 == 0 ? gsl_rng_uniform(rng) : 0.5 + clump * gsl_rng_uniform(rng);
  sort_rising(n, found);
  qsort(right, n, sizeof *right, compare_doubles);
  assert_memory_equal(found, right, n * sizeof *right);
  free(right);
  free(found);
}

/** Orders of numbers of few values, of both signs, of both zeros and without bounds. */
static void check_order_of_values(gsl_rng *rng, size_t n, unsigned long values) {
  double *value = allocate(n, sizeof *value, "numbers");
  uint32_t *order = allocate(n, sizeof *order, "an order");
  for (size_t i = 0; i < n; i++)
    value[i] = (double)gsl_rng_uniform_int(rng, values) - 0.5 * (double)values;
  for (size_t i = 0; i + 3 < n; i += 50)
    value[i] = HUGE_VAL, value[i + 1] = -HUGE_VAL, value[i + 3] = -0.0;
  for (int sign = -1; sign <= 1; sign += 2) {
    bool *seen = calloc(n + 1, sizeof *seen);
    (sign > 0 ? order_rising : order_falling)(n, value, order);
    for (size_t i = 0; i < n; i++) {
      assert_false(seen[order[i]]);
      seen[order[i]] = true;
      if (i == 0) continue;
      const double before = sign * value[order[i - 1]], now = sign * value[order[i]];
      assert_true(before < now || (before <= now && order[i - 1] < order[i]));
    }
    free(seen);
  }
  free(order);
  free(value);
}

static void test_orders_of_values(void **state) {
  (void)state;
  static const size_t sizes[] = {0, 1, 2, 32, 33, 500, 5000};
  gsl_rng *rng = gsl_rng_alloc(gsl_rng_ranlxd1);
  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
    for (unsigned long values = 1; values < 1UL << 30; values *= 10)
      check_order_of_values(rng, sizes[k], values);
  gsl_rng_free(rng);
}

static int compare_numbers(const void *a, const void *b) {
  const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

/** Numbers of one to four bytes. */
static void test_numbers_rise(void **state) {
  (void)state;
  static const size_t sizes[] = {0, 1, 2, 32, 33, 500, 5000};
  gsl_rng *rng = gsl_rng_alloc(gsl_rng_ranlxd1);
  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
    for (double most = 200.0; most < 5e9; most *= 250.0) {
      uint32_t found[5000], right[5000];
      for (size_t i = 0; i < sizes[k]; i++)
        found[i] = right[i] = (uint32_t)(most * gsl_rng_uniform(rng));
      sort_numbers(sizes[k], found);
      qsort(right, sizes[k], sizeof *right, compare_numbers);
      assert_memory_equal(found, right, sizes[k] * sizeof *right);
    }
  gsl_rng_free(rng);
}

static void test_distances_rise(void **state) {
  (void)state;
  static const size_t sizes[] = {0, 1, 2, 31, 33, 74, 5000};
  gsl_rng *rng = gsl_rng_alloc(gsl_rng_ranlxd1);
  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
    for (double clump = 0.5; clump > 1e-12; clump *= 1e-3) check_distances(rng, sizes[k], clump);
  double zeros[40] = {0.0};
  sort_rising(40, zeros);
  for (size_t i = 0; i < 40; i++) assert_near(zeros[i], 0.0, 0.0);
  gsl_rng_free(rng);
}

/* Few sizes, so that many halos differ by their lowest id alone, and some halos of many members. */
static void test_halos_are_sorted(void **state) {
  (void)state;
  enum { HALOS = 3000 };
  gsl_rng *rng = gsl_rng_alloc(gsl_rng_ranlxd1);
  struct halo *halo = allocate(HALOS, sizeof *halo, "halos");
  size_t *place = allocate(HALOS, sizeof *place, "places");
  for (size_t h = 0; h < HALOS; h++) {
    halo[h].count = h % 10 == 0 ? 4000 + gsl_rng_uniform_int(rng, 200)
                                : gsl_rng_uniform_int(rng, 30);
    halo[h].lowest_id = (h * 7919) % HALOS;
  }
  struct halo *sorted = halo_sorted(HALOS, halo, place);
  for (size_t h = 0; h < HALOS; h++) {
    assert_memory_equal(&sorted[h], &halo[place[h]], sizeof *halo);
    if (h > 0) assert_true(halo_compare(&sorted[h - 1], &sorted[h]) < 0);
  }
  struct halo *again = halo_sorted(HALOS, sorted, NULL);
  assert_memory_equal(again, sorted, HALOS * sizeof *halo);
  free(again);
  free(sorted);
  free(place);
  free(halo);
  gsl_rng_free(rng);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_halos),
                                     cmocka_unit_test(test_simulated_halos),
                                     cmocka_unit_test(test_isothermal_sphere),
                                     cmocka_unit_test(test_nfw_halo),
                                     cmocka_unit_test(test_definitions),
                                     cmocka_unit_test(test_potentials),
                                     cmocka_unit_test(test_pairs),
                                     cmocka_unit_test(test_potentials_of_changed_sets),
                                     cmocka_unit_test(test_potentials_beside_a_large_host),
                                     cmocka_unit_test(test_neighbours),
                                     cmocka_unit_test(test_subhalos),
                                     cmocka_unit_test(test_growth),
                                     cmocka_unit_test(test_members_at_one_point),
                                     cmocka_unit_test(test_heavy_particles),
                                     cmocka_unit_test(test_distances_rise),
                                     cmocka_unit_test(test_orders_of_values),
                                     cmocka_unit_test(test_numbers_rise),
                                     cmocka_unit_test(test_halos_are_sorted)};
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
