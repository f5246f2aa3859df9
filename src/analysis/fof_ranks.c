/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Friends of friends across ranks. Particles near the ORB groups of another rank are sent there as
 * ghosts and are linked like other particles. The links to ghosts tell which FoF groups of two
 * ranks are the same. These FoF groups then repeatedly take the lowest label among their neighbours
 * until all ranks agree. */
#include <stdlib.h>

#include "fof_link.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/domain/tree.h"
#include "photons/runtime/loop.h"
#include "src/base/exchange.h"

struct ghost {
  uint32_t x[3];
  uint32_t head; /* on the rank that the ghost comes from */
};

/* Particles to send. */

struct outgoing {
  int rank;
  uint32_t particle;
};

/** The particles that one ORB group sends. */
struct outbox {
  struct outgoing *list;
  size_t count, capacity;
};

struct collector {
  struct fof *fof;
  struct side side;
  struct outbox *out;
  int rank;   /* rank for which particles are being collected; -1: none */
  bool *near; /* [particle of the side] is sent to this rank */
};

static void collect_marked(struct collector *c) {
  for (uint32_t i = 0; i < c->side.count && c->rank >= 0; i++) {
    if (!c->near[i]) continue;
    c->near[i] = false;
    struct outbox *out = c->out;
    if (out->count == out->capacity) {
      out->capacity = 2 * out->capacity + 256;
      out->list = reallocate(out->list, out->capacity, sizeof *out->list,
                             "particles for other ranks");
    }
    out->list[out->count++] = (struct outgoing){c->rank, c->side.first + i};
  }
}

static void mark_near(struct collector *c, uint32_t node, const struct fof_box *box) {
  const struct side *s = &c->side;
  if (fof_boxes_distance2(&s->boxes[node], box) > c->fof->length2) return;
  if (node < s->leaf_begin) {
    mark_near(c, 2 * node, box);
    mark_near(c, 2 * node + 1, box);
    return;
  }
  for (uint32_t i = node_first(s->count, node); i < node_end(s->count, node); i++) {
    const struct fof_box point = fof_point_box(s->x[0][i], s->x[1][i], s->x[2][i]);
    if (fof_boxes_distance2(&point, box) <= c->fof->length2) c->near[i] = true;
  }
}

static int rank_of_block(const struct fof *f, uint32_t block) {
  return fof_rank_of_particle(f, block_first(f->particles->all, f->particles->all_blocks, block));
}

static void meet_block(void *context, uint32_t k) {
  struct collector *c = context;
  const struct fof_leaf *met = &c->fof->met.leaf[k];
  const int rank = rank_of_block(c->fof, met->block);
  if (rank != c->rank) collect_marked(c);
  c->rank = rank;
  mark_near(c, 1, &met->box);
}

struct sending {
  struct fof *fof;
  struct outbox *boxes;
};

static void collect_block(void *context, uint32_t g) {
  const struct sending *s = context;
  struct collector c = {
      .fof = s->fof, .side = side_of_block(s->fof, g), .out = &s->boxes[g], .rank = -1};
  c.near = allocate(c.side.count, sizeof *c.near, "particles for other ranks");
  fof_tree_search(&s->fof->met, &c.side.boxes[1], s->fof->length2, 0, meet_block, &c);
  collect_marked(&c);
  free(c.near);
}

/** Exchange particles near the boundaries between ranks.
 * @return particles received; count: how many from each rank */
static struct ghost *exchange_ghosts(struct fof *f, size_t *count) {
  const struct particles *p = f->particles;
  struct sending s = {f, allocate(p->blocks, sizeof *s.boxes, "particles for other ranks")};
  loop_run(&fof_stage, (uint32_t)p->blocks, collect_block, &s);
  size_t *send_count = exchange_counts(), *next = exchange_counts();
  for (size_t g = 0; g < p->blocks; g++)
    for (size_t i = 0; i < s.boxes[g].count; i++)
      next[s.boxes[g].list[i].rank] = ++send_count[s.boxes[g].list[i].rank];
  struct ghost *ghosts = allocate(exchange_total(send_count), sizeof *ghosts,
                                  "particles for other ranks");
  exchange_begins(next);
  for (size_t g = 0; g < p->blocks; g++) {
    const struct side side = side_of_block(f, g);
    for (size_t i = 0; i < s.boxes[g].count; i++) {
      const uint32_t particle = s.boxes[g].list[i].particle, at = particle - side.first;
      ghosts[next[s.boxes[g].list[i].rank]++] = (struct ghost){
          {side.x[0][at], side.x[1][at], side.x[2][at]}, fof_head(f, particle)};
    }
    free(s.boxes[g].list);
  }
  free(s.boxes);
  struct ghost *received = exchange_records(ghosts, sizeof *ghosts, send_count, count);
  free(ghosts);
  free(send_count);
  free(next);
  return received;
}

/* Links to ghosts. */

/** A FoF group on this rank and a FoF group on another rank are the same. */
struct edge {
  uint32_t mine; /* a particle here */
  int rank;
  uint32_t other; /* a particle there */
};

struct edges {
  struct edge *list;
  size_t count;
};

/** The ghosts received from one rank. */
struct ghost_side {
  struct side side;
  int rank;
  uint64_t *order; /* head there << 32 | ghost, sorted */
};

static int compare_u64(const void *a, const void *b) {
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

/** @param first  index in f->head of the first of these ghosts */
static struct ghost_side ghost_side_begin(struct fof *f, const struct ghost *ghosts, uint32_t count,
                                          uint32_t first, int rank) {
  unsigned depth = 0;
  while (count >> depth > GHOST_LEAF) depth++;
  const char *what = "particles of other ranks";
  struct ghost_side g = {.side = {.first = first, .count = count, .leaf_begin = 1u << depth},
                         .rank = rank,
                         .order = allocate(count, sizeof *g.order, what)};
  struct side *s = &g.side;
  s->boxes = allocate(tree_nodes(depth), sizeof *s->boxes, what);
  s->whole = allocate(tree_nodes(depth), sizeof *s->whole, what);
  for (int c = 0; c < 3; c++) {
    s->x[c] = allocate(count, sizeof *s->x[c], what);
    for (uint32_t i = 0; i < count; i++) s->x[c][i] = ghosts[i].x[c];
  }
  side_fill_boxes(s, 1);
  for (uint32_t i = 0; i < count; i++) {
    f->head[first + i] = first + i;
    g.order[i] = (uint64_t)ghosts[i].head << 32 | i;
  }
  qsort(g.order, count, sizeof *g.order, compare_u64);
  for (uint32_t i = 1; i < count; i++) /* ghosts in one FoF group there are in one FoF group here */
    if (g.order[i] >> 32 == g.order[i - 1] >> 32)
      fof_unite(f, first + (uint32_t)g.order[i], first + (uint32_t)g.order[i - 1]);
  side_fill_whole(f, s, 1);
  return g;
}

static void ghost_side_end(struct ghost_side *g) {
  for (int c = 0; c < 3; c++) free(g->side.x[c]);
  free(g->side.boxes);
  free(g->side.whole);
  free(g->order);
}

struct ghost_sides {
  struct fof *fof;
  struct ghost_side *list;
  size_t count;
};

static void link_to_ghosts(void *context, uint32_t g) {
  const struct ghost_sides *ghosts = context;
  struct link l = link_begin(ghosts->fof);
  const struct side side = side_of_block(ghosts->fof, g);
  for (size_t i = 0; i < ghosts->count; i++) link_pair(&l, &side, 1, &ghosts->list[i].side, 1);
  link_end(&l);
}

/** Find the FoF groups of this rank that belong to FoF groups of other ranks. */
static struct edges find_edges(struct fof *f) {
  const uint32_t count = (uint32_t)f->particles->count;
  size_t *count_from = exchange_counts();
  struct ghost *ghosts = exchange_ghosts(f, count_from);
  const size_t all = exchange_total(count_from);
  if (count + all > UINT32_MAX)
    fail(EXIT_RUN_FAILED,
         "friends of friends: %zu particles and those around them are more than 2^32 on one rank",
         f->particles->count);
  f->head = reallocate(f->head, count + all, sizeof *f->head, "heads of groups");
  struct ghost_sides sides = {
      f, allocate((size_t)comm_size(), sizeof *sides.list, "particles of other ranks"), 0};
  size_t first = 0;
  for (int r = 0; r < comm_size(); first += count_from[r++])
    if (count_from[r] > 0)
      sides.list[sides.count++] = ghost_side_begin(f, ghosts + first, (uint32_t)count_from[r],
                                                   count + (uint32_t)first, r);
  free(ghosts);
  free(count_from);
  loop_run(&fof_stage, (uint32_t)f->particles->blocks, link_to_ghosts, &sides);
  struct edges e = {allocate(all, sizeof *e.list, "links between ranks"), 0};
  for (size_t s = 0; s < sides.count; s++) {
    struct ghost_side *g = &sides.list[s];
    for (uint32_t i = 0; i < g->side.count; i++) {
      const uint32_t other = (uint32_t)(g->order[i] >> 32),
                     mine = fof_head(f, g->side.first + (uint32_t)g->order[i]);
      if (mine < count && (i == 0 || g->order[i - 1] >> 32 != other))
        e.list[e.count++] = (struct edge){mine, g->rank, other};
    }
    ghost_side_end(g);
  }
  free(sides.list);
  return e;
}

/** Tell the other rank of each edge, and append the edges that other ranks found. */
static void mirror_edges(struct edges *e) {
  size_t *send_count = exchange_counts(), *count_from = exchange_counts();
  struct edge *mirrored = allocate(e->count, sizeof *mirrored, "links between ranks");
  for (size_t i = 0; i < e->count; i++) { /* the edges are in the order of ranks */
    mirrored[i] = (struct edge){e->list[i].other, comm_rank(), e->list[i].mine};
    send_count[e->list[i].rank]++;
  }
  struct edge *received = exchange_records(mirrored, sizeof *mirrored, send_count, count_from);
  const size_t more = exchange_total(count_from);
  e->list = reallocate(e->list, e->count + more, sizeof *e->list, "links between ranks");
  for (size_t i = 0; i < more; i++) e->list[e->count++] = received[i];
  free(received);
  free(mirrored);
  free(send_count);
  free(count_from);
}

/* Labels. */

static int compare_ranks(const void *a, const void *b) {
  const struct edge *x = a, *y = b;
  return (x->rank > y->rank) - (x->rank < y->rank);
}

static int compare_heads(const void *a, const void *b) {
  const struct fof_span *x = a, *y = b;
  return (x->head > y->head) - (x->head < y->head);
}

static int compare_labels(const void *a, const void *b) {
  const struct fof_span *x = a, *y = b;
  return x->label != y->label ? (x->label > y->label ? 1 : -1) : compare_heads(a, b);
}

/** Sort the spans by head and keep one for each head. */
static void unique_spans(struct fof *f) {
  size_t count = 0;
  qsort(f->span, f->spans, sizeof *f->span, compare_heads);
  for (size_t i = 0; i < f->spans; i++)
    if (count == 0 || f->span[i].head != f->span[count - 1].head) f->span[count++] = f->span[i];
  f->spans = count;
}

static size_t span_of(struct fof *f, uint32_t particle) {
  const struct fof_span key = {.head = fof_head(f, particle)};
  return (size_t)((struct fof_span *)bsearch(&key, f->span, f->spans, sizeof key, compare_heads) -
                  f->span);
}

struct message {
  uint64_t label;
  uint32_t particle; /* index on the receiving rank */
};

/** Send new labels to the neighbouring ranks and take lower labels from them.
 * @return whether any rank took one */
static bool spread_labels(struct fof *f, const struct edges *e, const size_t *edge_span,
                          bool *is_new) {
  size_t *send_count = exchange_counts(), *count_from = exchange_counts(), count = 0;
  struct message *send = allocate(e->count, sizeof *send, "labels of groups");
  for (size_t i = 0; i < e->count; i++) {
    if (!is_new[edge_span[i]]) continue;
    send[count++] = (struct message){f->span[edge_span[i]].label, e->list[i].other};
    send_count[e->list[i].rank]++;
  }
  for (size_t i = 0; i < f->spans; i++) is_new[i] = false;
  struct message *received = exchange_records(send, sizeof *send, send_count, count_from);
  uint64_t changes = 0;
  for (size_t i = 0; i < exchange_total(count_from); i++) {
    const size_t span = span_of(f, received[i].particle);
    if (received[i].label >= f->span[span].label) continue;
    f->span[span].label = received[i].label;
    is_new[span] = true;
    changes++;
  }
  free(received);
  free(send);
  free(send_count);
  free(count_from);
  comm_sum_u64(&changes, 1);
  return changes > 0;
}

void fof_link_ranks(struct fof *f) {
  struct edges e = find_edges(f);
  mirror_edges(&e);
  qsort(e.list, e.count, sizeof *e.list, compare_ranks);
  const uint64_t first = particles_first(f->particles);
  f->spans = e.count;
  f->span = allocate(e.count, sizeof *f->span, "labels of groups");
  for (size_t i = 0; i < e.count; i++) {
    const uint32_t head = fof_head(f, e.list[i].mine);
    f->span[i] = (struct fof_span){head, first + head};
  }
  unique_spans(f);
  size_t *edge_span = allocate(e.count, sizeof *edge_span, "labels of groups");
  bool *is_new = allocate(f->spans, sizeof *is_new, "labels of groups");
  for (size_t i = 0; i < e.count; i++) edge_span[i] = span_of(f, e.list[i].mine);
  for (size_t i = 0; i < f->spans; i++) is_new[i] = true;
  bool changed = true;
  while (changed) changed = spread_labels(f, &e, edge_span, is_new);
  free(is_new);
  free(edge_span);
  free(e.list);
  /* FoF groups that are connected only through particles of other ranks. */
  qsort(f->span, f->spans, sizeof *f->span, compare_labels);
  for (size_t i = 1; i < f->spans; i++)
    if (f->span[i].label == f->span[i - 1].label)
      fof_unite(f, f->span[i].head, f->span[i - 1].head);
  for (size_t i = 0; i < f->spans; i++) f->span[i].head = fof_head(f, f->span[i].head);
  unique_spans(f);
}
