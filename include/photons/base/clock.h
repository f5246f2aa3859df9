/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Wall-clock time, for measurements; dates and durations as text, for logs. */
#ifndef PHOTONS_BASE_CLOCK_H
#define PHOTONS_BASE_CLOCK_H

/** Seconds since an arbitrary moment, by a monotonic clock, which is never set. */
double wall_clock(void);
/** Seconds since the program was loaded. */
double wall_clock_of_program(void);

enum { CLOCK_DATE_SIZE = 32 };
/** Write the date and time as ISO 8601 has them, in UTC: 2026-11-22T09:56:04Z. */
void clock_date(char text[CLOCK_DATE_SIZE]);

enum { CLOCK_DURATION_SIZE = 32 };
/** Write a time as 12.3 s, 4:05 or 1:02:03. */
void clock_duration(char text[CLOCK_DURATION_SIZE], double seconds);

#endif
