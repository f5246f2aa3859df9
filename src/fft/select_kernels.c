/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Chooses the kernels of transforms of an instruction set. */
#include "build_config.h"
#include "photons/fft/kernels.h"

KERNEL_TABLES(struct fft_kernels, fft_kernels)
