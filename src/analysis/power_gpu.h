/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The meshes of a power spectrum on a GPU of the only rank: what power_mesh.c does on cores. */
#ifndef PHOTONS_POWER_GPU_H
#define PHOTONS_POWER_GPU_H

#include <starpu.h>
#include <stdbool.h>

#include "photons/analysis/codelets.h"
#include "photons/domain/particles.h"
#include "power_deposit.h"

struct power_gpu {
  const struct particles *particles;
  struct power_layout layout;
  struct power_group_handles *group; /**< [block] */
  starpu_data_handle_t cells[2], overflow;
  bool kept;           /**< cells have memory on the host */
  uint32_t overflowed; /**< memory of that */
};

/** Whether there is one rank, which has a GPU, the meshes take up a part of its memory only, and no work beside the
 * steps (background.h) asks. */
bool power_gpu_possible(const struct particles *s, const struct power_layout *layout);
/** @param momenta  positions are those in redshift space
 * @param cells    memory of both meshes, where power_gpu_end() leaves the deposits; NULL: they stay on the GPU */
struct power_gpu *power_gpu_begin(const struct particles *s, const struct power_layout *layout,
                                  bool momenta, float *const *cells);
/** Deposit all particles. @return whether a cell holds more than an integer can represent */
bool power_gpu_deposit(struct power_gpu *g, const struct power_folding *folding);
/** Transform the deposits, which are lost, and sum up the modes.
 * @param unit        of the deposits
 * @param table       [3 n] as power_shells_submit() has it
 * @param[out] shell  [power_shells_of(n)] */
void power_gpu_shells(struct power_gpu *g, double unit, float *table, struct power_shell *shell);
void power_gpu_end(struct power_gpu *g);

#endif
