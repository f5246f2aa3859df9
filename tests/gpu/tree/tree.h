/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stages on trees: the CUDA version beside that of the CPU. */
#ifndef PHOTONS_TESTS_GPU_TREE_TREE_H
#define PHOTONS_TESTS_GPU_TREE_TREE_H

#include "tests/gpu/bench.h"

/** Expansions of order 6 have terms that cancel: with particles of different masses CUDA and CPU, which
 * add in different orders, differ by up to 3.4e-6 (m2l), 1.3e-6 (m2m). */
#define EXPANSION_LIMIT 5e-6

/** How two sets of interaction lists differ, and the number of sources that a target leaf meets
 * twice or, though they are in reach, never. Nodes without targets must not meet any. */
struct list_difference {
  uint64_t entries, different, uncovered;
};

/** Differences in the potential from expansions: of m2l_potential in the local expansions and in
 * L_0, of l2p_potential in the sums of L_0 over a node and all above it and in the potential. */
struct potential_difference {
  struct difference m2l, m2l_constant, l2p_constant, l2p;
};

/** [neighbour]; masses and types are NULL where they do not differ. */
struct p2p_columns {
  const uint32_t **x;
  const float **mass;
  const uint8_t **type;
};
struct p2p_sources {
  struct p2p_columns host, device;
  uint32_t *count;
};

/** Make the interaction lists of targets on a core, in the lists of their group. */
void walk_group(const struct bench *b, const struct group *g, const struct target_set *t,
                struct walk_scratch *scratch);
/** The trees of a group's neighbours on the GPU, and the numbers of their particles. Returns the
 * masses of their nodes, or NULL. */
const float *const *source_trees(const struct bench *b, const struct group *g,
                                 const struct node **tree, uint32_t *count, const float **mass);
/** Offsets of a set's near list and far list together. */
size_t offsets_of(const struct target_set *t);
/** Compare the GPU's lists with those in g->lists. Call after walk_group(). */
void check_walk(const struct bench *b, const struct group *g, const struct target_set *t,
                struct list_difference *d);
/** The same where no pair of nodes is accepted. */
void check_reach(const struct bench *b, const struct group *g, const struct target_set *t,
                 struct walk_scratch *scratch, struct list_difference *d);
/** Print how lists differ.
 * Pairs at the edge of the criterion are decided by rounding, which differs between processors. */
void report_walk(const char *stage, const struct list_difference *d);
/** Multipoles of particles, and of nodes. */
void check_multipoles(const struct bench *b, struct group *g, struct difference *p2m,
                      struct difference *m2m);
/** The multipoles and the masses of nodes above all groups, where there are nodes. */
void check_upper_multipoles(const struct bench *b, struct difference *d, struct difference *mass);
/** Local expansions, and the accelerations from them. Call after walk_group(). */
void check_expansions(const struct bench *b, const struct group *g, const struct target_set *t,
                      struct difference *m2l, struct difference *l2l, struct difference *l2p);
/** The kernels of the stages m2l_potential and l2p_potential. L_0 is computed for Newton's gravity
 * only, so that the lists and multipoles of periodic boxes are used with Newton's gravity, too. */
void check_potential_expansions(const struct bench *b, const struct group *g,
                                const struct target_set *all, struct potential_difference *d);
/** Print these differences. */
void report_potential_expansions(const struct potential_difference *d);
/** Print the differences in tides since the last call. */
void report_tides(void);
/** The sources of a group's direct sums. */
struct p2p_sources sources_of(const struct bench *b, const struct group *g);
/** Free them. */
void sources_free(struct p2p_sources *o);
/** Targets of direct sums of a group.
 * @param device  with the arrays on the GPU */
struct p2p_target target_of(const struct nbody *s, const struct group *g,
                            const struct target_set *t, bool device,
                            const struct p2p_sources *sources);
/** Accelerations by direct sums. Call after walk_group(). */
void check_p2p(const struct bench *b, const struct group *g, const struct target_set *t,
               const struct p2p_law *law, bool double_precision, struct difference *d);
/** What the cores' pair sums in single precision differ from those in double precision. */
void add_float_error(const struct bench *b, const struct group *g, const struct target_set *t,
                     struct p2p_law law, struct difference *d);
/** The largest rates of pairs. Call after walk_group(). */
void check_pair_rates(const struct bench *b, const struct group *g, const struct target_set *t,
                      struct difference *d);
/** Potentials by direct sums. */
void check_potential(const struct bench *b, const struct group *g, const struct target_set *all,
                     struct difference *d);

#endif
