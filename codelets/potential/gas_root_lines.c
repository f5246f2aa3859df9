/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gas_root_lines: transforms lines of the root level along z, makes the waves those of the potential, and
 * transforms them back, on the GPU of their home.
 *
 * reads   the Green function's transform
 * writes  the lines
 * updates pieces of all slabs */
#include <stdlib.h>

#include "codelets/potential/root_slabs.h"

#define gas_root_lines_argument root_part
enum { LINES, PIECES };

static double gas_root_lines_work(const struct root_part *a) { return a->gas->level[0].groups; }

static void gas_root_lines_gpu(struct gpu *gpu, void *buffers[], const struct root_part *a) {
  const struct root_gpu *r = a->root;
  const size_t bytes = root_piece_bytes(r), cells = r->parts * bytes,
               all = r->size.size[2] * root_piece_row(r);
  char *lines = VECTOR(char, buffers[LINES]);
  for (uint32_t k = 0; k < r->parts; k++)
    gpu_copy(gpu, lines + k * bytes, VECTOR(char, buffers[PIECES + k]), bytes);
  if (cells < all) gpu_clear(gpu, lines + cells, all - cells); /* a box of twice the size */
  gpu_root_lines(r->worker[worker_number()], a->part * r->size.lines,
                 r->green ? VECTOR(const double, buffers[PIECES + r->parts]) : NULL,
                 VECTOR(double, buffers[LINES]));
  for (uint32_t k = 0; k < r->parts; k++)
    gpu_copy(gpu, VECTOR(char, buffers[PIECES + k]), lines + k * bytes, bytes);
}

STAGE_ON_GPU(gas_root_lines, 0x117799, "gas");

void gas_root_lines_submit(struct gas *g, const struct root_gpu *r, uint32_t part) {
  struct slots slots = slots_of("gas_root_lines", g, 0, 0);
  slots_add(&slots, r->lines[part], STARPU_W);
  for (uint32_t k = 0; k < r->parts; k++)
    slots_add(&slots, r->piece[k * r->parts + part], STARPU_RW);
  if (r->green) slots_add(&slots, r->green, STARPU_R);
  gas_root_lines_insert((struct root_part){g, r, part}, slots_task(&slots, PRIORITY_HIGHEST));
  free(slots.data);
}
