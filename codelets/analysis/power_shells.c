/* SPDX-License-Identifier: GPL-3.0-or-later */
/* power_shells: transforms both meshes of a power spectrum and sums up the modes of equal |k|.
 *
 * reads   tables of the phases and the window
 * updates both meshes, which are lost
 * writes  the sums */
#include "codelets/runtime/task.h"
#include "cuda/analysis/gpu_analysis.h"
#include "photons/analysis/codelets.h"

struct power_shells_argument {
  struct power_layout layout;
  double unit;
  size_t particles;
};
enum { PLAIN, SHIFTED, TABLE, SHELL, SLOTS };

static double power_shells_work(const struct power_shells_argument *a) {
  return (double)a->layout.n * (double)a->layout.plane;
}

static void power_shells_gpu(struct gpu *gpu, void *buffers[],
                             const struct power_shells_argument *a) {
  gpu_power_shells(gpu, &a->layout, a->unit, a->particles, VECTOR(const float, buffers[TABLE]),
                   VECTOR(float, buffers[PLAIN]), VECTOR(float, buffers[SHIFTED]),
                   VECTOR(struct power_shell, buffers[SHELL]));
}

STAGE_ON_GPU(power_shells, 0x5588bb, NULL, .untimed = true);

void power_shells_submit(const struct power_layout *layout, double unit, size_t particles,
                         const starpu_data_handle_t cells[2], starpu_data_handle_t table,
                         starpu_data_handle_t shell) {
  const struct starpu_data_descr data[SLOTS] = {[PLAIN] = {cells[0], STARPU_RW},
                                                [SHIFTED] = {cells[1], STARPU_RW},
                                                [TABLE] = {table, STARPU_R},
                                                [SHELL] = {shell, STARPU_W}};
  power_shells_insert((struct power_shells_argument){*layout, unit, particles},
                      (struct task){.data = data, .count = SLOTS, .priority = PRIORITY_LOWEST});
}
