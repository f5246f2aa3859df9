/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Values that others need, and files that are named. */
#include <unistd.h>

#include "parameter_check.h"
#include "photons/base/input_file.h"

void check_readable(const struct parameters *p, struct parameter_problems *problems,
                    const struct parameter *row, const char *path) {
  const char *reason = input_refusal(path);
  if (reason)
    problem_with(problems, row, p, NULL, "cannot read it: %s%s", reason,
                 *path == '/' ? ""
                              : " (neither in the current directory nor beside the configuration)");
}

void check_gadget_file(const struct parameters *p, struct parameter_problems *problems,
                       const struct parameter *row, const char *path) {
  static const char *const suffixes[] = {".0", ".0.hdf5", ".hdf5"};
  for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
    char name[PARAMETER_PATH_MAX + 8];
    snprintf(name, sizeof name, "%s%s", path, suffixes[i]);
    if (access(name, R_OK) == 0) return;
  }
  check_readable(p, problems, row, path);
}

void check_needed(const struct parameters *p, struct parameter_problems *problems,
                  const char *section, const char *key, bool there, const char *why) {
  const struct parameter *row = row_of(section, key);
  if (!there && sound(problems, row))
    problem_with(problems, row, p, "", "not given, but needed with %s", why);
}
