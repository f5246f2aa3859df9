/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What changes its place: patches and pieces of the mesh, and groups that change owners. */
#include <stdlib.h>
#include <string.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/domain/simulation.h"

static bool is_own(const struct group *g) { return g->owner == comm_rank(); }

/** Runs of planes first .. that one process has. @param own  those of the group's own process too */
static uint32_t cut_planes(const struct group *g, uint32_t first, uint32_t planes, bool own, struct mesh_piece *piece) {
  const struct simulation *s = g->simulation;
  uint32_t n = 0;
  int last = -1; /* who has the plane before */
  for (uint32_t i = 0; i < planes; i++) {
    const uint32_t plane = (first + i) % s->mesh->cells;
    const int process = slab_owner(s, slab_of_plane(s->mesh, plane));
    if (own || process != g->owner) {
      if (process == last)
        piece[n - 1].planes++;
      else
        piece[n++] = (struct mesh_piece){.process = process, .first = plane, .planes = 1};
    }
    last = process;
  }
  return n;
}

/** Replace a group's pieces by those now wanted, of so many floats a plane; handles that fit stay. */
static void place_pieces(const struct group *g, struct mesh_pieces *pieces, struct mesh_piece *now, uint32_t count,
                         size_t plane) {
  const uint32_t sets = g->simulation->sets;
  for (uint32_t k = count; k < pieces->count; k++)
    for (uint32_t set = 0; set < sets; set++) handle_drop(&pieces->piece[k].handle[set]);
  pieces->piece = reallocate(pieces->piece, count, sizeof *pieces->piece, "pieces of the mesh");
  for (uint32_t k = 0; k < count; k++) {
    if (k < pieces->count) memcpy(now[k].handle, pieces->piece[k].handle, sizeof now[k].handle);
    for (uint32_t set = 0; set < sets; set++)
      if (is_own(g) || now[k].process == comm_rank())
        handle_fit(&now[k].handle[set], now[k].planes * plane);
      else
        handle_drop(&now[k].handle[set]);
    pieces->piece[k] = now[k];
  }
  pieces->count = count;
}

/** Nothing of the fields is cut where a group's own process has all the planes that it reads. */
static void place_group(struct group *g, struct mesh_piece *now) {
  const struct mesh *m = g->simulation->mesh;
  uint32_t count = cut_planes(g, g->patch.origin[0], g->patch.size[0], false, now);
  place_pieces(g, &g->sent, now, count, (size_t)g->patch.size[1] * g->patch.size[2]);
  g->field_box = field_box_for_patch(m, &g->patch);
  count = cut_planes(g, g->field_box.first, g->field_box.planes, true, now);
  if (count == 1 && now[0].process == g->owner) count = 0;
  place_pieces(g, &g->read, now, count, m->fields * field_box_floats(&g->field_box));
}

/** A run of planes, modulo N. */
struct planes {
  uint32_t first, count;
};

static struct planes own_planes(const struct simulation *s) {
  const struct mesh *m = s->mesh;
  struct planes own = {0, 0};
  for (uint32_t slab = 0; slab < m->slabs; slab++) {
    if (slab_owner(s, slab) != comm_rank()) continue;
    if (own.count == 0) own.first = slab_first(m, slab);
    own.count += slab_first(m, slab + 1) - slab_first(m, slab);
  }
  return own;
}

/** Does a group deposit to or read any of them? */
static bool reads_planes(const struct group *g, struct planes own) {
  const struct mesh *m = g->simulation->mesh;
  const struct field_box box = field_box_for_patch(m, &g->patch);
  return own.count > 0 && ((own.first + m->cells - box.first) % m->cells < box.planes ||
                           (box.first + m->cells - own.first) % m->cells < own.count);
}

void simulation_place(struct simulation *s) {
  struct mesh_piece *now = allocate(s->mesh->cells, sizeof *now, "pieces of the mesh");
  const struct planes own = own_planes(s);
  for (uint32_t i = 0; i < s->group_count; i++) {
    struct group *g = &s->groups[i];
    for (uint32_t set = 0; set < s->sets && is_own(g); set++) handle_fit(&g->patch_handle[set], patch_cells(&g->patch));
    if (comm_size() == 1) continue;
    if (is_own(g) || reads_planes(g, own)) {
      place_group(g, now);
    } else {
      group_leave_mesh(g); /* of no concern here */
    }
  }
  free(now);
}

/** One array of `size` bytes a particle, in blocks, to the new owners. */
static void *hand_over(void *old, const size_t *particles, size_t count, size_t size) {
  const size_t processes = (size_t)comm_size();
  size_t *bytes = allocate(2 * processes, sizeof *bytes, "message sizes");
  for (size_t i = 0; i < 2 * processes; i++) bytes[i] = particles[i] * size;
  void *new = allocate(count, size, "particles of this process");
  comm_exchange(old, bytes, new, bytes + processes);
  free(bytes);
  free(old);
  return new;
}

/** Particles that two ranges of groups have in common. */
static size_t common(const struct simulation *s, uint32_t first, uint32_t end, uint32_t other_first,
                     uint32_t other_end) {
  const uint32_t low = first > other_first ? first : other_first, high = end < other_end ? end : other_end;
  if (low >= high) return 0;
  const struct particles *p = &s->particles;
  return block_first(p->all, p->all_blocks, high) - block_first(p->all, p->all_blocks, low);
}

void simulation_migrate(struct simulation *s, const uint32_t *owner_first) {
  struct particles *p = &s->particles;
  const int processes = comm_size(), me = comm_rank();
  simulation_unregister(s);
  size_t *moved = allocate(2 * (size_t)processes, sizeof *moved, "message sizes");
  for (int r = 0; r < processes; r++) {
    moved[r] = common(s, group_first(s, me), group_first(s, me + 1), owner_first[r], owner_first[r + 1]);
    moved[processes + r] = common(s, group_first(s, r), group_first(s, r + 1), owner_first[me], owner_first[me + 1]);
  }
  p->first_block = owner_first[me];
  p->blocks = owner_first[me + 1] - owner_first[me];
  p->count = block_first(p->all, p->all_blocks, owner_first[me + 1]) - particles_first(p);
  p->position = hand_over(p->position, moved, p->count, 3 * sizeof *p->position);
  p->momentum = hand_over(p->momentum, moved, p->count, 3 * sizeof *p->momentum);
  p->acceleration = hand_over(p->acceleration, moved, p->count, 3 * sizeof *p->acceleration);
  p->id = hand_over(p->id, moved, p->count, sizeof *p->id);
  free(moved);
  if (!s->owner_first) s->owner_first = allocate((size_t)processes + 1, sizeof *s->owner_first, "owners of groups");
  memcpy(s->owner_first, owner_first, ((size_t)processes + 1) * sizeof *owner_first);
  for (uint32_t i = 0; i < s->group_count; i++) s->groups[i].owner = group_owner(s, i);
  simulation_register(s);
}
