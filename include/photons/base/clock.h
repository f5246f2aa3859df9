/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Wall-clock time, for measurements. */
#ifndef PHOTONS_BASE_CLOCK_H
#define PHOTONS_BASE_CLOCK_H

/** Seconds since an arbitrary moment, by a monotonic clock, which is never set. */
double wall_clock(void);
/** Seconds since the program was loaded. */
double wall_clock_of_program(void);

#endif
