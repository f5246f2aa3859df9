/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Chooses the kernels of self-gravity of an instruction set and a precision. */
#include "build_config.h"
#include "photons/potential/poisson.h"

KERNEL_TABLES(struct poisson_kernels, poisson_kernels)
KERNEL_TABLES(struct gravity_kernels, gravity_kernels_single)
KERNEL_TABLES(struct gravity_kernels, gravity_kernels_double)

const struct gravity_kernels *gravity_kernels_select(bool double_precision) {
  return double_precision ? gravity_kernels_double_select() : gravity_kernels_single_select();
}
