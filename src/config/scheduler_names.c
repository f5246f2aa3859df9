/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/config/scheduler_names.h"

#include <starpu.h>
#include <stdio.h>
#include <string.h>

bool scheduler_allowed(const char *name, char *allowed, size_t size) {
  struct starpu_sched_policy **policy = starpu_sched_get_predefined_policies();
  if (strcmp(name, OWNER_COMPUTES) == 0) return true;
  size_t used = (size_t)snprintf(allowed, size, " %s", OWNER_COMPUTES);
  for (; *policy && used < size; policy++) {
    const char *offered = (*policy)->policy_name;
    if (strcmp(offered, "graph_test") == 0) continue;
    if (strcmp(offered, name) == 0) return true;
    used += (size_t)snprintf(allowed + used, size - used, " %s", offered);
  }
  return false;
}
