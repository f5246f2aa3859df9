/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "build_config.h"
#include "photons/step/kernels.h"

KERNEL_TABLES(struct step_kernels, step_kernels)
