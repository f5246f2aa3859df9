/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fuzzing: files of gas, which are snapshots and checkpoints. */
#include <math.h>
#include <stdlib.h>

#include "harness.h"
#include "hdf5_input.h"
#include "photons/gas/gas_file.h"
#include "photons/pm/particles.h"

/** All groups are put into the same memory. */
static void *find_group(void *numbers, int level, uint32_t group) {
  (void)level;
  (void)group;
  return numbers;
}

static void read_gas(const char *path) {
  struct parameters p;
  fuzz_gas_parameters(&p);
  struct gas_file f = gas_file_open(path, &p);
  fuzz_require(f.cell > 0.0 && isfinite(f.cell), "the side of a cell is not a number above 0");
  fuzz_require(f.topology.level[0].count > 0, "no groups");
  void *numbers = allocate(GAS_VARIABLES_MAX * GAS_GROUP_CELLS, sizeof(double), "a group of gas");
  gas_file_read(path, &f, find_group, numbers);
  free(numbers);
  if (f.particle_count > 0) {
    size_t count;
    free(gas_file_read_particles(path, &count));
    fuzz_require(count == f.particle_count, "another number of particles");
  }
  topology_free(&f.topology);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  static const struct fuzz_reader gas = {read_gas, EXIT_BAD_INPUT, false, hdf5_input_close};
  if (!hdf5_input_possible(bytes, size)) return -1;
  fuzz_input(&gas, bytes, size);
  return 0;
}
