/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The CUDA twins of the numeric kernels (fmm.h, p2p.h, mesh.h, walk.h, kernels.h), one file a stage.
 *
 * Each function queues its work on the stream of its worker and returns; it neither waits nor, once its scratch has grown to size,
 * allocates. Arguments mean what they mean on the CPU, except that arrays are in device memory unless said otherwise. Arrays of
 * pointers to them and all structs are in host memory and may change as soon as the function has returned. */
#ifndef PHOTONS_GPU_H
#define PHOTONS_GPU_H

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stdint.h>

#include "photons/tree/fmm.h"
#include "photons/mesh/mesh.h"
#include "photons/tree/p2p.h"
#include "photons/tree/split.h"
#include "photons/domain/tree.h"
#include "photons/tree/walk.h"

#ifdef __cplusplus
#define complex /* as in mesh.h */
extern "C" {
#else
#include <complex.h>
#endif

/** What one CUDA worker keeps from task to task: tables, FFT plans, scratch. */
struct gpu;

/** On the worker itself. @param m, split  in host memory, must outlive it; m = NULL: no mesh stages */
struct gpu *gpu_create(cudaStream_t stream, const struct mesh *m, const struct split *split);
void gpu_free(struct gpu *g);

/** As group_sort(), but that its nodes end at p2p's blocks of targets and are cut within 2^-16 of their side from the median.
 * @param nodes  of the last refit, for the centre of the first */
void gpu_sort(struct gpu *g, uint32_t count, const struct node *nodes, uint32_t *x, float *momentum, float *acceleration, uint64_t *id);

/** @param top  in pinned host memory: a copy of the nodes down to top_depth */
void gpu_refit(struct gpu *g, uint32_t count, unsigned depth, float scale, float acc_unit, const uint32_t *x,
               const float *acceleration, struct node *nodes, unsigned top_depth, struct node *top);

void gpu_p2m(struct gpu *g, int order, uint32_t count, unsigned depth, float scale, const uint32_t *x, const struct node *nodes,
             float *multipole);
void gpu_m2m(struct gpu *g, int order, unsigned depth, float scale, const struct node *nodes, float *multipole);
/** The walk in two steps, between which there is made room for the lists: how long they are, and their entries.
 * @param slots, source_nodes, source_count  neighbours, the group itself first
 * @param offset  of the near list, then of the far list: 2^depth + 1 and tree_nodes(depth) + 1; fill reads it
 * @param result  in pinned host memory: entries and interactions are the lists' lengths, which must be below 2^32 for fill */
void gpu_walk(struct gpu *g, const struct acceptance *a, uint32_t count, const struct node *nodes, uint32_t slots,
              const struct node *const *source_nodes, const uint32_t *source_count, uint32_t *offset, struct walk_result *result);
void gpu_walk_fill(struct gpu *g, const struct acceptance *a, uint32_t count, const struct node *nodes, uint32_t slots,
                   const struct node *const *source_nodes, const uint32_t *source_count, const uint32_t *offset, uint32_t *near,
                   uint32_t *far);

/** @param slots number of neighbours; far: in pinned host memory, must stay until the stream has passed, or in device memory */
void gpu_m2l(struct gpu *g, int order, unsigned depth, float scale, const struct interaction_list *far, const struct node *nodes,
             uint32_t slots, const struct node *const *source_nodes, const float *const *source_multipole, float *local);
void gpu_l2l(struct gpu *g, int order, unsigned depth, float scale, const struct node *nodes, float *local);
void gpu_l2p(struct gpu *g, int order, uint32_t count, unsigned depth, float scale, float factor, const uint32_t *x,
             const struct node *nodes, const float *local, float *acceleration);

/** target.near: in pinned host memory, must stay until the stream has passed, or in device memory.
 * @param slots             number of neighbours
 * @param double_precision  all arithmetic in double
 * @param pairs             in pinned host memory: pairs computed, i.e. targets times the sources within r_cut of their block */
void gpu_p2p(struct gpu *g, const struct p2p_law *law, const struct p2p_target *target, uint32_t slots, bool double_precision,
             float *acceleration, uint64_t *pairs);

/** @param depth of the group's tree: its leaves are deposited one by one */
void gpu_deposit(struct gpu *g, uint32_t count, unsigned depth, const uint32_t *x, bool shifted, const struct patch *patch,
                 float *data);
/** Both in device memory or page-locked host memory. */
void gpu_copy(struct gpu *g, void *to, const void *from, size_t bytes);
/** The same of rows in device memory: all in bytes. */
void gpu_copy_rows(struct gpu *g, void *to, size_t to_stride, const void *from, size_t from_stride, size_t width, size_t rows);
/** Clear the slab and add n patches in their order. */
void gpu_patch_add(struct gpu *g, uint32_t slab_number, uint32_t n, const struct patch *const *patch, const float *const *data,
                   float *slab);
void gpu_fft_yz(struct gpu *g, uint32_t slab_number, float *slab, float complex *const *blocks);
void gpu_fft_x(struct gpu *g, uint32_t column, const float complex *const *in, float complex *const *out);
void gpu_ifft_yz(struct gpu *g, uint32_t slab_number, uint32_t field, const float complex *const *blocks, float *slab);
/** Cut planes, [y][row] of slabs, one after the other: see mesh_cut_plane(). */
void gpu_cut(struct gpu *g, const struct field_box *box, uint32_t planes, const float *const *plane, float *out);
/** @param slabs  the view is of whole slabs: only their first planes are looked at */
void gpu_read(struct gpu *g, uint32_t count, const uint32_t *x, bool shifted, float factor, const struct field_view *view, bool slabs,
              float *acceleration);

/** @param acc_max  in pinned host memory: largest |acceleration| */
void gpu_kick(struct gpu *g, uint32_t count, float factor, const float *acceleration, float *momentum, float *acc_max);
void gpu_drift(struct gpu *g, uint32_t count, float factor, const float *momentum, uint32_t *x);

#ifdef __cplusplus
#undef complex
}
#endif

#endif
