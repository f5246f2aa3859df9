/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Packed targets of block time steps, and what they differ by. */
#ifndef PHOTONS_TESTS_GPU_TREE_PACK_H
#define PHOTONS_TESTS_GPU_TREE_PACK_H

#include "tests/gpu/tree/tree.h"

/** Which particles of a group are active. */
enum active_choice {
  STRONGEST, /* those with the largest accelerations */
  TOGETHER,  /* one after the other: many leaves are empty, others hold active particles only */
  APART      /* everywhere */
};

/** Packed targets, and what was packed with them. */
struct packed_set {
  struct target_set t;
  uint32_t *index, *index_out;
  float *acceleration, *acceleration_out;
};

/** Differences in stages of block time steps. */
struct block_difference {
  uint64_t packed, pack_wrong; /* targets; sets of them that the GPU packs differently */
  uint64_t leaves, empty;      /* leaves of the targets' trees; those without targets */
  uint32_t largest;            /* most targets of a leaf */
  uint64_t kicked, rung_wrong; /* particles; those that get another rung */
  uint64_t counts_wrong;       /* kicks whose counts are not those of the rungs */
  struct list_difference walk;
  struct difference refit, m2l, l2l, l2p, p2p, p2p_double, p2p_float, kick;
};

/** The square of a particle's acceleration. */
float acceleration2(const struct particle_block *p, size_t i);
/** For qsort(). */
int compare_floats(const void *a, const void *b);
/** Give the active particles rungs from top on, and the others rungs before top. */
uint8_t *rungs_for(const struct nbody *s, const struct group *g, enum active_choice choice,
                   uint32_t active, uint8_t top);
/** Memory for packed targets. */
struct packed_set packed_create(const struct nbody *s, uint32_t active);
/** Free it. */
void packed_free(struct packed_set *p);
/** Pack the targets of a group on the GPU, and fit their tree. */
void gpu_pack_group(const struct bench *b, struct gpu *gpu, const struct group *g,
                    const uint8_t *rung_out, uint8_t top, const struct packed_set *p);
/** Pack on both, and continue with the CPU's tree on both. */
void check_pack(const struct bench *b, const struct group *g, const uint8_t *rung, uint8_t top,
                struct packed_set *p, struct block_difference *d);

#endif
