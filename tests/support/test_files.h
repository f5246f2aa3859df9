/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Paths of the tests' files. Each function's result is valid until its next call. */
#ifndef PHOTONS_TESTS_TEST_FILES_H
#define PHOTONS_TESTS_TEST_FILES_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/** Particles with exact accelerations, made by `make check`: early.hdf5 (z = 49, nearly a grid) or
 * late.hdf5 (z = 0, clustered). Ends the test if the file is missing. */
static inline const char *force_set_path(const char *name) {
  static char path[1024];
  const char *folder = getenv("PHOTONS_FORCE_SETS");
  snprintf(path, sizeof path, "%s/%s", folder ? folder : "tests/force-sets", name);
  if (access(path, R_OK) != 0) {
    fprintf(stderr, "there is no %s: run make tests/force-sets/%s\n", path, name);
    exit(EXIT_FAILURE);
  }
  return path;
}

/** A file of the source folder tests/data. */
static inline const char *source_data(const char *name) {
  static char path[1024];
  const char *source = getenv("PHOTONS_SOURCE");
  snprintf(path, sizeof path, "%s/tests/data/%s", source ? source : ".", name);
  return path;
}

/** A file of other programs in the folder PHOTONS_TEST_DATA; NULL if it is not there. Few people
 * have that folder, so its files only serve tests in addition to those that everybody can run. */
static inline const char *other_data(const char *name) {
  static char path[1024];
  const char *folder = getenv("PHOTONS_TEST_DATA");
  if (!folder) return NULL;
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return access(path, R_OK) == 0 ? path : NULL;
}

#endif
