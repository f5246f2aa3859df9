/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fuzzing: Gadget HDF5 files, as initial conditions and as a glass. */
#include "gadget_readers.h"
#include "hdf5_input.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  static const struct fuzz_reader conditions = {read_conditions, EXIT_BAD_INPUT, false,
                                                hdf5_input_close};
  static const struct fuzz_reader glass = {read_glass, EXIT_BAD_INPUT, false, hdf5_input_close};
  if (!hdf5_input_possible(bytes, size)) return -1;
  fuzz_input(&conditions, bytes, size);
  fuzz_input(&glass, bytes, size);
  return 0;
}
