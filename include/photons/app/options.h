/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The command line. */
#ifndef PHOTONS_OPTIONS_H
#define PHOTONS_OPTIONS_H

#include <stddef.h>

#include "photons/app/run.h"

struct options {
  const char *config;     /**< path of config.ini; NULL with analyse and watch */
  const char *analyse;    /**< snapshot to analyse instead of a run; NULL: a run is wanted */
  const char *watch;      /**< output folder to show instead of a run; NULL: a run is wanted */
  const char **overrides; /**< arguments of --set, in order */
  size_t override_count;
  struct run_options run;
};

/**
 * Read the command line. --help, --version, --defaults and --reference print and end the program
 * with 0; bad usage ends it with EXIT_BAD_USAGE. The strings stay those of argv.
 */
struct options options_read(int argc, char **argv);
void options_free(struct options *options);

#endif
