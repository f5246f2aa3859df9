/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "halo_members.h"

#include <stdlib.h>
#include <string.h>

#include "photons/base/error.h"
#include "photons/domain/geometry.h"

enum {
  BYTE = 8, /* bits of an id that members are sorted by at a time */
  VALUES = 1 << BYTE,
  /* Members that mostly follow each other in memory have one fetch, and no halo has more than fit into a core's cache. */
  PREFETCH_EACH = 8,
  PREFETCH_MOST = 1 << 13
};

/** An element of home->member by its id. */
struct ranked {
  uint64_t id;
  uint32_t member;
};

uint64_t halo_member_id(const struct halo_home *home, uint32_t member) {
  const struct particles *s = home->fof->particles;
  return member < s->count ? s->id[member] : home->guest[member - s->count].id;
}

/** A member where it is stored. */
struct place {
  const uint32_t *x[3];
  const float *p[3];
};

/** @param block  the member's ORB group is stored here; on entry any ORB group of this rank, or an
 *         empty one */
static struct place place_of(const struct halo_home *home, uint32_t member,
                             struct particle_block *block) {
  const struct particles *s = home->fof->particles;
  if (member >= s->count) {
    const struct guest *g = &home->guest[member - s->count];
    return (struct place){{&g->x[0], &g->x[1], &g->x[2]}, {&g->p[0], &g->p[1], &g->p[2]}};
  }
  halo_find_block(s, member, block);
  const size_t at = member - block->first;
  return (struct place){{block->x[0] + at, block->x[1] + at, block->x[2] + at},
                        {block->p[0] + at, block->p[1] + at, block->p[2] + at}};
}

struct halo_columns halo_columns_create(void) {
  return (struct halo_columns){.kernels = halo_kernels_select()};
}

void halo_columns_free(struct halo_columns *m) {
  free(m->x[0]);
  free(m->p[0]);
  free(m->inside);
}

static void make_room(struct halo_columns *m, size_t count) {
  if (count <= m->room) return;
  static const char what[] = "halo members";
  m->room = count + count / 2;
  halo_columns_free(m); /* what they contain is no longer needed */
  m->x[0] = reallocate(NULL, 6 * m->room, sizeof *m->x[0], what);
  m->p[0] = reallocate(NULL, 3 * m->room, sizeof *m->p[0], what);
  m->inside = reallocate(NULL, m->room, sizeof *m->inside, what);
  for (size_t c = 0; c < 3; c++) {
    m->x[c] = m->x[0] + c * m->room;
    m->p[c] = m->p[0] + c * m->room;
    m->left[c] = m->x[0] + (3 + c) * m->room;
  }
}

void halo_columns_prefetch(const struct halo_home *home, const struct halo *h) {
  struct particle_block block = {.count = 0};
  for (size_t i = 0; i < h->count && i < PREFETCH_MOST; i += PREFETCH_EACH) {
    const struct place place = place_of(home, home->member[h->first + i], &block);
    for (int c = 0; c < 3; c++) {
      __builtin_prefetch(place.x[c]);
      __builtin_prefetch(place.p[c]);
    }
  }
}

/** The first member by x, y and z. */
static size_t first_by_position(const struct halo_columns *m) {
  size_t first = 0;
  for (size_t i = 1; i < m->count; i++) {
    int c = 0;
    while (c < 2 && m->x[c][i] == m->x[c][first]) c++;
    if (m->x[c][i] < m->x[c][first]) first = i;
  }
  return first;
}

void halo_columns_read(struct halo_columns *m, const struct halo_home *home, const struct halo *h) {
  const uint32_t *member = home->member + h->first;
  make_room(m, h->count);
  m->count = h->count;
  struct particle_block block = {.count = 0};
  for (size_t i = 0; i < m->count; i++) {
    const struct place place = place_of(home, member[i], &block);
    for (int c = 0; c < 3; c++) m->x[c][i] = *place.x[c], m->p[c][i] = *place.p[c];
  }
  const size_t reference = first_by_position(m);
  for (int c = 0; c < 3; c++) {
    m->reference[c] = m->x[c][reference];
    for (size_t i = 0; i < m->count; i++) m->x[c][i] -= m->reference[c];
  }
}

/** Sort by id: by one byte after the other, the lowest first, without those that all ids have in common.
 * @param room  for n more @return r or room, whichever has the result */
static struct ranked *sort_by_id(size_t n, struct ranked *r, struct ranked *room) {
  uint64_t different = 0;
  for (size_t i = 1; i < n; i++) different |= r[i].id ^ r[0].id;
  for (unsigned shift = 0; shift < 64; shift += BYTE) {
    size_t place[VALUES + 1] = {0};
    if ((different >> shift) % VALUES == 0) continue;
    for (size_t i = 0; i < n; i++) place[(r[i].id >> shift) % VALUES + 1]++;
    for (size_t v = 0; v < VALUES; v++) place[v + 1] += place[v];
    for (size_t i = 0; i < n; i++) room[place[(r[i].id >> shift) % VALUES]++] = r[i];
    struct ranked *const swap = r;
    r = room;
    room = swap;
  }
  return r;
}

void halo_members_sort(const struct halo_home *home, const struct halo *h) {
  const size_t n = h->count;
  uint32_t *member = home->member + h->first;
  struct ranked *ranked = reallocate(NULL, 2 * n, sizeof *ranked, "halo members");
  for (size_t i = 0; i < n; i++)
    ranked[i] = (struct ranked){halo_member_id(home, member[i]), member[i]};
  const struct ranked *order = sort_by_id(n, ranked, ranked + n);
  for (size_t i = 0; i < n; i++) member[i] = order[i].member;
  free(ranked);
}

struct halo_body *halo_bodies(const struct halo_home *home, const struct halo *h, double a) {
  const double box = home->fof->particles->box, unit = box / POSITION_TURN;
  struct halo_body *body = allocate(h->count, sizeof *body, "halo members");
  struct particle_block block = {.count = 0};
  uint32_t peak[3];
  for (size_t c = 0; c < 3; c++) peak[c] = position_to_integer(h->centre[c], box);
  for (size_t i = 0; i < h->count; i++) {
    const struct place place = place_of(home, home->member[h->first + i], &block);
    for (size_t c = 0; c < 3; c++) {
      body[i].x[c] = unit * (double)position_difference(*place.x[c], peak[c]);
      body[i].v[c] = (double)*place.p[c] / a;
    }
  }
  return body;
}
