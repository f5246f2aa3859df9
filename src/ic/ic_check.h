/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What initial conditions must be, and what about them is strange enough for a warning. */
#ifndef PHOTONS_IC_CHECK_H
#define PHOTONS_IC_CHECK_H

#include "photons/domain/particles.h"

struct gadget_header;
struct parameters;

/** The part of a header that a glass has, too: box, masses, no gas. Of Time and Redshift, one that is absent is made from
 * the other. EXIT_BAD_INPUT. */
void ic_check_header(const char *path, struct gadget_header *h);

/**
 * Time and cosmology, in the ranges that config.ini has for them. EXIT_BAD_INPUT.
 * Not given, so that the values of config.ini hold, are: Omega0 and OmegaLambda where both are 0 or absent; OmegaLambda where
 * it alone is absent; HubbleParam where it is 0 or absent.
 */
void ic_check_universe(const char *path, const struct gadget_header *h);

/** EXIT_BAD_INPUT unless @p value, a number of a header, is in the range of `section.key`. @param name of the number */
void ic_check_range(const char *path, const char *name, const char *section, const char *key, double value);

/** Warn, once on all processes together: few particles, all at one point, a universe far from flat. On every process.
 * @param source  of the particles, for messages */
void ic_warn(const struct particles *s, double omega_k, const char *source);

#endif
