/* SPDX-License-Identifier: GPL-3.0-or-later */
/* patch_cut: copies the planes of this rank's patches that overlap the slabs of another rank into one
 * message to that rank.
 *
 * reads  patches
 * writes the message */
#include <stdlib.h>
#include <string.h>

#include "codelets/runtime/task.h"
#include "cuda/mesh/gpu_mesh.h"
#include "photons/base/error.h"
#include "photons/mesh/codelets.h"
#include "photons/runtime/message.h"

struct patch_cut_argument {
  const struct long_range *l;
  const struct mesh_message *message;
};
enum { MESSAGE, PATCHES };

static double patch_cut_work(const struct patch_cut_argument *a) {
  return (double)a->message->floats;
}

/** Whether a part is of another group than the part before: parts of a group are one after the other. */
static bool begins_group(const struct mesh_message *message, uint32_t i) {
  return i == 0 || message->part[i].cells != message->part[i - 1].cells;
}

/** Where a part of the message comes from. */
struct cut {
  size_t first, at, cells; /* first cell in the patch, and in the message; number of cells */
};

static struct cut cut_of(const struct patch_cut_argument *a, uint32_t i) {
  const struct piece_place *place = &a->message->part[i];
  const struct group_cells *c = &a->l->met.cells[place->cells];
  const struct mesh_piece *piece = &c->sent.piece[place->piece];
  const uint32_t n = a->l->mesh->cells;
  const size_t plane = (size_t)c->patch.size[1] * c->patch.size[2];
  return (struct cut){.first = (piece->first + n - c->patch.origin[0]) % n * plane,
                      .at = piece->at,
                      .cells = piece->planes * plane};
}

static void patch_cut_cpu(void *buffers[], const struct patch_cut_argument *a) {
  uint32_t slot = MESSAGE;
  for (uint32_t i = 0; i < a->message->parts; i++) {
    const struct cut cut = cut_of(a, i);
    slot += begins_group(a->message, i);
    memcpy(VECTOR(float, buffers[MESSAGE]) + cut.at, VECTOR(const float, buffers[slot]) + cut.first,
           cut.cells * sizeof(float));
  }
}

static void patch_cut_gpu(struct gpu *gpu, void *buffers[], const struct patch_cut_argument *a) {
  uint32_t slot = MESSAGE;
  for (uint32_t i = 0; i < a->message->parts; i++) {
    const struct cut cut = cut_of(a, i);
    slot += begins_group(a->message, i);
    gpu_copy(gpu, VECTOR(float, buffers[MESSAGE]) + cut.at,
             VECTOR(const float, buffers[slot]) + cut.first, cut.cells * sizeof(float));
  }
}

STAGE(patch_cut, 0xddaacc, "pm");

void patch_cut_submit(struct long_range *l, uint32_t k, uint32_t set) {
  const struct mesh_message *message = &l->patch_messages.message[k];
  struct starpu_data_descr *data = allocate(PATCHES + (size_t)message->parts, sizeof *data,
                                            "task data");
  size_t n = PATCHES;
  data[MESSAGE] = (struct starpu_data_descr){message->handle[set_place(l, set)], STARPU_W};
  for (uint32_t i = 0; i < message->parts; i++)
    if (begins_group(message, i))
      data[n++] = (struct starpu_data_descr){
          l->met.cells[message->part[i].cells].patch_handle[set_place(l, set)], STARPU_R};
  patch_cut_insert((struct patch_cut_argument){l, message},
                   (struct task){.data = data, .count = n, .priority = PRIORITY_HIGH});
  free(data);
}

void patches_transfer(struct long_range *l, uint32_t set) {
  for (uint32_t k = 0; k < l->patch_messages.count; k++) {
    const struct mesh_message *message = &l->patch_messages.message[k];
    message_transfer(message->handle[set_place(l, set)], MESSAGE_PATCH + set, message->number,
                     message->from, message->to, PRIORITY_HIGH);
  }
}
