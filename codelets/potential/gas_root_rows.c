/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gas_root_rows: transforms a slab of the root level along x and y, on the GPU of its home.
 *
 * reads  sources (gas_root_source) and links of the batches that have planes of the slab, which other ranks send
 * writes the slab, its pieces */
#include <stdlib.h>

#include "codelets/potential/root_slabs.h"

#define gas_root_rows_argument root_part
enum { SLAB, PIECES };

static double gas_root_rows_work(const struct root_part *a) { return a->gas->level[0].groups; }

/** Put a batch's source, in two buffers, into the slab. @return the buffers after these */
static void **put_source(struct gpu *gpu, const struct root_part *a, uint32_t batch,
                         void *buffers[], double *slab) {
  const struct gpu_gas g = gpu_gas_of(gpu, &(struct batch_argument){a->gas, 0, batch});
  gpu_root_put_source(a->root->worker[worker_number()], &g, root_planes(a->root, a->part),
                      VECTOR(const struct gas_links, buffers[1]), VECTOR(const double, buffers[0]),
                      slab);
  return buffers + 2;
}

static void gas_root_rows_gpu(struct gpu *gpu, void *buffers[], const struct root_part *a) {
  const struct root_gpu *r = a->root;
  const struct gpu_root *root = r->worker[worker_number()];
  double *slab = VECTOR(double, buffers[SLAB]);
  void **batch = buffers + PIECES + r->parts;
  gpu_clear(gpu, slab, root_slab_bytes(r));
  for (uint32_t i = gas_own_begin(a->gas, 0); i < gas_own_end(a->gas, 0); i++)
    if (root_slab_has(r, a->part, i)) batch = put_source(gpu, a, i, batch, slab);
  for (uint32_t k = 0; k < r->guests; k++)
    if (root_slab_meets(r, a->part, r->guest[k].planes))
      batch = put_source(gpu, a, r->guest[k].batch, batch, slab);
  gpu_root_rows(root, true, slab);
  root_copy_pieces(gpu, a, (char *)slab, buffers + PIECES, true);
}

STAGE_ON_GPU(gas_root_rows, 0x226688, "gas");

void gas_root_rows_submit(struct gas *g, const struct root_gpu *r, uint32_t part) {
  const struct root_part a = {g, r, part};
  struct slots slots = slots_of("gas_root_rows", g, 0, 0);
  slots_add(&slots, r->slab[part - r->first], STARPU_W);
  root_piece_slots(&slots, &a, STARPU_W);
  for (uint32_t i = gas_own_begin(g, 0); i < gas_own_end(g, 0); i++) {
    if (!root_slab_has(r, part, i)) continue;
    slots_add(&slots, potential_handle(g, 0, i, POTENTIAL_NEXT), STARPU_R);
    slots_add_links(&slots, gas_batch(g, 0, i));
  }
  for (uint32_t k = 0; k < r->guests; k++) {
    if (!root_slab_meets(r, part, r->guest[k].planes)) continue;
    slots_add(&slots, r->guest[k].cubes, STARPU_R);
    slots_add(&slots, r->guest[k].links, STARPU_R);
  }
  gas_root_rows_insert(a, slots_task(&slots, PRIORITY_HIGHEST));
  free(slots.data);
}
