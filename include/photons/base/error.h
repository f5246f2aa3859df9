/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Errors and warnings: the one place where the program prints a message and stops all ranks.
 * Messages of rank 0 are in the log, too (console.h). */
#ifndef PHOTONS_ERROR_H
#define PHOTONS_ERROR_H

#include <stddef.h>

/** Exit codes of the program. The code of a run stopped by a signal is 128 + the signal's number.
 */
enum exit_code {
  EXIT_RUN_FAILED = 1, /**< failure while running: I/O, memory, runtime */
  EXIT_BAD_USAGE = 2,  /**< command line or config.ini */
  EXIT_BAD_INPUT = 3,  /**< initial conditions, checkpoint, table */
};

/**
 * Print `photons-starpu: error: <message>` as one line on stderr and end all ranks. Temporary
 * output files (output_file.h) are removed first. May be called on any thread.
 * @param code   one of enum exit_code
 * @param format printf format: what was found, where, and what to do
 */
_Noreturn void fail(enum exit_code code, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** Let a function be called on the thread that ends the program, before fail() and end_program() do anything else. */
void before_failing(void (*wait)(void));

/** As fail() without `error: `, with a code of its own: for an end that was asked for. */
_Noreturn void end_program(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** Print `photons-starpu: <message>` on stderr, of rank 0: for what whoever started the run must
 * see. */
void notify(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** Print `photons-starpu: warning: <message>` on stderr. */
void warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** Write messages to this descriptor from now on, at first standard error. For a time in which what
 * libraries write to standard error is held back. */
void messages_to(int descriptor);

/**
 * calloc() that never returns NULL: stops with a message that names @p what and its size.
 * @param count number of elements, may be 0
 * @param size  bytes an element
 * @param what  what the memory is for, e.g. "particle positions"
 */
void *allocate(size_t count, size_t size, const char *what);

/** Ask for huge pages under a large block that nobody has touched yet and that will be written as a
 * whole. The system takes less time to give, to lock and to find them. */
void use_huge_pages(void *block, size_t bytes);

/** Like allocate(), with use_huge_pages(). To be freed by free(). */
void *allocate_large(size_t count, size_t size, const char *what);
/** The same without clearing it. */
void *allocate_uncleared(size_t count, size_t size, const char *what);

/** Like allocate(), for an existing allocation (or NULL); new bytes are not cleared. */
void *reallocate(void *block, size_t count, size_t size, const char *what);

#endif
