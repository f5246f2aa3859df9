/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The manual page. */
#ifndef PHOTONS_MANUAL_H
#define PHOTONS_MANUAL_H

#include <stdio.h>

/** Print the manual page, photons-starpu.1. @param help  the text of --help */
void manual_print(const char *help, FILE *out);

#endif
