/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sheet_deposit: adds planes of cells of the phase-space sheet to a map of a picture.
 *
 * reads   positions of the cells' corners
 * updates the map */
#include "codelets/runtime/task.h"
#include "cuda/analysis/gpu_analysis.h"
#include "photons/analysis/codelets.h"
#include "src/analysis/sheet_part.h"

struct sheet_deposit_argument {
  struct sheet_part part;
};
enum { POSITION, MAP, SLOTS };

static double sheet_deposit_work(const struct sheet_deposit_argument *a) {
  const double side = (double)a->part.side;
  return (double)a->part.planes * side * side;
}

static struct sheet_part part_in(void *buffers[], const struct sheet_deposit_argument *a) {
  struct sheet_part part = a->part;
  part.position = (const uint32_t(*)[3])STARPU_VECTOR_GET_PTR(buffers[POSITION]);
  part.map = VECTOR(uint64_t, buffers[MAP]);
  return part;
}

static void sheet_deposit_cpu(void *buffers[], const struct sheet_deposit_argument *a) {
  const struct sheet_part part = part_in(buffers, a);
  sheet_deposit(&part);
}

static void sheet_deposit_gpu(struct gpu *gpu, void *buffers[],
                              const struct sheet_deposit_argument *a) {
  const struct sheet_part part = part_in(buffers, a);
  gpu_sheet_deposit(gpu, &part);
}

STAGE(sheet_deposit, 0xaa4466, NULL, .untimed = true);

void sheet_deposit_submit(const struct sheet_part *part, starpu_data_handle_t position,
                          starpu_data_handle_t map) {
  const struct starpu_data_descr data[SLOTS] = {
      [POSITION] = {position, STARPU_R}, [MAP] = {map, STARPU_RW}};
  sheet_deposit_insert((struct sheet_deposit_argument){*part},
                       (struct task){.data = data, .count = SLOTS, .priority = PRIORITY_LOWEST});
}
