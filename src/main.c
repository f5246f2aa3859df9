/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/options.h"
#include "photons/parameters.h"
#include "photons/run.h"

int main(int argc, char **argv) {
  struct options options = options_read(argc, argv);
  struct parameters parameters;
  parameters_read(&parameters, options.config, options.overrides, options.override_count);
  int status = run_simulation(&parameters, &options.run);
  options_free(&options);
  return status;
}
