/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The part of cuda_check on pictures of the phase-space sheet. */
#ifndef PHOTONS_TESTS_CUDA_PICTURES_H
#define PHOTONS_TESTS_CUDA_PICTURES_H

/** Compare pictures of the GPU with those of the CPU bit for bit, and print the times of both.
 * @return number of failures */
int check_pictures(void);

#endif
