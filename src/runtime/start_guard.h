/* SPDX-License-Identifier: GPL-3.0-or-later */
/* StarPU aborts with a backtrace where it gets no thread or no memory at its start; HDF5 prints its
 * stack of errors, or calls itself without end. These functions turn that into one line of this
 * program and exit code 1. */
#ifndef PHOTONS_RUNTIME_START_GUARD_H
#define PHOTONS_RUNTIME_START_GUARD_H

#include <stddef.h>

/** End the program unless so many threads can run beside this one while there is room for so many
 * bytes. Threads and memory are given back. */
void start_guard_probe(unsigned threads, size_t bytes);

/** From begin to end, an abort or a bad memory access ends the program so. What is written to
 * standard error meanwhile appears at the end, if the end is reached. */
void start_guard_begin(void);
void start_guard_end(void);

#endif
