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
  return i == 0 || message->piece[i].cells != message->piece[i - 1].cells;
}

/** Where a part of the message comes from: runs of cells of the patch, which follow each other in the message. */
struct cut {
  size_t first, at;          /* first cell in the patch, and in the message */
  size_t cells, runs, apart; /* cells of a run; cells in the patch from one to the next */
};

static struct cut cut_of(const struct patch_cut_argument *a, uint32_t i) {
  const struct piece_place *place = &a->message->piece[i];
  const struct group_cells *c = &a->l->met.cells[place->cells];
  const struct mesh_piece *piece = &c->sent.piece[place->piece];
  const uint32_t n = a->l->mesh->cells;
  const size_t plane = (size_t)c->patch.size[1] * c->patch.size[2];
  const size_t first_plane = (piece->first + n - c->patch.origin[0]) % n * plane,
               first_row = (size_t)(piece->first_y + n - c->patch.origin[1]) % n * c->patch.size[2];
  const bool whole = piece->ys == c->patch.size[1]; /* planes follow each other */
  return (struct cut){.first = first_plane + first_row,
                      .at = piece->at,
                      .cells = (whole ? piece->planes : 1) * (size_t)piece->ys * c->patch.size[2],
                      .runs = whole ? 1 : piece->planes,
                      .apart = plane};
}

static void patch_cut_cpu(void *buffers[], const struct patch_cut_argument *a) {
  uint32_t slot = MESSAGE;
  for (uint32_t i = 0; i < a->message->parts; i++) {
    const struct cut cut = cut_of(a, i);
    slot += begins_group(a->message, i);
    float *to = VECTOR(float, buffers[MESSAGE]) + cut.at;
    const float *from = VECTOR(const float, buffers[slot]) + cut.first;
    for (size_t run = 0; run < cut.runs; run++, to += cut.cells, from += cut.apart)
      memcpy(to, from, cut.cells * sizeof *to);
  }
}

static void patch_cut_gpu(struct gpu *gpu, void *buffers[], const struct patch_cut_argument *a) {
  uint32_t slot = MESSAGE;
  for (uint32_t i = 0; i < a->message->parts; i++) {
    const struct cut cut = cut_of(a, i);
    slot += begins_group(a->message, i);
    float *to = VECTOR(float, buffers[MESSAGE]) + cut.at;
    const float *from = VECTOR(const float, buffers[slot]) + cut.first;
    for (size_t run = 0; run < cut.runs; run++, to += cut.cells, from += cut.apart)
      gpu_copy(gpu, to, from, cut.cells * sizeof *to);
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
          l->met.cells[message->piece[i].cells].patch_handle[set_place(l, set)], STARPU_R};
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
