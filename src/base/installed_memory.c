/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/base/installed_memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "photons/base/comm.h"

enum { PATH_BYTES = 4096 };

/** The number in a file; infinity where the file has none, as "max". */
static double number_in(const char *path) {
  char text[64], *end = text;
  double number = INFINITY;
  FILE *file = fopen(path, "r");
  if (!file) return INFINITY;
  if (fgets(text, sizeof text, file)) number = strtod(text, &end);
  fclose(file);
  return end == text ? INFINITY : number;
}

/** The least limit of a group and of those that contain it.
 * @param group  its path below `root`; is cut short */
static double limit_of_group(const char *root, char *group, const char *file) {
  double limit = INFINITY;
  for (;;) {
    char path[2 * PATH_BYTES];
    snprintf(path, sizeof path, "%s%s/%s", root, group, file);
    limit = fmin(limit, number_in(path));
    char *last = strrchr(group, '/');
    if (!last) return limit;
    *last = '\0';
  }
}

double memory_limit_of_groups(const char *groups, const char *root) {
  double limit = INFINITY;
  char line[PATH_BYTES], controllers[PATH_BYTES];
  FILE *list = fopen(groups, "r");
  if (!list) return limit;
  while (fgets(line, sizeof line, list)) { /* number:controllers:path */
    line[strcspn(line, "\n")] = '\0';
    char *names = strchr(line, ':'), *group = names ? strchr(names + 1, ':') : NULL;
    if (!group) continue;
    *group++ = '\0';
    snprintf(controllers, sizeof controllers, ",%s,", names + 1);
    if (strcmp(controllers, ",,") == 0) { /* version 2 */
      limit = fmin(limit, limit_of_group(root, group, "memory.max"));
    } else if (strstr(controllers, ",memory,")) {
      char memory_root[PATH_BYTES];
      snprintf(memory_root, sizeof memory_root, "%s/memory", root);
      limit = fmin(limit, limit_of_group(memory_root, group, "memory.limit_in_bytes"));
    }
  }
  fclose(list);
  return limit;
}

double installed_memory(void) {
  const double share = (double)comm_host_size() / (double)comm_size(); /* of this host's ranks */
  static double here; /* kept: every change of the gas's patches asks, and reading files takes time */
  if (here == 0.0)
    here = fmin((double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE),
                memory_limit_of_groups("/proc/self/cgroup", "/sys/fs/cgroup"));
  return here / share;
}
