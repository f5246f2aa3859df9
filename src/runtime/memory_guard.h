/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Libraries that get no memory in the course of a run. StarPU, FFTW and at times HDF5 do not report
 * that: they print a backtrace and abort, call exit(), or use a null pointer. */
#ifndef PHOTONS_RUNTIME_MEMORY_GUARD_H
#define PHOTONS_RUNTIME_MEMORY_GUARD_H

/** From now on the run ends through fail() where a library ends it for lack of memory. */
void memory_guard_begin(void);
/** The program is about to end by itself. */
void memory_guard_end(void);

#endif
