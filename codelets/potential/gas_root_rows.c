/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gas_root_rows: transforms a slab of the root level along x and y, on the GPU of its home.
 *
 * reads  sources (gas_root_source) and links of the batches that have planes of the slab
 * writes the slab, its pieces */
#include <stdlib.h>

#include "codelets/potential/root_slabs.h"

#define gas_root_rows_argument root_part
enum { SLAB, PIECES };

static double gas_root_rows_work(const struct root_part *a) { return a->gas->level[0].groups; }

static void gas_root_rows_gpu(struct gpu *gpu, void *buffers[], const struct root_part *a) {
  const struct root_gpu *r = a->root;
  const struct gpu_root *root = r->worker[worker_number()];
  double *slab = VECTOR(double, buffers[SLAB]);
  void **batch = buffers + PIECES + r->parts;
  gpu_clear(gpu, slab, r->parts * root_piece_bytes(r));
  for (uint32_t i = 0; i < a->gas->level[0].batch_count; i++) {
    if (!root_slab_has(a->gas, r, a->part, i)) continue;
    const struct gpu_gas g = gpu_gas_of(gpu, &(struct batch_argument){a->gas, 0, i});
    gpu_root_put_source(root, &g, root_planes(r, a->part), VECTOR(const struct gas_links, batch[1]),
                        VECTOR(const double, batch[0]), slab);
    batch += 2;
  }
  gpu_root_rows(root, true, slab);
  root_copy_pieces(gpu, r, (char *)slab, buffers + PIECES, true);
}

STAGE_ON_GPU(gas_root_rows, 0x226688, "gas");

void gas_root_rows_submit(struct gas *g, const struct root_gpu *r, uint32_t part) {
  const struct root_part a = {g, r, part};
  struct slots slots = slots_of("gas_root_rows", g, 0, 0);
  slots_add(&slots, r->slab[part], STARPU_W);
  root_piece_slots(&slots, &a, STARPU_W);
  for (uint32_t i = 0; i < g->level[0].batch_count; i++) {
    if (!root_slab_has(g, r, part, i)) continue;
    slots_add(&slots, potential_handle(g, 0, i, POTENTIAL_NEXT), STARPU_R);
    slots_add_links(&slots, &g->level[0].batch[i]);
  }
  gas_root_rows_insert(a, slots_task(&slots, PRIORITY_HIGHEST));
  free(slots.data);
}
