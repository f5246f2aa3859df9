/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A sweep along x through boxes, in which the section is found by a sweep along y, and the cells of a row by one along z. */
#include "unite.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "photons/base/error.h"

void boxes_add(struct mesh_boxes *list, struct mesh_box box) {
  if (list->count == list->room) {
    list->room = 2 * list->room + 16;
    list->box = reallocate(list->box, list->room, sizeof *list->box, "boxes of cells");
  }
  list->box[list->count++] = box;
}

enum { X, Y, Z };

/** The order of first cells, from an axis on. */
static int compare(const struct mesh_box *a, const struct mesh_box *b, int axis) {
  for (int c = axis; c <= Z; c++)
    if (a->first[c] != b->first[c]) return a->first[c] < b->first[c] ? -1 : 1;
  return 0;
}

static int compare_boxes(const void *a, const void *b) { return compare(a, b, X); }

/** The same cells, from an axis on. */
static bool same(const struct mesh_box *a, const struct mesh_box *b, int axis) {
  for (int c = axis; c <= Z; c++)
    if (a->first[c] != b->first[c] || a->end[c] != b->end[c]) return false;
  return true;
}

/** Boxes in the order of their first cells from an axis on. */
struct ordered {
  const struct mesh_box **box; /* [count], with room for all */
  size_t count;
};

/** A sweep along x or y. */
struct sweep {
  struct ordered met,
      next; /* boxes at the present place; those at the next one while they are found */
  struct mesh_boxes section; /* their cells along the other axes, each once */
  size_t *open,
      *opens; /* [section] the found box that ends here with the same section; of the next section */
  size_t open_count, open_room;
};

/** Go on to the boxes that do not end at a place, and to those that begin there. @return how many these are */
static size_t move_on(struct sweep *s, int axis, uint32_t place, const struct mesh_box **begin,
                      size_t most) {
  const struct ordered *met = &s->met;
  size_t come = 0, n = 0, i = 0, k = 0;
  while (come < most && begin[come]->first[axis] == place) come++;
  while (i < met->count || k < come) {
    if (i < met->count && met->box[i]->end[axis] == place)
      i++;
    else if (k == come || (i < met->count && compare(met->box[i], begin[k], axis + 1) <= 0))
      s->next.box[n++] = met->box[i++];
    else
      s->next.box[n++] = begin[k++];
  }
  const struct mesh_box **old = met->box;
  s->met = (struct ordered){s->next.box, n};
  s->next.box = old;
  return come;
}

/** Where the first of the present boxes ends, or the next box begins: the first of those that are not met yet. */
static uint32_t next_place(const struct ordered *met, int axis, const struct ordered *boxes,
                           size_t next) {
  uint32_t place = next < boxes->count ? boxes->box[next]->first[axis] : UINT32_MAX;
  for (size_t i = 0; i < met->count; i++)
    if (met->box[i]->end[axis] < place) place = met->box[i]->end[axis];
  return place;
}

/** Add the cells of a section between two places: to a box that ends where they begin, if it has the same section. */
static void extend(struct sweep *s, int axis, uint32_t place, uint32_t end,
                   struct mesh_boxes *out) {
  const size_t count = s->section.count;
  if (count > s->open_room) {
    s->open_room = 2 * count;
    s->open = reallocate(s->open, s->open_room, sizeof *s->open, "boxes of cells");
    s->opens = reallocate(s->opens, s->open_room, sizeof *s->opens, "boxes of cells");
  }
  for (size_t i = 0, k = 0; i < count; i++) {
    struct mesh_box box = s->section.box[i];
    while (k < s->open_count && compare(&out->box[s->open[k]], &box, axis + 1) < 0) k++;
    if (k < s->open_count && same(&out->box[s->open[k]], &box, axis + 1)) {
      s->opens[i] = s->open[k];
    } else {
      s->opens[i] = out->count;
      box.first[axis] = place;
      boxes_add(out, box);
    }
    out->box[s->opens[i]].end[axis] = end;
  }
  size_t *old = s->open;
  s->open = s->opens;
  s->opens = old;
  s->open_count = count;
}

static void unite_along_z(const struct ordered *boxes, struct mesh_boxes *out) {
  out->count = 0;
  for (size_t i = 0; i < boxes->count; i++) {
    const struct mesh_box *box = boxes->box[i];
    uint32_t *end = out->count > 0 ? &out->box[out->count - 1].end[Z] : NULL;
    if (!end || *end < box->first[Z])
      boxes_add(out, *box);
    else if (*end < box->end[Z])
      *end = box->end[Z];
  }
}

/** @param sweep  those along the axis and the ones behind it */
static void unite(struct sweep *sweep, int axis, const struct ordered *boxes,
                  struct mesh_boxes *out) {
  out->count = sweep->met.count = sweep->open_count = 0;
  uint32_t place = next_place(&sweep->met, axis, boxes, 0), end;
  for (size_t k = 0; k < boxes->count || sweep->met.count > 0; place = end) {
    k += move_on(sweep, axis, place, boxes->box + k, boxes->count - k);
    end = next_place(&sweep->met, axis, boxes, k);
    if (axis + 1 == Z)
      unite_along_z(&sweep->met, &sweep->section);
    else
      unite(sweep + 1, axis + 1, &sweep->met, &sweep->section);
    extend(sweep, axis, place, end, out);
  }
}

void boxes_unite(struct mesh_boxes *list) {
  struct sweep sweep[Z] = {0};
  struct ordered all = {allocate(list->count, sizeof *all.box, "boxes of cells"), list->count};
  struct mesh_boxes out = {0};
  qsort(list->box, list->count, sizeof *list->box, compare_boxes);
  for (size_t i = 0; i < list->count; i++) all.box[i] = &list->box[i];
  for (int axis = X; axis < Z; axis++) {
    sweep[axis].met.box = allocate(list->count, sizeof *all.box, "boxes of cells");
    sweep[axis].next.box = allocate(list->count, sizeof *all.box, "boxes of cells");
  }
  unite(sweep, X, &all, &out);
  for (int axis = X; axis < Z; axis++) {
    free(sweep[axis].met.box);
    free(sweep[axis].next.box);
    free(sweep[axis].section.box);
    free(sweep[axis].open);
    free(sweep[axis].opens);
  }
  free(all.box);
  free(list->box);
  *list = out;
}
