/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gas_root_back: transforms a slab of the root level back along x and y, on the GPU of its home.
 *
 * reads  the slab's pieces
 * writes the slab: the potential */
#include <stdlib.h>

#include "codelets/potential/root_slabs.h"

#define gas_root_back_argument root_part
enum { SLAB, PIECES };

static double gas_root_back_work(const struct root_part *a) { return a->gas->level[0].groups; }

static void gas_root_back_gpu(struct gpu *gpu, void *buffers[], const struct root_part *a) {
  root_copy_pieces(gpu, a, VECTOR(char, buffers[SLAB]), buffers + PIECES, false);
  gpu_root_rows(a->root->worker[worker_number()], false, VECTOR(double, buffers[SLAB]));
}

STAGE_ON_GPU(gas_root_back, 0x338899, "gas");

void gas_root_back_submit(struct gas *g, const struct root_gpu *r, uint32_t part) {
  const struct root_part a = {g, r, part};
  struct slots slots = slots_of("gas_root_back", g, 0, 0);
  slots_add(&slots, r->slab[part - r->first], STARPU_W);
  root_piece_slots(&slots, &a, STARPU_R);
  gas_root_back_insert(a, slots_task(&slots, PRIORITY_HIGHEST));
  free(slots.data);
}
