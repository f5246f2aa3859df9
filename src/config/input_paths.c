/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Input files that lie beside config.ini. */
#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "photons/config/parameter_table.h"

/** Whether there is the file, or the first file of a set with this stem. */
static bool exists(const char *path) {
  static const char *const suffixes[] = {"", ".0", ".0.hdf5", ".hdf5"};
  for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
    char name[2 * PARAMETER_PATH_MAX + 16];
    snprintf(name, sizeof name, "%s%s", path, suffixes[i]);
    if (access(name, F_OK) == 0) return true;
  }
  return false;
}

/** Change a relative path to that beside config.ini if the file is there and not here. */
static void find(const struct parameter *row, struct parameters *p, const char *config) {
  char beside[2 * PARAMETER_PATH_MAX], *path = (char *)p + row->offset;
  const char *end = strrchr(config, '/');
  if (!*path || *path == '/' || !end || exists(path)) return;
  const int length = snprintf(beside, sizeof beside, "%.*s/%s", (int)(end - config), config, path);
  if (length > 0 && (size_t)length < row->size && exists(beside))
    memcpy(path, beside, (size_t)length + 1);
}

/** The same for a key that config.ini gives, not --set. */
static void find_named(const char *section, const char *key, struct parameters *p,
                       const struct parameter_problems *problems) {
  const struct parameter *row = parameter_find(section, key);
  assert(row);
  const size_t place = (size_t)(row - parameter_table);
  if (problems->origin[place].line && !problems->origin[place].set) find(row, p, problems->path);
}

void input_paths_find(struct parameters *p, const struct parameter_problems *problems) {
  static const char *const input[][2] = {{"ic", "file"},
                                         {"ic", "glass"},
                                         {"ic", "power_spectrum_file"},
                                         {"ic", "transfer_file"},
                                         {"ic", "particles"},
                                         {"output", "times_file"},
                                         {"cosmology", "species_file"},
                                         {"cosmology", "w_table"},
                                         {"external", "table"}};
  for (size_t i = 0; i < sizeof input / sizeof *input; i++)
    find_named(input[i][0], input[i][1], p, problems);
  for (size_t k = 1; k < GALAXIES_MAX; k++) find_named(galaxy_sections[k], "file", p, problems);
}
