/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How long the FMM operators take on one core: ns an interaction, a node or a particle, for each
 * order and instruction set. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "photons/base/error.h"
#include "photons/tree/fmm.h"
#include "support/kernels.h"

enum {
  DEPTH = 8,
  LEAF = 24,
  SLOTS = 27,
  LEAVES = 1 << DEPTH,
  COUNT = LEAF * LEAVES,
  NODES = 2 << DEPTH
};
static const double MINIMUM_SECONDS = 0.05;

/** Particles of several groups, their trees, and far lists of a given length. Positions are random:
 * only costs matter here. */
struct bench {
  uint32_t *x;
  struct node *nodes[SLOTS];
  float *multipole[SLOTS], *local, *acceleration;
  struct interaction_list far;
  struct split split;
};

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static uint32_t random32(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(*state >> 32);
}

static const float SCALE = 0x1p-31f; /* the box is two r_cut wide */

static void create(struct bench *b) {
  uint64_t state = 1;
  split_init(&b->split, SPLIT_KAISER, 1.2, 6.0, 9);
  b->x = allocate(3 * (size_t)COUNT, sizeof *b->x, "positions");
  b->acceleration = allocate(3 * (size_t)COUNT, sizeof *b->acceleration, "accelerations");
  b->local = allocate((size_t)NODES * fmm_local_size(FMM_ORDER_MAX), sizeof *b->local,
                      "local expansions");
  for (size_t i = 0; i < 3 * (size_t)COUNT; i++) b->x[i] = random32(&state) >> 5;
  for (int s = 0; s < SLOTS; s++) {
    b->nodes[s] = allocate(NODES, sizeof *b->nodes[s], "nodes");
    b->multipole[s] = allocate((size_t)NODES * fmm_multipole_size(FMM_ORDER_MAX),
                               sizeof *b->multipole[s], "multipoles");
    for (int i = 1; i < NODES; i++)
      for (int c = 0; c < 3; c++) b->nodes[s][i].centre[c] = random32(&state) >> 1;
    for (size_t i = 0; i < (size_t)NODES * fmm_multipole_size(FMM_ORDER_MAX); i++)
      b->multipole[s][i] = (float)random32(&state) * 0x1p-32f;
  }
  b->far.offset = allocate(NODES + 1, sizeof *b->far.offset, "list");
}

static void make_lists(struct bench *b, uint32_t length) {
  uint64_t state = 2;
  b->far.entries = length * (NODES - 1);
  b->far.entry = reallocate(b->far.entry, b->far.entries, sizeof *b->far.entry, "list");
  for (uint32_t i = 0;
       i < b->far.entries;) { /* a walk meets nodes near each other, a few of one slot at a time */
    uint32_t slot = random32(&state) % SLOTS, node = 1 + random32(&state) % (NODES - 9);
    for (uint32_t k = 0; k < 4 && i < b->far.entries; k++)
      b->far.entry[i++] = (slot << (DEPTH + 1)) | (node + k);
  }
  for (uint32_t t = 0; t <= NODES; t++) b->far.offset[t] = t == 0 ? 0 : (t - 1) * length;
}

static void m2l(const struct fmm_operators *f, struct bench *b, int p) {
  f->m2l(p, DEPTH, DEPTH, SCALE, &b->split, &b->far, b->nodes[0],
         (const struct node *const *)b->nodes, (const float *const *)b->multipole, b->local);
}
static void p2m(const struct fmm_operators *f, struct bench *b, int p) {
  f->p2m(p, COUNT, DEPTH, 1, SCALE, b->x, NULL, b->nodes[0], b->multipole[0]);
}
static void m2m(const struct fmm_operators *f, struct bench *b, int p) {
  f->m2m(p, 1, 0, DEPTH, SCALE, b->nodes[0], b->multipole[0]);
}
static void l2l(const struct fmm_operators *f, struct bench *b, int p) {
  f->l2l(p, 1, 0, DEPTH, SCALE, b->nodes[0], b->local);
}
static void l2p(const struct fmm_operators *f, struct bench *b, int p) {
  f->l2p(p, COUNT, DEPTH, NULL, 1, SCALE, 1e-20f, b->x, b->nodes[0], b->local, b->acceleration);
}

/** The least of several runs, in ns a unit of work. */
static double measure(void (*call)(const struct fmm_operators *, struct bench *, int),
                      const struct fmm_operators *f, struct bench *b, int p, double work) {
  double best = 1e30, end = now() + MINIMUM_SECONDS;
  do {
    double start = now();
    call(f, b, p);
    double seconds = now() - start;
    if (seconds < best) best = seconds;
  } while (now() < end);
  return best / work * 1e9;
}

int main(void) {
  static const uint32_t lengths[] = {4, 16, 40, 100};
  static const char *const isas[] = {"baseline", "avx2", "avx512"};
  struct bench b = {0};
  create(&b);
  const char *best = kernels_select().name;
  for (int i = 0; i < 3; i++) {
    setenv("PHOTONS_ISA", isas[i], 1);
    const struct kernels k = kernels_select();
    printf("%s (leaves of %d)\norder   p2m/particle  m2m/node  m2l with lists of 4     16     40   "
           " 100  l2l/node  "
           "l2p/particle   [ns]\n",
           k.name, LEAF);
    for (int p = 1; p <= FMM_ORDER_MAX; p++) {
      printf("%5d %14.2f", p, measure(p2m, &k.fmm, &b, p, COUNT));
      printf(" %9.1f              ", measure(m2m, &k.fmm, &b, p, LEAVES));
      for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
        make_lists(&b, lengths[l]);
        printf(" %6.1f", measure(m2l, &k.fmm, &b, p, b.far.entries));
      }
      printf(" %9.1f", measure(l2l, &k.fmm, &b, p, NODES - 2));
      printf(" %13.2f\n", measure(l2p, &k.fmm, &b, p, COUNT));
    }
    if (k.name == best) break;
  }
  for (int s = 0; s < SLOTS; s++) free(b.nodes[s]), free(b.multipole[s]);
  free(b.x), free(b.acceleration), free(b.local), free(b.far.entry), free(b.far.offset);
  return 0;
}
