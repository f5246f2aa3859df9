/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Forces of the whole solver for tests, and their errors against exact reference accelerations. */
#include "force_set.h"

#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "photons/base/error.h"
#include "photons/ic/ic.h"
#include "photons/runtime/engine.h"
#include "photons/step/step.h"
#include "photons/step/timeline.h"

void parameters_from_text(struct parameters *p, const char *text, const char *const *overrides,
                          size_t count) {
  char path[] = "/tmp/photons-test-XXXXXX";
  int descriptor = mkstemp(path);
  FILE *file = descriptor < 0 ? NULL : fdopen(descriptor, "w");
  if (!file || fputs(text, file) < 0 || fclose(file) != 0)
    fail(EXIT_RUN_FAILED, "cannot write %s", path);
  parameters_read(p, path, overrides, count);
  unlink(path);
}

void start_starpu_for_tests(void) {
  static struct parameters p;
  p.runtime.gpu = GPU_NO;
  engine_start(&p, NULL);
}

struct row {
  uint64_t id;
  size_t index;
};

static int compare_rows(const void *a, const void *b) {
  const struct row *x = a, *y = b;
  return (x->id > y->id) - (x->id < y->id);
}

static struct row *rank_ids(const uint64_t *id, size_t n) {
  struct row *rows = allocate(n, sizeof *rows, "ids");
  for (size_t i = 0; i < n; i++) rows[i] = (struct row){id[i], i};
  qsort(rows, n, sizeof *rows, compare_rows);
  return rows;
}

float *accelerations_by_id(const struct particles *s) {
  const size_t n = s->count;
  float *out = allocate(3 * n, sizeof *out, "accelerations"),
        *flat = allocate(3 * n, sizeof *flat, "accelerations");
  struct row *rows = rank_ids(s->id, n);
  for (size_t g = 0; g < s->blocks; g++) {
    struct particle_block b = particles_block(s, g);
    for (size_t c = 0; c < 3; c++)
      for (size_t i = 0; i < b.count; i++) flat[3 * (b.first + i) + c] = b.acc[c][i];
  }
  for (size_t i = 0; i < n; i++) memcpy(out + 3 * i, flat + 3 * rows[i].index, 3 * sizeof *out);
  free(flat);
  free(rows);
  return out;
}

struct nbody *solver_of_gadget_file(const char *path, struct parameters *p) {
  parameters_default(p);
  snprintf(p->ic.file, sizeof p->ic.file, "%s", path);
  p->ic.source = IC_GADGET;
  const struct particles s = ic_read_gadget(p);
  p->box.size = s.box;
  p->gravity.softening = 1e3 * s.box / cbrt((double)s.all) / 30.0;
  return nbody_create(p, s);
}

static void read_dataset(hid_t file, const char *name, hid_t type, void *out) {
  hid_t set = H5Dopen2(file, name, H5P_DEFAULT);
  if (set < 0 || H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, out) < 0)
    fail(EXIT_RUN_FAILED, "cannot read %s", name);
  H5Dclose(set);
}

struct force_set force_set_open(const char *path) {
  hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
  hid_t ids = file < 0 ? -1 : H5Dopen2(file, "/Reference/ParticleIDs", H5P_DEFAULT);
  hid_t space = ids < 0 ? -1 : H5Dget_space(ids);
  hssize_t points = space < 0 ? -1 : H5Sget_simple_extent_npoints(space);
  if (points <= 0) fail(EXIT_RUN_FAILED, "%s has no /Reference", path);
  H5Sclose(space);
  H5Dclose(ids);
  const size_t n = (size_t)points;
  uint64_t *id = allocate(n, sizeof *id, "ids");
  double *a = allocate(3 * n, sizeof *a, "reference"),
         *by_id = allocate(3 * n, sizeof *by_id, "reference");
  read_dataset(file, "/Reference/ParticleIDs", H5T_NATIVE_UINT64, id);
  read_dataset(file, "/Reference/Acceleration", H5T_NATIVE_DOUBLE, a);
  H5Fclose(file);
  struct row *rows = rank_ids(id, n);
  for (size_t i = 0; i < n; i++) /* per kpc/h to per Mpc/h */
    for (size_t c = 0; c < 3; c++) by_id[3 * i + c] = 1e3 * a[3 * rows[i].index + c];
  free(rows);
  free(a);
  free(id);
  char *own = strdup(path);
  if (!own) fail(EXIT_RUN_FAILED, "no memory for a path");
  return (struct force_set){own, n, by_id};
}

void force_set_close(struct force_set *set) {
  free(set->path);
  free(set->reference);
}

static int compare_doubles(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

struct force_error force_compare(const float *acceleration, const double *reference, size_t n) {
  double *error = allocate(n, sizeof *error, "errors"), da2 = 0.0, a2 = 0.0, largest2 = 0.0,
         sum[3] = {0}, total = 0.0;
  for (size_t i = 0; i < n; i++) {
    double d2 = 0.0, r2 = 0.0;
    for (size_t c = 0; c < 3; c++) {
      double r = reference[3 * i + c], a = (double)acceleration[3 * i + c];
      d2 += (a - r) * (a - r);
      r2 += r * r;
      sum[c] += a;
    }
    /* comparisons with NaN would take it for a small error */
    error[i] = isfinite(d2) ? sqrt(d2 / r2) : INFINITY;
    da2 += d2;
    a2 += r2;
    largest2 = d2 <= largest2 ? largest2 : d2;
    total += sqrt(r2);
  }
  qsort(error, n, sizeof *error, compare_doubles);
  const double rms = sqrt(a2 / (double)n);
  struct force_error e = {.rms = sqrt(da2 / a2),
                          .median = error[n / 2],
                          .p99 = error[n * 99 / 100],
                          .largest = sqrt(largest2) / rms,
                          .momentum = sqrt(sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2]) /
                                      total};
  free(error);
  return e;
}

float *solver_accelerations(const struct parameters *p, struct particles particles,
                            struct work_counts *work, struct net_force *net_force) {
  struct nbody *n = nbody_create(p, particles);
  step_first_forces(n);
  domain_acquire(&n->domain);
  float *a = accelerations_by_id(&n->domain.particles);
  domain_release(&n->domain);
  if (work) *work = short_range_work(&n->short_range);
  if (net_force) *net_force = n->net_force;
  nbody_free(n);
  return a;
}

struct particles force_set_particles(const struct force_set *set, struct parameters *p,
                                     const char *const *overrides, size_t count) {
  char text[5000]; /* the softening of the reference */
  snprintf(text, sizeof text, "[ic]\nsource = gadget\nfile = %s\n[gravity]\nsoftening = 100\n",
           set->path);
  parameters_from_text(p, text, overrides, count);
  struct particles particles = ic_read_gadget(p);
  if (particles.count != set->count)
    fail(EXIT_RUN_FAILED, "%s: particles and reference differ in number", set->path);
  return particles;
}

float *force_set_solve(const struct force_set *set, const char *const *overrides, size_t count,
                       struct work_counts *work) {
  struct parameters p;
  struct particles particles = force_set_particles(set, &p, overrides, count);
  return solver_accelerations(&p, particles, work, NULL);
}

struct force_error force_set_error(const struct force_set *set, const char *const *overrides,
                                   size_t count, struct work_counts *work) {
  float *a = force_set_solve(set, overrides, count, work);
  struct force_error e = force_compare(a, set->reference, set->count);
  free(a);
  return e;
}
