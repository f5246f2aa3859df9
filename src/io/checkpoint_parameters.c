/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "checkpoint_parameters.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hdf5_util.h"
#include "photons/base/error.h"
#include "photons/config/parameter_table.h"

/** Value of section.key in a printed config.ini; @p length 0 and NULL where there is none. */
static const char *find_value(const char *config, const char *section, const char *key,
                              size_t *length) {
  bool inside = false;
  for (const char *line = config; *line;) {
    const size_t end = strcspn(line, "\n"), key_length = strlen(key);
    if (*line == '[')
      inside = strncmp(line + 1, section, strlen(section)) == 0 && line[1 + strlen(section)] == ']';
    else if (inside && strncmp(line, key, key_length) == 0 &&
             strncmp(line + key_length, " = ", 3) == 0) {
      *length = end - key_length - 3;
      return line + key_length + 3;
    }
    line += end + (line[end] == '\n');
  }
  *length = 0;
  return NULL;
}

/** Output and the machine do not change the particles' paths; the groups do, in the last bits, and
 * the end where it sets the steps. */
static bool changes_results(const struct parameters *p, const struct parameter *row) {
  if (strcmp(row->section, "output") == 0 || strcmp(row->section, "analysis") == 0) return false;
  if (!parameter_is_of_system(row, p) || !parameter_is_of_source(row, p)) return false;
  if (strcmp(row->section, "lightcone") == 0) return p->lightcone.geometry != CONE_NONE;
  if (strcmp(row->section, "time") == 0 &&
      (strcmp(row->key, "z_end") == 0 || strcmp(row->key, "end") == 0))
    return p->time.step == STEP_FIXED || p->time.step == STEP_PM;
  if (strcmp(row->section, "time") == 0 && strcmp(row->key, "min_dlna") == 0) return false;
  if (strcmp(row->key, "escape_radius") == 0 || strcmp(row->key, "pm_grid_most") == 0)
    return false; /* let a run go on */
  if (strcmp(row->key, "homes") == 0 || strcmp(row->key, "mesh_layout") == 0) return false;
  if (strcmp(row->section, "runtime") != 0) return true;
  return strcmp(row->key, "group_size") == 0 || strcmp(row->key, "leaf_size") == 0 ||
         strcmp(row->key, "sort_interval") == 0 || strcmp(row->key, "rebuild_interval") == 0;
}

/**
 * What the run had found out and config.ini does not say: values chosen by the program, and what
 * ic_read_gadget() took from the file, which a restart does not read.
 */
static bool came_with_the_run(const struct parameters *p, const struct parameter *row,
                              const char *now, size_t length) {
  if (row->automatic && strlen(row->automatic) == length &&
      memcmp(row->automatic, now, length) == 0)
    return true;
  if (p->ic.start[0] && strcmp(row->key, "z_init") == 0) return true;
  static const char *const from_file[][2] = {{"box", "size"},
                                             {"cosmology", "Omega_m"},
                                             {"cosmology", "Omega_lambda"},
                                             {"cosmology", "h"},
                                             {"ic", "z_init"}};
  if (p->ic.source != IC_GADGET || parameter_given(p, row->section, row->key)) return false;
  for (size_t i = 0; i < sizeof from_file / sizeof *from_file; i++)
    if (strcmp(row->section, from_file[i][0]) == 0 && strcmp(row->key, from_file[i][1]) == 0)
      return true;
  return false;
}

void checkpoint_compare_parameters(const char *path, struct parameters *p, const char *then) {
  char *now = hdf5_config_text(p), *differences = NULL;
  size_t size;
  FILE *list = open_memstream(&differences, &size);
  if (!list)
    fail(EXIT_RUN_FAILED, "not enough memory for reading a checkpoint: %s", strerror(errno));
  for (const struct parameter *row = parameter_table; row < parameter_table + parameter_count;
       row++) {
    if (!changes_results(p, row)) continue;
    size_t then_length, now_length;
    const char *then_value = find_value(then, row->section, row->key, &then_length);
    const char *now_value = find_value(now, row->section, row->key, &now_length);
    if (!then_value && !now_value) continue; /* of a galaxy that there is not */
    if (then_value && now_value && then_length == now_length &&
        memcmp(then_value, now_value, then_length) == 0)
      continue;
    if (then_value && now_value && came_with_the_run(p, row, now_value, now_length)) {
      char value[64], reason[256];
      snprintf(value, sizeof value, "%.*s", (int)then_length, then_value);
      if (!parameter_parse(row, value, p, reason, sizeof reason))
        fail(EXIT_BAD_INPUT, "%s: %s.%s: %s", path, row->section, row->key, reason);
      continue;
    }
    fprintf(list, "%s%s.%s was ", ftell(list) > 0 ? ", " : "", row->section, row->key);
    fprintf(list, then_value ? "'%.*s'" : "not there%.*s", (int)then_length,
            then_value ? then_value : "");
    fprintf(list, " and is '%.*s'", (int)now_length, now_value ? now_value : "");
  }
  if (fclose(list) != 0)
    fail(EXIT_RUN_FAILED, "not enough memory for reading a checkpoint: %s", strerror(errno));
  if (size > 0) fail(EXIT_BAD_INPUT, "%s: made with other parameters: %s", path, differences);
  free(differences);
  free(now);
}
