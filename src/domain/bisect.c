/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The upper levels of the domain decomposition, or all of them. All ranks and workers split a level
 * together: particles are counted, not moved. */
#include "bisect.h"

#include <stdlib.h>
#include <string.h>

#include "keys.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/base/kept.h"
#include "photons/domain/codelets.h"
#include "photons/domain/domain.h"
#include "photons/runtime/loop.h"

LOOP_STAGE(rebuild, 0x808080);

/* LEVELS_TOGETHER: levels that are always split this way, so that there are enough parts for the
 * workers of one rank to split further, each on its own. */
enum {
  LEVELS_TOGETHER = 6,
  CHUNK_LEAST = 1 << 14,
  CHUNKS_MOST = 64,
  ROWS_MOST = 1 << 13 /* histograms of all chunks, 128 MiB */
};

struct splitting {
  const struct particles *particles;
  size_t count;
  uint32_t *node; /* [particle] its node of the ORB tree, heap order */
  uint32_t chunks, chunks_most;
  struct level_cuts now; /* of the level that is split now */
  uint32_t *held;        /* [helds] nodes of the level before that held particles of this rank */
  uint32_t helds;
  uint32_t (*low)[3], (*high)[3]; /* [chunk][row] boxes */
  uint64_t *histogram;            /* [chunk][row][DIGIT_VALUES] */
  uint64_t *sum;                  /* [row][DIGIT_VALUES] of all chunks */
  uint64_t *ties;                 /* [chunk][row] particles at the median that go left */
  int digit;
};

static size_t chunk_first(const struct splitting *b, uint32_t chunk) {
  return block_first(b->count, b->chunks, chunk);
}

static struct cut *cut_of(const struct splitting *b, uint32_t row) {
  return &b->now.cut[b->now.here[row]];
}

/** The row of a node, by its number in heap order; `rows` if its particles are not looked at now. */
static uint32_t find_row(const struct splitting *b, uint32_t node) {
  const uint32_t first = 1u << b->now.level;
  uint32_t low = b->now.first_row, high = b->now.end_row;
  if (low == high || node < first + cut_of(b, low)->node ||
      node > first + cut_of(b, high - 1)->node)
    return b->now.rows;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2, at = cut_of(b, middle)->node;
    if (at == node - first) return middle;
    if (at < node - first)
      low = middle + 1;
    else
      high = middle;
  }
  return b->now.rows;
}

/** After boxes have been measured: note the nodes that hold particles of this rank. */
static void note_held(struct splitting *b) {
  b->held = reallocate(b->held, b->now.rows, sizeof *b->held, "nodes with particles");
  b->helds = 0;
  for (uint32_t row = 0; row < b->now.rows; row++) {
    b->now.held[row] = b->low[row][0] <= b->high[row][0];
    if (b->now.held[row]) b->held[b->helds++] = cut_of(b, row)->node;
  }
}

/** Particles of a chunk that follow each other and are in one node, which is being split. */
struct run {
  const struct splitting *b;
  uint32_t chunk, row;
  const uint32_t *x[3];
  uint32_t *node;
  size_t count;
};

/** Call function() for all runs of a chunk. In most orders runs are long. */
static void for_runs(const struct splitting *b, uint32_t chunk,
                     void (*function)(const struct run *run)) {
  for (size_t i = chunk_first(b, chunk), end = chunk_first(b, chunk + 1); i < end;) {
    const struct particle_block of = particles_block_of(b->particles, i);
    const size_t stop = of.first + of.count < end ? of.first + of.count : end;
    for (size_t next; i < stop; i = next) {
      for (next = i + 1; next < stop && b->node[next] == b->node[i];) next++;
      const uint32_t row = find_row(b, b->node[i]);
      const size_t k = i - of.first;
      if (row < b->now.rows)
        function(&(struct run){
            b, chunk, row, {of.x[0] + k, of.x[1] + k, of.x[2] + k}, b->node + i, next - i});
    }
  }
}

static void measure_run(const struct run *run) {
  const size_t row = (size_t)run->chunk * run->b->now.rows + run->row;
  for (int c = 0; c < 3; c++) {
    uint32_t low = run->b->low[row][c], high = run->b->high[row][c];
    for (size_t i = 0; i < run->count; i++) {
      const uint32_t x = run->x[c][i];
      low = x < low ? x : low;
      high = x > high ? x : high;
    }
    run->b->low[row][c] = low;
    run->b->high[row][c] = high;
  }
}

static void measure_boxes(void *context, uint32_t chunk) {
  const struct splitting *b = context;
  const size_t rows = b->now.rows;
  memset(b->low + chunk * rows, 0xff, rows * sizeof *b->low);
  memset(b->high + chunk * rows, 0, rows * sizeof *b->high);
  for_runs(b, chunk, measure_run);
}

/** Rows whose counts there is room for. */
static size_t rows_now(const struct splitting *b) { return b->now.end_row - b->now.first_row; }

static void count_run(const struct run *run) {
  const struct splitting *b = run->b;
  const struct cut *cut = cut_of(b, run->row);
  const uint32_t *x = run->x[cut->axis];
  uint64_t *histogram = b->histogram +
                        ((size_t)run->chunk * rows_now(b) + run->row - b->now.first_row) *
                            DIGIT_VALUES;
  const unsigned shift = digit_shift(b->digit);
  if (b->digit == 0) {
    for (size_t i = 0; i < run->count; i++) histogram[x[i] >> shift]++;
    return;
  }
  const unsigned known = digit_shift(b->digit - 1);
  for (size_t i = 0; i < run->count; i++)
    if ((x[i] ^ cut->value) >> known == 0) histogram[(x[i] - cut->value) >> shift]++;
}

static void count_digits(void *context, uint32_t chunk) {
  const struct splitting *b = context;
  const size_t size = rows_now(b) * DIGIT_VALUES;
  memset(b->histogram + chunk * size, 0, size * sizeof *b->histogram);
  for_runs(b, chunk, count_run);
}

static void send_run(const struct run *run) {
  const struct cut *cut = cut_of(run->b, run->row);
  const uint32_t *x = run->x[cut->axis], child = 2 * *run->node;
  uint64_t *ties = &run->b->ties[(size_t)run->chunk * run->b->now.rows + run->row];
  for (size_t i = 0; i < run->count; i++) {
    const bool tied = x[i] == cut->value && *ties > 0;
    *ties -= tied;
    run->node[i] = child + !(x[i] < cut->value || tied);
  }
}

static void send_down(void *context, uint32_t chunk) { for_runs(context, chunk, send_run); }

/** Find the boxes of this rank's particles in all nodes. */
static void join_boxes(const struct splitting *b) {
  for (uint32_t k = 0; k < b->now.rows; k++)
    for (uint32_t chunk = 1; chunk < b->chunks; chunk++)
      for (int c = 0; c < 3; c++) {
        const size_t row = (size_t)chunk * b->now.rows + k;
        if (b->low[row][c] < b->low[k][c]) b->low[k][c] = b->low[row][c];
        if (b->high[row][c] > b->high[k][c]) b->high[k][c] = b->high[row][c];
      }
}

static void choose_axes(struct splitting *b, struct domain *d) {
  loop_run(&rebuild_stage, b->chunks, measure_boxes, b);
  join_boxes(b);
  note_held(b);
  cuts_choose_axes(d, &b->now, b->low, b->high);
}

static void add_histograms(void *context, uint32_t row) {
  const struct splitting *b = context;
  uint64_t *sum = b->sum + (size_t)row * DIGIT_VALUES;
  memset(sum, 0, DIGIT_VALUES * sizeof *sum);
  for (uint32_t chunk = 0; chunk < b->chunks; chunk++) {
    const uint64_t *of = b->histogram + (chunk * rows_now(b) + row) * DIGIT_VALUES;
    for (size_t i = 0; i < DIGIT_VALUES; i++) sum[i] += of[i];
  }
}

/** Find one more digit of the medians that are looked for now. On return histograms hold each chunk's own
 * counts, and ties hold the counts at the digit found. */
static void choose_digit(struct splitting *b, const struct domain *d) {
  const struct level_cuts *now = &b->now;
  loop_run(&rebuild_stage, b->chunks, count_digits, b);
  loop_run(&rebuild_stage, (uint32_t)rows_now(b), add_histograms, b);
  cuts_find_digit(d, &b->now, b->digit, b->sum);
  for (uint32_t row = now->first_row; row < now->end_row; row++) {
    const uint32_t digit = cut_digit(cut_of(b, row), b->digit);
    for (uint32_t chunk = 0; chunk < b->chunks; chunk++)
      b->ties[(size_t)chunk * now->rows + row] =
          b->histogram[(chunk * rows_now(b) + row - now->first_row) * DIGIT_VALUES + digit];
  }
}

/** Find the medians of some cuts of the level, for which there is room. */
static void choose_values(struct splitting *b, const struct domain *d) {
  const size_t size = rows_now(b) * DIGIT_VALUES;
  b->histogram = allocate_large(b->chunks * size, sizeof *b->histogram,
                                "counts of the domain decomposition");
  b->sum = allocate(size, sizeof *b->sum, "counts of the domain decomposition");
  b->now.bytes = (b->chunks + 1) * size * sizeof *b->histogram +
                 (size_t)b->chunks * b->now.rows * (2 * sizeof *b->low + sizeof *b->ties);
  for (b->digit = 0; b->digit < DIGITS; b->digit++) choose_digit(b, d);
  free(b->histogram);
  free(b->sum);
}

/** Of the particles at the median the first `left` ones, in the order of ranks and chunks, go left.
 * Turns the counts of each chunk into the numbers that go left. */
static void share_ties(struct splitting *b) {
  const uint32_t cuts = b->now.cuts, rows = b->now.rows;
  uint64_t *before = allocate(cuts, sizeof *before, "ties"); /* of lower ranks */
  kept_set(KEPT_TIES, cuts * sizeof *before);
  for (uint32_t chunk = 0; chunk < b->chunks; chunk++)
    for (uint32_t row = 0; row < rows; row++)
      before[b->now.here[row]] += b->ties[(size_t)chunk * rows + row];
  comm_sums_before(before, cuts);
  for (uint32_t row = 0; row < rows; row++) {
    const uint64_t all = cut_of(b, row)->left, lower = before[b->now.here[row]];
    uint64_t left = lower < all ? all - lower : 0;
    for (uint32_t chunk = 0; chunk < b->chunks; chunk++) {
      uint64_t *ties = &b->ties[(size_t)chunk * rows + row];
      if (*ties > left) *ties = left;
      left -= *ties;
    }
  }
  free(before);
}

/** Chunks that there is room for, with counts or boxes of so many rows each. */
static uint32_t chunks_for(const struct splitting *b, uint32_t rows) {
  const uint32_t most = ROWS_MOST / (rows > 0 ? rows : 1) + 1;
  return most < b->chunks_most ? most : b->chunks_most;
}

static void split_level(struct splitting *b, struct domain *d) {
  cuts_find_rows(&b->now, b->held, b->helds);
  b->chunks = chunks_for(b, b->now.rows);
  const size_t boxes = (size_t)b->chunks * b->now.rows;
  b->low = allocate(2 * boxes, sizeof *b->low, "boxes of the domain decomposition");
  b->high = b->low + boxes;
  choose_axes(b, d);
  free(b->low);
  const uint32_t together = cuts_together(&b->now, b->helds);
  b->chunks = chunks_for(b, together < b->now.rows ? together : b->now.rows);
  b->ties = allocate((size_t)b->chunks * b->now.rows, sizeof *b->ties,
                     "ties of the domain decomposition");
  for (uint32_t first = 0; first < b->now.cuts; first += together) {
    cuts_look_at(&b->now, first, together);
    choose_values(b, d);
  }
  cuts_look_at(&b->now, 0, b->now.cuts);
  share_ties(b);
  loop_run(&rebuild_stage, b->chunks, send_down, b);
  free(b->ties);
}

/** The groups [first, end) below a node. */
static void groups_below(const struct domain *d, unsigned level, uint32_t node, uint32_t *first,
                         uint32_t *end) {
  *first = (uint32_t)block_first(d->group_count, (size_t)1 << level, node);
  *end = (uint32_t)block_first(d->group_count, (size_t)1 << level, (size_t)node + 1);
}

static bool is_part(const struct domain *d, bool groups, unsigned level, uint32_t node) {
  uint32_t first, end;
  groups_below(d, level, node, &first, &end);
  return end - first == 1 ||
         (!groups && level >= LEVELS_TOGETHER && group_owner(d, first) == group_owner(d, end - 1));
}

static int compare_parts(const void *a, const void *b) {
  const struct orb_part *p = a, *q = b;
  const uint64_t x = (uint64_t)p->index << (32 - p->level),
                 y = (uint64_t)q->index << (32 - q->level);
  return (x > y) - (x < y);
}

struct numbering {
  const struct orb_parts *parts;
  const struct splitting *b;
};

/** The number of a part whose node has this number in heap order. */
static uint32_t find_part(const struct orb_parts *parts, uint32_t node) {
  const unsigned level = 31 - (unsigned)__builtin_clz(node);
  const struct orb_part key = {.level = level, .index = node - (1u << level)};
  const struct orb_part *part = bsearch(&key, parts->part, parts->count, sizeof key, compare_parts);
  return (uint32_t)(part - parts->part);
}

static void take_parts(void *context, uint32_t chunk) {
  const struct numbering *n = context;
  uint32_t node = 0, part = 0; /* of the particle before */
  for (size_t i = chunk_first(n->b, chunk); i < chunk_first(n->b, chunk + 1); i++) {
    if (n->b->node[i] != node) part = find_part(n->parts, node = n->b->node[i]);
    n->b->node[i] = part;
  }
}

/** Sort the parts by their groups, and replace each particle's node by its part. */
static void number_parts(struct orb_parts *parts, struct splitting *b) {
  struct numbering n = {parts, b};
  qsort(parts->part, parts->count, sizeof *parts->part, compare_parts);
  loop_run(&rebuild_stage, b->chunks, take_parts, &n);
  parts->part_of = b->node;
}

static void set_to_root(void *context, uint32_t chunk) {
  const struct splitting *b = context;
  for (size_t i = chunk_first(b, chunk); i < chunk_first(b, chunk + 1); i++) b->node[i] = 1;
}

/** Nodes of one level, by rising number. */
struct nodes {
  uint32_t *node, count;
};

/** Of the nodes of a level those that one rank will split further become parts, the others get cuts. */
static void sort_out(const struct domain *d, bool groups, const struct nodes *open,
                     struct splitting *b, struct orb_parts *parts) {
  const size_t nodes = (size_t)1 << b->now.level, all = d->particles.all;
  parts->part = reallocate(parts->part, (size_t)parts->count + open->count, sizeof *parts->part,
                           "parts of the domain");
  b->now.cut = reallocate(b->now.cut, open->count, sizeof *b->now.cut,
                          "cuts of the domain decomposition");
  kept_set(KEPT_CUTS, open->count * (sizeof *open->node + sizeof *b->now.cut) +
                          ((size_t)parts->count + open->count) * sizeof *parts->part);
  b->now.cuts = 0;
  for (uint32_t i = 0; i < open->count; i++) {
    const uint32_t node = open->node[i];
    if (is_part(d, groups, b->now.level, node)) {
      uint32_t first, end;
      groups_below(d, b->now.level, node, &first, &end);
      parts->part[parts->count++] = (struct orb_part){b->now.level, node, group_owner(d, first)};
      continue;
    }
    const size_t left = block_first(all, 2 * nodes, 2 * (size_t)node + 1);
    b->now.cut[b->now.cuts++] = (struct cut){.node = node,
                                             .left = left - block_first(all, nodes, node)};
  }
}

/** The two parts of all nodes that have been split are the nodes of the next level. */
static void descend(const struct splitting *b, struct nodes *open) {
  open->node = reallocate(open->node, 2 * (size_t)b->now.cuts, sizeof *open->node,
                          "nodes to split");
  open->count = 0;
  for (uint32_t k = 0; k < b->now.cuts; k++)
    for (uint32_t child = 0; child < 2; child++)
      open->node[open->count++] = 2 * b->now.cut[k].node + child;
}

struct orb_parts orb_split(struct domain *d, bool groups) {
  const size_t count = d->particles.count;
  struct orb_parts parts = {0};
  struct splitting b = {.particles = &d->particles, .count = count};
  struct nodes open = {.node = allocate(1, sizeof *open.node, "nodes to split"), .count = 1};
  b.chunks_most = count / CHUNK_LEAST < CHUNKS_MOST ? (uint32_t)(count / CHUNK_LEAST) + 1
                                                    : CHUNKS_MOST;
  b.chunks = b.chunks_most;
  b.node = allocate_large(count, sizeof *b.node, "nodes of the particles");
  loop_run(&rebuild_stage, b.chunks, set_to_root, &b);
  for (; open.count > 0; b.now.level++) {
    sort_out(d, groups, &open, &b, &parts);
    if (b.now.cuts > 0) split_level(&b, d);
    descend(&b, &open);
  }
  number_parts(&parts, &b);
  free(open.node);
  free(b.now.cut);
  free(b.now.here);
  free(b.now.held);
  free(b.held);
  return parts;
}

void orb_parts_free(struct orb_parts *p) {
  free(p->part);
  free(p->part_of);
  *p = (struct orb_parts){0};
}
