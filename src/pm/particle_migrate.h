/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Particles on their way to groups: to the ranks that own these, as copies to the ranks whose groups
 * the clouds touch, and into the order of a level. */
#ifndef PHOTONS_PM_PARTICLE_MIGRATE_H
#define PHOTONS_PM_PARTICLE_MIGRATE_H

#include "photons/pm/particles.h"
#include "photons/pm/settling.h"
#include "photons/runtime/stage.h"

/** Where a particle belongs. */
struct home {
  int level;
  uint32_t group; /**< NO_GROUP: to none yet, or to none of the levels in question */
};

struct particle_parcel;

struct particle_migration {
  const struct gas *gas;
  int first, last; /**< levels of the particles */
  double time;     /**< of use to migration_plan() */
  void *context;   /**< the same */
  size_t count;
  const struct gas_particle **particle; /**< [count] of this rank; after migration_run() those that
                                             this rank is to have */
  struct home *home;                    /**< [count]; at first where the particle was */
  uint32_t *touched; /**< [count] gas_particles_touched() of the home: whose ranks get copies */
  struct particle_parcel *received;
  size_t
      kept; /**< after migration_run(): this rank's own particles, which are the first in the list */
};

/** The own particles of some levels, which stay where they are until migration_end(). */
struct particle_migration migration_begin(const struct gas *g, int first, int last);
/** Call a function for each particle, in tasks: it sets home and touched. */
void migration_plan(struct particle_migration *m,
                    void (*plan)(const struct particle_migration *m, size_t i));
/** Call a function for each of `n` groups or batches, in tasks where these have many particles. */
void settle_groups(size_t particles, uint32_t n, void (*function)(void *context, uint32_t i),
                   void *context);
/** Send and receive. Collective. */
void migration_run(struct particle_migration *m);
/** Copy the particles whose home is a level, in the order of its groups and their numbers; without
 * particle_level.sums. particle_level_free() the result. */
struct particle_level migration_arrive(const struct particle_migration *m, int level);
void migration_end(struct particle_migration *m);
/** List the groups of other ranks that particles whose home is a level go to. */
void particle_level_list(struct particle_level *l, const struct particle_migration *m, int level);
/** Where those of each listed group would begin; free() it. @return [listed + 1] */
size_t *particle_level_count(const struct particle_level *l, const struct particle_migration *m,
                             int level);

void particle_level_free(struct particle_level *l);
/** The number of particles of a batch of this rank; 0 for other batches. */
size_t particle_batch_count(const struct particle_level *l, uint32_t batch);

/** List the particles of `from` that may leave their groups: submit the tasks, wait for them, and free
 * the lists and gas_leaving.now. Particles that have no groups yet are not listed, but counted.
 * @param s  stays where it is until leaving_end() */
void leaving_begin(struct gas_leaving *s);
/** Lists that the tasks which drift a level's particles make; leaving_take() finds them. @return NULL: on several ranks
 * there are none */
const struct gas_leaving *leaving_with_drift(struct gas *g, int level);
/** This waits for all tasks that were submitted and look at the tables of `from`. */
size_t leaving_count(const struct gas_leaving *s);
/** What changes when fences of a level do. */
uint64_t leaving_changes(const struct gas *g, int level);
/** Those of a group of `from`; gas_leaving.leavers has their number. */
const struct gas_leaver *leaving_of(const struct gas_leaving *s, uint32_t group);
void leaving_end(struct gas_leaving *s);
/** The lists that gas_particles_list() has begun, or others. leaving_drop() frees them. */
struct gas_leaving *leaving_take(struct gas *g, int level, int last);
void leaving_drop(struct gas_leaving *s);

/** Where a particle will be after a time. */
void particle_move_on(const struct gas_particle *p, double time, double position[3]);

extern struct stage gas_settle_stage;

#endif
