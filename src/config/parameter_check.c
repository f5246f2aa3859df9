/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Checks of config.ini that need several values, or the files and hardware of the host. They end
 * the program before a run begins. */
#include "parameter_check.h"

#include <errno.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/config/scheduler_names.h"

/* The folder may be created later, inside the nearest folder above it that exists. */
static void check_folder(const struct parameters *p, struct parameter_problems *problems) {
  const struct parameter *row = row_of("output", "dir");
  char buffer[PARAMETER_PATH_MAX], *path = buffer;
  struct stat status;
  if (!sound(problems, row)) return;
  memcpy(buffer, p->output.dir, sizeof buffer);
  while (stat(path, &status) != 0) {
    if (errno != ENOENT) {
      problem_with(problems, row, p, NULL, "%s: %s", path, strerror(errno));
      return;
    }
    path = dirname(path);
  }
  if (!S_ISDIR(status.st_mode))
    problem_with(problems, row, p, NULL, "%s is not a folder", path);
  else if (access(path, W_OK | X_OK) != 0)
    problem_with(problems, row, p, NULL, "cannot write into the folder %s: %s", path,
                 strerror(errno));
}

static void check_scheduler(const struct parameters *p, struct parameter_problems *problems) {
  const struct parameter *row = row_of("runtime", "scheduler");
  if (!sound(problems, row) || !*p->runtime.scheduler) return;
  char names[1024] = "";
  if (scheduler_allowed(p->runtime.scheduler, names, sizeof names)) return;
  problem_with(problems, row, p, NULL, "not a scheduler of this StarPU; allowed:%s", names);
}

static void check_trace_steps(const struct parameters *p, struct parameter_problems *problems) {
  const struct parameter *row = row_of("runtime", "trace_steps");
  int64_t first, last;
  if (!sound(problems, row) || !*p->runtime.trace_steps) return;
  if (!parameter_step_range(p->runtime.trace_steps, &first, &last))
    problem_with(problems, row, p, NULL,
                 "not a range of steps; allowed: A:B with 0 <= A <= B, e.g. 3:4");
}

/** The choice with which a key has no meaning. */
static const char *obstacle(const struct parameter *row, const struct parameters *p) {
  const unsigned gas = KIND_GAS_AT_REST | KIND_COMOVING_GAS,
                 other = parameter_systems(row) & (run_of_gas(p) ? gas : KINDS_ALL & ~gas);
  if (!other) return run_of_gas(p) ? "run.system = gas" : "run.system = particles";
  if (run_of_gas(p)) return p->gas.comoving ? "gas.comoving = yes" : "gas.comoving = no";
  return p->box.boundary == BOUNDARY_ISOLATED ? "box.boundary = isolated"
                                              : "box.boundary = periodic";
}

/** Whether a row is a switch that is off: nothing is asked for. */
static bool is_off(const struct parameters *p, const struct parameter *row) {
  return row->type == PARAMETER_SWITCH && !*(const bool *)((const char *)p + row->offset);
}

/** Whether a row asks for files or their contents. */
static bool asks_for_output(const struct parameters *p, const struct parameter *row) {
  return row->type == PARAMETER_SWITCH && !is_off(p, row) &&
         (strcmp(row->section, "output") == 0 || strcmp(row->section, "analysis") == 0);
}

static void problem_no_meaning(struct parameter_problems *problems, const struct parameter *row,
                               const struct parameters *p, const char *with) {
  char *systems;
  size_t size;
  FILE *text = open_memstream(&systems, &size);
  if (!text) fail(EXIT_RUN_FAILED, "not enough memory for a message");
  parameter_print_systems(row, text);
  if (fclose(text) != 0) fail(EXIT_RUN_FAILED, "not enough memory for a message");
  problem_with(problems, row, p, NULL, "has no meaning with %s: it is of %s", with, systems);
  free(systems);
}

/** Keys that are given, but belong to the other system or boundary: errors. Defaults that are given are
 * left alone, as --defaults prints them, but for outputs that there will not be: a warning. */
static void check_applies(const struct parameters *p, struct parameter_problems *problems) {
  char asked[256] = "";
  const char *with = "";
  for (const struct parameter *row = parameter_table; row < parameter_table + parameter_count;
       row++) {
    if (!p->given[row - parameter_table] || parameter_is_of_system(row, p) ||
        !sound(problems, row) || is_off(p, row))
      continue;
    with = obstacle(row, p);
    if (!parameter_is_default(p, row))
      problem_no_meaning(problems, row, p, with);
    else if (asks_for_output(p, row))
      snprintf(asked + strlen(asked), sizeof asked - strlen(asked), "%s%s.%s", *asked ? ", " : "",
               row->section, row->key);
  }
  if (*asked && comm_rank() == 0) warn("%s = yes: there are no such outputs with %s", asked, with);
}

/** Colours of pictures: none, or two numbers, the first of which is smaller. */
static void check_colours(const struct parameters *p, struct parameter_problems *problems) {
  const struct {
    const char *key;
    const double *limits;
    size_t count;
  } lists[] = {{"density_colours", p->output.density_colours, p->output.density_colour_count},
               {"temperature_colours", p->output.heat_colours, p->output.heat_colour_count},
               {"speed_colours", p->output.speed_colours, p->output.speed_colour_count}};
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
    const struct parameter *row = row_of("output", lists[i].key);
    if (lists[i].count == 0 || !sound(problems, row)) continue;
    if (lists[i].count != 2)
      problem_with(problems, row, p, NULL,
                   "%zu numbers; allowed: two, the values of black and of the brightest colour",
                   lists[i].count);
    else if (!(lists[i].limits[0] < lists[i].limits[1]))
      problem_with(problems, row, p, NULL,
                   "the value of black, the first, is not below that of the brightest colour");
  }
}

void parameters_check(const struct parameters *p, struct parameter_problems *problems) {
  check_applies(p, problems);
  if (p->run.system == SYSTEM_GAS)
    check_gas_runs(p, problems);
  else
    check_particle_runs(p, problems);
  check_colours(p, problems);
  check_folder(p, problems);
  check_scheduler(p, problems);
  check_trace_steps(p, problems);
}
