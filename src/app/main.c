/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <gsl/gsl_errno.h>
#include <signal.h>

#include "photons/app/analyse.h"
#include "photons/base/comm.h"
#include "photons/app/options.h"
#include "photons/config/parameters.h"
#include "photons/app/run.h"

int main(int argc, char **argv) {
  gsl_set_error_handler_off(); /* results are checked where they arise; GSL's own handler would abort */
  signal(SIGXFSZ, SIG_IGN);    /* a limit on file sizes is then an error of the write, which says what and where */
  comm_start(&argc, &argv);
  struct options options = options_read(argc, argv);
  int status;
  if (options.analyse) {
    status = analyse_snapshot(options.analyse, options.overrides, options.override_count, options.run.verbosity == 0);
  } else {
    struct parameters parameters;
    parameters_read(&parameters, options.config, options.overrides, options.override_count);
    status = run_simulation(&parameters, &options.run);
  }
  options_free(&options);
  comm_end();
  return status;
}
