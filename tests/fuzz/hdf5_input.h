/* SPDX-License-Identifier: GPL-3.0-or-later */
/* HDF5 files as inputs of the fuzzer. hdf5_input.c also holds the mutator of these targets, which
 * libFuzzer finds by its name. */
#ifndef PHOTONS_FUZZ_HDF5_INPUT_H
#define PHOTONS_FUZZ_HDF5_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The bytes begin with HDF5's signature. */
bool hdf5_input_possible(const uint8_t *bytes, size_t size);
/** Close what a reader that failed has left open. */
void hdf5_input_close(void);

#endif
