/* SPDX-License-Identifier: GPL-3.0-or-later */
/* walk: a warp a target leaf. It replays the dual walk, but of the targets takes only its leaf and that leaf's ancestors: a lane judges a
 * pair of (ancestor, source node), and pairs to be opened go back to the stack with the source's two children, or with the one child of
 * the target that holds the leaf. An expansion that an ancestor accepts is listed by the first leaf below it. Entries come in the order
 * of lanes: the same at every run, and near leaves mostly in a row. */
#include "gpu.cuh"

enum { WARPS = 4, BLOCK = WARPS * WARP, SCAN_BLOCK = 1024 };

struct problem {
  uint32_t count, slots;
  const struct node *nodes;
  const struct node *const *source_nodes;
  const uint32_t *source_count;
  uint32_t *near_offset, *far_offset; /* lengths of the lists when counting, else where they begin */
  uint32_t *near, *far;
  struct walk_result *result; /* summed up when counting */
};

/** What a warp keeps in shared memory. */
struct workspace {
  struct node *ancestor; /* [level] of the leaf */
  uint32_t *far;         /* [level] entries found */
  uint32_t *entry;       /* stack: the source ... */
  uint8_t *level;        /* ... and the target */
};

/* Rank of a pair: the sum of its levels, at most 2 depth. Children are put on top in order and the topmost pairs are taken, so that
 * ranks never fall from the bottom of the stack to its top. Pairs of rank k are made from such of rank k - 1 only, when all pairs of
 * higher ranks are taken with them; thereafter there are at most 64 of rank k and above together. The next turn that reaches rank k takes
 * of it what is missing to 32 in those above, which leaves at most 32. So after any turn each rank has 32 at most, but for the
 * newest ones, 64 together. Roots, of rank 0, are not stored. */
static HOST_DEVICE inline uint32_t stack_room(unsigned depth) { return WARP * (2 * depth + 1); }

static HOST_DEVICE inline uint32_t workspace_bytes(unsigned depth) {
  return (depth + 1) * (uint32_t)(sizeof(struct node) + sizeof(uint32_t)) + stack_room(depth) * (uint32_t)(sizeof(uint32_t) + 1);
}

static __device__ struct workspace workspace_at(char *memory, unsigned depth) {
  struct workspace w;
  w.ancestor = (struct node *)memory;
  w.far = (uint32_t *)(w.ancestor + depth + 1);
  w.entry = w.far + depth + 1;
  w.level = (uint8_t *)(w.entry + stack_room(depth));
  return w;
}

/** In two loads. */
static __device__ inline struct node load_node(const struct node *from) {
  static_assert(sizeof(struct node) == 2 * sizeof(uint4), "a node is two loads");
  union {
    uint4 word[2];
    struct node node;
  } u;
  u.word[0] = __ldg((const uint4 *)from);
  u.word[1] = __ldg((const uint4 *)from + 1);
  return u.node;
}

/** Lanes before this one. */
static __device__ inline uint32_t lanes_before() { return (1u << threadIdx.x % WARP) - 1; }

template <bool FILL>
static __global__ void __launch_bounds__(BLOCK) walk(const __grid_constant__ struct problem p, const __grid_constant__ struct acceptance acceptance) {
  extern __shared__ __align__(16) char memory[];
  __shared__ struct acceptance a;
  const unsigned depth = acceptance.depth;
  const uint32_t lane = threadIdx.x % WARP, warp = threadIdx.x / WARP, leaves = 1u << depth, leaf = blockIdx.x * WARPS + warp;
  for (uint32_t i = threadIdx.x; i < sizeof a / sizeof(uint32_t); i += BLOCK) ((uint32_t *)&a)[i] = ((const uint32_t *)&acceptance)[i];
  __syncthreads();
  if (leaf >= leaves) return;
  const struct workspace w = workspace_at(memory + warp * workspace_bytes(depth), depth);
  for (uint32_t level = lane; level <= depth; level += WARP) {
    w.ancestor[level] = load_node(p.nodes + ((leaves + leaf) >> (depth - level)));
    w.far[level] = 0;
  }
  uint32_t near_count = 0, roots = p.slots, top = 0, near_at = FILL ? p.near_offset[leaf] : 0;
  unsigned long long pairs = 0, visits = 0;
  while (top + roots > 0) {
    const uint32_t taken = min(top, (uint32_t)WARP), rooted = min(WARP - taken, roots);
    const bool active = lane < taken + rooted;
    uint32_t entry = (p.slots - roots + lane - taken) << (depth + 1) | 1, level = 0;
    __syncwarp();
    if (lane < taken) {
      entry = w.entry[top - 1 - lane];
      level = w.level[top - 1 - lane];
    }
    __syncwarp();
    top -= taken;
    roots -= rooted;
    enum verdict verdict = DROP;
    bool near = false, far = false, split_target = false;
    const uint32_t target = (leaves + leaf) >> (depth - level), source = entry & (2 * leaves - 1);
    const bool first = (leaf & ((1u << (depth - level)) - 1)) == 0; /* of the leaves below the target */
    if (active) {
      const uint32_t slot = entry >> (depth + 1), n = p.source_count[slot];
      const struct node s = load_node(p.source_nodes[slot] + source), *t = &w.ancestor[level];
      const uint32_t target_count = node_end(p.count, target) - node_first(p.count, target),
                     source_count = node_end(n, source) - node_first(n, source);
      verdict = judge(&a, t, &s, target_count, source_count);
      far = verdict == ACCEPT && first;
      near = verdict == OPEN && target >= leaves && source >= leaves;
      split_target = opens_target(depth, target, t->radius, source, s.radius);
      if (near) pairs += (unsigned long long)source_count * target_count;
    }
    visits += active && first;
    const bool open = verdict == OPEN && !near;
    const uint32_t one = __ballot_sync(~0u, open && split_target), two = __ballot_sync(~0u, open && !split_target);
    const uint32_t children = __popc(one) + 2 * __popc(two);
    if (open) { /* the first lane's on top */
      const uint32_t at = top + children - 1 - __popc(one & lanes_before()) - 2 * __popc(two & lanes_before());
      w.entry[at] = split_target ? entry : entry + source;
      w.level[at] = (uint8_t)(level + split_target);
      if (!split_target) {
        w.entry[at - 1] = entry + source + 1;
        w.level[at - 1] = (uint8_t)level;
      }
    }
    top += children;
    const uint32_t near_lanes = __ballot_sync(~0u, near), far_lanes = __ballot_sync(~0u, far);
    if (FILL && near) p.near[near_at + near_count + __popc(near_lanes & lanes_before())] = entry;
    near_count += __popc(near_lanes);
    if (far) {
      const uint32_t same = __match_any_sync(far_lanes, level), found = w.far[level], rank = __popc(same & lanes_before());
      if (FILL) p.far[p.far_offset[target] + found + rank] = entry;
      __syncwarp(far_lanes);
      if (rank == 0) w.far[level] = found + __popc(same);
    }
  }
  if (FILL) return;
  __syncwarp();
  for (uint32_t level = lane; level <= depth; level += WARP)
    if ((leaf & ((1u << (depth - level)) - 1)) == 0) p.far_offset[(leaves + leaf) >> (depth - level)] = w.far[level];
  for (int step = WARP / 2; step > 0; step /= 2) {
    pairs += __shfl_xor_sync(~0u, pairs, step);
    visits += __shfl_xor_sync(~0u, visits, step);
  }
  if (lane == 0) {
    p.near_offset[leaf] = near_count;
    if (leaf == 0) p.far_offset[0] = 0; /* no node has this number */
    atomicAdd((unsigned long long *)&p.result->pairs, pairs);
    atomicAdd((unsigned long long *)&p.result->visits, visits);
  }
}

/** Lengths to offsets, and their sums: a block for the near list, one for the far list. */
static __global__ void __launch_bounds__(SCAN_BLOCK) scan(uint32_t leaves, const __grid_constant__ struct problem p) {
  __shared__ uint64_t warp_sum[SCAN_BLOCK / WARP];
  uint32_t *offset = blockIdx.x == 0 ? p.near_offset : p.far_offset;
  const uint32_t n = blockIdx.x == 0 ? leaves : 2 * leaves, lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
  uint64_t before = 0;
  for (uint32_t first = 0; first < n; first += SCAN_BLOCK) {
    const uint32_t i = first + threadIdx.x, length = i < n ? offset[i] : 0;
    uint64_t sum = length;
    for (uint32_t step = 1; step < WARP; step *= 2) {
      const uint64_t other = __shfl_up_sync(~0u, sum, step);
      sum += lane >= step ? other : 0;
    }
    if (lane == WARP - 1) warp_sum[warp] = sum;
    __syncthreads();
    uint64_t total = 0;
    for (uint32_t k = 0; k < SCAN_BLOCK / WARP; k++) {
      if (k == warp) sum += total;
      total += warp_sum[k];
    }
    if (i < n) offset[i] = (uint32_t)(before + sum - length);
    before += total;
    __syncthreads();
  }
  if (threadIdx.x > 0) return;
  offset[n] = (uint32_t)before; /* more than fit: the caller looks at the result first */
  (blockIdx.x == 0 ? p.result->entries : p.result->interactions) = before;
}

/** Tables of the sources to the GPU. */
static struct problem problem_of(struct gpu *g, uint32_t count, unsigned depth, const struct node *nodes, uint32_t slots,
                                 const struct node *const *source_nodes, const uint32_t *source_count, uint32_t *offset) {
  struct problem p = {};
  char *table = (char *)gpu_scratch(g, SCRATCH_TABLE, sizeof *p.result + slots * (sizeof *source_nodes + sizeof *source_count));
  p.count = count;
  p.slots = slots;
  p.nodes = nodes;
  p.result = (struct walk_result *)table;
  p.source_nodes = (const struct node *const *)(p.result + 1);
  p.source_count = (const uint32_t *)(p.source_nodes + slots);
  p.near_offset = offset;
  p.far_offset = offset + (1u << depth) + 1;
  gpu_upload_pair(g, (void *)p.source_nodes, source_nodes, slots * sizeof *source_nodes, source_count,
                  slots * sizeof *source_count);
  return p;
}

template <bool FILL>
static void launch(struct gpu *g, const struct acceptance *a, const struct problem &p) {
  walk<FILL><<<blocks_for(1u << a->depth, WARPS), BLOCK, WARPS * workspace_bytes(a->depth), g->stream>>>(p, *a);
  gpu_launched("walk");
}

void gpu_walk(struct gpu *g, const struct acceptance *a, uint32_t count, const struct node *nodes, uint32_t slots,
              const struct node *const *source_nodes, const uint32_t *source_count, uint32_t *offset, struct walk_result *result) {
  const struct problem p = problem_of(g, count, a->depth, nodes, slots, source_nodes, source_count, offset);
  CHECK_CUDA(cudaMemsetAsync(p.result, 0, sizeof *p.result, g->stream));
  launch<false>(g, a, p);
  scan<<<2, SCAN_BLOCK, 0, g->stream>>>(1u << a->depth, p);
  gpu_launched("scan");
  CHECK_CUDA(cudaMemcpyAsync(result, p.result, sizeof *result, cudaMemcpyDeviceToHost, g->stream));
}

void gpu_walk_fill(struct gpu *g, const struct acceptance *a, uint32_t count, const struct node *nodes, uint32_t slots,
                   const struct node *const *source_nodes, const uint32_t *source_count, const uint32_t *offset, uint32_t *near,
                   uint32_t *far) {
  struct problem p = problem_of(g, count, a->depth, nodes, slots, source_nodes, source_count, (uint32_t *)offset);
  p.near = near;
  p.far = far;
  launch<true>(g, a, p);
}
