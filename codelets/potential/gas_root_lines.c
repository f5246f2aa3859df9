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

/** Copy the pieces of all slabs to lines, or back. */
static void copy_pieces(struct gpu *gpu, const struct root_gpu *r, void *pieces[], char *lines,
                        bool in) {
  for (uint32_t k = 0; k < r->parts; k++) {
    const struct gpu_root_planes slab = root_planes(r, k);
    const size_t row = root_piece_row(r), bytes = (slab.end - slab.first) * row;
    char *inside = lines + slab.first * row, *piece = VECTOR(char, pieces[k]);
    if (bytes > 0) gpu_copy(gpu, in ? inside : piece, in ? piece : inside, bytes);
  }
}

static void gas_root_lines_gpu(struct gpu *gpu, void *buffers[], const struct root_part *a) {
  const struct root_gpu *r = a->root;
  const size_t row = root_piece_row(r), cells = r->planes * row, all = r->size.size[2] * row;
  char *lines = VECTOR(char, buffers[LINES]);
  copy_pieces(gpu, r, buffers + PIECES, lines, true);
  if (cells < all) gpu_clear(gpu, lines + cells, all - cells); /* a box of twice the size */
  gpu_root_lines(r->worker[worker_number()], a->part * r->size.lines, r->first_green,
                 r->green ? VECTOR(const double, buffers[PIECES + r->parts]) : NULL,
                 VECTOR(double, buffers[LINES]));
  copy_pieces(gpu, r, buffers + PIECES, lines, false);
}

STAGE_ON_GPU(gas_root_lines, 0x117799, "gas");

void gas_root_lines_submit(struct gas *g, const struct root_gpu *r, uint32_t part) {
  struct slots slots = slots_of("gas_root_lines", g, 0, 0);
  slots_add(&slots, r->lines[part - r->first], STARPU_W);
  for (uint32_t k = 0; k < r->parts; k++) slots_add(&slots, root_piece(r, k, part), STARPU_RW);
  if (r->green) slots_add(&slots, r->green, STARPU_R);
  gas_root_lines_insert((struct root_part){g, r, part}, slots_task(&slots, PRIORITY_HIGHEST));
  free(slots.data);
}
