/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fuzzing: Gadget HDF5 files of isolated systems. */
#include "gadget_readers.h"
#include "hdf5_input.h"

static void read_isolated(const char *path) {
  struct parameters p;
  parameters_default(&p);
  p.box.boundary = BOUNDARY_ISOLATED;
  p.ic.source = IC_GADGET;
  snprintf(p.ic.file, sizeof p.ic.file, "%s", path);
  struct particles s = ic_isolated(&p);
  check_particles(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  static const struct fuzz_reader isolated = {read_isolated, EXIT_BAD_INPUT, false,
                                              hdf5_input_close};
  if (!hdf5_input_possible(bytes, size)) return -1;
  fuzz_input(&isolated, bytes, size);
  return 0;
}
