/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/app/gas_gpus.h"

#include <math.h>
#include <starpu.h>
#include <stdio.h>
#include <stdlib.h>

#include "photons/base/comm.h"
#include "photons/base/console.h"
#include "photons/base/error.h"
#include "photons/config/parameters.h"
#include "photons/gas/create.h"
#include "photons/runtime/scheduler.h"

/* A GPU has so many patch groups of the root level at least: with fewer its messages take longer than its work. Potentials
 * of refined levels are found in many short solutions, between which GPUs exchange what is around their groups. On the
 * GPUs that are chosen here no task finds the potentials of all groups: their root levels have too many groups for that, or
 * the memory of one GPU does not suffice. */
enum { GROUPS_LEAST = 1024, GROUPS_LEAST_OF_POTENTIALS = 8192 };

void gas_choose_gpus(const struct parameters *p) {
  int device[STARPU_NMAXWORKERS];
  if (p->runtime.gpu == GPU_NO || comm_size() > 1 || getenv("STARPU_NCUDA") ||
      getenv("STARPU_WORKERS_CUDAID"))
    return;
  const uint32_t present = scheduler_gpus(device);
  if (present <= 1) return;
  const bool potentials = p->gas.levels > 0 && p->gas.gravity != GAS_GRAVITY_NONE;
  const double groups = p->gas.root[0] * p->gas.root[1] * p->gas.root[2] / GAS_GROUP_CELLS,
               least = potentials ? GROUPS_LEAST_OF_POTENTIALS : GROUPS_LEAST,
               fastest = fmax(1.0, floor(groups / least)),
               taken = fmax(fastest, gas_gpus_needed(p));
  if (taken >= present) return;
  char text[16];
  snprintf(text, sizeof text, "%.0f", taken);
  if (setenv("STARPU_NCUDA", text, 1) != 0) fail(EXIT_RUN_FAILED, "cannot set STARPU_NCUDA");
  say("%s of %u GPUs: with more of them this gas would be slower; STARPU_NCUDA=%u takes all\n",
      text, present, present);
}
