/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Checks of initial conditions: errors for what cannot be right, warnings for what is unusual.
 * Every error ends the program with EXIT_BAD_INPUT. */
#ifndef PHOTONS_IC_CHECK_H
#define PHOTONS_IC_CHECK_H

#include "photons/domain/particles.h"

struct gadget_header;
struct parameters;

/**
 * Check what every header must have, also that of a glass: a box unless the system is isolated,
 * masses, no gas unless it is to be analysed. Where only one of Time and Redshift is in the file, the other one is computed.
 */
void ic_check_header(const char *path, struct gadget_header *h, bool isolated);

/**
 * Check that time and cosmology of a header are in the ranges that config.ini has for them. Some
 * numbers may be missing from a header. The values of config.ini then stay:
 * - Omega0 and OmegaLambda, if each of them is 0 or not in the file;
 * - OmegaLambda, if Omega0 is given and OmegaLambda is not in the file (0 is a value);
 * - HubbleParam, if it is 0 or not in the file.
 */
void ic_check_universe(const char *path, const struct gadget_header *h);

/** Check that a number of a header is in the range of `section.key`.
 * @param name  of the number, for the message */
void ic_check_range(const char *path, const char *name, const char *section, const char *key,
                    double value);

/**
 * Warn if there are few particles, if all are at one point, or if the universe is far from flat.
 * Collective; rank 0 prints.
 * @param source  where the particles are from, for messages
 */
void ic_warn(const struct particles *s, double omega_k, const char *source);

#endif
