/* SPDX-License-Identifier: GPL-3.0-or-later */
/* power_deposit: adds the particles of an ORB group to the meshes of a power spectrum.
 *
 * reads   positions; in redshift space momenta; masses where they differ
 * updates the cells of both meshes, and whether one holds more than an integer can represent */
#include "codelets/runtime/task.h"
#include "cuda/analysis/gpu_analysis.h"
#include "photons/analysis/codelets.h"

struct power_deposit_argument {
  struct power_layout layout;
  struct power_folding folding;
  uint32_t count;
  bool clear, moves, masses; /* moves, masses: whether there are momenta and masses */
};
enum { PLAIN, SHIFTED, OVERFLOW, POSITION, OTHERS, SLOTS = OTHERS + 2 };

static double power_deposit_work(const struct power_deposit_argument *a) { return a->count; }

static void power_deposit_gpu(struct gpu *gpu, void *buffers[],
                              const struct power_deposit_argument *a) {
  size_t other = OTHERS;
  struct power_group group = {.count = a->count,
                              .position = VECTOR(const uint32_t, buffers[POSITION])};
  if (a->moves) group.momentum = VECTOR(const float, buffers[other++]);
  if (a->masses) group.mass = VECTOR(const float, buffers[other]);
  gpu_power_deposit(gpu, &a->layout, &a->folding, &group, a->clear, VECTOR(int32_t, buffers[PLAIN]),
                    VECTOR(int32_t, buffers[SHIFTED]), VECTOR(uint32_t, buffers[OVERFLOW]));
}

STAGE_ON_GPU(power_deposit, 0x77aadd, NULL, .untimed = true);

void power_deposit_submit(const struct power_layout *layout, const struct power_folding *folding,
                          uint32_t count, const struct power_group_handles *group,
                          const starpu_data_handle_t cells[2], starpu_data_handle_t overflow,
                          bool clear) {
  const enum starpu_data_access_mode mode = clear ? STARPU_W : STARPU_RW;
  struct starpu_data_descr data[SLOTS] = {[PLAIN] = {cells[0], mode},
                                          [SHIFTED] = {cells[1], mode},
                                          [OVERFLOW] = {overflow, mode},
                                          [POSITION] = {group->position, STARPU_R}};
  size_t slots = OTHERS;
  if (group->momentum) data[slots++] = (struct starpu_data_descr){group->momentum, STARPU_R};
  if (group->mass) data[slots++] = (struct starpu_data_descr){group->mass, STARPU_R};
  power_deposit_insert((struct power_deposit_argument){*layout, *folding, count, clear,
                                                       group->momentum, group->mass},
                       (struct task){.data = data, .count = slots, .priority = PRIORITY_LOWEST});
}
