/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fuzzing: Gadget-2 binary files, as initial conditions and as a glass. */
#include "gadget_readers.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  static const struct fuzz_reader conditions = {read_conditions, EXIT_BAD_INPUT, true, NULL};
  static const struct fuzz_reader glass = {read_glass, EXIT_BAD_INPUT, true, NULL};
  if (size > 0 && bytes[0] == 0x89) return -1; /* perhaps HDF5, which has a target of its own */
  fuzz_input(&conditions, bytes, size);
  fuzz_input(&glass, bytes, size);
  return 0;
}
