/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "halo_members.h"

#include <stdlib.h>
#include <string.h>

#include "photons/base/error.h"
#include "photons/domain/geometry.h"

enum { RUN = 8 }; /* members that are sorted by insertion, before runs are merged */

/** A member by its id, and its place in the list of members. */
struct ranked {
  uint64_t id;
  uint32_t place, member; /* member: what was at that place */
};

uint64_t halo_member_id(const struct halo_home *home, uint32_t member) {
  const struct particles *s = home->fof->particles;
  return member < s->count ? s->id[member] : home->guest[member - s->count].id;
}

/** @param block  the member's ORB group is stored here; on entry any ORB group of this rank, or an
 *         empty one */
static struct halo_member member_of(const struct halo_home *home, uint32_t member,
                                    struct particle_block *block) {
  const struct particles *s = home->fof->particles;
  if (member >= s->count) {
    const struct guest *g = &home->guest[member - s->count];
    return (struct halo_member){{g->x[0], g->x[1], g->x[2]}, {g->p[0], g->p[1], g->p[2]}};
  }
  halo_find_block(s, member, block);
  const size_t at = member - block->first;
  return (struct halo_member){{block->x[0][at], block->x[1][at], block->x[2][at]},
                              {block->p[0][at], block->p[1][at], block->p[2][at]}};
}

struct halo_member *halo_members_read(const struct halo_home *home, const struct halo *h) {
  const uint32_t *member = home->member + h->first;
  struct halo_member *read = allocate(h->count, sizeof *read, "halo members");
  struct particle_block block = {.count = 0};
  for (size_t i = 0; i < h->count; i++) read[i] = member_of(home, member[i], &block);
  return read;
}

static void insert_each(size_t n, struct ranked *r) {
  for (size_t i = 1; i < n; i++) {
    const struct ranked one = r[i];
    size_t k = i;
    for (; k > 0 && r[k - 1].id > one.id; k--) r[k] = r[k - 1];
    r[k] = one;
  }
}

/** Merge two sorted runs that follow each other. */
static void merge(const struct ranked *a, size_t first, size_t second, struct ranked *to) {
  const struct ranked *b = a + first, *end_a = b, *end_b = b + second;
  while (a < end_a && b < end_b) {
    const bool from_b = b->id < a->id;
    *to++ = *(from_b ? b : a);
    b += from_b;
    a += !from_b;
  }
  memcpy(to, a, (size_t)(end_a - a) * sizeof *a);
  memcpy(to + (end_a - a), b, (size_t)(end_b - b) * sizeof *b);
}

static size_t at_most(size_t a, size_t b) { return a < b ? a : b; }

/** Sort by id. @param room  for n more @return r or room, whichever has the result */
static struct ranked *sort_by_id(size_t n, struct ranked *r, struct ranked *room) {
  for (size_t i = 0; i < n; i += RUN) insert_each(at_most(RUN, n - i), r + i);
  for (size_t run = RUN; run < n; run *= 2) {
    for (size_t i = 0; i < n; i += 2 * run) {
      const size_t first = at_most(run, n - i);
      merge(r + i, first, at_most(run, n - i - first), room + i);
    }
    struct ranked *const swap = r;
    r = room;
    room = swap;
  }
  return r;
}

struct halo_member *halo_members_sort(const struct halo_home *home, const struct halo *h) {
  const size_t n = h->count;
  uint32_t *member = home->member + h->first;
  struct halo_member *read = halo_members_read(home, h),
                     *sorted = allocate(n, sizeof *sorted, "halo members");
  struct ranked *ranked = allocate(2 * n, sizeof *ranked, "halo members");
  for (size_t i = 0; i < n; i++)
    ranked[i] = (struct ranked){halo_member_id(home, member[i]), (uint32_t)i, member[i]};
  const struct ranked *order = sort_by_id(n, ranked, ranked + n);
  for (size_t i = 0; i < n; i++) {
    sorted[i] = read[order[i].place];
    member[i] = order[i].member;
  }
  free(ranked);
  free(read);
  return sorted;
}

struct halo_body *halo_bodies(const struct halo *h, const struct halo_member *member, double box,
                              double a) {
  const double unit = box / POSITION_TURN;
  struct halo_body *body = allocate(h->count, sizeof *body, "halo members");
  uint32_t peak[3];
  for (size_t c = 0; c < 3; c++) peak[c] = position_to_integer(h->centre[c], box);
  for (size_t i = 0; i < h->count; i++)
    for (size_t c = 0; c < 3; c++) {
      body[i].x[c] = unit * (double)position_difference(member[i].x[c], peak[c]);
      body[i].v[c] = (double)member[i].p[c] / a;
    }
  return body;
}
