/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where groups lie on the mesh: their patches, the pieces of them that ranks exchange, and the cells that groups read. */
#include <stdlib.h>

#include "fields.h"
#include "met.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/base/kept.h"
#include "photons/mesh/long_range.h"
#include "photons/runtime/handle.h"
#include "pieces.h"

enum {
  ALIGNED = 16 /* floats: a piece in a message begins at a cache line, as memory of its own would */
};

static bool is_own(const struct group_cells *c) { return c->owner == comm_rank(); }

/** Free the patch and the pieces of a group. */
static void leave(struct group_cells *c) {
  for (uint32_t set = 0; set < SETS_MOST; set++) handle_drop(&c->patch_handle[set]);
  free(c->sent.piece);
  free(c->reads);
}

void long_range_leave(struct long_range *l) {
  messages_free(&l->patch_messages);
  messages_free(&l->field_messages);
  FOR_CELLS(l, c) leave(c);
  free(l->met.cells);
  l->met = (struct cells_list){0};
}

/** Keep those pieces of a group of which this rank is one of the ends. */
static void place_pieces(struct mesh_pieces *pieces, int owner, const struct mesh_piece *now,
                         uint32_t count) {
  const int me = comm_rank();
  pieces->count = 0;
  for (uint32_t k = 0; k < count; k++) pieces->count += owner == me || now[k].rank == me;
  pieces->piece = reallocate(pieces->piece, pieces->count, sizeof *now, "pieces of the mesh");
  for (uint32_t k = 0, n = 0; k < count; k++)
    if (owner == me || now[k].rank == me) pieces->piece[n++] = now[k];
}

/** Find the pieces of a group's patch, and the cells that the group reads. */
static void place_group(const struct long_range *l, struct group_cells *c, struct mesh_piece *now) {
  place_pieces(&c->sent, c->owner, now, cut_patch(l->mesh, &c->patch, c->owner, now));
  c->field_box = field_box_for_patch(l->mesh, &c->patch);
}

/** Add the pieces of a group's patch that this rank sends or receives. */
static void add_pieces(const struct long_range *l, uint32_t cells, struct listing *patches) {
  const struct group_cells *c = &l->met.cells[cells];
  for (uint32_t k = 0; k < c->sent.count; k++) {
    struct mesh_piece *p = &c->sent.piece[k];
    const size_t floats = (size_t)p->planes * p->ys * c->patch.size[2];
    struct mesh_message *message = messages_with_room(patches, c->owner, p->rank, floats);
    p->message = (uint32_t)(message - patches->list->message);
    p->at = message->floats;
    *(struct piece_place *)message_add_part(patches, message,
                                            (floats + ALIGNED - 1) / ALIGNED *
                                                ALIGNED) = (struct piece_place){cells, k};
  }
}

/** Put the pieces of all groups into messages. */
static void place_messages(struct long_range *l) {
  struct listing patches = messages_begin(&l->patch_messages, sizeof(struct piece_place),
                                          MESH_MESSAGE_MOST);
  for (uint32_t k = 0; k < l->met.count; k++) add_pieces(l, k, &patches);
  messages_end(&patches, set_places(l));
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
  FOR_CELLS(l, c) pieces += c->sent.count;
  kept_set(KEPT_PIECES, pieces * sizeof(struct mesh_piece) +
                            messages_bytes(&l->patch_messages, sizeof(struct piece_place)) +
                            fields_bytes(l));
  kept_set(KEPT_CELLS, l->met.count * sizeof *l->met.cells);
}

void long_range_place(struct long_range *l) {
  struct mesh_piece *now = allocate(pieces_most(l->mesh), sizeof *now, "pieces of the mesh");
  size_t at = l->patches_begin;
  replace_met(l, find_met(l));
  FOR_CELLS(l, c) {
    for (uint32_t set = 0; set < set_places(l) && is_own(c); set++)
      place_patch(l, patch_cells(&c->patch), &c->patch_handle[set], &at);
    if (comm_size() > 1) place_group(l, c, now);
  }
  free(now);
  place_messages(l);
  if (comm_size() > 1) fields_place(l);
  count_kept(l);
}
