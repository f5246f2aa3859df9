/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Invariants that a build with --enable-debug-checks tests while it runs. Other builds compile the
 * checks, so that they stay correct C, and leave them out of the program. */
#ifndef PHOTONS_DEBUG_CHECK_H
#define PHOTONS_DEBUG_CHECK_H

#include "photons/base/error.h"

/** For loops that serve checks only: if (DEBUG_CHECKS) check_something(); */
#ifdef PHOTONS_DEBUG_CHECKS
enum { DEBUG_CHECKS = 1 };
#else
enum { DEBUG_CHECKS = 0 };
#endif

/** End the program with file, line and a message (printf format, with one value at least) unless
 * the condition holds. */
#define DEBUG_CHECK(condition, format, ...)                                                 \
  do {                                                                                      \
    if (DEBUG_CHECKS && !(condition))                                                       \
      fail(EXIT_RUN_FAILED, "%s:%d: not true: %s: " format, __FILE__, __LINE__, #condition, \
           __VA_ARGS__);                                                                    \
  } while (0)

#endif
