/* SPDX-License-Identifier: GPL-3.0-or-later */
/* walk of isolated systems: the dual walk of src/tree/kernels/walk.c. Each pair of nodes is judged
 * once, by one thread. A pair to be opened becomes one or two pairs for later turns.
 *
 * A first kernel, of one CUDA block, goes down from the roots, generation after generation, until
 * there is work for the whole GPU. Then, in several phases, each CUDA block takes some of the pairs
 * that are left and walks on with a stack of its own. As some pairs lead to much more work than
 * others, a block gives back what is left of its pairs after some turns, except in the last phase.
 *
 * The order in which entries are found differs from run to run. They are sorted, so that lists are
 * the same in every run, and leaves near each other follow each other: each list by a warp, or
 * where one is long all of them together.
 *
 * The trees of the targets and of the sources differ in depth where only some particles are
 * targets. Then nodes of the targets may be empty, and their boxes are not read. */
#include <cub/device/device_radix_sort.cuh>

#include "cuda/tree/walk.cuh"

enum {
  FIRST_BLOCK = 1024, /* threads of the first kernel */
  ENOUGH = 4096,      /* pairs that are work for the whole GPU */
  PHASES = 4,
  FEW = 100000,   /* judgements that need one phase only */
  BLOCK = 128,    /* threads of a CUDA block of a phase */
  BLOCKS = 1024,  /* CUDA blocks of a phase */
  CHUNK = 32,     /* pairs that such a block takes at a time */
  TURNS = 16,     /* after which it gives back the others */
  ROOM = 1 << 18, /* pairs that can wait for a phase */
  LONG = 1024,    /* entries of a list that a warp can sort */
  SORT_BLOCK = 128
};

/** A pair to be judged. It may be part of a larger one whose larger node could not be opened: it is
 * then judged with the masses of nodes above its own, as in src/tree/kernels/walk.c. */
struct pair {
  uint32_t entry; /* the source node */
  uint32_t target; /* its node; from bit TARGET_BITS on the levels, five bits each, of the nodes whose
                      masses count as the target's and as the source's */
};
enum { TARGET_BITS = 22, LEVEL_BITS = 5 };

/** What the kernels of a walk tell each other. */
struct alignas(uint64_t) progress {
  uint32_t pairs[PHASES + 1]; /* that wait for each phase */
  uint32_t chunk[PHASES];     /* the next ones to be taken */
  uint32_t frontier;          /* 0 or 1: where those of phase 0 are */
  uint32_t entries;           /* found */
};

struct problem : walk_problem {
  uint32_t *near_place, *far_place; /* of the next entries of short lists, to be sorted */
  uint64_t *key; /* long lists: rows and entries, unsorted. Rows are the near lists of all leaves,
                    then the far lists of all nodes */
  unsigned entry_bits;
  struct pair *frontier[2]; /* [frontier_room()] */
  uint32_t waiting;         /* pairs that can wait */
  struct progress *progress;
};

/** Mask of the lanes behind this one. */
static __device__ inline uint32_t lanes_behind() { return ~1u << threadIdx.x % WARP; }

/** What a walk is for: the lengths of the lists, or their entries, if all lists are short or not.
 */
enum pass { COUNT, FILL_SHORT, FILL_LONG };

/** What a thread has counted. */
struct counts {
  unsigned long long pairs, visits;
};

/** Store the keys of entries that threads of this warp have found. Every lane of the warp calls
 * this. */
static __device__ inline void append(const struct problem &p, bool mine, uint64_t row,
                                     uint32_t entry) {
  const uint32_t lanes = __ballot_sync(~0u, mine);
  if (lanes == 0) return;
  uint32_t at = 0;
  if (threadIdx.x % WARP == 0) at = atomicAdd(&p.progress->entries, __popc(lanes));
  at = __shfl_sync(~0u, at, 0);
  if (mine) p.key[at + __popc(lanes & lanes_before())] = row << p.entry_bits | entry;
}

/** Judge a pair and put it on a list, if it belongs there. Every lane of the warp calls this.
 * @param active  whether this thread has a pair
 * @param[out] child  pairs that are left of it
 * @return their number */
template <enum pass PASS>
static __device__ inline uint32_t judge_pair(const struct problem &p, const struct acceptance &a,
                                             bool active, const struct pair &pair,
                                             struct pair child[2], struct counts &counts) {
  const uint32_t leaves = 1u << p.depth, source_leaves = 1u << a.depth,
                 target = pair.target & ((1u << TARGET_BITS) - 1), entry = pair.entry,
                 source = entry & (2 * source_leaves - 1), slot = entry >> (a.depth + 1);
  bool near = false, far = false;
  uint32_t children = 0;
  const uint32_t targets = active ? tree_node_count(p.count, p.depth, p.first, target) : 0;
  if (targets > 0) {
    const struct node t = load_node(p.nodes + target), s = load_node(p.source_nodes[slot] + source);
    const uint32_t level = node_level(target), source_level = node_level(source);
    uint32_t of_targets = pair.target >> TARGET_BITS & 31,
             of_sources = pair.target >> (TARGET_BITS + LEVEL_BITS);
    const enum verdict verdict = judge(&a, &t, &s, target_mass(p, target >> (level - of_targets)),
                                       mass_of(p, slot, source >> (source_level - of_sources)));
    counts.visits++;
    far = verdict == ACCEPT;
    near = verdict == OPEN && target >= leaves && source >= source_leaves;
    if (near)
      counts.pairs += (unsigned long long)particles_of(p.source_count[slot], source) * targets;
    if (verdict == OPEN && !near) {
      /* The larger node, if it is the other one, keeps its level: see walk.c. */
      const bool larger = t.radius >= s.radius,
                 split = opens_target(p.depth, target, t.radius, a.depth, source, s.radius);
      if (split && larger) of_targets = level + 1;
      if (!split && !larger) of_sources = source_level + 1;
      const uint32_t levels = of_targets << TARGET_BITS | of_sources << (TARGET_BITS + LEVEL_BITS);
      children = 2;
      child[0] = {split ? entry : entry + source, (split ? 2 * target : target) | levels};
      child[1] = {split ? entry : entry + source + 1, (split ? 2 * target + 1 : target) | levels};
    }
  }
  if constexpr (PASS == COUNT) {
    if (near) atomicAdd(&p.near_offset[target - leaves], 1);
    if (far) atomicAdd(&p.far_offset[target], 1);
  } else if constexpr (PASS == FILL_SHORT) {
    if (near) p.near[atomicAdd(&p.near_place[target - leaves], 1)] = entry;
    if (far) p.far[atomicAdd(&p.far_place[target], 1)] = entry;
  } else {
    append(p, near || far, near ? target - leaves : leaves + target, entry);
  }
  return children;
}

/** Every thread of the CUDA block puts its children on top of each other, those of the first thread
 * topmost.
 * @param sums  [warps of the block] shared memory, which no thread reads any more
 * @param[out] total  children of all threads
 * @return how many children of other threads are below this thread's */
static __device__ inline uint32_t stack_children(uint32_t children, uint32_t *sums,
                                                 uint32_t &total) {
  const uint32_t two = __ballot_sync(~0u, children > 0), warp = threadIdx.x / WARP;
  if (threadIdx.x % WARP == 0) sums[warp] = 2 * __popc(two);
  __syncthreads();
  uint32_t below = 2 * __popc(two & lanes_behind());
  total = 0;
  for (uint32_t k = 0; k < blockDim.x / WARP; k++) {
    if (k > warp) below += sums[k];
    total += sums[k];
  }
  return below;
}

/** Add up what the threads of a warp have counted. */
static __device__ inline void add_counts(struct walk_result *result, struct counts counts) {
  for (int step = WARP / 2; step > 0; step /= 2) {
    counts.pairs += __shfl_xor_sync(~0u, counts.pairs, step);
    counts.visits += __shfl_xor_sync(~0u, counts.visits, step);
  }
  if (threadIdx.x % WARP > 0) return;
  atomicAdd((unsigned long long *)&result->pairs, counts.pairs);
  atomicAdd((unsigned long long *)&result->visits, counts.visits);
}

/** Copy the criterion to shared memory, where threads read different places of its table. */
static __device__ inline void share(struct acceptance *to, const struct acceptance &from) {
  for (uint32_t i = threadIdx.x; i < sizeof from / sizeof(uint32_t); i += blockDim.x)
    ((uint32_t *)to)[i] = ((const uint32_t *)&from)[i];
  __syncthreads();
}

/** Down from the roots, one generation of pairs after the other, until there are ENOUGH. */
template <enum pass PASS>
static __global__ void __launch_bounds__(FIRST_BLOCK)
    walk_roots(const __grid_constant__ struct problem p,
               const __grid_constant__ struct acceptance acceptance) {
  __shared__ struct acceptance a;
  __shared__ uint32_t sums[2][FIRST_BLOCK / WARP];
  share(&a, acceptance);
  struct counts counts = {0, 0};
  uint32_t pairs = p.slots, from = 0, turn = 0;
  for (uint32_t slot = threadIdx.x; slot < pairs; slot += FIRST_BLOCK)
    p.frontier[0][slot] = {slot << (a.depth + 1) | 1, 1};
  __syncthreads();
  while (pairs > 0 && pairs < ENOUGH) {
    uint32_t next = 0;
    for (uint32_t done = 0; done < pairs; done += FIRST_BLOCK) {
      const uint32_t i = done + threadIdx.x;
      struct pair pair = {1, 1}, child[2];
      if (i < pairs) pair = p.frontier[from][i];
      const uint32_t children = judge_pair<PASS>(p, a, i < pairs, pair, child, counts);
      uint32_t total;
      const uint32_t at = next + stack_children(children, sums[turn++ & 1], total);
      for (uint32_t k = 0; k < children; k++) p.frontier[1 - from][at + k] = child[k];
      next += total;
    }
    from = 1 - from;
    pairs = next;
    __syncthreads();
  }
  add_counts(p.result, counts);
  if (threadIdx.x > 0) return;
  p.progress->pairs[0] = pairs;
  p.progress->frontier = from;
}

/* Bound on the depth of the stack. Children are put on top, those of the topmost pairs topmost, and
 * the topmost pairs are taken first, so that generations rise from the bottom of the stack to its
 * top. Pairs of generation k are made only from pairs of generation k - 1 that are taken after all
 * pairs of higher generations; then at most 2 BLOCK pairs of generations >= k exist together. The
 * next turn that reaches generation k takes from it as many pairs as the higher generations lack to
 * BLOCK, which leaves at most BLOCK. After any turn, therefore, each generation has at most BLOCK
 * pairs, except that the newest have 2 BLOCK together. A path opens each level of either tree once.
 */
static HOST_DEVICE inline uint32_t stack_room(unsigned depth, unsigned source_depth) {
  return BLOCK * (depth + source_depth + 2);
}

/** Leave the pairs of a stack to the next phase. @return whether there is room for them */
static __device__ inline bool give_back(const struct problem &p, unsigned phase,
                                        const struct pair *stack, uint32_t top) {
  __shared__ uint32_t place;
  if (threadIdx.x == 0) {
    uint32_t *waiting = &p.progress->pairs[phase + 1], seen = *(volatile uint32_t *)waiting;
    place = ~0u;
    while (place == ~0u && seen + top <= p.waiting) {
      const uint32_t before = atomicCAS(waiting, seen, seen + top);
      if (before == seen) place = seen;
      seen = before;
    }
  }
  __syncthreads();
  if (place == ~0u) return false;
  struct pair *to = p.frontier[(p.progress->frontier + phase + 1) & 1] + place;
  for (uint32_t i = threadIdx.x; i < top; i += BLOCK) to[i] = stack[i];
  __syncthreads();
  return true;
}

/** Walk on from the pairs that the kernel before has left. */
template <enum pass PASS>
static __global__ void __launch_bounds__(BLOCK)
    walk(const __grid_constant__ struct problem p,
         const __grid_constant__ struct acceptance acceptance, unsigned phase, bool last) {
  extern __shared__ struct pair stack[];
  __shared__ struct acceptance a;
  __shared__ uint32_t sums[2][BLOCK / WARP], chunk;
  const uint32_t pairs = p.progress->pairs[phase];
  if (blockIdx.x * CHUNK >= pairs) return;
  const struct pair *frontier = p.frontier[(p.progress->frontier + phase) & 1];
  share(&a, acceptance);
  struct counts counts = {0, 0};
  for (;;) {
    if (threadIdx.x == 0) chunk = atomicAdd(&p.progress->chunk[phase], 1);
    __syncthreads();
    const uint32_t first = chunk * CHUNK;
    if (first >= pairs) break;
    uint32_t top = min(pairs - first, (uint32_t)CHUNK), turn = 0;
    if (threadIdx.x < top) stack[threadIdx.x] = frontier[first + threadIdx.x];
    __syncthreads();
    while (top > 0) {
      const uint32_t taken = min(top, (uint32_t)BLOCK);
      const bool active = threadIdx.x < taken;
      struct pair pair = {1, 1}, child[2];
      if (active) pair = stack[top - 1 - threadIdx.x];
      const uint32_t children = judge_pair<PASS>(p, a, active, pair, child, counts);
      uint32_t total;
      const uint32_t below = stack_children(children, sums[turn++ & 1], total);
      top -= taken;
      for (uint32_t k = 0; k < children; k++) stack[top + below + k] = child[k];
      top += total;
      __syncthreads();
      if (turn % TURNS == 0 && !last && top > CHUNK && give_back(p, phase, stack, top)) top = 0;
    }
  }
  add_counts(p.result, counts);
}

/** A warp sorts a list: an entry's place is the number of smaller ones. */
static __global__ void __launch_bounds__(SORT_BLOCK)
    sort_short(const __grid_constant__ struct problem p) {
  __shared__ uint32_t copies[SORT_BLOCK / WARP][LONG];
  const uint32_t lane = threadIdx.x % WARP, leaves = 1u << p.depth,
                 row = (blockIdx.x * SORT_BLOCK + threadIdx.x) / WARP;
  if (row >= 3 * leaves) return;
  const uint32_t *offset = row < leaves ? p.near_offset + row : p.far_offset + (row - leaves);
  uint32_t *list = (row < leaves ? p.near : p.far) + offset[0], *copy = copies[threadIdx.x / WARP];
  const uint32_t n = offset[1] - offset[0];
  for (uint32_t i = lane; i < n; i += WARP) copy[i] = list[i];
  __syncwarp();
  for (uint32_t i = lane; i < n; i += WARP) {
    uint32_t smaller = 0;
    for (uint32_t k = 0; k < n; k++) smaller += copy[k] < copy[i];
    list[smaller] = copy[i];
  }
}

/** The entries of sorted keys: those of near lists come first. */
static __global__ void take_entries(const uint64_t *key, uint64_t near, uint64_t all,
                                    unsigned entry_bits, uint32_t *near_entry,
                                    uint32_t *far_entry) {
  const uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= all) return;
  const uint32_t entry = (uint32_t)(key[i] & ((1ull << entry_bits) - 1));
  if (i < near)
    near_entry[i] = entry;
  else
    far_entry[i - near] = entry;
}

static uint32_t frontier_room(uint32_t slots) { return slots > ROOM ? slots : (uint32_t)ROOM; }

size_t walk_pairs_room(uint32_t slots) {
  return 2 * (size_t)frontier_room(slots) * sizeof(struct pair) + sizeof(struct progress);
}

static struct problem problem_of(struct gpu *g, const struct acceptance *a,
                                 const struct walk_problem *walk) {
  if (walk->depth >= TARGET_BITS)
    fail(EXIT_RUN_FAILED, "a tree of %u levels is too deep for a walk on a GPU", walk->depth);
  struct problem p = {};
  (struct walk_problem &)p = *walk;
  p.entry_bits = a->depth + 1;
  while (p.slots > 1u << (p.entry_bits - a->depth - 1)) p.entry_bits++;
  p.waiting = frontier_room(p.slots);
  p.frontier[0] = (struct pair *)p.pairs_room;
  p.frontier[1] = p.frontier[0] + p.waiting;
  p.progress = (struct progress *)(p.frontier[1] + p.waiting);
  CHECK_CUDA(cudaMemsetAsync(p.progress, 0, sizeof *p.progress, g->stream));
  return p;
}

template <enum pass PASS>
static void launch(struct gpu *g, const struct acceptance *a, const struct problem &p,
                   unsigned phases) {
  walk_roots<PASS><<<1, FIRST_BLOCK, 0, g->stream>>>(p, *a);
  gpu_launched("walk_roots");
  const size_t bytes = stack_room(p.depth, a->depth) * sizeof(struct pair);
  for (unsigned phase = 0; phase < phases; phase++) {
    walk<PASS><<<BLOCKS, BLOCK, bytes, g->stream>>>(p, *a, phase, phase + 1 == phases);
    gpu_launched("walk");
  }
}

void walk_pairs_count(struct gpu *g, const struct acceptance *a, const struct walk_problem *walk) {
  launch<COUNT>(g, a, problem_of(g, a, walk), PHASES);
}

/** Fill lists of which none is long. */
static void fill_short(struct gpu *g, const struct acceptance *a, struct problem p,
                       unsigned phases) {
  const uint32_t leaves = 1u << p.depth;
  const size_t bytes = (leaves + 1 + tree_nodes(p.depth)) * sizeof *p.near_place;
  p.near_place = (uint32_t *)gpu_scratch(g, SCRATCH_SORT, bytes);
  p.far_place = p.near_place + leaves + 1;
  CHECK_CUDA(
      cudaMemcpyAsync(p.near_place, p.near_offset, bytes, cudaMemcpyDeviceToDevice, g->stream));
  launch<FILL_SHORT>(g, a, p, phases);
  sort_short<<<blocks_for(3ull * leaves * WARP, SORT_BLOCK), SORT_BLOCK, 0, g->stream>>>(p);
  gpu_launched("sort_short");
}

static void fill_long(struct gpu *g, const struct acceptance *a, struct problem p, unsigned phases,
                      const struct walk_result *lengths) {
  const uint64_t all = lengths->entries + lengths->interactions;
  const int bits = (int)(p.entry_bits + p.depth + 2); /* of leaves and twice as many nodes */
  size_t cub_bytes = 0;
  cub::DoubleBuffer<uint64_t> keys;
  CHECK_CUDA(cub::DeviceRadixSort::SortKeys(NULL, cub_bytes, keys, all, 0, bits, g->stream));
  p.key = (uint64_t *)gpu_scratch(g, SCRATCH_SORT, 2 * all * sizeof *p.key + cub_bytes);
  keys = cub::DoubleBuffer<uint64_t>(p.key, p.key + all);
  launch<FILL_LONG>(g, a, p, phases);
  CHECK_CUDA(
      cub::DeviceRadixSort::SortKeys(p.key + 2 * all, cub_bytes, keys, all, 0, bits, g->stream));
  take_entries<<<blocks_for(all, 256), 256, 0, g->stream>>>(keys.Current(), lengths->entries, all,
                                                            p.entry_bits, p.near, p.far);
  gpu_launched("take_entries");
}

void walk_pairs_fill(struct gpu *g, const struct acceptance *a, const struct walk_problem *walk,
                     const struct walk_result *lengths) {
  const struct problem p = problem_of(g, a, walk);
  const unsigned phases = lengths->visits > FEW ? PHASES : 1;
  if (lengths->longest <= LONG)
    fill_short(g, a, p, phases);
  else
    fill_long(g, a, p, phases, lengths);
}
