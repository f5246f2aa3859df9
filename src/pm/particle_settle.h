/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parts of gas_particles_settle(). */
#ifndef PHOTONS_PM_PARTICLE_SETTLE_H
#define PHOTONS_PM_PARTICLE_SETTLE_H

#include "particle_migrate.h"
#include "photons/pm/particles.h"
#include "photons/pm/settling.h"

/** The finest level from `first` to `last` that has the cloud at a position. If none has, the group
 * of `first` that contains the position, if there is one. */
struct home particle_home(const struct gas *g, int first, int last, const double position[3]);
/** Whether a particle whose home has been found has no place. */
bool particle_is_lost(const struct particle_migration *m, size_t i);
/** End the run, on all ranks alike, if a particle has no place. Collective.
 * @param some  whether one of this rank has none */
void particles_require_places(const struct particle_migration *m, bool some);

/** A level whose particles get new groups. */
struct settling {
  struct gas_leaving *leaving;
  size_t gone_count;
  size_t *gone_first; /**< [own groups before + 1] */
  uint32_t *gone;     /**< indices of the particles that leave each group, rising */
};

/** Make a level's particles, from those that stay and those that arrive, in tasks. Nothing waits for these.
 * leaving.from is then what was before; leaving_count() has waited for the tasks that find it in gas.particles.
 * @param m  with the particles that arrive */
void arrivals_submit(struct gas *g, struct settling *s, const struct particle_migration *m);
/** Free a level's particles of before the last settling. Their memory is free when tasks have read them,
 * which this waits for. */
void arrivals_forget_particles(struct gas_particles *s, int level);
/** Free the tables of the last settling of a level, whose tasks have ended. */
void arrivals_forget_tables(struct gas_particles *s, int level);

#endif
