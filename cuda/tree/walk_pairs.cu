/* SPDX-License-Identifier: GPL-3.0-or-later */
/* walk of isolated systems: the dual walk of src/tree/kernels/walk.c. Each pair of nodes is judged
 * once, by one thread. A turn is a kernel that judges the pairs of a queue. A warp puts the parts of
 * pairs to be opened on its stack, and goes on with them, generation after generation, as long as they
 * occupy enough of its lanes: warps do not wait for each other. Parts that are left, or too many for
 * the stack, are the queue of the next turn. Parts for which the queue has no room wait aside, and are
 * taken when the queue has become short.
 *
 * The order in which entries are found differs from run to run. They are sorted (walk_sort.cu), so
 * that lists are the same in every run, and leaves near each other follow each other.
 *
 * The trees of the targets and of the sources differ in depth where only some particles are
 * targets. Then nodes of the targets may be empty, and their boxes are not read. */
#include "cuda/tree/walk_pairs.cuh"

/* CUDA blocks of a turn: work for the whole GPU. */
#ifndef WALK_CUDA_BLOCKS
#define WALK_CUDA_BLOCKS 1056
#endif
enum {
  BLOCK = 256,
  WARPS = BLOCK / WARP,
  RESIDENT = 6, /* CUDA blocks on a multiprocessor (limits registers) */
  BLOCKS_MOST = WALK_CUDA_BLOCKS,
  STACK = 4 * WARP,      /* pairs of a warp */
  FOUND = 2 * WARP,      /* entries that a warp keeps before it writes them */
  QUEUE_LEAST = 1 << 16, /* room for pairs of a turn: so many for each target, within these bounds */
  QUEUE_MOST = 1 << 21,
  QUEUE_OF_TARGET = 8,
  WAITING = 2,            /* room for pairs to wait, in units of that of a turn; doubled at need, */
  WAITING_MOST = 1 << 30, /* up to so many pairs */
  TURNS = 4,              /* more, if pairs are left after as many turns as the last walk took */
  GENERATIONS = 16        /* of a turn */
};

/** What a walk is for: the lengths of the lists, and entries if there is memory for them; or all
 * entries. */
enum pass { KEEP, FILL };

/** What a thread has counted in a turn. */
struct counts {
  uint32_t pairs, visits;
};

/** A warp's pairs, and the entries that it has found. */
struct warp_stack {
  struct pair pair[STACK];
  uint32_t row[FOUND], entry[FOUND];
};

/** A number that one lane gets for its warp by adding to a counter. */
static __device__ inline uint32_t claim(uint32_t *counter, uint32_t n) {
  uint32_t first = 0;
  if (threadIdx.x % WARP == 0) first = atomicAdd(counter, n);
  return __shfl_sync(~0u, first, 0);
}

/** Particle pairs of an entry of a near list. */
static __device__ inline uint32_t pairs_of(const struct pairs_problem &p, uint32_t leaf,
                                           uint32_t entry) {
  const unsigned depth = p.criterion.depth;
  const uint32_t targets = p.first ? p.first[leaf + 1] - p.first[leaf]
                                   : particles_at(p.count, p.depth, leaf);
  return targets *
         particles_at(p.source_count[entry >> (depth + 1)], depth, entry & ((1u << depth) - 1));
}

/** Write the last n entries that a warp has kept, of `found`. */
template <enum pass PASS>
static __device__ inline void write_entries(const struct pairs_problem &p,
                                            const struct warp_stack *q, uint32_t found, uint32_t n,
                                            struct counts &counts) {
  const uint32_t lane = threadIdx.x % WARP, leaves = 1u << p.depth,
                 at = claim(&p.progress->entries, n) + lane;
  if (lane >= n) return;
  const uint32_t row = q->row[found - n + lane], entry = q->entry[found - n + lane];
  if (row < leaves) counts.pairs += pairs_of(p, row, entry);
  if (PASS == FILL) {
    p.key[at] = (uint64_t)row << p.entry_bits | entry;
    return;
  }
  const uint32_t place = atomicAdd(
      row < leaves ? p.near_offset + row : p.far_offset + (row - leaves), 1);
  if (at < p.kept_most) p.far_kept[at] = {row, place, entry};
}

/** Put a pair of each of the given lanes into the next queue, or aside. */
static __device__ inline void push(const struct pairs_problem &p, uint32_t to, bool has,
                                   const struct pair &pair, uint32_t at) {
  struct pair *place = p.queue[to] + at;
  const bool wait = has && at >= p.queue_room;
  const uint32_t lanes = __ballot_sync(~0u, wait);
  if (lanes != 0) { /* seldom */
    const uint32_t aside = claim(&p.progress->waiting, __popc(lanes)) +
                           __popc(lanes & lanes_before());
    if (wait && aside >= p.waiting_room) return; /* end_turn() finds out */
    if (wait) place = p.waiting + aside;
  }
  if (has) *place = pair;
}

/** Put the pairs of a warp's stack from number `keep` on, of n, into the next queue. */
static __device__ inline void push_pairs(const struct pairs_problem &p, uint32_t to,
                                         const struct warp_stack *q, uint32_t keep, uint32_t n) {
  if (n <= keep) return;
  const uint32_t lane = threadIdx.x % WARP, global = claim(&p.progress->pairs[to], n - keep);
  for (uint32_t first = keep; first < n; first += WARP) {
    const uint32_t i = first + lane;
    const bool has = i < n;
    push(p, to, has, q->pair[has ? i : keep], global + (i - keep));
  }
  __syncwarp();
}

/** Judge the topmost of n pairs of a warp's stack, and put their parts in their place. Entries that are
 * found follow the `found` ones that there are. @return the number of pairs on the stack then */
static __device__ inline uint32_t judge_generation(const struct pairs_problem &p,
                                                   struct warp_stack *q, uint32_t n,
                                                   uint32_t &found, struct counts &counts) {
  const uint32_t lane = threadIdx.x % WARP, taken = min(n, (uint32_t)WARP), below = n - taken;
  uint32_t entry = 0;
  struct judged j = {};
  if (lane < taken) {
    const struct pair pair = q->pair[below + lane];
    entry = pair.entry;
    j = judge_pair(p, pair);
    counts.visits += !j.empty;
  }
  const uint32_t opened = __ballot_sync(~0u, j.opened), finds = __ballot_sync(~0u, j.found);
  if (j.opened) {
    const uint32_t at = below + 2 * __popc(opened & lanes_before());
    q->pair[at] = j.child[0];
    q->pair[at + 1] = j.child[1];
  }
  if (j.found) {
    const uint32_t at = found + __popc(finds & lanes_before());
    q->row[at] = j.row;
    q->entry[at] = entry;
  }
  __syncwarp();
  found += __popc(finds);
  return below + 2 * __popc(opened);
}

/** Pairs that the turn judges: those of the queue, then some that waited. */
struct turn {
  uint32_t from; /* number of the queue */
  uint32_t queued, pairs, aside;
};

/** Put up to `each` pairs of the turn on a warp's stack. @return the number of pairs on it then */
static __device__ inline uint32_t take_pairs(const struct pairs_problem &p, const struct turn &t,
                                             uint32_t first, uint32_t each, struct warp_stack *q,
                                             uint32_t n) {
  const uint32_t lane = threadIdx.x % WARP, i = first + lane, taken = min(t.pairs - first, each);
  if (lane < taken)
    q->pair[n + lane] = i < t.queued ? p.queue[t.from][i] : p.waiting[t.aside + (i - t.queued)];
  __syncwarp();
  return n + taken;
}

/** Add up what the threads of a CUDA block have counted. */
static __device__ inline void add_counts(struct walk_result *result, const struct counts &counts) {
  __shared__ unsigned long long pairs[WARPS], visits[WARPS];
  const uint32_t warp = threadIdx.x / WARP;
  unsigned long long sum = counts.pairs;
  for (int step = WARP / 2; step > 0; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
  pairs[warp] = sum;
  visits[warp] = warp_sum(counts.visits);
  __syncthreads();
  if (threadIdx.x > 0) return;
  for (uint32_t k = 1; k < WARPS; k++) {
    pairs[0] += pairs[k];
    visits[0] += visits[k];
  }
  if (pairs[0] > 0) atomicAdd((unsigned long long *)&result->pairs, pairs[0]);
  if (visits[0] > 0) atomicAdd((unsigned long long *)&result->visits, visits[0]);
}

/** The last CUDA block of a turn finds out what the next one judges: its queue, and where that is
 * short some of the pairs that wait. These are so few that their parts find room in the queue. */
static __device__ inline void end_turn(const struct pairs_problem &p, uint32_t from) {
  volatile struct progress *g = p.progress;
  const bool lost = g->waiting > p.waiting_room; /* then the walk is given up */
  const uint32_t next = lost ? 0 : min(g->pairs[1 - from], p.queue_room), half = p.queue_room / 2,
                 taken = next < half && !lost ? min(g->waiting, half - next) : 0;
  g->lost = lost;
  g->left = next + g->waiting;
  g->pairs[from] = 0;
  g->pairs[1 - from] = next;
  g->waiting -= taken;
  g->taken = taken;
  g->done = 0;
  g->turn++;
}

/** A warp's part of a turn. */
template <enum pass PASS>
static __device__ inline void judge_turn(const struct pairs_problem &p, const struct turn &t,
                                         bool waited, struct warp_stack *q, struct counts &counts) {
  /* Few pairs are shared out to as many warps as there are. */
  const uint32_t warps = gridDim.x * WARPS, warp = (blockIdx.x * BLOCK + threadIdx.x) / WARP,
                 each = min(t.pairs / warps + 1, (uint32_t)WARP);
  /* A queue that fills the GPU leaves no generation with many idle lanes. */
  const uint32_t least = each == WARP ? WARP / 2 : 1;
  uint32_t n = 0, found = 0, next = warp * each;
  for (uint32_t late = 0; next < t.pairs || (n >= least && late < GENERATIONS);) {
    if (n < WARP && next < t.pairs) {
      n = take_pairs(p, t, next, each, q, n);
      next += warps * each;
    } else {
      late += next >= t.pairs;
    }
    n = judge_generation(p, q, n, found, counts);
    if (found >= WARP) {
      write_entries<PASS>(p, q, found, WARP, counts);
      found -= WARP;
      __syncwarp();
    }
    /* Where pairs that waited are taken, their parts must find room in the queue: see end_turn(). */
    const uint32_t keep = waited ? 0 : n > STACK - WARP ? WARP : n;
    push_pairs(p, 1 - t.from, q, keep, n);
    n = min(n, keep);
  }
  push_pairs(p, 1 - t.from, q, 0, n);
  if (found > 0) write_entries<PASS>(p, q, found, found, counts);
}

template <enum pass PASS>
static __global__ void __launch_bounds__(BLOCK, RESIDENT)
    walk_turn(const __grid_constant__ struct pairs_problem p) {
  __shared__ struct warp_stack stacks[WARPS];
  const struct progress *g = p.progress;
  /* No CUDA block changes these before all have read them. */
  const uint32_t from = g->turn % 2, queued = g->pairs[from], taken = g->taken;
  const struct turn t = {from, queued, queued + taken, taken > 0 ? g->waiting : 0};
  if (t.pairs == 0) return;
  struct counts counts = {0, 0};
  judge_turn<PASS>(p, t, taken > 0, stacks + threadIdx.x / WARP, counts);
  __threadfence();
  add_counts(p.result, counts);
  if (threadIdx.x == 0 && atomicAdd(&p.progress->done, 1) == gridDim.x - 1) end_turn(p, from);
}

/** The first queue: the root of the targets with that of each source. */
static __global__ void begin_walk(const __grid_constant__ struct pairs_problem p) {
  for (uint32_t slot = threadIdx.x; slot < p.slots; slot += BLOCK)
    p.queue[0][slot] = {slot << (p.criterion.depth + 1) | 1, 1};
  if (threadIdx.x == 0) p.progress->pairs[0] = p.progress->left = p.slots;
}

/** Masses of the nodes of packed targets. */
static __global__ void weigh_targets(const __grid_constant__ struct pairs_problem p, float *mass) {
  const uint32_t node = blockIdx.x * BLOCK + threadIdx.x;
  if (node > 0 && node < tree_nodes(p.depth))
    mass[node] = p.weight * (float)tree_node_count(p.count, p.depth, p.first, node);
}

static struct criterion criterion_of(const struct acceptance *a, bool bounds_sums) {
  const bool geometric = a->kind == MAC_GEOMETRIC;
  const float first = geometric ? a->theta : a->theta_first;
  return {.depth = a->depth,
          .scale = a->scale,
          .separation2 = a->separation * a->separation,
          .theta2 = a->theta * a->theta,
          .first2 = first * first,
          .error = a->factor / a->tolerance,
          .sum_error = bounds_sums ? a->factor / a->sum_tolerance : 0.0f,
          .exponent = (unsigned)a->exponent,
          .leaf_level = a->kind == MAC_RELATIVE ? a->depth : 0,
          .geometric = geometric};
}

/** Masses of the targets' nodes, in the memory of the GPU. */
static const float *target_masses(struct gpu *g, const struct pairs_problem *p,
                                  const float *own_mass) {
  if (!p->first) return own_mass;
  float *mass = (float *)gpu_scratch(g, SCRATCH_PACK, tree_nodes(p->depth) * sizeof *mass);
  weigh_targets<<<blocks_for(tree_nodes(p->depth), BLOCK), BLOCK, 0, g->stream>>>(*p, mass);
  gpu_launched("weigh_targets");
  return mass;
}

static struct pairs_problem problem_of(struct gpu *g, const struct acceptance *a,
                                       const struct walk_problem *walk) {
  if (walk->depth >= TARGET_BITS)
    fail(EXIT_RUN_FAILED, "a tree of %u levels is too deep for a walk on a GPU", walk->depth);
  struct pairs_problem p = {};
  (struct walk_problem &)p = *walk;
  p.criterion = criterion_of(a, walk->bounds_sums);
  p.target_mass = target_masses(g, &p, walk->own_mass);
  p.entry_bits = a->depth + 1;
  while (p.slots > 1u << (p.entry_bits - a->depth - 1)) p.entry_bits++;
  p.queue_room = QUEUE_LEAST;
  while (p.queue_room < QUEUE_MOST && p.queue_room / QUEUE_OF_TARGET < p.count) p.queue_room *= 2;
  while (p.queue_room < p.slots) p.queue_room *= 2;
  return p;
}

/** Memory for at least so many pairs to wait, and for all that a walk begins with. */
static void begin(struct gpu *g, struct pairs_problem *p, size_t waiting_least) {
  const size_t other = 2 * (size_t)p->queue_room * sizeof(struct pair) + sizeof *p->progress;
  p->progress = (struct progress *)gpu_scratch(g, SCRATCH_PAIRS,
                                               other + waiting_least * sizeof(struct pair));
  const size_t room = (g->scratch[SCRATCH_PAIRS].bytes - other) / sizeof(struct pair);
  p->waiting_room = room < WAITING_MOST ? (uint32_t)room : (uint32_t)WAITING_MOST;
  p->queue[0] = (struct pair *)(p->progress + 1);
  p->queue[1] = p->queue[0] + p->queue_room;
  p->waiting = p->queue[1] + p->queue_room;
  CHECK_CUDA(cudaMemsetAsync(p->progress, 0, sizeof *p->progress, g->stream));
  begin_walk<<<1, BLOCK, 0, g->stream>>>(*p);
  gpu_launched("begin_walk");
}

/** Judge all pairs. The host waits until none is left. @return whether there was room for all */
template <enum pass PASS> static bool judge_all(struct gpu *g, const struct pairs_problem &p) {
  struct progress now = {};
  uint32_t pairs = p.slots; /* at most */
  for (uint32_t turns = g->walk_turns + 1;; turns = TURNS) {
    for (uint32_t turn = 0; turn < turns; turn++) {
      const uint32_t blocks = min(blocks_for((uint64_t)pairs * WARP, BLOCK), (uint32_t)BLOCKS_MOST);
      walk_turn<PASS><<<blocks, BLOCK, 0, g->stream>>>(p);
      gpu_launched("walk_turn");
      pairs = min(2 * pairs + GENERATIONS * blocks * BLOCK, p.queue_room);
    }
    CHECK_CUDA(cudaMemcpyAsync(&now, p.progress, sizeof now, cudaMemcpyDeviceToHost, g->stream));
    CHECK_CUDA(cudaStreamSynchronize(g->stream));
    if (now.lost) return false;
    if (now.left > 0) continue;
    g->walk_turns = now.turn;
    return true;
  }
}

template <enum pass PASS> static void walk_all(struct gpu *g, struct pairs_problem &p) {
  for (size_t waiting = WAITING * (size_t)p.queue_room;; waiting = 2 * (size_t)p.waiting_room) {
    if (PASS == KEEP) walk_clear(g, &p);
    begin(g, &p, waiting);
    if (judge_all<PASS>(g, p)) return;
    if (p.waiting_room == WAITING_MOST)
      fail(EXIT_RUN_FAILED, "a walk on a GPU opens too many pairs of nodes at a time");
  }
}

void walk_pairs_count(struct gpu *g, const struct acceptance *a, const struct walk_problem *walk) {
  struct pairs_problem p = problem_of(g, a, walk);
  walk_all<KEEP>(g, p);
  walk_scan(g, a, &p);
  if (!p.room.near_entry) return;
  struct walk_result lengths;
  CHECK_CUDA(
      cudaMemcpyAsync(&lengths, p.result, sizeof lengths, cudaMemcpyDeviceToHost, g->stream));
  CHECK_CUDA(cudaStreamSynchronize(g->stream));
  if (list_room_suffices(&p.room, &lengths)) walk_sort_kept(g, &p, &lengths);
}

void walk_pairs_fill(struct gpu *g, const struct acceptance *a, const struct walk_problem *walk,
                     const struct walk_result *lengths) {
  struct pairs_problem p = problem_of(g, a, walk);
  const uint64_t all = lengths->entries + lengths->interactions;
  if (all > UINT32_MAX)
    fail(EXIT_RUN_FAILED,
         "%llu interactions of a group are too many for a walk on a GPU; a smaller "
         "runtime.group_size divides them",
         (unsigned long long)all);
  const size_t cub_bytes = walk_sort_room(g, &p, all);
  walk_all<FILL>(g, p);
  walk_sort_all(g, &p, lengths->entries, all, cub_bytes);
}
