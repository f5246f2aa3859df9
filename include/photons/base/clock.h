/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PHOTONS_BASE_CLOCK_H
#define PHOTONS_BASE_CLOCK_H

/** Seconds since some moment in the past, by a clock that is never set. */
double wall_clock(void);

#endif
