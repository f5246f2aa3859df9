/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The gravity of cells in double precision. */
#define REAL double
#include "work.h"

extern const struct gravity_kernels KERNEL(gravity_kernels_double);
const struct gravity_kernels KERNEL(gravity_kernels_double) = {source, kick, border, work, measure};
