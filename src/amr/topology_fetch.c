/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Keys that a rank asks of the owners of groups. */
#include <stdlib.h>
#include <string.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "topology_keys.h"

static bool is_covered(const struct gas_tree_level *l, struct key_range range) {
  if (l->count == 0) return true;
  if (is_in_range(l->own_range, range.begin) && range.end <= l->own_range.end) return true;
  const struct key_piece *p = piece_with(l, range.begin);
  return p && range.end <= p->range.end;
}

static void add_want(struct key_wants *w, struct key_want want) {
  if (w->count == w->room)
    w->want = reallocate(w->want, w->room = 2 * w->room + 64, sizeof *w->want, "patch groups");
  w->want[w->count++] = want;
}

void topology_want(struct key_wants *w, const struct topology *t, int level,
                   struct key_range range) {
  if (level == 0 || level > t->finest || is_covered(&t->level[level], range)) return;
  if (w->count > 0) { /* mostly wants of neighbours follow each other */
    const struct key_want *last = &w->want[w->count - 1];
    if (last->level == level && last->range.begin <= range.begin && range.end <= last->range.end)
      return;
  }
  add_want(w, (struct key_want){level, range});
}

void topology_want_keys(struct key_wants *w, const struct topology *t, int level,
                        const uint64_t *key, uint32_t count) {
  if (!t->share || comm_size() == 1) return;
  for (uint32_t i = 0; i < count; i++)
    topology_want(w, t, level, (struct key_range){key[i], key[i] + 1});
}

void topology_want_all(struct key_wants *w, struct key_wants *more) {
  for (size_t i = 0; i < more->count; i++) add_want(w, more->want[i]);
  free(more->want);
  *more = (struct key_wants){0};
}

static int compare_wants(const void *a, const void *b) {
  const struct key_want *x = a, *y = b;
  if (x->level != y->level) return x->level < y->level ? -1 : 1;
  return (x->range.begin > y->range.begin) - (x->range.begin < y->range.begin);
}

/** Let wants rise, each key once. */
static void join_wants(struct key_wants *w) {
  size_t count = 0;
  if (w->count > 1) qsort(w->want, w->count, sizeof *w->want, compare_wants);
  for (size_t i = 0; i < w->count; i++) {
    struct key_want *last = count > 0 ? &w->want[count - 1] : NULL;
    if (!last || last->level != w->want[i].level || last->range.end < w->want[i].range.begin)
      w->want[count++] = w->want[i];
    else if (last->range.end < w->want[i].range.end)
      last->range.end = w->want[i].range.end;
  }
  w->count = count;
}

/** Where the known keys end that a key is among; the key itself: it is not known. */
static uint64_t known_till(const struct gas_tree_level *l, uint64_t key) {
  if (is_in_range(l->own_range, key)) return l->own_range.end;
  const struct key_piece *p = piece_with(l, key);
  return p ? p->range.end : key;
}

/** The first rank whose range ends after a key. */
static int rank_with(const struct gas_tree_level *l, uint64_t key) {
  int low = 0, count = comm_size() - 1;
  while (count > 0) {
    const int half = count / 2;
    if (l->begin[low + half + 1] <= key) {
      low += half + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  return low;
}

/** What one rank is asked for. */
struct question {
  int rank;
  struct key_want want;
};

struct questions {
  size_t count, room;
  struct question *question;
};

static void add_question(struct questions *q, struct question new) {
  if (q->count == q->room)
    q->question = reallocate(q->question, q->room = 2 * q->room + 64, sizeof *q->question,
                             "patch groups");
  q->question[q->count++] = new;
}

/** The first key of a range, whose first one is not known, that is known already, or its end. */
static uint64_t unknown_till(const struct gas_tree_level *l, struct key_range range) {
  if (l->own_range.begin > range.begin && l->own_range.begin < range.end)
    range.end = l->own_range.begin;
  for (int use = 0; use < KEY_USES; use++) {
    const struct key_pieces *p = &l->told[use];
    const uint32_t next = pieces_till(p, range.begin);
    if (next < p->count && p->piece[next].range.begin < range.end)
      range.end = p->piece[next].range.begin;
  }
  return range.end;
}

/** Ask the owners of a range for what is not known of it. */
static void ask(struct questions *q, const struct gas_tree_level *l, struct key_want want) {
  const uint64_t end = want.range.end;
  for (uint64_t key = want.range.begin; key < end;) {
    const uint64_t known = known_till(l, key);
    if (known > key) {
      key = known;
      continue;
    }
    const int rank = rank_with(l, key);
    want.range = (struct key_range){key, unknown_till(l, (struct key_range){key, end})};
    if (l->begin[rank + 1] < want.range.end) want.range.end = l->begin[rank + 1];
    add_question(q, (struct question){rank, want});
    key = want.range.end;
  }
}

static int compare_questions(const void *a, const void *b) {
  const struct question *x = a, *y = b;
  return x->rank != y->rank ? (x->rank < y->rank ? -1 : 1) : compare_wants(&x->want, &y->want);
}

/** Things for some ranks. */
struct letters {
  struct sparse_pieces to;
  void *data;
};

static void letters_free(struct letters *l) {
  sparse_free(&l->to);
  free(l->data);
}

static struct letters letters_of(const struct questions *q) {
  struct letters l = {.data = NULL};
  struct key_want *want = l.data = allocate(q->count, sizeof *want, "patch groups");
  for (size_t i = 0; i < q->count; i++) {
    sparse_add(&l.to, q->question[i].rank, sizeof *want);
    want[i] = q->question[i].want;
  }
  return l;
}

/** The own groups in a range. */
static struct group_span own_in(const struct gas_tree_level *l, struct key_range range) {
  const uint32_t own = l->own.end - l->own.first;
  return (struct group_span){l->own.first + keys_from(l->key, own, range.begin),
                             l->own.first + keys_from(l->key, own, range.end)};
}

/** Answers: of each rank that asks the numbers of groups in each range, then their keys. */
static struct letters answers_to(const struct topology *t, const struct key_want *want,
                                 const struct sparse_pieces *from) {
  struct letters l = {.data = NULL};
  size_t asked = 0;
  for (uint32_t r = 0; r < from->ranks; r++) {
    const size_t questions = from->bytes[r] / sizeof *want;
    for (size_t i = asked; i < asked + questions; i++) {
      const struct group_span in = own_in(&t->level[want[i].level], want[i].range);
      sparse_add(&l.to, from->rank[r], sizeof in + (in.end - in.first) * sizeof(uint64_t));
    }
    asked += questions;
  }
  char *to = l.data = allocate(sparse_bytes(&l.to), 1, "patch groups");
  for (size_t r = 0, first = 0; r < from->ranks; r++) {
    const size_t end = first + from->bytes[r] / sizeof *want;
    uint64_t *key = (void *)(to + (end - first) * sizeof(struct group_span));
    struct group_span *span = (void *)to;
    for (size_t i = first; i < end; i++) {
      const struct gas_tree_level *own = &t->level[want[i].level];
      const struct group_span in = *span++ = own_in(own, want[i].range);
      if (in.end > in.first)
        memcpy(key, own->key + (in.first - own->own.first), (in.end - in.first) * sizeof *key);
      key += in.end - in.first;
    }
    to += l.to.bytes[r];
    first = end;
  }
  return l;
}

/** Send questions, and get the answers, which are in the order of the questions. */
static char *exchange(const struct topology *t, const struct questions *q) {
  struct sparse_pieces from, back;
  struct letters letters = letters_of(q);
  struct key_want *asked = comm_exchange_sparse(letters.data, &letters.to, &from);
  struct letters answers = answers_to(t, asked, &from);
  char *told = comm_exchange_sparse(answers.data, &answers.to, &back);
  sparse_free(&from);
  sparse_free(&back);
  free(asked);
  letters_free(&letters);
  letters_free(&answers);
  return told;
}

/** A piece, whose keys are in an answer. */
struct told_piece {
  int level;
  struct key_piece piece;
};

/** Find the pieces in the answers. @return [q->count] in their order; free() it */
static struct told_piece *find_told(const struct questions *q, const char *told) {
  struct told_piece *p = allocate(q->count, sizeof *p, "patch groups");
  for (size_t i = 0, end; i < q->count; i = end) {
    for (end = i; end < q->count && q->question[end].rank == q->question[i].rank;) end++;
    const struct group_span *span = (const void *)told;
    const uint64_t *key = (const void *)(span + (end - i));
    for (size_t k = i; k < end; k++, span++) {
      p[k] = (struct told_piece){q->question[k].want.level,
                                 {q->question[k].want.range, *span, key}};
      key += span->end - span->first;
    }
    told = (const void *)key;
  }
  return p;
}

static int compare_told(const void *a, const void *b) {
  const struct told_piece *x = a, *y = b;
  if (x->level != y->level) return x->level < y->level ? -1 : 1;
  return (x->piece.range.begin > y->piece.range.begin) -
         (x->piece.range.begin < y->piece.range.begin);
}

/** Add a piece at the end, or to the last one if it follows it. There is room. @param keys  so far */
static void append(struct key_pieces *all, struct key_piece p, size_t *keys) {
  struct key_piece *last = all->count > 0 ? &all->piece[all->count - 1] : NULL;
  const uint32_t count = p.groups.end - p.groups.first;
  if (count > 0) memcpy(all->key + *keys, p.key, count * sizeof *p.key);
  if (last && last->range.end == p.range.begin) {
    last->range.end = p.range.end;
    last->groups.end = p.groups.end;
  } else {
    p.key = all->key + *keys;
    all->piece[all->count++] = p;
  }
  *keys += count;
}

static size_t groups_in(const struct key_piece *p) { return p->groups.end - p->groups.first; }

/** Add pieces to others. @param told  [count] */
static void add_told(struct key_pieces *old, const struct told_piece *told, size_t count) {
  size_t keys = 0;
  uint32_t k = 0;
  for (uint32_t i = 0; i < old->count; i++) keys += groups_in(&old->piece[i]);
  for (size_t i = 0; i < count; i++) keys += groups_in(&told[i].piece);
  struct key_pieces new = {0, allocate(old->count + count, sizeof *new.piece, "patch groups"),
                           allocate(keys, sizeof *new.key, "patch groups")};
  keys = 0;
  for (size_t i = 0; i <= count; i++) {
    while (k < old->count && (i == count || old->piece[k].range.begin < told[i].piece.range.begin))
      append(&new, old->piece[k++], &keys);
    if (i < count) append(&new, told[i].piece, &keys);
  }
  pieces_free(old);
  *old = new;
}

void pieces_free(struct key_pieces *p) {
  free(p->piece);
  free(p->key);
  *p = (struct key_pieces){0};
}

struct topology topology_view(const struct topology *t) {
  struct topology view = *t;
  for (int l = 0; l <= t->finest; l++) view.level[l].told[KEYS_OF_HOST] = (struct key_pieces){0};
  return view;
}

void topology_view_free(struct topology *view) {
  for (int l = 0; l <= view->finest; l++) pieces_free(&view->level[l].told[KEYS_OF_HOST]);
}

void fetch_keys(struct topology *t, struct key_wants *w, enum key_use use) {
  struct questions q = {0};
  if (t->share && comm_size() > 1) {
    join_wants(w);
    for (size_t i = 0; i < w->count; i++) ask(&q, &t->level[w->want[i].level], w->want[i]);
    if (q.count > 1) qsort(q.question, q.count, sizeof *q.question, compare_questions);
    char *told = exchange(t, &q);
    struct told_piece *piece = find_told(&q, told);
    if (q.count > 1) qsort(piece, q.count, sizeof *piece, compare_told);
    for (size_t i = 0, end; i < q.count; i = end) {
      for (end = i; end < q.count && piece[end].level == piece[i].level;) end++;
      add_told(&t->level[piece[i].level].told[use], piece + i, end - i);
    }
    free(piece);
    free(told);
    free(q.question);
  }
  free(w->want);
  *w = (struct key_wants){0};
}

void topology_fetch(struct topology *t, struct key_wants *w) { fetch_keys(t, w, KEYS_OF_HOST); }
