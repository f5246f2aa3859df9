/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The choice of the time integration kernels for the processor's instruction set. */
#include "build_config.h"
#include "photons/step/kernels.h"

KERNEL_TABLES(struct step_kernels, step_kernels)
