/* SPDX-License-Identifier: GPL-3.0-or-later */
/* First files of gas, for corpus.c. */
#include "corpus.h"

#include <stdlib.h>

#include "harness.h"
#include "photons/gas/gas_file.h"
#include "photons/pm/particles.h"
#include "src/io/hdf5_util.h"

static void *find_group(void *numbers, int level, uint32_t group) {
  (void)level;
  (void)group;
  return numbers;
}

void corpus_gas_file(const char *path, bool with_particles) {
  struct parameters p;
  fuzz_gas_parameters(&p);
  static const enum gas_boundary boundary[3][2] = {
      {GAS_PERIODIC, GAS_PERIODIC}, {GAS_PERIODIC, GAS_PERIODIC}, {GAS_PERIODIC, GAS_PERIODIC}};
  static const uint32_t place[3] = {1, 0, 1};
  struct gas_particle particle[2] = {{.mass = 1.0, .position = {0.1, 0.2, 0.3}, .number = 7},
                                     {.mass = 2.0, .position = {0.6, 0.7, 0.8}, .number = 8}};
  const struct gas_particles particles = {.count = 2,
                                          .level = {{.count = 2, .particle = particle}}};
  struct gas_file f = {.cell = 1.0 / GAS_GROUP_SIDE,
                       .physics = {.solver = GAS_MUSCL, .gamma = 1.4},
                       .real = sizeof(float),
                       .level = {{0.1, 1e-3, 5}, {0.1, 5e-4, 10}},
                       .gravity = with_particles,
                       .newton_constant = 1.0,
                       .particles = with_particles ? &particles : NULL};
  topology_init(&f.topology, (const uint32_t[]){1, 1, 1}, boundary, 1);
  uint64_t *keys = allocate(1, sizeof *keys, "keys");
  keys[0] = morton_key(place);
  topology_replace(&f.topology, 1, keys, 1);
  float *numbers = allocate((size_t)GAS_VARIABLES_MAX * GAS_GROUP_CELLS, sizeof *numbers, "gas");
  for (size_t i = 0; i < (size_t)GAS_VARIABLES_MAX * GAS_GROUP_CELLS; i++) numbers[i] = 1.0F;
  gas_file_write(path, &p, &f, find_group, numbers);
  free(numbers);
  topology_free(&f.topology);
}

/** @param type  of the numbers in the file: small ones keep the file small */
void corpus_gas_array(const char *path, hid_t type, bool compressed) {
  static const char *const names[] = {"density", "velocity_x", "velocity_y", "velocity_z",
                                      "pressure"};
  const hsize_t size[3] = {GAS_GROUP_SIDE, GAS_GROUP_SIDE, GAS_GROUP_SIDE};
  const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const hid_t space = H5Screate_simple(3, size, NULL), layout = H5Pcreate(H5P_DATASET_CREATE);
  if (compressed) {
    H5Pset_chunk(layout, 3, size);
    H5Pset_deflate(layout, 6);
  }
  int *ones = allocate(GAS_GROUP_CELLS, sizeof *ones, "an array");
  for (size_t i = 0; i < GAS_GROUP_CELLS; i++) ones[i] = 1;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const hid_t data = H5Dcreate2(file, names[i], type, space, H5P_DEFAULT, layout, H5P_DEFAULT);
    H5Dwrite(data, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, ones);
    H5Dclose(data);
  }
  free(ones);
  H5Pclose(layout);
  H5Sclose(space);
  hdf5_close_written(file, path);
}
