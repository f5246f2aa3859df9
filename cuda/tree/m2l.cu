/* SPDX-License-Identifier: GPL-3.0-or-later */
/* m2l: one warp for each target node. The lanes take the entries of the node's far list in turn,
 * and their sums are added in a fixed order. Where potentials are wanted, the same kernel sums L_0
 * (fmm.h), too. */
#include "cuda/tree/expansion.cuh"
#include "cuda/tree/gpu_tree.h"
#include "cuda/tree/lists.cuh"
#include "cuda/tree/rows.cuh"

enum { BLOCK = 128 };

/** 2^n d^n H/du^n, n = 1 .. 6, as in struct split; and what Newton's gravity has in their place. */
struct derivatives {
  bool newton;
  float plummer2;
  float range;
  float c[FMM_ORDER_MAX + 1][FMM_DEGREE + 1];
};

struct far_lists {
  unsigned depth, source_depth; /* of the trees of the targets and of the sources */
  float scale;
  const uint32_t *offset, *entry;
  const struct node *nodes;
  const struct node *const *source_nodes;
  const float *const *source_multipole;
  float *local;
};

/* (-1)^j (2j-1)!! */
static __device__ inline float newton_factor(int j) {
  constexpr float factor[] = {1.0f, -1.0f, 3.0f, -15.0f, 105.0f, -945.0f, 10395.0f};
  return factor[j];
}

/** The same as prefactors() for Newton's gravity, with Plummer's softening where there is one: see
 * src/tree/kernels/fmm_lanes.h.
 * @tparam POTENTIAL  whether e[0], the potential, is wanted, too */
template <int P, bool POTENTIAL>
static __device__ inline void newton_prefactors(float plummer2, float r2, float inverse, float *e) {
  const float s = rsqrtf(r2 + plummer2), step = r2 * inverse * s * s;
  float power = s;
  if constexpr (POTENTIAL) e[0] = s;
#pragma unroll
  for (int j = 1; j <= P; j++) {
    power *= step;
    e[j] = newton_factor(j) * power;
  }
}

/** e[j] = r^j f_(j), 1 <= j <= P, from r^2 and 1/r. Zero beyond the range of the force. */
template <int P>
static __device__ inline void prefactors(const struct derivatives &h, float r2, float inverse,
                                         float *e) {
  const bool inside = r2 < h.range;
  const float t = inside ? fmaf(r2, 2.0f / h.range, -1.0f) : 0.0f, r = r2 * inverse;
  float r_power = 1.0f, inverse_power = inverse;
#pragma unroll
  for (int j = 1; j <= P; j++) {
    float value = h.c[j][FMM_DEGREE];
#pragma unroll
    for (int k = FMM_DEGREE - 1; k >= 0; k--) value = fmaf(value, t, h.c[j][k]);
    r_power *= r;
    inverse_power *= inverse;
    e[j] = inside ? fmaf(-r_power, value, newton_factor(j) * inverse_power) : 0.0f;
  }
}

/** @tparam POTENTIAL  whether L_0 is wanted, too; only for Newton's gravity
 * @param constant    [tree_nodes(depth)] L_0 of the targets; unused without POTENTIAL */
template <int P, bool POTENTIAL>
static __global__ void m2l(const __grid_constant__ struct far_lists s,
                           const __grid_constant__ struct derivatives h, float *constant) {
  const uint32_t target = (blockIdx.x * BLOCK + threadIdx.x) / WARP, lane = threadIdx.x % WARP;
  if (target == 0 || target >= tree_nodes(s.depth)) return;
  const uint32_t begin = s.offset[target], end = s.offset[target + 1];
  if (begin == end) {
    for (uint32_t k = lane; k < expansion<P>::local; k += WARP)
      s.local[(size_t)target * expansion<P>::local + k] = 0.0f;
    if (POTENTIAL && lane == 0) constant[target] = 0.0f;
    return;
  }
  float local[expansion<P>::local], l0 = 0.0f;
#pragma unroll
  for (int k = 0; k < expansion<P>::local; k++) local[k] = 0.0f;
  for (uint32_t i = begin + lane; i < end; i += WARP) {
    const uint32_t entry = s.entry[i], slot = entry >> (s.source_depth + 1),
                   node = entry & (tree_nodes(s.source_depth) - 1);
    const uint4 source = __ldg(
        (const uint4 *)(s.source_nodes[slot] + node)); /* its centre, and more */
    const uint32_t centre[3] = {source.x, source.y, source.z};
    float r[3], e[FMM_ORDER_MAX + 1], multipole[expansion<P>::multipole];
    load_row<expansion<P>::multipole>(
        s.source_multipole[slot] + (size_t)node * expansion<P>::multipole, multipole);
    for (int c = 0; c < 3; c++)
      r[c] = (float)position_difference(s.nodes[target].centre[c], centre[c]) * s.scale;
    const float r2 = fmaf(r[0], r[0], fmaf(r[1], r[1], r[2] * r[2])), inverse = rsqrtf(r2);
    if (POTENTIAL || h.newton)
      newton_prefactors<P, POTENTIAL>(h.plummer2, r2, inverse, e);
    else
      prefactors<P>(h, r2, inverse, e);
    EXPANSION(P, m2l, r[0] * inverse, r[1] * inverse, r[2] * inverse, inverse, e, true, multipole,
              local);
    if constexpr (POTENTIAL)
      EXPANSION(P, m2l_potential, r[0] * inverse, r[1] * inverse, r[2] * inverse, inverse, e,
                multipole, &l0);
  }
  store_sums<expansion<P>::local>(local, s.local + (size_t)target * expansion<P>::local);
  if constexpr (POTENTIAL) {
    l0 = warp_sum(l0);
    if (lane == 0) constant[target] = l0;
  }
}

template <int P>
static void launch(struct gpu *g, const struct far_lists &lists, const struct derivatives &h,
                   float *constant) {
  const uint32_t blocks = blocks_for((uint64_t)WARP * tree_nodes(lists.depth), BLOCK);
  if (constant)
    m2l<P, true><<<blocks, BLOCK, 0, g->stream>>>(lists, h, constant);
  else
    m2l<P, false><<<blocks, BLOCK, 0, g->stream>>>(lists, h, constant);
  gpu_launched("m2l");
}

void gpu_m2l(struct gpu *g, int order, unsigned depth, unsigned source_depth, float scale,
             const struct split *split, const struct interaction_list *far,
             const struct node *nodes, uint32_t slots, const struct node *const *source_nodes,
             const float *const *source_multipole, float *local, float *constant) {
  const uint32_t targets = tree_nodes(depth);
  if (far->entries == 0) {
    CHECK_CUDA(cudaMemsetAsync(local, 0, (size_t)targets * fmm_local_size(order) * sizeof *local,
                               g->stream));
    if (constant) CHECK_CUDA(cudaMemsetAsync(constant, 0, targets * sizeof *constant, g->stream));
    return;
  }
  char *table = (char *)gpu_scratch(g, SCRATCH_TABLE,
                                    slots * (sizeof *source_nodes + sizeof *source_multipole));
  char *multipoles = table + slots * sizeof *source_nodes;
  gpu_upload_pair(g, table, source_nodes, slots * sizeof *source_nodes, source_multipole,
                  slots * sizeof *source_multipole);
  const struct device_list list = gpu_list(g, far, targets);
  struct far_lists lists = {depth,
                            source_depth,
                            scale,
                            list.offset,
                            list.entry,
                            nodes,
                            (const struct node *const *)table,
                            (const float *const *)multipoles,
                            local};
  struct derivatives h;
  h.newton = split->kind == SPLIT_NEWTON;
  h.plummer2 = split->plummer2;
  h.range = split->fmm_range;
  for (int n = 0; n <= FMM_ORDER_MAX; n++)
    for (int k = 0; k <= FMM_DEGREE; k++) h.c[n][k] = split->fmm[n][k];
  FOR_ORDER(order, launch, g, lists, h, constant);
}
