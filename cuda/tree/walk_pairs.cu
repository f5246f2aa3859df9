/* SPDX-License-Identifier: GPL-3.0-or-later */
/* walk of isolated systems: the dual walk of src/tree/kernels/walk.c. Each pair of nodes is judged
 * once, by one thread. A turn is a kernel that judges the pairs of a queue. A CUDA block puts the
 * parts of pairs to be opened on its stack, and goes on with them, generation after generation, as
 * long as they occupy enough of its threads. Parts that are left, or too many for the stack, are the
 * queue of the next turn. Parts for which the queue has no room wait aside, and are taken when the
 * queue has become short.
 *
 * The order in which entries are found differs from run to run. They are sorted, so that lists are
 * the same in every run, and leaves near each other follow each other: short lists by a warp, long
 * ones by a CUDA block, or, in a second pass, all entries together.
 *
 * The trees of the targets and of the sources differ in depth where only some particles are
 * targets. Then nodes of the targets may be empty, and their boxes are not read. */
#include <cub/block/block_radix_sort.cuh>
#include <cub/device/device_radix_sort.cuh>

#include "cuda/tree/walk.cuh"

enum {
  BLOCK = 256,
  BLOCKS_MOST = 1056,    /* CUDA blocks of a turn: work for the whole GPU */
  STACK = 4 * BLOCK,     /* pairs of a CUDA block */
  QUEUE_LEAST = 1 << 16, /* room for pairs of a turn: so many for each target, within these bounds */
  QUEUE_MOST = 1 << 21,
  QUEUE_OF_TARGET = 8,
  WAITING = 2,            /* room for pairs to wait, in units of that of a turn; doubled at need, */
  WAITING_MOST = 1 << 30, /* up to so many pairs */
  TURNS = 4,              /* more, if pairs are left after as many turns as the last walk took */
  GENERATIONS = 16,       /* of a turn */
  SORT_BLOCK = 128,
  SHORT = 256, /* entries of a list that a warp sorts */
  LONG_BLOCK = 512,
  LONG = 16 * LONG_BLOCK, /* entries of the longest list that a CUDA block sorts */
  LONG_BLOCKS = 264
};

/** A pair to be judged. It may be part of a larger one whose larger node could not be opened: it is
 * then judged with the masses of nodes above its own, as in src/tree/kernels/walk.c. */
struct pair {
  uint32_t entry; /* the source node */
  uint32_t target; /* its node; from bit TARGET_BITS on the levels, five bits each, of the nodes whose
                      masses count as the target's and as the source's */
};
enum { TARGET_BITS = 22, LEVEL_BITS = 5, COUNT_BITS = 16 };

/** What the kernels of a walk tell each other, and the host. */
struct alignas(uint64_t) progress {
  uint32_t pairs[2]; /* in the queues; that of turn number t is t % 2 */
  uint32_t turn;
  uint32_t
      waiting; /* pairs that wait, but for those that the present turn takes, which follow them */
  uint32_t taken;
  uint32_t done;      /* CUDA blocks that have ended their part of the turn */
  uint32_t left;      /* pairs of any kind */
  uint32_t lost;      /* whether there was no room for pairs to wait */
  uint32_t entries;   /* found */
  uint32_t long_rows; /* lists that a CUDA block is to sort */
};

struct problem : walk_problem {
  uint64_t *key; /* all lists in one: rows and entries, unsorted. Rows are the near lists of all
                    leaves, then the far lists of all nodes */
  unsigned entry_bits;
  uint32_t queue_room, waiting_room; /* pairs */
  struct pair *queue[2], *waiting;
  struct progress *progress;
  uint32_t *long_row; /* [rows] */
};

/** What a walk is for: the lengths of the lists, and entries if there is memory for them; or all
 * entries. */
enum pass { KEEP, FILL };

/** What a thread has counted. */
struct counts {
  unsigned long long pairs, visits;
};

/** What has become of a pair. */
struct judged {
  struct pair child[2]; /* what is left of it, if `opened` */
  bool opened, found;
  uint32_t row; /* the list to which it belongs, if `found` */
};

static __device__ inline struct judged judge_pair(const struct problem &p,
                                                  const struct acceptance &a,
                                                  const struct pair &pair, struct counts &counts) {
  const uint32_t leaves = 1u << p.depth, source_leaves = 1u << a.depth,
                 target = pair.target & ((1u << TARGET_BITS) - 1), entry = pair.entry,
                 source = entry & (2 * source_leaves - 1), slot = entry >> (a.depth + 1),
                 targets = tree_node_count(p.count, p.depth, p.first, target);
  struct judged j = {};
  if (targets == 0) return j;
  const struct node t = load_node(p.nodes + target), s = load_node(p.source_nodes[slot] + source);
  const uint32_t level = node_level(target), source_level = node_level(source);
  uint32_t of_targets = pair.target >> TARGET_BITS & 31,
           of_sources = pair.target >> (TARGET_BITS + LEVEL_BITS);
  const enum verdict verdict = judge(&a, &t, &s, target_mass(p, target >> (level - of_targets)),
                                     mass_of(p, slot, source >> (source_level - of_sources)),
                                     shared_leaves(&a, target, source));
  counts.visits++;
  const bool near = verdict == OPEN && target >= leaves && source >= source_leaves;
  if (near)
    counts.pairs += (unsigned long long)particles_of(p.source_count[slot], source) * targets;
  j.found = near || verdict == ACCEPT;
  j.row = near ? target - leaves : leaves + target;
  j.opened = verdict == OPEN && !near;
  /* The larger node, if it is the other one, keeps its level: see walk.c. */
  const bool larger = t.radius >= s.radius,
             split = opens_target(p.depth, target, t.radius, a.depth, source, s.radius);
  if (split && larger) of_targets = level + 1;
  if (!split && !larger) of_sources = source_level + 1;
  const uint32_t levels = of_targets << TARGET_BITS | of_sources << (TARGET_BITS + LEVEL_BITS);
  j.child[0] = {split ? entry : entry + source, (split ? 2 * target : target) | levels};
  j.child[1] = {split ? entry : entry + source + 1, (split ? 2 * target + 1 : target) | levels};
  return j;
}

/** A CUDA block's pairs. */
struct local_stack {
  struct pair pair[STACK];
  /* of each warp: how many threads have opened their pair; above COUNT_BITS, have found an entry */
  uint32_t counts[BLOCK / WARP];
  uint32_t global; /* the first of the places in the next queue that the block has claimed */
  uint32_t entry;  /* the first of those among the entries, of the last generation */
};

/** An entry that a thread has found. It is stored a generation later: by then the places for which
 * the block has asked are known, and no thread waits for them. */
struct pending {
  uint32_t row, entry;
  uint32_t place; /* in its row */
  uint32_t at;    /* among the entries that the block found in the generation */
  uint32_t first; /* thread 0: the first place of these entries among all */
  bool found;
};

/** Places of a thread's finds among those of its CUDA block. */
struct places {
  uint32_t child, children; /* of the first part of its pair, and all parts of the block's pairs */
  uint32_t entry, entries;
};

/** Count what the threads of a CUDA block have of pairs. Every thread calls this, and all are past it
 * before one returns. */
static __device__ inline struct places places_of(const struct judged &j, struct local_stack *q) {
  const uint32_t opened = __ballot_sync(~0u, j.opened), found = __ballot_sync(~0u, j.found),
                 warp = threadIdx.x / WARP;
  if (threadIdx.x % WARP == 0) q->counts[warp] = __popc(opened) | __popc(found) << COUNT_BITS;
  __syncthreads();
  uint32_t before = 0, all = 0;
#pragma unroll
  for (uint32_t k = 0; k < BLOCK / WARP; k++) {
    before += k < warp ? q->counts[k] : 0;
    all += q->counts[k];
  }
  const uint32_t opened_mask = (1u << COUNT_BITS) - 1;
  return {2 * ((before & opened_mask) + __popc(opened & lanes_before())), 2 * (all & opened_mask),
          (before >> COUNT_BITS) + __popc(found & lanes_before()), all >> COUNT_BITS};
}

/** Put two pairs of a lane into the next queue, or aside. Every lane of the warp calls this.
 * @param pair  of the lane, or NULL */
static __device__ inline void push(const struct problem &p, uint32_t to, const struct pair *pair,
                                   uint32_t at) {
  struct pair *place = p.queue[to] + at;
  const bool wait = pair && at >= p.queue_room;
  const uint32_t lanes = __ballot_sync(~0u, wait);
  if (lanes != 0) { /* seldom */
    uint32_t aside = 0;
    if (threadIdx.x % WARP == 0) aside = atomicAdd(&p.progress->waiting, 2 * __popc(lanes));
    aside = __shfl_sync(~0u, aside, 0) + 2 * __popc(lanes & lanes_before());
    if (wait && aside >= p.waiting_room) return; /* end_turn() finds out */
    if (wait) place = p.waiting + aside;
  }
  if (!pair) return;
  place[0] = pair[0];
  place[1] = pair[1];
}

/** Store an entry that the last generation has found. */
template <enum pass PASS>
static __device__ inline void store_entry(const struct problem &p, const struct pending &last,
                                          uint32_t first) {
  const uint32_t at = first + last.at;
  if (!last.found) return;
  if (PASS == FILL)
    p.key[at] = (uint64_t)last.row << p.entry_bits | last.entry;
  else if (at < p.kept_most)
    p.far_kept[at] = {last.row, last.place, last.entry};
}

/** Ask for the places of an entry and of the block's entries. */
template <enum pass PASS>
static __device__ inline struct pending ask_places(const struct problem &p, const struct judged &j,
                                                   uint32_t entry, const struct places &at) {
  const uint32_t leaves = 1u << p.depth;
  struct pending asked = {j.row, entry, 0, at.entry, 0, j.found};
  if (PASS == KEEP && j.found)
    asked.place = atomicAdd(
        j.row < leaves ? p.near_offset + j.row : p.far_offset + (j.row - leaves), 1);
  if (threadIdx.x == 0 && at.entries > 0) asked.first = atomicAdd(&p.progress->entries, at.entries);
  return asked;
}

/** Add up what the threads of a CUDA block have counted. */
static __device__ inline void add_counts(struct walk_result *result, struct counts counts) {
  __shared__ struct counts of_warp[BLOCK / WARP];
  for (int step = WARP / 2; step > 0; step /= 2) {
    counts.pairs += __shfl_xor_sync(~0u, counts.pairs, step);
    counts.visits += __shfl_xor_sync(~0u, counts.visits, step);
  }
  if (threadIdx.x % WARP == 0) of_warp[threadIdx.x / WARP] = counts;
  __syncthreads();
  if (threadIdx.x > 0) return;
  for (uint32_t k = 1; k < BLOCK / WARP; k++) {
    counts.pairs += of_warp[k].pairs;
    counts.visits += of_warp[k].visits;
  }
  if (counts.pairs > 0) atomicAdd((unsigned long long *)&result->pairs, counts.pairs);
  if (counts.visits > 0) atomicAdd((unsigned long long *)&result->visits, counts.visits);
}

/** The last CUDA block of a turn finds out what the next one judges: its queue, and where that is
 * short some of the pairs that wait. These are so few that their parts find room in the queue. */
static __device__ inline void end_turn(const struct problem &p, uint32_t from) {
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

/** Put the pairs of the stack from number `keep` on, of n, into the next queue. */
static __device__ inline void push_pairs(const struct problem &p, uint32_t to,
                                         struct local_stack *q, uint32_t keep, uint32_t n) {
  if (n <= keep) return;
  if (threadIdx.x == 0) q->global = atomicAdd(&p.progress->pairs[to], n - keep);
  __syncthreads();
  for (uint32_t first = keep; first < n; first += 2 * BLOCK) {
    const uint32_t mine = first + 2 * threadIdx.x;
    push(p, to, mine < n ? q->pair + mine : NULL, q->global + (mine - keep));
  }
  __syncthreads();
}

/** Judge the topmost of n pairs of a CUDA block's stack, and put their parts in their place.
 * @return the number of pairs on the stack then */
template <enum pass PASS>
static __device__ inline uint32_t
judge_generation(const struct problem &p, const struct acceptance &a, struct local_stack *q,
                 uint32_t n, struct counts &counts, struct pending &last) {
  const uint32_t taken = min(n, (uint32_t)BLOCK), below = n - taken;
  struct pair pair = {};
  struct judged j = {};
  if (threadIdx.x < taken) {
    pair = q->pair[below + threadIdx.x];
    j = judge_pair(p, a, pair, counts);
  }
  if (threadIdx.x == 0) q->entry = last.first;
  const struct places at = places_of(j, q);
  store_entry<PASS>(p, last, q->entry);
  last = ask_places<PASS>(p, j, pair.entry, at);
  if (j.opened) {
    q->pair[below + at.child] = j.child[0];
    q->pair[below + at.child + 1] = j.child[1];
  }
  __syncthreads();
  return below + at.children;
}

/** Pairs that the turn judges: those of the queue, then some that waited. */
struct turn {
  uint32_t from; /* number of the queue */
  uint32_t queued, pairs, aside;
};

/** Put up to BLOCK pairs of the turn on the stack. @return the number of pairs on it then */
static __device__ inline uint32_t take_pairs(const struct problem &p, const struct turn &t,
                                             uint32_t first, struct local_stack *q, uint32_t n) {
  const uint32_t i = first + threadIdx.x;
  if (i < t.pairs)
    q->pair[n + threadIdx.x] = i < t.queued ? p.queue[t.from][i]
                                            : p.waiting[t.aside + (i - t.queued)];
  __syncthreads();
  return n + min(t.pairs - first, (uint32_t)BLOCK);
}

template <enum pass PASS>
static __global__ void __launch_bounds__(BLOCK, 6)
    walk_turn(const __grid_constant__ struct problem p,
              const __grid_constant__ struct acceptance a) {
  __shared__ struct local_stack q;
  const struct progress *g = p.progress;
  /* No CUDA block changes these before all have read them. */
  const uint32_t from = g->turn % 2, queued = g->pairs[from], taken = g->taken;
  const struct turn t = {from, queued, queued + taken, taken > 0 ? g->waiting : 0};
  if (t.pairs == 0) return;
  /* A queue that fills the GPU leaves no generation with many idle threads. */
  const uint32_t least = t.pairs >= gridDim.x * BLOCK ? BLOCK / 2 : 1;
  struct counts counts = {0, 0};
  struct pending last = {};
  uint32_t n = 0, next = blockIdx.x * BLOCK;
  for (uint32_t late = 0; next < t.pairs || (n >= least && late < GENERATIONS);) {
    if (n < BLOCK && next < t.pairs) {
      n = take_pairs(p, t, next, &q, n);
      next += gridDim.x * BLOCK;
    } else {
      late += next >= t.pairs;
    }
    n = judge_generation<PASS>(p, a, &q, n, counts, last);
    /* Where pairs that waited are taken, their parts must find room in the queue: see end_turn(). */
    const uint32_t keep = taken > 0 ? 0 : n > STACK - BLOCK ? BLOCK : n;
    push_pairs(p, 1 - from, &q, keep, n);
    n = min(n, keep);
  }
  push_pairs(p, 1 - from, &q, 0, n);
  if (threadIdx.x == 0) q.entry = last.first;
  __syncthreads();
  store_entry<PASS>(p, last, q.entry);
  __threadfence();
  add_counts(p.result, counts);
  if (threadIdx.x == 0 && atomicAdd(&p.progress->done, 1) == gridDim.x - 1) end_turn(p, from);
}

/** The first queue: the root of the targets with that of each source. */
static __global__ void begin_walk(const __grid_constant__ struct problem p, unsigned source_depth) {
  for (uint32_t slot = threadIdx.x; slot < p.slots; slot += BLOCK)
    p.queue[0][slot] = {slot << (source_depth + 1) | 1, 1};
  if (threadIdx.x == 0) p.progress->pairs[0] = p.progress->left = p.slots;
}

/** Move entries that were kept to their places. Lists that no CUDA block can sort take the second pass
 * of the walk, which sorts all entries together. */
static __global__ void __launch_bounds__(BLOCK)
    move_pairs(const __grid_constant__ struct problem p) {
  const uint32_t leaves = 1u << p.depth, thread = blockIdx.x * BLOCK + threadIdx.x,
                 entries = p.progress->entries;
  if (!list_room_suffices(&p.room, p.result) || p.result->longest > LONG) return;
  if (thread == 0) p.result->written = 1;
  for (uint32_t i = thread; i < entries; i += gridDim.x * BLOCK) {
    const struct kept_entry kept = p.far_kept[i];
    if (kept.target < leaves)
      p.room.near_entry[p.near_offset[kept.target] + kept.place] = kept.entry;
    else
      p.room.far_entry[p.far_offset[kept.target - leaves] + kept.place] = kept.entry;
  }
}

/** The list of a row. */
struct row_list {
  uint32_t *entry, count;
};
static __device__ inline struct row_list list_of(const struct problem &p, uint32_t row) {
  const uint32_t leaves = 1u << p.depth,
                 *offset = row < leaves ? p.near_offset + row : p.far_offset + (row - leaves);
  return {(row < leaves ? p.room.near_entry : p.room.far_entry) + offset[0], offset[1] - offset[0]};
}

/** A warp sorts a list: an entry's place is the number of smaller ones. */
static __global__ void __launch_bounds__(SORT_BLOCK)
    sort_short(const __grid_constant__ struct problem p) {
  __shared__ uint32_t copies[SORT_BLOCK / WARP][SHORT];
  const uint32_t lane = threadIdx.x % WARP, row = (blockIdx.x * SORT_BLOCK + threadIdx.x) / WARP;
  if (!p.result->written || row >= 3u << p.depth) return;
  const struct row_list list = list_of(p, row);
  uint32_t *copy = copies[threadIdx.x / WARP];
  if (list.count > SHORT) {
    if (lane == 0) p.long_row[atomicAdd(&p.progress->long_rows, 1)] = row;
    return;
  }
  for (uint32_t i = lane; i < list.count; i += WARP) copy[i] = list.entry[i];
  __syncwarp();
  for (uint32_t i = lane; i < list.count; i += WARP) {
    uint32_t smaller = 0;
    for (uint32_t k = 0; k < list.count; k++) smaller += copy[k] < copy[i];
    list.entry[smaller] = copy[i];
  }
}

template <int ITEMS> using block_sort = cub::BlockRadixSort<uint32_t, LONG_BLOCK, ITEMS>;
enum { FEW = 2, MANY = LONG / LONG_BLOCK }; /* entries of a thread */

/** A CUDA block sorts a list, of at most ITEMS entries for each thread. */
template <int ITEMS>
static __device__ inline void sort_list(const struct row_list &list, unsigned entry_bits,
                                        typename block_sort<ITEMS>::TempStorage &storage) {
  const unsigned bits = min(entry_bits + 1, 32u); /* what fills up the list is above all entries */
  uint32_t key[ITEMS];
  for (uint32_t k = 0; k < ITEMS; k++) {
    const uint32_t i = k * LONG_BLOCK + threadIdx.x;
    key[k] = i < list.count ? list.entry[i] : UINT32_MAX;
  }
  block_sort<ITEMS>(storage).SortBlockedToStriped(key, 0, (int)bits);
  for (uint32_t k = 0; k < ITEMS; k++) {
    const uint32_t i = k * LONG_BLOCK + threadIdx.x;
    if (i < list.count) list.entry[i] = key[k];
  }
}

/** CUDA blocks sort the long lists. */
static __global__ void __launch_bounds__(LONG_BLOCK)
    sort_long(const __grid_constant__ struct problem p) {
  __shared__ union {
    typename block_sort<FEW>::TempStorage few;
    typename block_sort<MANY>::TempStorage many;
  } storage;
  for (uint32_t k = blockIdx.x; k < p.progress->long_rows; k += gridDim.x) {
    const struct row_list list = list_of(p, p.long_row[k]);
    if (list.count <= FEW * LONG_BLOCK)
      sort_list<FEW>(list, p.entry_bits, storage.few);
    else
      sort_list<MANY>(list, p.entry_bits, storage.many);
    __syncthreads();
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

static struct problem problem_of(const struct acceptance *a, const struct walk_problem *walk) {
  if (walk->depth >= TARGET_BITS)
    fail(EXIT_RUN_FAILED, "a tree of %u levels is too deep for a walk on a GPU", walk->depth);
  struct problem p = {};
  (struct walk_problem &)p = *walk;
  p.entry_bits = a->depth + 1;
  while (p.slots > 1u << (p.entry_bits - a->depth - 1)) p.entry_bits++;
  p.queue_room = QUEUE_LEAST;
  while (p.queue_room < QUEUE_MOST && p.queue_room / QUEUE_OF_TARGET < p.count) p.queue_room *= 2;
  while (p.queue_room < p.slots) p.queue_room *= 2;
  return p;
}

/** Memory for at least so many pairs to wait, and for all that a walk begins with. */
static void begin(struct gpu *g, struct problem *p, size_t waiting_least, unsigned source_depth) {
  const size_t other = 2 * (size_t)p->queue_room * sizeof(struct pair) + sizeof *p->progress;
  p->progress = (struct progress *)gpu_scratch(g, SCRATCH_PAIRS,
                                               other + waiting_least * sizeof(struct pair));
  const size_t room = (g->scratch[SCRATCH_PAIRS].bytes - other) / sizeof(struct pair);
  p->waiting_room = room < WAITING_MOST ? (uint32_t)room : (uint32_t)WAITING_MOST;
  p->queue[0] = (struct pair *)(p->progress + 1);
  p->queue[1] = p->queue[0] + p->queue_room;
  p->waiting = p->queue[1] + p->queue_room;
  CHECK_CUDA(cudaMemsetAsync(p->progress, 0, sizeof *p->progress, g->stream));
  begin_walk<<<1, BLOCK, 0, g->stream>>>(*p, source_depth);
  gpu_launched("begin_walk");
}

/** Judge all pairs. The host waits until none is left. @return whether there was room for all */
template <enum pass PASS>
static bool judge_all(struct gpu *g, const struct acceptance *a, const struct problem &p) {
  struct progress now = {};
  uint32_t pairs = p.slots; /* at most */
  for (uint32_t turns = g->walk_turns + 1;; turns = TURNS) {
    for (uint32_t turn = 0; turn < turns; turn++) {
      const uint32_t blocks = min(blocks_for(pairs, BLOCK), (uint32_t)BLOCKS_MOST);
      walk_turn<PASS><<<blocks, BLOCK, 0, g->stream>>>(p, *a);
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

template <enum pass PASS>
static void walk_all(struct gpu *g, const struct acceptance *a, struct problem &p) {
  for (size_t waiting = WAITING * (size_t)p.queue_room;; waiting = 2 * (size_t)p.waiting_room) {
    if (PASS == KEEP) walk_clear(g, &p);
    begin(g, &p, waiting, a->depth);
    if (judge_all<PASS>(g, a, p)) return;
    if (p.waiting_room == WAITING_MOST)
      fail(EXIT_RUN_FAILED, "a walk on a GPU opens too many pairs of nodes at a time");
  }
}

void walk_pairs_count(struct gpu *g, const struct acceptance *a, const struct walk_problem *walk) {
  struct problem p = problem_of(a, walk);
  walk_all<KEEP>(g, a, p);
  walk_scan(g, a, &p);
  if (!p.room.near_entry) return;
  const uint32_t rows = 3u << p.depth;
  p.long_row = (uint32_t *)gpu_scratch(g, SCRATCH_SORT, rows * sizeof *p.long_row);
  move_pairs<<<blocks_for(p.queue_room, BLOCK), BLOCK, 0, g->stream>>>(p);
  gpu_launched("move_pairs");
  sort_short<<<blocks_for((uint64_t)rows * WARP, SORT_BLOCK), SORT_BLOCK, 0, g->stream>>>(p);
  gpu_launched("sort_short");
  sort_long<<<LONG_BLOCKS, LONG_BLOCK, 0, g->stream>>>(p);
  gpu_launched("sort_long");
}

void walk_pairs_fill(struct gpu *g, const struct acceptance *a, const struct walk_problem *walk,
                     const struct walk_result *lengths) {
  struct problem p = problem_of(a, walk);
  const uint64_t all = lengths->entries + lengths->interactions;
  if (all > UINT32_MAX)
    fail(EXIT_RUN_FAILED,
         "%llu interactions of a group are too many for a walk on a GPU; a smaller "
         "runtime.group_size divides them",
         (unsigned long long)all);
  const int bits = (int)(p.entry_bits + p.depth + 2); /* of leaves and twice as many nodes */
  size_t cub_bytes = 0;
  cub::DoubleBuffer<uint64_t> keys;
  CHECK_CUDA(cub::DeviceRadixSort::SortKeys(NULL, cub_bytes, keys, all, 0, bits, g->stream));
  p.key = (uint64_t *)gpu_scratch(g, SCRATCH_SORT, 2 * all * sizeof *p.key + cub_bytes);
  keys = cub::DoubleBuffer<uint64_t>(p.key, p.key + all);
  walk_all<FILL>(g, a, p);
  CHECK_CUDA(
      cub::DeviceRadixSort::SortKeys(p.key + 2 * all, cub_bytes, keys, all, 0, bits, g->stream));
  take_entries<<<blocks_for(all, 256), 256, 0, g->stream>>>(keys.Current(), lengths->entries, all,
                                                            p.entry_bits, p.near, p.far);
  gpu_launched("take_entries");
}
