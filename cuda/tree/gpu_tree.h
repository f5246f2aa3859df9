/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stages of the tree and of the short-range force on a GPU; see photons/runtime/gpu.h. Arguments
 * have the same meaning as for the CPU functions in fmm.h, p2p.h and walk.h. */
#ifndef PHOTONS_CUDA_TREE_H
#define PHOTONS_CUDA_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "photons/base/host_device.h"
#include "photons/domain/tree.h"
#include "photons/runtime/gpu.h"
#include "photons/tree/fmm.h"
#include "photons/tree/p2p.h"
#include "photons/tree/pair_rates.h"
#include "photons/tree/walk.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Tables of a split in the memory of a GPU, for P2P. */
struct gpu_split;
/** Called on the worker that the tables are for. */
struct gpu_split *gpu_split_create(const struct split *split);
void gpu_split_free(struct gpu_split *s);

/** @param active  number of particles with rung >= top */
void gpu_pack(struct gpu *g, uint32_t count, const uint8_t *rung, uint8_t top, const uint32_t *x,
              const float *acceleration, uint32_t active, unsigned depth, uint32_t *index,
              uint32_t *first, uint32_t *packed_x, float *packed_acceleration);
/** @param least  as in struct walk_kernels
 *  @param top  in pinned host memory: a copy of the nodes down to top_depth; NULL: none */
void gpu_refit(struct gpu *g, uint32_t count, unsigned depth, const uint32_t *first, float scale,
               float acc_unit, bool least, const uint32_t *x, const float *acceleration,
               struct node *nodes, unsigned top_depth, struct node *top);
/** Masses of all nodes from those of the particles. */
void gpu_node_masses(struct gpu *g, uint32_t count, unsigned depth, const float *mass,
                     float *node_mass);

void gpu_p2m(struct gpu *g, int order, uint32_t count, unsigned depth, float scale,
             const uint32_t *x, const float *mass, const struct node *nodes, float *multipole);
void gpu_m2m(struct gpu *g, int order, unsigned depth, float scale, const struct node *nodes,
             float *multipole);
/** Multipoles, and masses unless NULL, of nodes above groups from those of the lowest ones.
 * @param levels  from the lowest nodes to node 1, at least 1
 * @param box, multipole, mass  [2^(levels + 1)] in host memory: boxes of the nodes, and where on the GPU each has its data,
 *         as of node 1 of a tree; NULL: not wanted */
void gpu_m2m_upper(struct gpu *g, int order, unsigned levels, float scale, const struct node *box,
                   float *const *multipole, float *const *mass);

/** Memory for the entries of lists. */
struct list_room {
  uint32_t near, far; /**< entries that fit */
  uint32_t *near_entry, *far_entry;
};
/** Whether lists of these lengths fit. */
static HOST_DEVICE inline bool list_room_suffices(const struct list_room *r,
                                                  const struct walk_result *lengths) {
  return r->near_entry && lengths->entries <= r->near && lengths->interactions <= r->far;
}

/** The walk in two passes: the first finds the lengths of the lists, the caller allocates memory
 * for them, and the second writes their entries.
 * @param count, depth, first, nodes  of the targets
 * @param slots, source_nodes, source_count, source_mass  neighbours, the group itself first
 * @param source_part  [slots] what is here of the neighbours; NULL: all. A walk that
 *         lacks more has no lists: walk_check()
 * @param offset  of the near list, then of the far list: 2^depth + 1 and tree_nodes(depth) + 1
 *         numbers
 * @param room    memory for lists of an expected length, or {0}. If list_room_suffices() the first
 *         pass has written both lists there, and no second pass is needed. Only for short-range
 *         forces
 * @param result  in pinned host memory. Its entries and interactions are the lists' lengths, which
 *         must be below 2^32 for the second pass
 * @param lengths  what the first pass has found */
void gpu_walk(struct gpu *g, const struct acceptance *a, uint32_t count, unsigned depth,
              const uint32_t *first, const struct node *nodes, uint32_t slots,
              const struct node *const *source_nodes, const uint32_t *source_count,
              const float *const *source_mass, const struct tree_part *source_part,
              uint32_t *offset, const struct list_room *room, struct walk_result *result);
void gpu_walk_fill(struct gpu *g, const struct acceptance *a, uint32_t count, unsigned depth,
                   const uint32_t *first, const struct node *nodes, uint32_t slots,
                   const struct node *const *source_nodes, const uint32_t *source_count,
                   const float *const *source_mass, const struct tree_part *source_part,
                   const uint32_t *offset, const struct walk_result *lengths, uint32_t *near,
                   uint32_t *far);

/** @param slots  number of neighbours
 * @param far    in device memory, or in pinned host memory that must stay valid until the stream
 *         has passed
 * @param constant  [tree_nodes(depth)] L_0 of all nodes, as m2l_potential in fmm.h computes it, in
 *         units of 1/length. Only for Newton's gravity; NULL: not wanted */
void gpu_m2l(struct gpu *g, int order, unsigned depth, unsigned source_depth, float scale,
             const struct split *split, const struct interaction_list *far,
             const struct node *nodes, uint32_t slots, const struct node *const *source_nodes,
             const float *const *source_multipole, float *local, float *constant);
void gpu_l2l(struct gpu *g, int order, unsigned depth, float scale, const struct node *nodes,
             float *local);
void gpu_l2p(struct gpu *g, int order, uint32_t count, unsigned depth, const uint32_t *first,
             float scale, float factor, const uint32_t *x, const struct node *nodes,
             const float *local, float *acceleration);
void gpu_l2p_potential(struct gpu *g, int order, uint32_t count, unsigned depth, float scale,
                       float factor, const uint32_t *x, const struct node *nodes,
                       const float *local, float *constant, float *potential);

/** target.near: in device memory, or in pinned host memory that must stay valid until the stream
 * has passed.
 * @param slots             number of neighbours
 * @param double_precision  all arithmetic in double precision
 * @param pairs  in pinned host memory: pairs computed, i.e. targets times the sources within r_cut
 *         of their target block */
void gpu_p2p(struct gpu *g, const struct gpu_split *tables, const struct p2p_law *law,
             const struct p2p_target *target, uint32_t slots, bool double_precision,
             float *acceleration, uint64_t *pairs);
/** As p2p_kernels.pair_rates, of all leaves. target.at.near as in gpu_p2p(). */
void gpu_pair_rates(struct gpu *g, const struct pair_law *law, const struct p2p_law *forces,
                    const struct pair_target *target, uint32_t slots, float *rate);
/** The potential of p2p_kernels, in single precision. Targets are all particles of a group. */
void gpu_potential(struct gpu *g, const struct p2p_law *law, const struct p2p_target *target,
                   uint32_t slots, float *potential);

#ifdef __cplusplus
}
#endif

#endif
