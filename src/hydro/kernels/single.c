/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The gas kernels in single precision. */
#define REAL float
#include "accelerate.h"
#include "flags.h"
#include "levels.h"
#include "sweep.h"

extern const struct gas_kernels KERNEL(gas_kernels_single);
const struct gas_kernels KERNEL(gas_kernels_single) = {sizeof(real),   SCRATCH_REALS * sizeof(real),
                                                       solve,          largest_speed,
                                                       flag,           interpolate,
                                                       restrict_group, flux_add,
                                                       flux_fix,       accelerate};
