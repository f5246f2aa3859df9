/* SPDX-License-Identifier: GPL-3.0-or-later */
/* First files that corpus.c has from elsewhere. */
#ifndef PHOTONS_FUZZ_CORPUS_H
#define PHOTONS_FUZZ_CORPUS_H

#include <hdf5.h>
#include <stdbool.h>

/** Two groups of gas, one finer than the other. */
void corpus_gas_file(const char *path, bool with_particles);
/** Arrays of one group of gas. @param type  of the numbers in the file */
void corpus_gas_array(const char *path, hid_t type, bool compressed);

#endif
