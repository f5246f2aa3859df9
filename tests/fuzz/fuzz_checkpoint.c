/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fuzzing: checkpoints. */
#include "harness.h"
#include "hdf5_input.h"
#include "photons/io/snapshot.h"

static void read_checkpoint(const char *path) {
  struct parameters p;
  struct checkpoint_state state;
  fuzz_parameters(&p);
  struct particles s = checkpoint_read(path, &p, &state);
  fuzz_require(s.count > 0 && s.all == s.count, "no particles");
  for (size_t g = 0; g < s.blocks; g++)
    fuzz_require(particles_block(&s, g).count > 0, "a block without particles");
  particles_free(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  static const struct fuzz_reader checkpoint = {read_checkpoint, EXIT_BAD_INPUT, false,
                                                hdf5_input_close};
  if (!hdf5_input_possible(bytes, size)) return -1;
  fuzz_input(&checkpoint, bytes, size);
  return 0;
}
