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

/** Free the patch and the pieces of a group. */
static void leave(struct group_cells *c) {
  for (uint32_t set = 0; set < SETS_MOST; set++) handle_drop(&c->patch_handle[set]);
  for (uint32_t k = 0; k < c->sent.count; k++) drop_handles(&c->sent.piece[k]);
  for (uint32_t k = 0; k < c->read.count; k++) drop_handles(&c->read.piece[k]);
  c->sent.count = c->read.count = 0;
}

void long_range_leave(struct long_range *l) {
  for (uint32_t i = 0; i < l->domain->group_count; i++) leave(&l->groups[i]);
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

static struct planes own_planes(const struct mesh *m) {
  struct planes own = {0, 0};
  for (uint32_t slab = 0; slab < m->slabs; slab++) {
    if (slab_owner(m, slab) != comm_rank()) continue;
    if (own.count == 0) own.first = slab_first(m, slab);
    own.count += slab_first(m, slab + 1) - slab_first(m, slab);
  }
  return own;
}

/** Does a group deposit to or read any of these planes? */
static bool reads_planes(const struct mesh *m, const struct patch *patch, struct planes own) {
  const struct field_box box = field_box_for_patch(m, patch);
  return own.count > 0 && ((own.first + m->cells - box.first) % m->cells < box.planes ||
                           (box.first + m->cells - own.first) % m->cells < own.count);
}

enum { TASKS = 64, GROUPS_EACH_LEAST = 16 };

static uint32_t task_count(const struct long_range *l) {
  return l->domain->group_count < TASKS * GROUPS_EACH_LEAST ? 1 : TASKS;
}

static void find_patches(void *context, uint32_t task) {
  struct long_range *l = context;
  const size_t groups = l->domain->group_count, tasks = task_count(l);
  for (size_t i = block_first(groups, tasks, task); i < block_first(groups, tasks, task + 1); i++) {
    const struct node *root = &l->domain->groups[i].root;
    double half[3];
    for (int c = 0; c < 3; c++)
      half[c] = fmin((double)root->half[c] / (double)l->domain->geometry.scale,
                     0.5 * POSITION_TURN);
    l->groups[i].patch = patch_for_box(l->mesh, root->centre, half);
  }
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

static void count_pieces(const struct long_range *l) {
  size_t pieces = 0;
  for (uint32_t i = 0; i < l->domain->group_count; i++)
    pieces += l->groups[i].sent.count + l->groups[i].read.count;
  kept_set(KEPT_PIECES, pieces * sizeof(struct mesh_piece));
}

void long_range_place(struct long_range *l) {
  struct mesh_piece *now = allocate(l->mesh->cells, sizeof *now, "pieces of the mesh");
  const struct planes own = own_planes(l->mesh);
  size_t at = l->patches_begin;
  loop_run(&patches_stage, task_count(l), find_patches, l);
  for (uint32_t i = 0; i < l->domain->group_count; i++) {
    const struct group *g = &l->domain->groups[i];
    struct group_cells *c = &l->groups[i];
    for (uint32_t set = 0; set < set_places(l) && is_own(g); set++)
      place_patch(l, patch_cells(&c->patch), &c->patch_handle[set], &at);
    if (comm_size() == 1) continue;
    if (is_own(g) || reads_planes(l->mesh, &c->patch, own))
      place_group(l, g, c, now);
    else
      leave(c); /* this rank is neither end of the group's pieces */
  }
  free(now);
  count_pieces(l);
}
