/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pm_cut: copies the cells of the fields that the groups of another rank read from this rank's slabs into
 * one message to that rank, each cell once.
 *
 * reads  slabs of all fields
 * writes a message */
#include <stdlib.h>

#include "codelets/mesh/field_cells.h"
#include "codelets/runtime/task.h"
#include "cuda/mesh/gpu_mesh.h"
#include "photons/base/error.h"
#include "photons/mesh/codelets.h"
#include "photons/runtime/message.h"

struct pm_cut_argument {
  const struct long_range *l;
  const struct mesh_message *message;
  struct mesh_range slabs; /* that the parts of the message overlap */
};
enum { MESSAGE, SLABS }; /* SLABS: [field][slab], beginning with the first of these slabs */

static double pm_cut_work(const struct pm_cut_argument *a) { return (double)a->message->floats; }

/** The slabs that a part overlaps. */
static struct mesh_range slabs_of_part(const struct mesh *m, const struct field_part *p) {
  return (struct mesh_range){slab_of_plane(m, p->first[0]),
                             slab_of_plane(m, p->first[0] + p->size[0] - 1) + 1};
}

/** The slabs that the parts of a message overlap. */
static struct mesh_range slabs_of_message(const struct mesh *m,
                                          const struct mesh_message *message) {
  struct mesh_range all = {m->slabs, 0};
  for (uint32_t i = 0; i < message->parts; i++) {
    const struct mesh_range slabs = slabs_of_part(m, &message->field[i]);
    all.first = slabs.first < all.first ? slabs.first : all.first;
    all.end = slabs.end > all.end ? slabs.end : all.end;
  }
  return all;
}

/** What is copied out of the slabs. @return copies_free() it */
static struct cell_copies list_copies(const struct pm_cut_argument *a, void *buffers[]) {
  const struct mesh *m = a->l->mesh;
  struct cell_copies list = {0};
  float *out = VECTOR(float, buffers[MESSAGE]);
  for (uint32_t i = 0; i < a->message->parts; i++) {
    const struct field_part *part = &a->message->field[i];
    const struct mesh_range slabs = slabs_of_part(m, part);
    const struct cell_layout to = layout_of_part(part);
    for (uint32_t slab = slabs.first; slab < slabs.end; slab++)
      for (uint32_t field = 0; field < m->fields; field++) {
        const struct cell_layout from = layout_of_slab(m, slab);
        const uint32_t slot = SLABS + field * (a->slabs.end - a->slabs.first) + slab -
                              a->slabs.first;
        copies_add(&list, m->cells, &from, VECTOR(const float, buffers[slot]), &to,
                   out + field_at(part, field));
      }
  }
  return list;
}

static void pm_cut_cpu(void *buffers[], const struct pm_cut_argument *a) {
  struct cell_copies list = list_copies(a, buffers);
  copies_run(&list);
  copies_free(&list);
}

static void pm_cut_gpu(struct gpu *gpu, void *buffers[], const struct pm_cut_argument *a) {
  (void)gpu;
  struct cell_copies list = list_copies(a, buffers);
  gpu_copy_cells(a->l->gpu[worker_number()], &list);
  copies_free(&list);
}

STAGE(pm_cut, 0x77aadd, "pm");

void pm_cut_submit(struct long_range *l, uint32_t k, uint32_t set) {
  const struct mesh_message *message = &l->field_messages.message[k];
  const struct mesh_range slabs = slabs_of_message(l->mesh, message);
  const size_t count = SLABS + (size_t)l->mesh->fields * (slabs.end - slabs.first);
  struct starpu_data_descr *data = allocate(count, sizeof *data, "task data");
  size_t n = SLABS;
  data[MESSAGE] = (struct starpu_data_descr){message->handle[set_place(l, set)], STARPU_W};
  for (uint32_t field = 0; field < l->mesh->fields; field++)
    for (uint32_t slab = slabs.first; slab < slabs.end; slab++)
      data[n++] = (struct starpu_data_descr){l->slab_handle[slab_row(l, set, field, slab)],
                                             STARPU_R};
  pm_cut_insert((struct pm_cut_argument){l, message, slabs},
                (struct task){.data = data, .count = n, .priority = PRIORITY_HIGH});
  free(data);
}

void pieces_transfer(struct long_range *l, uint32_t set) {
  for (uint32_t k = 0; k < l->field_messages.count; k++) {
    const struct mesh_message *message = &l->field_messages.message[k];
    message_transfer(message->handle[set_place(l, set)], MESSAGE_PIECE + set, message->number,
                     message->from, message->to, PRIORITY_HIGH);
  }
}
