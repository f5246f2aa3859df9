/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The time of a run, as all messages say it. The loop of a run counts time in ln a. A run of gas
 * in a box at rest has a = exp(t / time.end). */
#ifndef PHOTONS_APP_MOMENT_H
#define PHOTONS_APP_MOMENT_H

#include "photons/config/parameters.h"
#include "photons/cosmology/cosmology.h"

/** "z = 3.2", "t = 125 Myr", or of gas "t = 0.12". */
struct moment_text run_moment(const struct parameters *p, double a);

/** The clock of a run of gas in a box at rest at a time, and the reverse. */
double gas_clock_at(const struct parameters *p, double time);
double gas_clock_time(const struct parameters *p, double a);

#endif
