/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The pairs of nodes of the walk of isolated systems, and how one is judged. */
#ifndef PHOTONS_CUDA_WALK_PAIRS_CUH
#define PHOTONS_CUDA_WALK_PAIRS_CUH

#include "cuda/tree/walk.cuh"

/** A pair to be judged. It may be part of a larger one whose larger node could not be opened: it is
 * then judged with the masses of nodes above its own, as in src/tree/kernels/walk.c. */
struct pair {
  uint32_t entry; /* the source node */
  uint32_t target; /* its node; from bit TARGET_BITS on the levels, five bits each, of the nodes whose
                      masses count as the target's and as the source's */
};
enum { TARGET_BITS = 22, LEVEL_BITS = 5 };

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

/** The criterion of struct acceptance for Newton's force, in the form in which kernels need it. */
struct criterion {
  unsigned depth; /* of the sources' trees */
  float scale, separation2;
  float theta2, first2; /* of the limits of size / distance: accelerations are known, or not */
  float error;          /* factor of the estimated error over the tolerance */
  float sum_error;     /* the same over the tolerance for sums of errors; 0: sums are not bounded */
  unsigned exponent;   /* of size / distance in that error */
  unsigned leaf_level; /* see shared_leaves(); 0: it is always 1 */
  bool geometric;
};

struct pairs_problem : walk_problem {
  struct criterion criterion;
  const float
      *target_mass; /* of the targets' nodes, 0 where a node has no targets; NULL: their numbers
                               of particles */
  uint64_t *key;    /* all lists in one: rows and entries, unsorted. Rows are the near lists of all
                    leaves, then the far lists of all nodes */
  unsigned entry_bits;
  uint32_t queue_room, waiting_room; /* pairs */
  struct pair *queue[2], *waiting;
  struct progress *progress;
  uint32_t *long_row; /* [rows] */
};

/** What has become of a pair. */
struct judged {
  struct pair child[2]; /* what is left of it, if `opened` */
  bool opened, found, empty;
  uint32_t row; /* the list to which it belongs, if `found` */
};

/** 2^n, 0 <= n < 128. */
static __device__ inline float power_of_two(unsigned n) {
  return __int_as_float((int)((127u + n) << 23));
}

/** x^n, n <= 7. */
static __device__ inline float small_power(float x, unsigned n) {
  float power = n & 1 ? x : 1.0f;
  x *= x;
  if (n & 2) power *= x;
  x *= x;
  return n & 4 ? power * x : power;
}

/** Particles of node number j of a level of a tree without a table. */
static __device__ inline uint32_t particles_at(uint32_t count, unsigned level, uint32_t j) {
  return level_first(count, level, j + 1) - level_first(count, level, j);
}

/** open_where_errors_add_up() of src/tree/kernels/walk.c: whether the errors of the larger node's expansion may add up to
 * too much. */
static __device__ inline bool errors_add_up(const struct criterion &c, const struct node &t,
                                            const struct node &s, float target_mass,
                                            float source_mass, float leaves, float inverse) {
  const bool target = t.radius > s.radius;
  const float large = target ? t.radius : s.radius, small = target ? s.radius : t.radius,
              mass = target ? source_mass : target_mass, acc = target ? t.acc_min : s.acc_min,
              ratio = large / small, beside = mass * (ratio * ratio * ratio) * (inverse * inverse);
  return large > small &&
         leaves * c.sum_error * fminf(beside, acc) * small_power(large * inverse, c.exponent) > acc;
}

/** judge() of walk.h for Newton's force, up to rounding, and errors_add_up(). The products and sums whose results are added
 * are named one by one, so that all passes of a walk round in the same way.
 * @param leaves  of the smaller node, as in judge() */
static __device__ inline bool accepts(const struct criterion &c, const struct node &t,
                                      const struct node &s, float target_mass, float source_mass,
                                      float leaves) {
  float d2 = 0.0f, gap2 = 0.0f;
#pragma unroll
  for (int k = 0; k < 3; k++) {
    const float steps = fabsf((float)position_difference(s.centre[k], t.centre[k])),
                d = __fmul_rn(steps, c.scale),
                gap = fmaxf(fmaf(steps, c.scale, -(t.half[k] + s.half[k])), 0.0f);
    d2 = fmaf(d, d, d2);
    gap2 = fmaf(gap, gap, gap2);
  }
  const float size = t.radius + s.radius;
  const bool known = fminf(t.acc_min, s.acc_min) > 0.0f;
  if (gap2 <= c.separation2 || size * size >= (known ? c.theta2 : c.first2) * d2) return false;
  if (!known || c.geometric) return true;
  const float inverse = rsqrtf(d2), error = leaves * c.error * (inverse * inverse) *
                                            small_power(size * inverse, c.exponent);
  return error * source_mass <= t.acc_min && error * target_mass <= s.acc_min &&
         !errors_add_up(c, t, s, target_mass, source_mass, leaves, inverse);
}

static __device__ inline struct judged judge_pair(const struct pairs_problem &p,
                                                  const struct pair &pair) {
  const struct criterion &c = p.criterion;
  const uint32_t target = pair.target & ((1u << TARGET_BITS) - 1), entry = pair.entry,
                 slot = entry >> (c.depth + 1), source = entry & ((2u << c.depth) - 1);
  struct judged j = {};
  const unsigned level = node_level(target), source_level = node_level(source);
  /* without a table there are empty leaves only where leaves outnumber particles */
  j.empty = p.first ? p.target_mass[target] == 0.0f
                    : p.count < 1u << p.depth &&
                          particles_at(p.count, level, target - (1u << level)) == 0;
  if (j.empty) return j;
  const struct node t = load_node(p.nodes + target), s = load_node(p.source_nodes[slot] + source);
  unsigned of_targets = pair.target >> TARGET_BITS & 31,
           of_sources = pair.target >> (TARGET_BITS + LEVEL_BITS);
  const uint32_t whole = target >> (level - of_targets),
                 source_whole = source >> (source_level - of_sources);
  const float of_target = p.target_mass ? p.target_mass[whole]
                                        : (float)particles_at(p.count, of_targets,
                                                              whole - (1u << of_targets)),
              of_source = p.source_mass ? p.source_mass[slot][source_whole]
                                        : (float)particles_at(p.source_count[slot], of_sources,
                                                              source_whole - (1u << of_sources)),
              leaves = power_of_two(max((int)c.leaf_level - (int)max(level, source_level), 0));
  const bool accepted = accepts(c, t, s, of_target, of_source, leaves),
             target_ends = level == p.depth, source_ends = source_level == c.depth;
  j.opened = !accepted && !(target_ends && source_ends);
  j.found = !j.opened;
  j.row = accepted ? (1u << p.depth) + target : target - (1u << p.depth);
  /* The larger node, if it is the other one, keeps its level: see walk.c. */
  const bool larger = t.radius >= s.radius,
             split = source_ends || (!target_ends && larger); /* see opens_target() */
  if (!accepted && (j.found || !split) && lacks_below(p, slot, source)) {
    j.opened = j.found = false;
    return j;
  }
  if (split && larger) of_targets = level + 1;
  if (!split && !larger) of_sources = source_level + 1;
  const uint32_t levels = of_targets << TARGET_BITS | of_sources << (TARGET_BITS + LEVEL_BITS),
                 child = (split ? 2 * target : target) | levels,
                 child_entry = split ? entry : entry + source;
  j.child[0] = {child_entry, child};
  j.child[1] = {child_entry + !split, child + split};
  return j;
}

/** Write the lists of entries that were kept, for which there is room, in their order.
 * @param lengths  of the lists */
void walk_sort_kept(struct gpu *g, struct pairs_problem *p, const struct walk_result *lengths);
/** Make memory for so many keys and their sort. @return bytes that the sort needs besides keys */
size_t walk_sort_room(struct gpu *g, struct pairs_problem *p, uint64_t all);
/** Sort keys, and write their entries to the lists. @param cub_bytes  from walk_sort_room() */
void walk_sort_all(struct gpu *g, const struct pairs_problem *p, uint64_t near, uint64_t all,
                   size_t cub_bytes);

#endif
