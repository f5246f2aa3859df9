/* SPDX-License-Identifier: GPL-3.0-or-later */
/* add_reference FILE SOFTENING: adds the exact accelerations of the particles of a Gadget HDF5 file
 * (kpc/h) to the file, as /Reference/Acceleration in (km/s)^2/(kpc/h), in the order of
 * /Reference/ParticleIDs. SOFTENING is the Plummer-equivalent softening of Gadget's spline, in
 * kpc/h. */
#include <hdf5.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "photons/cosmology/cosmology.h"
#include "support/ewald.h"

/* With all particles as targets, the sums over neighbours and over waves then take about the same
 * time. */
static const double alpha = 14.0;

static void check(int64_t result, const char *what) {
  if (result >= 0) return;
  fprintf(stderr, "add_reference: error: %s\n", what);
  exit(EXIT_FAILURE);
}

static void *allocate(size_t size) {
  void *memory = malloc(size);
  check(memory ? 0 : -1, "no memory");
  return memory;
}

static void read_attribute(hid_t file, const char *name, double *values) {
  hid_t attribute = H5Aopen_by_name(file, "Header", name, H5P_DEFAULT, H5P_DEFAULT);
  check(attribute, name);
  check(H5Aread(attribute, H5T_NATIVE_DOUBLE, values), name);
  H5Aclose(attribute);
}

static void read_dataset(hid_t file, const char *name, hid_t type, void *values) {
  hid_t set = H5Dopen2(file, name, H5P_DEFAULT);
  check(set, name);
  check(H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), name);
  H5Dclose(set);
}

static void write_dataset(hid_t file, const char *name, hid_t type, hsize_t rows, hsize_t columns,
                          const void *values) {
  const hsize_t size[2] = {rows, columns};
  hid_t space = H5Screate_simple(columns > 1 ? 2 : 1, size, NULL);
  hid_t set = H5Dcreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  check(set, name);
  check(H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), name);
  check(H5Dclose(set), name);
  H5Sclose(space);
}

static size_t count_particles(hid_t file) {
  hid_t set = H5Dopen2(file, "PartType1/ParticleIDs", H5P_DEFAULT);
  check(set, "PartType1/ParticleIDs");
  hid_t space = H5Dget_space(set);
  const hssize_t count = H5Sget_simple_extent_npoints(space);
  check(count, "PartType1/ParticleIDs");
  H5Sclose(space);
  H5Dclose(set);
  return (size_t)count;
}

int main(int argc, char **argv) {
  check(argc == 3 ? 0 : -1, "usage: add_reference FILE SOFTENING");
  char *end;
  const double softening = strtod(argv[2], &end);
  check(*argv[2] && !*end ? 0 : -1, "SOFTENING is a number in kpc/h");
  hid_t file = H5Fopen(argv[1], H5F_ACC_RDWR, H5P_DEFAULT);
  check(file, argv[1]);
  const size_t n = count_particles(file);
  double box, mass[6], *x = allocate(3 * n * sizeof *x), *a = allocate(3 * n * sizeof *a);
  uint64_t *id = allocate(n * sizeof *id);
  read_attribute(file, "BoxSize", &box);
  read_attribute(file, "MassTable", mass);
  read_dataset(file, "PartType1/Coordinates", H5T_NATIVE_DOUBLE, x);
  read_dataset(file, "PartType1/ParticleIDs", H5T_NATIVE_UINT64, id);
  for (size_t i = 0; i < 3 * n; i++) x[i] /= box;
  ewald_accelerations(x, n, 1, alpha, softening / box, 0, a);
  const double unit = 1e3 * GRAVITY * mass[1] / (box * box); /* G for kpc/h */
  for (size_t i = 0; i < 3 * n; i++) a[i] *= unit;
  H5Gclose(H5Gcreate2(file, "Reference", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  write_dataset(file, "Reference/ParticleIDs", H5T_NATIVE_UINT64, n, 1, id);
  write_dataset(file, "Reference/Acceleration", H5T_NATIVE_DOUBLE, n, 3, a);
  check(H5Fclose(file), argv[1]);
  free(x);
  free(a);
  free(id);
  return 0;
}
