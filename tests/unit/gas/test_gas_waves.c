/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Initial waves of gas and power spectra of its cells, on any number of ranks: bits, and the memory of
 * each rank. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "photons/amr/root_exchange.h"
#include "photons/analysis/analysis.h"
#include "photons/base/comm.h"
#include "photons/config/parameters.h"
#include "photons/gas/gas_power.h"
#include "photons/gas/gas_waves.h"
#include "support/allocated.h"
#include "support/checksum.h"
#include "support/force_set.h"

enum { ROOT = 5, SIDE = ROOT * GAS_GROUP_SIDE }; /* no number of ranks above 1 divides 5 groups */

static double share(void) { return (double)SIDE * SIDE * SIDE * sizeof(double) / comm_size(); }

static void assert_all_below(double largest, double bound) {
  comm_max_double(&largest, 1);
  if (!(largest < bound)) fail_msg("%g is not below %g", largest, bound);
}

/** Gas of which there are the groups of the root level, without cells. */
static struct gas *make_groups(void) {
  static const enum gas_boundary periodic[3][2];
  struct gas *g = calloc(1, sizeof *g);
  g->tasks.homes = 1;
  topology_init(&g->topology, (const uint32_t[]){ROOT, ROOT, ROOT}, periodic, 0);
  g->tasks.batch = 1;
  gas_divide_level(g, 0);
  return g;
}

static void free_groups(struct gas *g) {
  struct gas_level level = gas_take_level(g, 0);
  gas_free_level(&level);
  topology_free(&g->topology);
  free(g);
}

/** The number of cell (x, y, z) of a group along axes of the mesh. */
static uint64_t number(const struct gas *g, uint32_t group, const unsigned axis[3], size_t i) {
  const uint32_t *place = g->topology.level[0].group[group].place;
  const size_t in_group[3] = {i / 256, i / 16 % 16, i % 16};
  uint64_t n = 0;
  for (int c = 0; c < 3; c++) n = n * SIDE + GAS_GROUP_SIDE * place[axis[c]] + in_group[c];
  return n;
}

struct cells {
  const struct gas *gas;
  const unsigned *axis;
  uint32_t wrong; /* cells; this program has one thread */
};

static void give(void *context, uint32_t group, double *cube) {
  const struct cells *c = context;
  for (size_t i = 0; i < GAS_GROUP_CELLS; i++) cube[i] = (double)number(c->gas, group, c->axis, i);
}

static void take(void *context, uint32_t group, const double *cube) {
  struct cells *c = context;
  for (size_t i = 0; i < GAS_GROUP_CELLS; i++)
    c->wrong += cube[i] != (double)number(c->gas, group, c->axis, i);
}

/** Cells of groups come to their places in the mesh, along other axes, too, and back; in the course of
 * that a rank has its share of them twice. */
static void test_exchange(void **state) {
  (void)state;
  static const unsigned axes[][3] = {{0, 1, 2}, {2, 1, 0}};
  const struct fft_mesh mesh = {.cells = {SIDE, SIDE, SIDE}};
  struct gas *g = make_groups();
  struct fft f = fft_create(&mesh);
  const struct fft_box *b = &f.values;
  double *memory = calloc(fft_bytes(&f), 1);
  for (int a = 0; a < 2; a++) {
    struct cells c = {.gas = g, .axis = axes[a]};
    const double before = allocated_begin();
    struct root_exchange *e = root_exchange_make(g, &mesh, axes[a], NULL);
    root_exchange_to_mesh(e, give, &c, memory);
    for (size_t x = 0; x < b->count[0]; x++)
      for (size_t y = 0; y < b->count[1]; y++)
        for (size_t z = 0; z < SIDE; z++)
          c.wrong += memory[fft_at(b, x, y, z)] !=
                     (double)(((b->first[0] + x) * SIDE + b->first[1] + y) * SIDE + z);
    root_exchange_to_groups(e, memory, take, &c);
    assert_all_below(c.wrong, 1.0);
    if (allocated_is_counted())
      assert_all_below((allocated_most() - before) / (root_exchange_bytes_of_all(share() / 8.0)),
                       1.2);
    root_exchange_free(e);
  }
  free(memory);
  fft_free(&f);
  free_groups(g);
}

static struct parameters make_parameters(void) {
  static const char text[] =
      "[run]\nsystem = gas\n[cosmology]\nOmega_m = 0.3\nOmega_lambda = 0.7\nh = 0.7\n[box]\n"
      "size = 50\n[ic]\nsource = generate\nz_init = 49\n[gas]\ncomoving = yes\nroot = %d, %d, %d\n";
  char given[sizeof text + 32];
  struct parameters p;
  snprintf(given, sizeof given, text, SIDE, SIDE, SIDE);
  parameters_from_text(&p, given, NULL, 0);
  return p;
}

/** The cells have the same bits on any number of ranks (the caller compares); each rank has its share
 * of the four fields, and at no time more than is foretold. */
static void test_waves(void **state) {
  (void)state;
  const struct parameters p = make_parameters();
  static double conserved[GAS_GROUP_CELLS * GAS_VARIABLES_MAX];
  struct gas *g = make_groups();
  uint64_t sum = 0;
  const double before = allocated_begin();
  struct gas_waves *w = gas_waves_make(&p);
  gas_waves_share(w, g);
  const double held = allocated_now() - before, most = allocated_most() - before;
  const uint32_t end = gas_first_group(g, 0, comm_rank() + 1);
  for (uint32_t i = gas_first_group(g, 0, comm_rank()); i < end; i++) {
    gas_waves_read(w, i, conserved);
    for (size_t k = 0; k < GAS_GROUP_CELLS * GAS_VARIABLES_MAX; k++)
      sum += checksum_double((uint64_t)i * GAS_GROUP_CELLS * GAS_VARIABLES_MAX + k, conserved[k]);
  }
  checksum_print("waves of gas", sum);
  if (allocated_is_counted()) {
    assert_all_below(fabs(gas_waves_held_memory(&p) / comm_size() / share() - 4.0), 1e-9);
    /* groups are not quite evenly shared */
    assert_all_below(fabs(held / (4.0 * share()) - 1.0), 0.1);
    assert_all_below(most / (gas_waves_memory(&p) / comm_size()), 1.1);
    assert_all_below(0.75 * gas_waves_memory(&p) / comm_size(), most);
  }
  gas_waves_free(w);
  free_groups(g);
}

/** A wave has the power of its amplitude in the bin of its wave number, with the window of the cells
 * taken out. */
static void test_wave_has_power(void **state) {
  (void)state;
  const struct fft_mesh mesh = {.cells = {SIDE, SIDE, SIDE}};
  const double box = 50.0, k = 7.0, amplitude = 0.01;
  struct fft f = fft_create(&mesh);
  const struct fft_box *b = &f.values;
  double *memory = calloc(fft_bytes(&f), 1);
  const double angle = M_PI * k / SIDE, mean = sin(angle) / angle;
  for (size_t x = 0; x < b->count[0]; x++)
    for (size_t y = 0; y < b->count[1]; y++)
      for (size_t z = 0; z < SIDE; z++)
        memory[fft_at(b, x, y, z)] = 3.0 + 3.0 * amplitude * mean *
                                               cos(2.0 * angle * (double)(b->first[1] + y));
  size_t count;
  struct power_bin *bins = power_measure_cells(&f, memory, box, &count);
  assert_int_equal(count, (SIDE - 1) / 2);
  for (size_t i = 0; i < count; i++) {
    const double found = bins[i].power * bins[i].modes / pow(box, 3.0),
                 wanted = i + 1 == (size_t)k ? amplitude * amplitude / 4.0 : 0.0;
    assert_true(fabs(found - wanted) < 1e-12 * amplitude * amplitude);
  }
  free(bins);
  free(memory);
  fft_free(&f);
}

static void give_noise(void *context, uint32_t group, double *cube) {
  const struct cells *c = context;
  for (size_t i = 0; i < GAS_GROUP_CELLS; i++)
    cube[i] = 1.0 + 0x1p-66 * (double)checksum_term(number(c->gas, group, c->axis, i), 1);
}

/** The spectrum of groups with noise has the same bits on any number of ranks (the caller compares),
 * and no rank needs more than is foretold. */
static void test_spectrum(void **state) {
  (void)state;
  static const unsigned axis[3] = {2, 1, 0};
  const struct fft_mesh mesh = {.cells = {SIDE, SIDE, SIDE}};
  const struct parameters p = make_parameters();
  struct gas *g = make_groups();
  const double before = allocated_begin();
  struct fft f = fft_create(&mesh);
  double *memory = calloc(fft_bytes(&f), 1);
  struct root_exchange *e = root_exchange_make(g, &mesh, axis, NULL);
  root_exchange_to_mesh(e, give_noise, &(struct cells){.gas = g, .axis = axis}, memory);
  root_exchange_free(e);
  size_t count;
  struct power_bin *bins = power_measure_cells(&f, memory, 1.0, &count);
  const double most = allocated_most() - before, foretold = gas_power_memory(&p, 0) / comm_size(),
               small = 12.0 * SIDE * SIDE * sizeof(double); /* plans; a plane's lines; bins */
  uint64_t sum = 0;
  for (size_t i = 0; i < count && comm_rank() == 0; i++)
    sum += checksum_double(3 * i, bins[i].k) + checksum_double(3 * i + 1, bins[i].power) +
           checksum_double(3 * i + 2, bins[i].modes);
  checksum_print("spectrum of cells", sum);
  if (allocated_is_counted()) {
    assert_all_below(fabs(foretold / (share() * (comm_size() > 1 ? 3.0 : 2.0)) - 1.0), 0.05);
    assert_all_below(most, 1.05 * foretold + small);
    assert_all_below(0.75 * foretold, most);
  }
  free(bins);
  free(memory);
  fft_free(&f);
  free_groups(g);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_exchange), cmocka_unit_test(test_waves),
                                     cmocka_unit_test(test_wave_has_power),
                                     cmocka_unit_test(test_spectrum)};
  comm_start(&argc, &argv);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  comm_end();
  return failed;
}
