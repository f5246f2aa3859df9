/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The program photons-starpu: a run, the analysis of a snapshot, or a view of a run. */
#include <gsl/gsl_errno.h>
#include <hdf5.h>
#include <malloc.h>
#include <signal.h>

#include "photons/app/analyse.h"
#include "photons/app/options.h"
#include "photons/app/run.h"
#include "photons/app/stop.h"
#include "photons/app/watch.h"
#include "photons/base/comm.h"
#include "photons/base/console.h"
#include "photons/config/parameters.h"

/** Large memory goes back to the system when it is freed, unless memory_settle() finds that there is much. By default the C library keeps freed
 * blocks of up to 32 MiB, and does not find the room again that a rebuild or an output has left. */
static void return_freed_memory(void) {
  enum { LARGE = 1 << 20, KEPT = 8 << 20 };
  (void)mallopt(M_MMAP_THRESHOLD, LARGE);
  (void)mallopt(M_TRIM_THRESHOLD, KEPT);
}

int main(int argc, char **argv) {
  stop_listen_early("at the start: nothing has been written");
  return_freed_memory();
  gsl_set_error_handler_off(); /* callers check results; GSL's default handler aborts */
  /* Beyond the limit of the file size, write() fails and the error names the file. */
  signal(SIGXFSZ, SIG_IGN);
  H5dont_atexit(); /* after a failure HDF5 would print that it cannot close; files are closed before */
  comm_start(&argc, &argv);
  struct options options = options_read(argc, argv);
  if (options.run.verbosity == 0) console_silence();
  int status;
  if (options.watch) {
    stop_listen_no_longer();
    status = watch_run(options.watch);
  } else if (options.analyse) {
    stop_listen_early("in the analysis: files that have their names are complete");
    status = analyse_snapshot(options.analyse, options.overrides, options.override_count,
                              options.run.dry_run);
  } else {
    struct parameters parameters;
    parameters_read(&parameters, options.config, options.overrides, options.override_count);
    status = run_simulation(&parameters, &options.run);
  }
  options_free(&options);
  comm_end();
  return status;
}
