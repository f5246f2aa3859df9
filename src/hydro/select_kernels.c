/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Chooses the gas kernels of an instruction set and a precision. */
#include "build_config.h"
#include "photons/amr/kernels.h"

KERNEL_TABLES(struct gas_kernels, gas_kernels_single)
KERNEL_TABLES(struct gas_kernels, gas_kernels_double)

const struct gas_kernels *gas_kernels_select(bool double_precision) {
  return double_precision ? gas_kernels_double_select() : gas_kernels_single_select();
}
