/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The kernels of each instruction set. */
#ifndef PHOTONS_TESTS_IO_KERNELS_OF_H
#define PHOTONS_TESTS_IO_KERNELS_OF_H

#include <stdlib.h>
#include <string.h>

#include "photons/io/kernels.h"

/** The kernels of an instruction set that this processor runs. */
static inline const struct io_kernels *io_kernels_of(enum isa isa) {
  static const char *const setting[ISAS] = {"baseline", "avx2", "avx512"};
  const char *before = getenv("PHOTONS_ISA");
  char *kept = before ? strdup(before) : NULL;
  setenv("PHOTONS_ISA", setting[isa], 1);
  const struct io_kernels *k = io_kernels_select();
  if (kept)
    setenv("PHOTONS_ISA", kept, 1);
  else
    unsetenv("PHOTONS_ISA");
  free(kept);
  return k;
}

#endif
