/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/config/scheduler_names.h"

#include <starpu.h>
#include <stdio.h>
#include <string.h>

/** graph_test waits for a call that this program does not make. The others are for tasks on several cores,
 * "mostly a proof of concept" as StarPU says of them. */
static bool is_of_no_use(const char *name) {
  static const char *const names[] = {"graph_test", "pheft", "peager", "modular-pheft"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp(name, names[i]) == 0) return true;
  return false;
}

bool scheduler_allowed(const char *name, char *allowed, size_t size) {
  struct starpu_sched_policy **policy = starpu_sched_get_predefined_policies();
  if (strcmp(name, OWNER_COMPUTES) == 0) return true;
  size_t used = (size_t)snprintf(allowed, size, " %s", OWNER_COMPUTES);
  for (; *policy && used < size; policy++) {
    const char *offered = (*policy)->policy_name;
    if (is_of_no_use(offered)) continue;
    if (strcmp(offered, name) == 0) return true;
    used += (size_t)snprintf(allowed + used, size - used, " %s", offered);
  }
  return false;
}
