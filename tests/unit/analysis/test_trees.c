/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Merger trees of made objects, whose fates are known, on any number of ranks. An object is a range of
 * ids, the most bound particle first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <hdf5.h>

#include "photons/analysis/halo.h"
#include "photons/analysis/tree.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/base/output_file.h"
#include "photons/config/parameters.h"
#include "src/analysis/tree_file.h"
#include "src/analysis/tree_forest.h"

#include <cmocka.h>

/** An object: ids first .. first + count - 1, then those of a second range; a subhalo of the same halo as
 * the object before. */
struct made {
  uint64_t first, count, second_first, second_count;
  bool same_halo;
};

static uint64_t id_of(const struct made *m, uint64_t k) {
  return k < m->count ? m->first + k : m->second_first + k - m->count;
}

/** The objects of an output. Each rank has its share of them, and every so many-th member. */
static struct tree_objects objects_of(size_t all, const struct made *made) {
  struct tree_objects o = {.all = all, .first = comm_first(all, comm_rank())};
  o.count = comm_first(all, comm_rank() + 1) - o.first;
  o.object = allocate(o.count, sizeof *o.object, "objects");
  o.id = allocate(o.count * TREE_LISTED, sizeof *o.id, "ids");
  size_t ids = 0, next = 0;
  int64_t halo = -1;
  for (size_t i = 0; i < all; i++) {
    halo += !made[i].same_halo;
    const uint64_t count = made[i].count + made[i].second_count;
    o.member = reallocate(o.member, o.members + count + 1, sizeof *o.member, "members");
    for (uint64_t k = 0; k < count; k++)
      if (next++ % (size_t)comm_size() == (size_t)comm_rank())
        o.member[o.members++] = (struct tree_member){id_of(&made[i], k), i};
    if (i < o.first || i >= o.first + o.count) continue;
    const uint64_t listed = count < TREE_LISTED ? count : TREE_LISTED;
    o.object[i - o.first] = (struct tree_object){.group = halo,
                                                 .count = (int64_t)count,
                                                 .most_bound = made[i].first,
                                                 .listed = (int64_t)listed,
                                                 .mass = (float)count};
    for (uint64_t k = 0; k < listed; k++) o.id[ids++] = id_of(&made[i], k);
  }
  return o;
}

static struct parameters parameters_in(const char *folder) {
  struct parameters p;
  parameters_default(&p);
  p.box.size = 10.0;
  snprintf(p.output.dir, sizeof p.output.dir, "%s", folder);
  return p;
}

/** Link an output to those before and write its file, as trees_add_output() does. */
static void add(const struct parameters *p, size_t output, size_t all, const struct made *made) {
  struct tree_links none = {0}, before = output > 0 ? tree_links_read(p, output - 1) : none,
                    earlier = output > 1 ? tree_links_read(p, output - 2) : none;
  struct tree_objects now = objects_of(all, made);
  struct tree_links links = tree_links_make(&now, &before, &earlier);
  links.output = output;
  links.a = 0.1 * (double)(output + 1);
  links.box = p->box.size;
  tree_links_write(&links, p);
  tree_links_free(&links);
  tree_links_free(&before);
  tree_links_free(&earlier);
}

/** What trees.hdf5 has of all nodes. */
struct nodes {
  size_t count, trees;
  int64_t *tree, *output, *number, *descendant, *first, *next, *first_in_halo, *next_in_halo;
  double *history;
};

static void *column(hid_t file, const char *name, hid_t type, size_t count) {
  void *values = allocate(count, 8, "a column");
  const hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT);
  assert_true(dataset >= 0);
  assert_true(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
  H5Dclose(dataset);
  return values;
}

static uint64_t header(hid_t file, const char *name) {
  uint64_t value = 0;
  const hid_t a = H5Aopen_by_name(file, "Header", name, H5P_DEFAULT, H5P_DEFAULT);
  assert_true(H5Aread(a, H5T_NATIVE_UINT64, &value) >= 0);
  H5Aclose(a);
  return value;
}

static struct nodes nodes_of(const struct parameters *p, size_t last) {
  trees_write(p, last);
  char path[PARAMETER_PATH_MAX + 16];
  snprintf(path, sizeof path, "%s/trees.hdf5", p->output.dir);
  const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT), i64 = H5T_NATIVE_INT64;
  struct nodes n = {.count = header(file, "Nhalos_Total"), .trees = header(file, "Ntrees_Total")};
  n.tree = column(file, "TreeHalos/TreeID", i64, n.count);
  n.output = column(file, "TreeHalos/SnapNum", i64, n.count);
  n.number = column(file, "TreeHalos/SubhaloNr", i64, n.count);
  n.descendant = column(file, "TreeHalos/TreeDescendant", i64, n.count);
  n.first = column(file, "TreeHalos/TreeFirstProgenitor", i64, n.count);
  n.next = column(file, "TreeHalos/TreeNextProgenitor", i64, n.count);
  n.first_in_halo = column(file, "TreeHalos/TreeFirstHaloInFOFgroup", i64, n.count);
  n.next_in_halo = column(file, "TreeHalos/TreeNextHaloInFOFgroup", i64, n.count);
  n.history = column(file, "TreeHalos/MassHistory", H5T_NATIVE_DOUBLE, n.count);
  H5Fclose(file);
  comm_barrier();
  return n;
}

static void nodes_free(struct nodes *n) {
  int64_t *const columns[] = {n->tree,  n->output, n->number,        n->descendant,
                              n->first, n->next,   n->first_in_halo, n->next_in_halo};
  for (size_t k = 0; k < sizeof columns / sizeof *columns; k++) free(columns[k]);
  free(n->history);
}

static size_t node(const struct nodes *n, int64_t output, int64_t number) {
  size_t i = 0;
  while (i < n->count && (n->output[i] != output || n->number[i] != number)) i++;
  assert_true(i < n->count);
  return i;
}

/** The node that a place in the tree of node i stands for. */
static size_t at(const struct nodes *n, size_t i, int64_t place) {
  size_t begin = i;
  while (begin > 0 && n->tree[begin - 1] == n->tree[i]) begin--;
  return begin + (size_t)place;
}

/** A place in a tree is that of an object. */
static void assert_is(const struct nodes *n, size_t i, int64_t place, int64_t output,
                      int64_t number) {
  assert_true(place >= 0);
  assert_int_equal(n->output[at(n, i, place)], output);
  assert_int_equal(n->number[at(n, i, place)], number);
}

static void assert_descendant(const struct nodes *n, int64_t output, int64_t number,
                              int64_t to_output, int64_t to_number) {
  const size_t i = node(n, output, number);
  assert_is(n, i, n->descendant[i], to_output, to_number);
}

static void assert_first_progenitor(const struct nodes *n, int64_t output, int64_t number,
                                    int64_t of_output, int64_t of_number) {
  const size_t i = node(n, output, number);
  assert_is(n, i, n->first[i], of_output, of_number);
}

static void remove_folder(const char *name) {
  char path[64];
  for (int k = 0; k < 10; k++) {
    snprintf(path, sizeof path, "%s/tree_%03d.hdf5", name, k);
    unlink(path);
  }
  snprintf(path, sizeof path, "%s/trees.hdf5", name);
  unlink(path);
  rmdir(name);
}

/** Each test has a folder of its own. */
static struct parameters begin(const char *name) {
  if (comm_rank() == 0) remove_folder(name);
  if (comm_rank() == 0) output_folder(name);
  comm_barrier();
  return parameters_in(name);
}

static void end(const char *name) {
  comm_barrier();
  if (comm_rank() == 0) remove_folder(name);
  comm_barrier();
}

/** Two halos grow, a third one comes, and the smaller of the first two merges into the larger. */
static void test_merger(void **state) {
  (void)state;
  const struct parameters p = begin("trees-merger");
  add(&p, 0, 2, (struct made[]){{0, 500, 0, 0, false}, {1000, 300, 0, 0, false}});
  add(&p, 1, 3,
      (struct made[]){{0, 600, 0, 0, false}, {1000, 320, 0, 0, false}, {5000, 40, 0, 0, false}});
  add(&p, 2, 2, (struct made[]){{0, 620, 1000, 320, false}, {5000, 60, 0, 0, false}});
  struct nodes n = nodes_of(&p, 2);
  assert_int_equal(n.count, 7);
  assert_int_equal(n.trees, 2);
  assert_int_equal(n.tree[0],
                   0); /* the root of the first tree is the largest halo of the last output */
  assert_int_equal(n.output[0], 2);
  assert_int_equal(n.number[0], 0);
  assert_int_equal(n.descendant[0], -1);
  assert_descendant(&n, 0, 0, 1, 0);
  assert_descendant(&n, 0, 1, 1, 1);
  assert_descendant(&n, 1, 0, 2, 0);
  assert_descendant(&n, 1, 1, 2, 0);
  assert_descendant(&n, 1, 2, 2, 1);
  assert_first_progenitor(&n, 2, 0, 1, 0);
  const size_t second = node(&n, 1, 1), first = node(&n, 1, 0);
  assert_int_equal(at(&n, first, n.next[first]), second);
  assert_int_equal(n.next[second], -1);
  assert_int_equal(n.first[node(&n, 1, 2)], -1); /* it is new */
  assert_true(n.history[0] == 940.0 + 600.0 + 500.0);
  nodes_free(&n);
  end("trees-merger");
}

/** A subhalo dissolves in a host that is much larger. One of its outer particles is in an object of its own size, which
 * is not its descendant, and where the host has none of its particles, that object is. */
static void test_stray_particle(void **state) {
  (void)state;
  const struct parameters p = begin("trees-stray");
  add(&p, 0, 2, (struct made[]){{0, 30, 0, 0, false}, {100, 30, 0, 0, false}});
  add(&p, 1, 3,
      (struct made[]){
          {10000, 1000000, 0, 29, false}, {2000, 29, 29, 1, false}, {3000, 29, 129, 1, false}});
  struct nodes n = nodes_of(&p, 1);
  assert_descendant(&n, 0, 0, 1, 0);
  assert_descendant(&n, 0, 1, 1, 2);
  nodes_free(&n);
  end("trees-stray");
}

/** Most particles do not count: the core goes one way, twice as many outer particles the other. */
static void test_core_decides(void **state) {
  (void)state;
  const struct parameters p = begin("trees-core");
  add(&p, 0, 1, (struct made[]){{0, 100, 0, 0, false}});
  add(&p, 1, 2, (struct made[]){{34, 66, 7000, 100, false}, {0, 34, 0, 0, false}});
  struct nodes n = nodes_of(&p, 1);
  assert_descendant(&n, 0, 0, 1, 1);
  nodes_free(&n);
  end("trees-core");
}

/** A subhalo of 130 particles loses most of them to its host: it is the remnant that has enough of its core, and else
 * is a part of the host. A host is not the fragment that has most of its core. */
static void test_remnants_and_fragments(void **state) {
  (void)state;
  const struct parameters p = begin("trees-remnants");
  add(&p, 0, 3,
      (struct made[]){
          {0, 5000, 0, 0, false}, {10000, 130, 0, 0, true}, {20000, 2, 10130, 128, true}});
  add(&p, 1, 4,
      (struct made[]){{50, 4950, 10010, 248, false},
                      {0, 50, 0, 0, true},
                      {10000, 10, 30000, 30, true},
                      {20000, 2, 30100, 30, true}});
  struct nodes n = nodes_of(&p, 1);
  assert_descendant(&n, 0, 0, 1, 0);
  assert_descendant(&n, 0, 1, 1, 2);
  assert_descendant(&n, 0, 2, 1, 0);
  nodes_free(&n);
  end("trees-remnants");
}

/** A halo is not found in one output. */
static void test_missed_output(void **state) {
  (void)state;
  const struct parameters p = begin("trees-missed");
  add(&p, 0, 2, (struct made[]){{0, 500, 0, 0, false}, {1000, 30, 0, 0, false}});
  add(&p, 1, 1, (struct made[]){{0, 510, 0, 0, false}});
  add(&p, 2, 2, (struct made[]){{0, 520, 0, 0, false}, {1000, 33, 0, 0, false}});
  add(&p, 3, 2, (struct made[]){{0, 520, 0, 0, false}, {1000, 35, 0, 0, false}});
  struct nodes n = nodes_of(&p, 3);
  assert_int_equal(n.trees, 2);
  assert_descendant(&n, 0, 1, 2, 1);
  assert_first_progenitor(&n, 2, 1, 0, 1);
  assert_descendant(&n, 2, 1, 3, 1);
  assert_true(n.history[node(&n, 3, 1)] == 35.0 + 33.0 + 30.0);
  nodes_free(&n);
  end("trees-missed");
}

/** Two halos fly by, and are one halo in one output, which the smaller one skips. In the next
 * encounter most of their outer particles change places, but the cores go on. They are one halo
 * again, whose main progenitor is not the one that was the larger just before, and part once more. */
static void test_fly_by(void **state) {
  (void)state;
  const struct parameters p = begin("trees-fly-by");
  add(&p, 0, 2, (struct made[]){{0, 600, 0, 0, false}, {2000, 400, 0, 0, false}});
  add(&p, 1, 1, (struct made[]){{0, 600, 2000, 400, false}});
  add(&p, 2, 2, (struct made[]){{0, 610, 0, 0, false}, {2000, 390, 0, 0, false}});
  add(&p, 3, 2, (struct made[]){{2000, 150, 100, 510, false}, {0, 100, 2150, 240, false}});
  add(&p, 4, 1, (struct made[]){{0, 600, 2000, 400, false}});
  add(&p, 5, 2, (struct made[]){{0, 610, 0, 0, false}, {2000, 390, 0, 0, false}});
  struct nodes n = nodes_of(&p, 5);
  assert_int_equal(n.trees, 2);
  assert_descendant(&n, 0, 0, 1, 0);
  assert_descendant(&n, 1, 0, 2, 0);
  assert_descendant(&n, 0, 1, 2, 1);
  assert_first_progenitor(&n, 1, 0, 0, 0);
  assert_first_progenitor(&n, 2, 1, 0, 1);
  assert_descendant(&n, 2, 0, 3, 1);
  assert_descendant(&n, 2, 1, 3, 0);
  assert_descendant(&n, 3, 1, 4, 0);
  assert_first_progenitor(&n, 4, 0, 3, 1);
  assert_descendant(&n, 3, 0, 5, 1);
  nodes_free(&n);
  end("trees-fly-by");
}

/** A halo falls apart for good: the main progenitor of a halo does not skip it. */
static void test_main_branch_does_not_skip(void **state) {
  (void)state;
  const struct parameters p = begin("trees-main");
  add(&p, 0, 1, (struct made[]){{0, 200, 0, 0, false}});
  /* the descendant is found by the outer particles, and its own core is another */
  add(&p, 1, 1, (struct made[]){{100, 100, 20, 80, false}});
  add(&p, 2, 2, (struct made[]){{100, 100, 0, 0, false}, {20, 80, 0, 0, false}});
  struct nodes n = nodes_of(&p, 2);
  assert_descendant(&n, 0, 0, 1, 0);
  assert_first_progenitor(&n, 1, 0, 0, 0);
  nodes_free(&n);
  end("trees-main");
}

/** Nodes of the same tree. */
static void assert_joined(const struct nodes *n, int64_t output, int64_t number, int64_t to_output,
                          int64_t to_number) {
  assert_int_equal(n->tree[node(n, output, number)], n->tree[node(n, to_output, to_number)]);
}

/** Five subhalos keep their particles, and have trees without a common node. Two of them are in one halo
 * in the first output, another two in the next one, and each of these pairs shares a subhalo: three trees
 * become one, which the fourth and the fifth stay out of. The trees that join are not neighbours. */
static void test_subhalos_join_trees(void **state) {
  (void)state;
  const struct parameters p = begin("trees-join");
  const struct made a = {0, 500, 0, 0, false}, b = {1000, 400, 0, 0, false},
                    c = {2000, 300, 0, 0, false}, d = {3000, 200, 0, 0, false},
                    e = {4000, 100, 0, 0, false};
  struct made b_in_halo = b, e_in_halo = e;
  b_in_halo.same_halo = e_in_halo.same_halo = true;
  add(&p, 0, 5, (struct made[]){a, c, b_in_halo, d, e});
  add(&p, 1, 5, (struct made[]){a, b, c, e_in_halo, d});
  add(&p, 2, 5, (struct made[]){a, b, c, d, e});
  struct nodes n = nodes_of(&p, 2);
  assert_int_equal(n.count, 15);
  assert_int_equal(n.trees, 3); /* a; b, c and e; d */
  assert_joined(&n, 2, 1, 2, 2);
  assert_joined(&n, 2, 1, 2, 4);
  for (int64_t k = 0; k < 3; k++)
    assert_joined(&n, 0, (int64_t[]){0, 1, 3}[k], 2, (int64_t[]){0, 2, 3}[k]);
  assert_int_equal(n.tree[node(&n, 2, 0)], 0);
  assert_int_equal(n.tree[node(&n, 2, 1)], 1);
  assert_int_equal(n.tree[node(&n, 2, 3)], 2);
  const size_t host = node(&n, 0, 1), satellite = node(&n, 0, 2), alone = node(&n, 2, 2);
  assert_is(&n, host, n.first_in_halo[host], 0, 1);
  assert_is(&n, host, n.next_in_halo[host], 0, 2);
  assert_is(&n, satellite, n.first_in_halo[satellite], 0, 1);
  assert_int_equal(n.next_in_halo[satellite], -1);
  assert_is(&n, alone, n.first_in_halo[alone], 2, 2);
  assert_int_equal(n.next_in_halo[alone], -1);
  assert_descendant(&n, 0, 2, 1, 1);
  assert_descendant(&n, 1, 3, 2, 4);
  nodes_free(&n);
  end("trees-join");
}

/** Outputs without halos, and halos that vanish. */
static void test_empty_outputs(void **state) {
  (void)state;
  const struct parameters p = begin("trees-empty");
  add(&p, 0, 0, NULL);
  struct nodes n = nodes_of(&p, 0);
  assert_int_equal(n.count, 0);
  nodes_free(&n);
  add(&p, 1, 1, (struct made[]){{0, 50, 0, 0, false}});
  add(&p, 2, 0, NULL);
  add(&p, 3, 1, (struct made[]){{0, 60, 0, 0, false}});
  add(&p, 4, 0, NULL);
  add(&p, 5, 0, NULL);
  add(&p, 6, 1, (struct made[]){{0, 60, 0, 0, false}});
  n = nodes_of(&p, 6);
  assert_int_equal(n.count, 3);
  assert_descendant(&n, 1, 0, 3, 0);
  assert_int_equal(n.descendant[node(&n, 3, 0)], -1); /* two outputs are too many */
  nodes_free(&n);
  end("trees-empty");
}

/** A run keeps what the next output needs of its own files: it does not read them. */
static void test_files_are_not_read(void **state) {
  (void)state;
  const struct parameters p = begin("trees-kept");
  const struct particles particles = {.box = 10.0, .mass = 1.0};
  const struct halo_catalogue none = {.particles = &particles};
  struct tree_past past = {0};
  for (size_t output = 0; output < 3; output++) {
    trees_add_output(&past, &p, &none, 0.1 * (double)(output + 1), output);
    const struct tree_path path = tree_path_of(&p, output);
    if (comm_rank() == 0)
      assert_int_equal(truncate(path.text, 1), 0); /* what is left cannot be read */
    comm_barrier();
  }
  assert_int_equal(past.before.output, 2);
  assert_int_equal(past.before.first_output, 0);
  assert_int_equal(past.earlier.output, 1);
  tree_past_free(&past);
  end("trees-kept");
}

int main(int argc, char **argv) {
  comm_start(&argc, &argv);
  comm_started();
  /* otherwise the others would wait for a rank that failed */
  if (comm_size() > 1) setenv("CMOCKA_TEST_ABORT", "1", 1);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_merger),
      cmocka_unit_test(test_stray_particle),
      cmocka_unit_test(test_core_decides),
      cmocka_unit_test(test_remnants_and_fragments),
      cmocka_unit_test(test_missed_output),
      cmocka_unit_test(test_fly_by),
      cmocka_unit_test(test_main_branch_does_not_skip),
      cmocka_unit_test(test_subhalos_join_trees),
      cmocka_unit_test(test_empty_outputs),
      cmocka_unit_test(test_files_are_not_read),
  };
  const int failures = cmocka_run_group_tests(tests, NULL, NULL);
  comm_end();
  return failures;
}
