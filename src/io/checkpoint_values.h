/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Values in a checkpoint that no run writes. Each function ends the program with EXIT_BAD_INPUT and
 * names the value. */
#ifndef PHOTONS_CHECKPOINT_VALUES_H
#define PHOTONS_CHECKPOINT_VALUES_H

#include <stdint.h>

#include "photons/io/snapshot.h"

void checkpoint_check_state(const char *path, const struct parameters *p,
                            const struct checkpoint_state *state);
/** @param p parameters of the run that wrote the checkpoint */
void checkpoint_check_sizes(const char *path, const struct parameters *p, uint64_t particles,
                            uint64_t blocks, double box, double mass);
/** Those of this process. @param a scale factor of the momenta */
void checkpoint_check_particles(const char *path, const struct parameters *p,
                                const struct particles *s, double a);

#endif
