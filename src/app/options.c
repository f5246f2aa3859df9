/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The command line, and the output of options that run nothing (--help, --version, --defaults). */
#include "photons/app/options.h"

#ifdef PHOTONS_CUDA
#include <cuda_runtime_api.h>
#endif
#include <errno.h>
#include <fftw3.h>
#include <getopt.h>
#include <hdf5.h>
#include <mpi.h>
#include <starpu.h>
#include <stdlib.h>
#include <string.h>

#include "build_config.h"
#include "photons/app/manual.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/base/version.h"
#include "photons/runtime/scheduler.h"

static const char help[] =
    "usage: photons-starpu [options] config.ini\n"
    "       photons-starpu --analyse SNAPSHOT [options]\n"
    "       photons-starpu --watch FOLDER\n"
    "Simulation of structure formation, of isolated galaxies and of gas, as a StarPU task graph.\n"
    "\n"
    "  -n, --dry-run                 check everything, print parameters, memory and groups, run "
    "nothing\n"
    "  -P, --set SECTION.KEY=VALUE   override a parameter of config.ini (may be repeated)\n"
    "  -s, --steps N                 stop after step N of the run, with a checkpoint (0: initial "
    "conditions and first forces only)\n"
    "      --steps +N                stop after N more steps, counted from the checkpoint with "
    "--restart\n"
    "  -r, --restart                 continue from the newest checkpoint in the output folder\n"
    "      --overwrite               remove first what an earlier run left in the output folder\n"
    "  -a, --analyse SNAPSHOT        no run: halos, mass function, power spectrum and pictures of "
    "a Gadget snapshot; of an isolated system energies, momenta and radii\n"
    "  -w, --watch FOLDER            no run: show the run in this output folder, while it goes on "
    "or afterwards\n"
    "      --defaults                print a complete commented config.ini\n"
    "      --reference               print a reference of all parameters (Markdown)\n"
    "      --manual                  print the manual page (troff)\n"
    "  -q, --quiet                   print warnings and errors, nothing else\n"
    "  -v, --verbose                 print every step, with the time of its parts and of idle "
    "workers\n"
    "  -h, --help [NAME]             print this, or what a parameter or those of a section mean, "
    "and to which systems they apply\n"
    "  -V, --version                 print the versions of the program and its libraries\n"
    "\n"
    "Without -q and -v a run shows a progress bar on a terminal. Elsewhere it prints the line of\n"
    "a step every output.log_seconds. The file log/run.log in the output folder has all that a\n"
    "run says, and a line for each step.\n"
    "\n"
    "While it runs, a file `stop` in the output folder asks for a checkpoint and the end, a file\n"
    "`output-now` for an output with the next number.\n"
    "\n"
    "Exit codes: 0 done, or stopped by a file `stop` or by runtime.wall_time; 1 failure while "
    "running,\n"
    "2 bad usage or configuration, 3 bad input file; 129, 130, 138, 143 or 152 stopped by a "
    "signal\n"
    "(HUP, INT, USR1, TERM, XCPU). The last line of a stopped run says which checkpoint stands.\n";

static void print_help(FILE *out) { fputs(help, out); }
static void print_manual(FILE *out) { manual_print(help, out); }

static void print_version(FILE *out) {
  int starpu[3];
  unsigned hdf5[3];
  char mpi[MPI_MAX_LIBRARY_VERSION_STRING];
  int length;
  starpu_get_version(&starpu[0], &starpu[1], &starpu[2]);
  if (H5get_libversion(&hdf5[0], &hdf5[1], &hdf5[2]) < 0)
    fail(EXIT_RUN_FAILED, "cannot read the version of HDF5");
  if (MPI_Get_library_version(mpi, &length) != MPI_SUCCESS)
    fail(EXIT_RUN_FAILED, "cannot read the version of MPI");
  mpi[strcspn(mpi, ",\n")] = 0; /* Open MPI adds package and date */
  fprintf(out, "%s\ngit     %s\n", program_version(), program_revision());
  fprintf(out, "StarPU  %d.%d.%d (built with %s)\n", starpu[0], starpu[1], starpu[2],
          BUILD_STARPU_VERSION);
#ifdef PHOTONS_CUDA
  int cuda;
  if (cudaRuntimeGetVersion(&cuda) != cudaSuccess)
    fail(EXIT_RUN_FAILED, "cannot read the version of CUDA");
  fprintf(out, "CUDA    %d.%d (built with %s), GPUs: ", cuda / 1000, cuda % 1000 / 10,
          BUILD_CUDA_VERSION);
  scheduler_print_gpus(out);
  fputs("\n", out);
#else
  fputs("CUDA    not built in\n", out);
#endif
  fprintf(out, "FFTW    %s (built with %s)\n", fftwf_version, BUILD_FFTW_VERSION);
  fprintf(out, "HDF5    %u.%u.%u (built with %s)\n", hdf5[0], hdf5[1], hdf5[2], BUILD_HDF5_VERSION);
  fprintf(out, "MPI     %s (built with %s)\n", mpi, BUILD_MPI_VERSION);
}

/** End the program after what is printed. A write error (full disk) is reported. */
static _Noreturn void end_printed(void) {
  if (fflush(stdout) != 0 || ferror(stdout))
    fail(EXIT_RUN_FAILED, "cannot write to standard output: %s", strerror(errno));
  comm_end();
  exit(EXIT_SUCCESS);
}

/** Print on rank 0 and end the program. */
static _Noreturn void print_and_end(void (*print)(FILE *out)) {
  if (comm_rank() == 0) print(stdout);
  end_printed();
}

/** --help, or what is known of a parameter or a section. */
static _Noreturn void help_and_end(const char *name) {
  if (!name || *name == '-') print_and_end(print_help);
  char *text = NULL;
  size_t size;
  FILE *stream = open_memstream(&text, &size);
  if (!stream) fail(EXIT_RUN_FAILED, "not enough memory for the help");
  const bool found = parameters_explain(name, stream);
  if (fclose(stream) != 0) fail(EXIT_RUN_FAILED, "not enough memory for the help");
  if (!found)
    fail(EXIT_BAD_USAGE,
         "--help %s: neither a parameter nor a section; expected SECTION.KEY, KEY or SECTION, and "
         "--defaults lists them all",
         name);
  if (comm_rank() == 0) fputs(text, stdout);
  free(text);
  end_printed();
}

/** N: steps from the start of the run; +N: from the present step. */
static void read_steps(const char *text, struct run_options *o) {
  char *end;
  errno = 0;
  long long steps = strtoll(text, &end, 10);
  if (end == text || *end || errno || steps < 0)
    fail(EXIT_BAD_USAGE, "--steps %s: not a number of steps, 0 or more; try --help", text);
  o->steps = steps;
  o->steps_more = *text == '+';
}

/** Whether the command line has an option besides --watch. */
static bool has_other_options(const struct options *o) {
  const struct run_options *r = &o->run;
  return o->analyse || o->override_count > 0 || r->dry_run || r->restart || r->overwrite ||
         r->steps >= 0 || r->verbosity != 1;
}

struct options options_read(int argc, char **argv) {
  enum { DEFAULTS = 256, MANUAL, REFERENCE, OVERWRITE };
  static const struct option names[] = {
      {"analyse", required_argument, NULL, 'a'},
      {"dry-run", no_argument, NULL, 'n'},
      {"set", required_argument, NULL, 'P'},
      {"steps", required_argument, NULL, 's'},
      {"restart", no_argument, NULL, 'r'},
      {"defaults", no_argument, NULL, DEFAULTS},
      {"overwrite", no_argument, NULL, OVERWRITE},
      {"reference", no_argument, NULL, REFERENCE},
      {"manual", no_argument, NULL, MANUAL},
      {"quiet", no_argument, NULL, 'q'},
      {"verbose", no_argument, NULL, 'v'},
      {"help", no_argument, NULL, 'h'},
      {"version", no_argument, NULL, 'V'},
      {"watch", required_argument, NULL, 'w'},
      {NULL, 0, NULL, 0},
  };
  struct options o = {
      .overrides = allocate((size_t)argc, sizeof *o.overrides, "the command line"),
      .run = {.steps = -1, .verbosity = 1},
  };
  opterr = 0; /* getopt_long() prints no messages */
  for (int option; (option = getopt_long(argc, argv, ":a:nP:s:rqvhVw:", names, NULL)) != -1;) {
    switch (option) {
    case 'a': o.analyse = optarg; break;
    case 'n': o.run.dry_run = true; break;
    case 'P': o.overrides[o.override_count++] = optarg; break;
    case 's': read_steps(optarg, &o.run); break;
    case 'r': o.run.restart = true; break;
    case OVERWRITE: o.run.overwrite = true; break;
    case 'q': o.run.verbosity = 0; break;
    case 'v': o.run.verbosity = 2; break;
    case DEFAULTS: print_and_end(parameters_print_defaults);
    case MANUAL: print_and_end(print_manual);
    case REFERENCE: print_and_end(parameters_print_reference);
    case 'h': help_and_end(argv[optind]);
    case 'V': print_and_end(print_version);
    case 'w': o.watch = optarg; break;
    case ':': fail(EXIT_BAD_USAGE, "the option %s needs a value; try --help", argv[optind - 1]);
    default:
      /* optopt is 0 for an unknown long option. For an option with a value that it does not take,
       * optopt is the option's code. */
      if (optopt && strncmp(argv[optind - 1], "--", 2) == 0)
        fail(EXIT_BAD_USAGE, "the option %s takes no value; try --help", argv[optind - 1]);
      if (optopt) fail(EXIT_BAD_USAGE, "unknown option -%c; try --help", optopt);
      fail(EXIT_BAD_USAGE, "unknown option %s; try --help", argv[optind - 1]);
    }
  }
  if (o.run.restart && o.run.overwrite)
    fail(EXIT_BAD_USAGE, "--restart goes on with a run and --overwrite removes it: not together");
  if (o.watch) {
    if (optind < argc || has_other_options(&o))
      fail(EXIT_BAD_USAGE,
           "--watch takes a folder, no config.ini and no other options; try --help");
    return o;
  }
  if (o.analyse) {
    if (optind < argc || o.run.restart || o.run.overwrite || o.run.steps >= 0)
      fail(EXIT_BAD_USAGE,
           "--analyse takes a snapshot and --dry-run, --set, -q and -v only: no config.ini and no "
           "other options for runs; try --help");
    return o;
  }
  if (optind == argc)
    fail(EXIT_BAD_USAGE,
         "no config.ini was given; try --help, or --defaults for a complete example");
  if (optind + 1 < argc)
    fail(EXIT_BAD_USAGE, "more than one config.ini: %s and %s; try --help", argv[optind],
         argv[optind + 1]);
  o.config = argv[optind];
  return o;
}

void options_free(struct options *options) { free(options->overrides); }
