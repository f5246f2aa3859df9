/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fuzzing: arrays of gas, as initial conditions. */
#include <math.h>
#include <stdlib.h>

#include "harness.h"
#include "hdf5_input.h"
#include "photons/amr/cells.h"
#include "photons/gas/gas_array.h"

static void read_array(const char *path) {
  const double root[3] = {GAS_GROUP_SIDE, GAS_GROUP_SIDE, GAS_GROUP_SIDE};
  const uint32_t place[3] = {0, 0, 0};
  const struct gas_physics physics = {.solver = GAS_MUSCL, .gamma = 1.4};
  double *conserved = allocate((size_t)GAS_GROUP_CELLS * GAS_VARIABLES_MAX, sizeof *conserved,
                               "a group of gas");
  struct gas_array *a = gas_array_open(path, root, &physics, true);
  gas_array_read(a, 0, place, 1.4, conserved);
  for (size_t i = 0; i < GAS_GROUP_CELLS; i++)
    fuzz_require(conserved[i * GAS_VARIABLES_MAX] > 0.0, "a density is not above 0");
  gas_array_close(a);
  free(conserved);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  static const struct fuzz_reader array = {read_array, EXIT_BAD_INPUT, false, hdf5_input_close};
  if (!hdf5_input_possible(bytes, size)) return -1;
  fuzz_input(&array, bytes, size);
  return 0;
}
