/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where groups lie on the mesh: their patches, and the pieces of the mesh that ranks exchange. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/base/kept.h"
#include "photons/mesh/long_range.h"
#include "photons/runtime/handle.h"
#include "photons/runtime/loop.h"

LOOP_STAGE(patches, 0xbb99bb, .family = "pm");

/** The rank that owns item i of n when items are dealt out evenly. */
static int dealt_to(uint32_t n, uint32_t i) {
  return (int)((((uint64_t)i + 1) * (uint64_t)comm_size() + n - 1) / n - 1);
}
int slab_owner(const struct mesh *m, uint32_t slab) { return dealt_to(m->slabs, slab); }
int column_owner(const struct mesh *m, uint32_t column) { return dealt_to(m->columns, column); }

static bool is_own(const struct group *g) { return g->owner == comm_rank(); }

static void drop_handles(struct mesh_piece *piece) {
  for (uint32_t set = 0; set < SETS_MOST; set++) handle_drop(&piece->handle[set]);
}

static void leave_pieces(struct mesh_pieces *pieces) {
  for (uint32_t k = 0; k < pieces->count; k++) drop_handles(&pieces->piece[k]);
  free(pieces->piece);
}

/** Free the patch and the pieces of a group. */
static void leave(struct group_cells *c) {
  for (uint32_t set = 0; set < SETS_MOST; set++) handle_drop(&c->patch_handle[set]);
  leave_pieces(&c->sent);
  leave_pieces(&c->read);
}

void long_range_leave(struct long_range *l) {
  FOR_CELLS(l, c) leave(c);
  free(l->met.cells);
  l->met = (struct cells_list){0};
}

/** Cut planes first .. into runs of planes that one rank owns.
 * @param own  include the planes of the group's own rank */
static uint32_t cut_planes(const struct mesh *m, const struct group *g, uint32_t first,
                           uint32_t planes, bool own, struct mesh_piece *piece) {
  uint32_t n = 0;
  int last = -1; /* owner of the plane before */
  for (uint32_t i = 0; i < planes; i++) {
    const uint32_t plane = (first + i) % m->cells;
    const int rank = slab_owner(m, slab_of_plane(m, plane));
    if (own || rank != g->owner) {
      if (rank == last)
        piece[n - 1].planes++;
      else
        piece[n++] = (struct mesh_piece){.rank = rank, .first = plane, .planes = 1};
    }
    last = rank;
  }
  return n;
}

/** Replace the pieces of a group by new ones with the given number of floats a plane. Handles of
 * unchanged pieces are kept. */
static void place_pieces(const struct long_range *l, const struct group *g,
                         struct mesh_pieces *pieces, struct mesh_piece *now, uint32_t count,
                         size_t plane) {
  for (uint32_t k = count; k < pieces->count; k++) drop_handles(&pieces->piece[k]);
  pieces->piece = reallocate(pieces->piece, count, sizeof *pieces->piece, "pieces of the mesh");
  for (uint32_t k = 0; k < count; k++) {
    if (k < pieces->count) memcpy(now[k].handle, pieces->piece[k].handle, sizeof now[k].handle);
    for (uint32_t set = 0; set < set_places(l); set++)
      if (is_own(g) || now[k].rank == comm_rank())
        handle_fit(&now[k].handle[set], now[k].planes * plane);
      else
        handle_drop(&now[k].handle[set]);
    pieces->piece[k] = now[k];
  }
  pieces->count = count;
}

/** Find a group's patch and pieces. No field planes are copied where the group's own rank owns all
 * that the group reads. */
static void place_group(const struct long_range *l, const struct group *g, struct group_cells *c,
                        struct mesh_piece *now) {
  const struct mesh *m = l->mesh;
  uint32_t count = cut_planes(m, g, c->patch.origin[0], c->patch.size[0], false, now);
  place_pieces(l, g, &c->sent, now, count, (size_t)c->patch.size[1] * c->patch.size[2]);
  c->field_box = field_box_for_patch(m, &c->patch);
  count = cut_planes(m, g, c->field_box.first, c->field_box.planes, true, now);
  if (count == 1 && now[0].rank == g->owner) count = 0;
  place_pieces(l, g, &c->read, now, count, m->fields * field_box_floats(&c->field_box));
}

/** A run of planes, modulo N. */
struct planes {
  uint32_t first, count;
};

static struct planes own_planes(const struct long_range *l) {
  const uint32_t first = slab_first(l->mesh, l->own_slabs.first);
  return (struct planes){first, slab_first(l->mesh, l->own_slabs.end) - first};
}

/** Does a group deposit to or read any of these planes? */
static bool reads_planes(const struct mesh *m, const struct patch *patch, struct planes own) {
  const struct field_box box = field_box_for_patch(m, patch);
  return own.count > 0 && ((own.first + m->cells - box.first) % m->cells < box.planes ||
                           (box.first + m->cells - own.first) % m->cells < own.count);
}

enum { TASKS = 64, GROUPS_EACH_LEAST = 16 };

/** The search for groups that this rank meets. Each task looks at some of all groups. */
struct search {
  const struct long_range *l;
  struct planes own;
  uint32_t tasks;
  struct cells_list found[TASKS];
};

static void add_cells(struct cells_list *list, const struct group_cells *c) {
  if (list->count == list->room) {
    list->room = 2 * list->room + 16;
    list->cells = reallocate(list->cells, list->room, sizeof *list->cells, "groups on the mesh");
  }
  list->cells[list->count++] = *c;
}

static struct patch find_patch(const struct long_range *l, const struct node *root) {
  double half[3];
  for (int c = 0; c < 3; c++)
    half[c] = fmin((double)root->half[c] / (double)l->domain->geometry.scale, 0.5 * POSITION_TURN);
  return patch_for_box(l->mesh, root->centre, half);
}

static void find_cells(void *context, uint32_t task) {
  struct search *s = context;
  const size_t groups = s->l->domain->group_count;
  for (size_t i = block_first(groups, s->tasks, task); i < block_first(groups, s->tasks, task + 1);
       i++) {
    const struct group *g = &s->l->domain->groups[i];
    const struct group_cells c = {.group = g->index, .patch = find_patch(s->l, &g->root)};
    if (is_own(g) || reads_planes(s->l->mesh, &c.patch, s->own)) add_cells(&s->found[task], &c);
  }
}

/** The groups that this rank meets, without handles. */
static struct cells_list find_met(const struct long_range *l) {
  const bool few = l->domain->group_count < TASKS * GROUPS_EACH_LEAST;
  struct search s = {.l = l, .own = own_planes(l), .tasks = few ? 1 : TASKS};
  struct cells_list met = {0};
  loop_run(&patches_stage, s.tasks, find_cells, &s);
  for (uint32_t task = 0; task < s.tasks; task++) {
    for (uint32_t k = 0; k < s.found[task].count; k++) add_cells(&met, &s.found[task].cells[k]);
    free(s.found[task].cells);
  }
  return met;
}

/** Groups that were met before keep their handles. Both lists have rising groups. */
static void replace_met(struct long_range *l, struct cells_list now) {
  uint32_t k = 0;
  FOR_CELLS(l, before) {
    while (k < now.count && now.cells[k].group < before->group) k++;
    if (k == now.count || now.cells[k].group != before->group) {
      leave(before);
      continue;
    }
    const struct patch patch = now.cells[k].patch;
    now.cells[k] = *before;
    now.cells[k].patch = patch;
  }
  free(l->met.cells);
  l->met = now;
  for (l->own = 0; l->own < now.count; l->own++)
    if (now.cells[l->own].group == group_first(l->domain, comm_rank())) break;
}

/** Make room for a patch: on cores in that part of the mesh's memory which is empty as long as
 * there are patches. The fields come into this part after every density is transformed, and with it
 * all patches are added.
 * @param[in,out] at  bytes of the mesh's memory that are taken */
static void place_patch(const struct long_range *l, size_t cells, starpu_data_handle_t *handle,
                        size_t *at) {
  const size_t end = *at + mesh_memory_room(cells * sizeof(float));
  if (l->memory.bytes == 0) {
    handle_fit(handle, cells);
    return;
  }
  handle_drop(handle);
  if (end > l->memory.bytes) {
    *handle = handle_make(cells, sizeof(float));
    return;
  }
  *handle = handle_register(l->memory.start + *at, cells, sizeof(float));
  *at = end;
}

static void count_kept(const struct long_range *l) {
  size_t pieces = 0;
  FOR_CELLS(l, c) pieces += c->sent.count + c->read.count;
  kept_set(KEPT_PIECES, pieces * sizeof(struct mesh_piece));
  kept_set(KEPT_CELLS, l->met.count * sizeof *l->met.cells);
}

void long_range_place(struct long_range *l) {
  struct mesh_piece *now = allocate(l->mesh->cells, sizeof *now, "pieces of the mesh");
  size_t at = l->patches_begin;
  replace_met(l, find_met(l));
  FOR_CELLS(l, c) {
    const struct group *g = &l->domain->groups[c->group];
    for (uint32_t set = 0; set < set_places(l) && is_own(g); set++)
      place_patch(l, patch_cells(&c->patch), &c->patch_handle[set], &at);
    if (comm_size() > 1) place_group(l, g, c, now);
  }
  free(now);
  count_kept(l);
}
