/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Regridding: groups that stay have their cells, batches that stay have their handles, the host takes
 * over no cells, and nothing moves where nothing changes. Steps of levels: divided where the gas has
 * become too fast. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "photons/base/error.h"
#include "photons/config/parameters.h"
#include "photons/gas/create.h"
#include "photons/gas/evolve.h"
#include "photons/gas/gas_ic.h"
#include "photons/potential/gravity.h"
#include "photons/runtime/message.h"
#include "photons/runtime/task_graph.h"

#include <cmocka.h>

#include "support/starpu_fixture.h"

enum { FINE = 2 };

/** A ball of hot gas on a root level and two finer ones, after a step. */
static struct gas *make_gas_of(int batch, int homes) {
  static const char text[] =
      "[run]\nsystem = gas\n[ic]\nsource = blast\n[gas]\nsolver = rtvd\nroot = 32, 32, 32\n"
      "levels = %d\nbatch = %d\nhomes = %d\nbuffer = 8\nregrid = 100\nflag_gradient_pressure = "
      "0.1, "
      "0.5\n[time]\n"
      "end = 1\n";
  char given[sizeof text + 32];
  struct parameters p;
  snprintf(given, sizeof given, text, FINE, batch, homes);
  parameters_from_text(&p, given, NULL, 0);
  const struct gas_ic ic = gas_ic_make(&p);
  struct gas *g = gas_create(&p);
  gas_begin(g, &ic);
  gas_step(g, 0.3 * gas_measure(g).longest_step);
  return g;
}

static struct gas *make_gas(int batch) { return make_gas_of(batch, 1); }

static bool regrid(struct gas *g, int buffer) {
  g->refinement.buffer = buffer;
  message_begin();
  const bool changed = gas_regrid(g, FINE - 1, 1.0, NULL);
  message_wait();
  return changed;
}

/** Copies of the keys, cells and handles of the finest level. */
struct copy {
  uint32_t count, batches;
  uint64_t *key;
  char *cells;
  starpu_data_handle_t *handle;
};

static struct copy copy_finest(struct gas *g) {
  const struct gas_tree_level *t = &g->topology.level[FINE];
  const struct gas_level *l = &g->level[FINE];
  struct copy c = {.count = t->count, .batches = l->batch_count};
  c.key = allocate(t->count, sizeof *c.key, "keys");
  c.cells = allocate(t->count, gas_group_bytes(g), "cells");
  c.handle = allocate(l->batch_count, sizeof(starpu_data_handle_t), "handles");
  memcpy(c.key, t->key, t->count * sizeof *c.key);
  gas_acquire(g, STARPU_R);
  for (uint32_t i = 0; i < t->count; i++)
    memcpy(c.cells + i * gas_group_bytes(g), gas_cells(g, FINE, i), gas_group_bytes(g));
  gas_release(g);
  for (uint32_t i = 0; i < l->batch_count; i++) c.handle[i] = l->batch[i].handle[l->now];
  return c;
}

static void copy_free(struct copy *c) {
  free(c->key);
  free(c->cells);
  free(c->handle);
}

/** Groups of `b` that `a` has, too; their cells must be the same. */
static uint32_t same_groups(const struct gas *g, const struct copy *a, const struct copy *b) {
  const size_t bytes = gas_group_bytes(g);
  uint32_t same = 0;
  for (uint32_t i = 0, k = 0; i < b->count; i++) {
    while (k < a->count && a->key[k] < b->key[i]) k++;
    if (k == a->count || a->key[k] != b->key[i]) continue;
    assert_memory_equal(a->cells + k * bytes, b->cells + i * bytes, bytes);
    same++;
  }
  return same;
}

static void same_flags_move_nothing(void **state) {
  (void)state;
  struct gas *g = make_gas(4);
  regrid(g, 1);
  const uint64_t moved = g->counts.host_bytes;
  struct copy before = copy_finest(g);
  assert_false(regrid(g, 1));
  struct copy after = copy_finest(g);
  assert_int_equal(g->counts.host_bytes, moved);
  assert_int_equal(before.batches, after.batches);
  assert_memory_equal(before.handle, after.handle, before.batches * sizeof *before.handle);
  copy_free(&before);
  copy_free(&after);
  gas_free(g);
}

/** A wider buffer, and back. */
static void groups_that_stay_are_kept(void **state) {
  (void)state;
  for (int batch = 1; batch <= 8; batch *= 8) {
    struct gas *g = make_gas(batch);
    regrid(g, 1);
    struct copy narrow = copy_finest(g);
    const uint64_t moved = g->counts.host_bytes;
    assert_true(regrid(g, 8));
    struct copy wide = copy_finest(g);
    assert_true(wide.count > narrow.count);
    assert_int_equal(same_groups(g, &narrow, &wide), narrow.count);
    assert_int_equal(g->counts.host_bytes,
                     moved); /* tasks copy and interpolate, wherever the cells are */
    print_message("batches of %d: from %u to %u groups\n", batch, narrow.count, wide.count);
    assert_true(regrid(g, 1));
    struct copy back = copy_finest(g);
    assert_int_equal(back.count, narrow.count);
    assert_int_equal(same_groups(g, &narrow, &back), narrow.count);
    copy_free(&narrow);
    copy_free(&wide);
    copy_free(&back);
    gas_free(g);
  }
}

enum { HOMES = 3, GHOSTS_MOST = 4096 };

/** Ghosts of a level, whose data are NULL where they are not there, and messages. */
struct kept_data {
  uint32_t batches, messages;
  starpu_data_handle_t data[GHOSTS_MOST];
  uint32_t room[GHOSTS_MOST]; /* groups that a batch has memory for */
  struct ghost_message of[GHOSTS_MOST];
};

static void copy_ghosts(const struct gas *g, int level, struct kept_data *c) {
  const struct gas_level *l = &g->level[level];
  const struct ghost_messages *m = &l->ghosts.sent[GHOST_CELLS];
  *c = (struct kept_data){.batches = l->batch_count, .messages = m->count};
  assert_true(m->count <= GHOSTS_MOST && l->batch_count * l->homes <= GHOSTS_MOST);
  for (uint32_t i = 0; i < l->batch_count; i++)
    for (uint32_t h = 0; h < l->homes; h++) {
      const struct gas_batch *b = gas_seen(g, level, h, i);
      if (!b || gas_home_of_batch(g, level, i) == h) continue;
      c->data[i * l->homes + h] = b->handle[1 - l->now];
      c->room[i * l->homes + h] = b->room;
    }
  for (uint32_t i = 0; i < m->count; i++) c->of[i] = m->message[i];
}

/** Where the room is the same, ghosts and messages that are there before and afterwards have the same data. @return how
 * many do */
static uint32_t kept_ghosts(const struct kept_data *a, const struct kept_data *b) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < a->batches * HOMES && i < b->batches * HOMES; i++)
    if (a->data[i] && b->data[i] && a->room[i] == b->room[i]) {
      assert_ptr_equal(a->data[i], b->data[i]);
      kept++;
    }
  for (uint32_t i = 0; i < a->messages; i++)
    for (uint32_t k = 0; k < b->messages; k++) {
      const struct ghost_message *x = &a->of[i], *y = &b->of[k];
      if (x->from != y->from || x->to != y->to || x->number != y->number || x->room != y->room)
        continue;
      assert_ptr_equal(x->packed, y->packed);
      kept++;
    }
  return kept;
}

/** What homes have of each other's batches, and messages, keep their data, of the level with new groups and of the next
 * coarser one: the host makes no data where nothing is new. */
static void ghosts_keep_their_data(void **state) {
  (void)state;
  static struct kept_data before[2], after[2];
  struct gas *g = make_gas_of(2, HOMES);
  regrid(g, 1);
  for (int i = 0; i < 2; i++) copy_ghosts(g, FINE - i, &before[i]);
  assert_true(regrid(g, 8));
  for (int i = 0; i < 2; i++) copy_ghosts(g, FINE - i, &after[i]);
  for (int i = 0; i < 2; i++) assert_true(kept_ghosts(&before[i], &after[i]) > 0);
  gas_free(g);
}

/** What new groups get depends neither on which batches were kept nor on homes. */
static void cells_do_not_depend_on_batches(void **state) {
  (void)state;
  static const int batches[] = {1, 8, 2}, homes[] = {1, 1, HOMES};
  struct copy first = {0};
  for (int i = 0; i < 3; i++) {
    struct gas *g = make_gas_of(batches[i], homes[i]);
    regrid(g, 8);
    gas_step(g, 0.3 * gas_measure(g).longest_step);
    regrid(g, 1);
    regrid(g, 8);
    gas_step(g, 0.3 * gas_measure(g).longest_step);
    struct copy now = copy_finest(g);
    if (i == 0) {
      first = now;
    } else {
      assert_int_equal(now.count, first.count);
      assert_int_equal(same_groups(g, &first, &now), first.count);
      copy_free(&now);
    }
    gas_free(g);
  }
  copy_free(&first);
}

enum { UNIFORM = 64 };

/** A ball of hot gas on a root level alone. */
static struct gas *make_uniform(int homes) {
  char text[400];
  struct parameters p;
  snprintf(text, sizeof text,
           "[run]\nsystem = gas\n[ic]\nsource = blast\n[gas]\nroot = %d, %d, %d\nbatch = 4\n"
           "homes = %d\n[time]\nend = 1\n",
           UNIFORM, UNIFORM, UNIFORM, homes);
  parameters_from_text(&p, text, NULL, 0);
  const struct gas_ic ic = gas_ic_make(&p);
  struct gas *g = gas_create(&p);
  gas_begin(g, &ic);
  return g;
}

/** Two homes are the halves of a periodic box. In a step each sends the four layers at its two sides, and
 * nothing else. */
static void homes_send_their_edges(void **state) {
  (void)state;
  for (int homes = 1; homes <= 2; homes++) {
    struct gas *g = make_uniform(homes);
    const double dt = 0.3 * gas_measure(g).longest_step;
    gas_step(g, dt); /* sends the edges at its beginning, and the new ones for the next step */
    gas_measure(g);  /* begins a new count */
    gas_step(g, dt);
    const double bytes = gas_measure(g).home_bytes, layer = (double)UNIFORM * UNIFORM *
                                                            g->scheme.variables *
                                                            (double)g->scheme.kernels->real_size;
    print_message("%d homes: %.0f bytes, %.0f layers\n", homes, bytes, bytes / layer);
    assert_true(bytes == (homes == 1 ? 0.0 : 16.0 * layer));
    gas_free(g);
  }
}

/** With self-gravity a step whose Courant number would be too large is divided on finer levels. A
 * short step, and all steps without gravity, are not. */
static void steps_that_are_too_long_are_divided(void **state) {
  (void)state;
  static const struct {
    const char *gravity;
    double courant;
    int64_t steps; /* 0: halves of the step are divided into different numbers of parts */
  } cases[] = {{"self", 0.5, 2}, {"self", 0.9, 4}, {"self", 1.9, 0}, {"none", 0.9, 2}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[600];
    struct parameters p;
    snprintf(text, sizeof text,
             "[run]\nsystem = gas\n[ic]\nsource = collapse\n[gas]\nroot = 32, 32, 32\n"
             "precision = double\nregrid = 100\nlevels = 1\nflag_density = 0.5\ngravity = %s\n"
             "[time]\nend = 1\n",
             cases[i].gravity);
    parameters_from_text(&p, text, NULL, 0);
    const struct gas_ic ic = gas_ic_make(&p);
    struct gas *g = gas_create(&p);
    gas_begin(g, &ic);
    if (g->gravity) gravity_solve(g, 0, 1.0);
    const struct gas_totals before = gas_measure(g);
    const double dt = cases[i].courant * before.longest_step;
    gas_step(g, dt);
    const struct gas_totals after = gas_measure(g);
    print_message("Courant number %.1f, gravity %s: %d steps, then %.2f on level %d\n",
                  cases[i].courant, cases[i].gravity, (int)g->level[1].steps, after.courant,
                  after.courant_level);
    if (cases[i].steps > 0) {
      assert_int_equal(g->level[1].steps, cases[i].steps);
      assert_true(g->level[1].dt == dt / (double)cases[i].steps);
    } else {
      assert_true(g->level[1].steps >= 7 && g->level[1].dt <= dt / 4.0);
    }
    assert_true(fabs(after.conserved[GAS_DENSITY] / before.conserved[GAS_DENSITY] - 1.0) < 1e-13);
    gas_free(g);
  }
}

/** Whether the flags of a level refine a patch, or what refines it has refined patches at its side. */
static bool is_wanted(const struct topology *t, int level, const uint32_t (*flags)[8], uint32_t i,
                      int p) {
  const uint32_t son = t->level[level].group[i].son[p];
  bool wanted = false;
  for (int n = 0; n < NEIGHBOURS; n++) {
    const struct patch_number at = topology_patch_neighbour(t, level, i, p, n);
    if (at.group == NO_GROUP) return false;
    wanted |= flags[at.group][at.patch] >> (NEIGHBOURS - 1 - n) & 1;
  }
  for (int q = 0; q < 8 && son != NO_GROUP; q++)
    for (int n = 0; n < NEIGHBOURS; n++)
      wanted |= topology_finer_neighbour(t, level + 1, son, q, n) != NO_GROUP;
  return wanted;
}

/** Loops over groups in a record of the task graph. */
static int recorded_loops(FILE *record) {
  char line[1024];
  int loops = 0;
  rewind(record);
  while (fgets(line, sizeof line, record)) loops += strstr(line, ",loop,gas_groups,") != NULL;
  fclose(record);
  return loops;
}

/** What random flags of a level refine. @return the number of loops over groups that find it */
static int check_refined(const struct topology *t, int level, struct new_groups *new) {
  const uint32_t count = t->level[level].count;
  uint32_t(*flags)[8] = allocate(count, sizeof *flags, "flags"), k = 0;
  FILE *record = tmpfile();
  assert_non_null(record);
  for (uint32_t i = 0; i < 8 * count; i++)
    if (uniform() < 0.1) flags[i / 8][i % 8] = (uint32_t)(uniform() * 0x1p27);
  task_graph_record(record);
  *new = topology_refined(t, level, (const uint32_t(*)[8])flags);
  task_graph_record(NULL);
  for (uint32_t i = 0; i < 8 * count; i++)
    if (is_wanted(t, level, (const uint32_t(*)[8])flags, i / 8, (int)(i % 8))) {
      assert_true(k < new->count);
      assert_int_equal(new->key[k++], t->level[level].key[i / 8] << 3 | i % 8);
    }
  assert_int_equal(k, new->count);
  free(flags);
  return recorded_loops(record);
}

/** All workers find what is refined of a large level: it is what flags and nesting ask for. */
static void workers_refine_large_levels(void **state) {
  (void)state;
  static const enum gas_boundary periodic[3][2];
  struct topology t;
  topology_init(&t, (const uint32_t[3]){16, 8, 8}, periodic, 2);
  for (int k = 0; k < 4; k++) {
    const int level = k % 2; /* twice each: also where finer levels are there */
    struct new_groups new;
    assert_int_equal(check_refined(&t, level, &new), 1);
    print_message("of %u groups of level %d %u patches are refined\n", t.level[level].count, level,
                  new.count);
    assert_true(new.count > 100);
    topology_replace(&t, level + 1, new.key, new.count);
  }
  topology_free(&t);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(workers_refine_large_levels),
                                     cmocka_unit_test(same_flags_move_nothing),
                                     cmocka_unit_test(groups_that_stay_are_kept),
                                     cmocka_unit_test(ghosts_keep_their_data),
                                     cmocka_unit_test(cells_do_not_depend_on_batches),
                                     cmocka_unit_test(homes_send_their_edges),
                                     cmocka_unit_test(steps_that_are_too_long_are_divided)};
  return cmocka_run_group_tests(tests, start, stop);
}
