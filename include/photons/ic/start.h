/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What initial conditions decide before they are made: the redshift at which a universe begins, where the program
 * chooses it, and softening lengths of a galaxy's components. */
#ifndef PHOTONS_IC_START_H
#define PHOTONS_IC_START_H

#include <stdio.h>

struct parameters;

/**
 * Choose ic.z_init, if it is automatic: the least whole redshift, at most 199, at which the rms displacement
 * (ic.order 1 and 2) and density contrast of the waves on the lattice are small enough for the order, and from which
 * structures grow enough until the first output. ic.start says which of these decided. An output at a higher redshift
 * ends the program with EXIT_BAD_USAGE, a bad power spectrum with EXIT_BAD_INPUT.
 */
void ic_choose_start(struct parameters *p);
/** Print ic.start as a line of the banner; nothing where ic.z_init was given. */
void ic_print_start(FILE *out, const struct parameters *p);

/** Give types of particles the softening lengths that components of config.ini name. Components of one type that
 * name different ones, or contradict gravity.softening_type_N, end the program with EXIT_BAD_USAGE. */
void ic_choose_softening(struct parameters *p);

#endif
