/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The gravity of cells in single precision. */
#define REAL float
#include "work.h"

extern const struct gravity_kernels KERNEL(gravity_kernels_single);
const struct gravity_kernels KERNEL(gravity_kernels_single) = {source, kick, border, work, measure};
