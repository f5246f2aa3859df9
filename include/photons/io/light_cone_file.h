/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files of a light cone: the particles that crossed it in a step, and the map of a shell. Files appear
 * whole, and have the same bytes on any number of ranks. All functions are collective. */
#ifndef PHOTONS_LIGHT_CONE_FILE_H
#define PHOTONS_LIGHT_CONE_FILE_H

#include "photons/config/parameters.h"
#include "photons/step/light_cone.h"

/**
 * Write the crossings of the step: Header, and in PartType0 to PartType5, those of which particles crossed, the
 * datasets of Gadget-4's light cones, which are Coordinates from the observer, Velocities v_pec/sqrt(a), ParticleIDs
 * and Ascale, and where masses of a type differ Masses. Others are in MassTable. No particles, no file.
 * @return how many particles
 */
uint64_t light_cone_write_particles(const char *path, const struct parameters *p,
                                    const struct light_cone *cone);

/**
 * Write the map of an open shell as far as the light cone has come: Counts, or where masses differ Masses, and
 * SurfaceDensity in the ring order of HEALPix. Each rank writes its pixels. Collective.
 */
void light_cone_write_map(const char *path, const struct parameters *p, struct light_cone *cone,
                          int64_t shell);

#endif
