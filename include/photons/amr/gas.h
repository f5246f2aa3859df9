/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gas on an adaptive mesh: the octree with the cells of its groups, cut into batches that are data
 * of StarPU.
 *
 * The cells of a group are [variable][patch][8][8][8], float or double (kernels.h). A batch is a
 * number of groups that follow each other in the order of their level. Batches have their cells
 * twice: at the level's present time, and at the beginning of its last step, which the ghost cells
 * of the next finer level need. What is computed of a group depends on the groups near it and not
 * on its batch.
 *
 * Each rank owns the same number of batches of each level, which follow each other: groups of a
 * level cost the same, and levels take their steps one after the other. A rank with several GPUs divides
 * its batches in the same way among homes, one a GPU, which computes them. Homes are numbered through
 * all ranks: rank r has homes r H to (r + 1) H - 1. Of batches of other homes a home has those that its
 * own groups need (ghosts.h).
 *
 * In comoving coordinates cells hold the variables of Schive, Tsai & Chiueh (2010), equations 15 and
 * 16, for which Euler's equations with gamma = 5/3 have no terms of expansion: x/a, a^3 density, a
 * (velocity - H x), a^5 pressure, and times with dt/a^2 (comoving.h). */
#ifndef PHOTONS_AMR_GAS_H
#define PHOTONS_AMR_GAS_H

#include <starpu.h>
#include <stdbool.h>
#include <stdint.h>

#include "photons/amr/ghosts.h"
#include "photons/amr/kernels.h"
#include "photons/amr/links.h"
#include "photons/amr/topology.h"
#include "photons/cosmology/cosmology.h"

struct self_gravity;
struct gas_particles;
struct gas_replaced;
struct task_chain;

/** Potentials of a batch: at the beginning and at the end of the level's step, memory for the next
 * one, and that with the finer level's means, from which a correction begins. gas_level.potential says
 * which is which. Without self-gravity there are none. */
enum gas_potential { POTENTIAL_BEGIN, POTENTIAL_END, POTENTIAL_NEXT, POTENTIAL_OLD, POTENTIALS };

enum { GAS_ALIGNMENT = 64 }; /**< bytes: of cells and of scratch memory */

/** A batch of this rank; or what a home has of a batch of another home, of which there are those cells
 * and sides that the home needs. Handles and cells that it has not are NULL. */
struct gas_batch {
  uint32_t first, count; /**< groups of the level */
  uint32_t room;         /**< groups that the data have memory for */
  uint32_t kinds; /**< of another home, while its data are made: a bit for each kind of messages */
  size_t cell_bytes;              /**< of each of the two, with room so that sizes recur */
  starpu_data_handle_t handle[2]; /**< cells, [group][variable][patch][8][8][8]; which of the two is
                                       which: gas_level.now */
  void *cells[2]; /**< their memory on cores. With GPUs NULL: StarPU finds memory where tasks run */
  starpu_data_handle_t fluxes; /**< [group][patch][face][variable][8][8] of the last step */
  starpu_data_handle_t
      mass; /**< [group][axis][face 17][16][16]: mass fluxes of the last step, where the gas
                                       attracts itself */
  starpu_data_handle_t sides; /**< [group][face][variable][8][8]: the mean, over a step of the
                                       next coarser level, of the fluxes through the groups' sides */
  starpu_data_handle_t potential[POTENTIALS]; /**< [group][16][16][16] double; gravity.h */
  starpu_data_handle_t sheets; /**< [group][16][16][16] double: pseudo-mass, gravity.h */
  starpu_data_handle_t shares; /**< [group] struct poisson_share: for the next coarser level */
  starpu_data_handle_t
      stresses; /**< [group] struct stress_sum: in the course of the coarser level's step */
  starpu_data_handle_t particles; /**< those of the groups, of struct particle_level; on cores without
                                       data */
  starpu_data_handle_t matter;    /**< [group] struct gas_matter: densities of particles */
  struct batch_list near;         /**< of this level: with the groups and their neighbours */
  struct batch_list coarse;       /**< of the next coarser level: with the patches that the groups
                                       refine, and the neighbours of these */
  struct batch_list fine;         /**< of the next finer level: beside the groups' patches that are
                                       not refined */
  struct batch_list around; /**< of self-gravity: those of the next finer level that refine the
                                       groups' patches or the neighbours of these */
  struct batch_list sons;   /**< of the next finer level: those of the same home that refine patches
                                       of the groups */
  bool inner;               /**< its home has all of `near` and `coarse` */
  bool pushed;            /**< it has particles: gas_push accelerates the gas of the groups, too */
  struct gas_links *link; /**< [group] where this rank uses a GPU, else NULL */
  starpu_data_handle_t links; /**< of these */
};

/** Batches of other homes, by their numbers. */
struct seen_batches {
  uint32_t count, room;
  struct gas_batch *batch; /**< [count] */
};

struct gas_level {
  uint32_t groups, batch_count;
  struct group_span mine;  /**< groups of this rank */
  uint32_t batch_groups;   /**< groups of a batch; the last one may have fewer */
  uint32_t begin;          /**< this rank's first batch */
  struct gas_batch *batch; /**< [own] this rank's: gas_batch() */
  uint32_t own,
      *turn; /**< [own] this rank's batches in the order in which their tasks are submitted: its homes take
                            turns, so that all GPUs get work */
  uint32_t homes;            /**< of this rank */
  struct seen_batches *seen; /**< [home of this rank] what the home has of batches of other homes */
  int now;                   /**< which of the batches' cells are of the present time */
  int potential[POTENTIALS]; /**< which of the batches' potentials is which */
  bool stale_potential[POTENTIALS]; /**< by their numbers in batches: the same as `stale` */
  bool solved;                      /**< the groups have a potential: the latest one */
  enum gas_potential latest;        /**< POTENTIAL_BEGIN or POTENTIAL_END */
  double latest_weight; /**< of its time within the step of the next coarser level, 0 .. 1 */
  starpu_data_handle_t *
      density; /**< [home of this rank] of gas_tasks.together, with several homes: [group][16][16][16] double, the
                                     density of gas and particles in the home's groups; NULL: not made yet */
  int64_t steps;            /**< taken */
  double dt;                /**< of the last of them */
  bool stale;               /**< present cells have changed since ghosts were sent */
  struct gas_ghosts ghosts; /**< messages of the level */
  uint64_t linked;          /**< topology_changes() when ghosts and lists of batches were found */
  bool flagged;             /**< flags are those of the present cells */
  /* Of this rank's groups, [gas_own_number()]. */
  double *speed;                    /**< largest c_s + |v_i| */
  double (*sum)[GAS_VARIABLES_MAX]; /**< over its cells that are not refined */
  uint32_t (*flags)[GAS_PATCHES];   /**< as topology_refined() takes them */
  struct gas_fault *fault;          /**< the first that was found */
  struct gas_field *field;          /**< of self-gravity; poisson.h */
};

/** The number of a group of this rank among its groups of the level. */
static inline uint32_t gas_own_number(const struct gas_level *l, uint32_t group) {
  return group - l->mine.first;
}

/** Where levels are refined, and when. */
struct gas_refinement {
  struct gas_flags flags[GAS_LEVELS_MAX]; /**< criteria, by level; that of particles in units of
                                               `lightest` */
  double lightest; /**< of particles: the smallest mass of one of all ranks; without any infinite */
  int buffer;      /**< cells around a flagged one */
  int64_t regrid;  /**< steps of a level from one regridding to the next */
};

/** The universe, where the box expands. */
struct gas_universe {
  bool comoving; /**< whether it does; else only `scale` of the rest has a meaning */
  struct cosmology cosmology;
  double scale; /**< scale factor at the time that a level under work has come to; 1 without
                     expansion */
  double share; /**< the part of all matter that is gas */
  double molecular_weight;  /**< mean, in masses of a hydrogen atom */
  double temperature_floor; /**< K; 0: there is none */
};

/** How the work is divided into tasks, and what these need beside the data of batches. */
struct gas_tasks {
  uint32_t batch; /**< groups of a batch; 0: by the groups of each level */
  bool few;       /**< without `batch`: as few batches as may be, which have more groups */
  uint32_t homes; /**< of each rank */
  bool together;  /**< the last home finds all potentials, by tasks in chains: gravity_make(), until
                      gravity_divide_potentials() */
  struct task_chain
      *chain; /**< to which tasks are added, codelets/runtime/chain.h; NULL: they are submitted */
  bool fused; /**< one task prepares, solves and closes a batch */
  uint32_t blocks, next_block; /**< buffers of blocks, which are used in turn; none if `fused` */
  starpu_data_handle_t *block;
  starpu_data_handle_t speeds; /**< handle_make_empty(), of tasks that find gas_level.speed */
  char **
      scratch; /**< [worker] gas_kernels.scratch_bytes and a block, see gas_scratch(); NULL: not used yet */
  double group_memory; /**< bytes that a group takes up */
};

/** What has been done, for the log and for tests. */
struct gas_counts {
  uint64_t updates[GAS_LEVELS_MAX]; /**< of cells, by level, in the last step of the root level */
  uint64_t first_order;             /**< gas_fault.first_order of groups that are no more */
  uint64_t host_bytes; /**< of cells that the host took over from StarPU or gave it in regriddings:
                             GPUs copy these to or from the host */
  uint64_t home_bytes; /**< of messages between homes of this rank */
};

/** What is solved, and how. */
struct gas_scheme {
  struct gas_physics physics;
  unsigned variables;   /**< gas_variables() of the physics */
  bool particles_alone; /**< there is no gas: cells are 0 and stay so */
  bool individual; /**< a level takes two steps, or more if need be, in one of the next coarser */
  bool fix_fluxes; /**< no: fluxes differ on the two sides of a change of level, so that nothing
                             is conserved; for tests */
  const struct gas_kernels *kernels;
  double acceleration[3]; /**< of all gas: uniform gravity */
};

struct gas {
  struct topology topology;
  struct gas_level level[GAS_LEVELS_MAX];
  struct gas_scheme scheme;
  struct self_gravity *gravity;    /**< gravity.h; NULL: there is none */
  struct gas_particles *particles; /**< particles.h; NULL: there are none */
  struct gas_replaced *replaced;   /**< migrate.h: what tasks may still read of a level that was
                                        replaced; NULL: nothing */
  struct gas_refinement refinement;
  bool measured; /**< tasks have been submitted that measure the present cells */
  double cell;   /**< side of a cell of the root level */
  double time;   /**< in comoving coordinates the scale factor */
  struct gas_universe universe;
  struct gas_tasks tasks;
  struct gas_counts counts;
};

/** The run ends: a batch is not of this rank. */
void gas_lacks_batch(const struct gas *g, int level, uint32_t batch) __attribute__((noreturn));
/** A batch of this rank, by its number among all batches of its level. */
static inline struct gas_batch *gas_batch(const struct gas *g, int level, uint32_t batch) {
  const struct gas_level *l = &g->level[level];
  if (batch - l->begin >= l->own) gas_lacks_batch(g, level, batch);
  return &l->batch[batch - l->begin];
}

/** Bytes of the cells of a group, of a block, of a group's fluxes, and of fluxes through its
 * sides. */
size_t gas_group_bytes(const struct gas *g);
size_t gas_block_bytes(const struct gas *g);
size_t gas_fluxes_bytes(const struct gas *g);
size_t gas_sides_bytes(const struct gas *g);
size_t gas_mass_bytes(const struct gas *g);

/** The present time for messages: "t = 0.1", of comoving gas "z = 3.2". */
struct moment_text gas_moment(const struct gas *g);
/** Side of a cell of a level. */
double gas_cell(const struct gas *g, int level);
/** The first batch or group of a rank; the number of all for rank = comm_size(). */
uint32_t gas_first_batch(const struct gas *g, int level, int rank);
uint32_t gas_first_group(const struct gas *g, int level, int rank);
/** This rank's batches of a level: the first one, and that after the last one. */
uint32_t gas_own_begin(const struct gas *g, int level);
uint32_t gas_own_end(const struct gas *g, int level);
/** Whether this rank has a batch. */
bool gas_is_own(const struct gas *g, int level, uint32_t batch);
/** The rank that has a group. */
int gas_owner(const struct gas *g, int level, uint32_t group);
/** The first batch or group of a home; the number of all for that after the last one. */
uint32_t gas_home_batch(const struct gas *g, int level, uint32_t home);
uint32_t gas_home_group(const struct gas *g, int level, uint32_t home);
/** Whether a home has groups of a level. */
bool gas_home_has(const struct gas *g, int level, uint32_t home);
/** This rank's homes: the first one, and that after the last one. */
uint32_t gas_home_begin(const struct gas *g);
uint32_t gas_home_end(const struct gas *g);
/** Groups of a batch of a level of so many groups. */
uint32_t gas_batch_groups(const struct gas *g, int level, uint32_t groups);
/** The groups of a rank of a level of so many groups: topology_init_divided(). @param gas  struct gas */
struct group_span gas_share(const void *gas, int level, uint32_t groups, int rank);
/** Fill in gas_level.turn of a level that has been divided. */
void gas_set_turns(struct gas *g, int level);
/** No batch of any level has more groups. */
uint32_t gas_batch_groups_most(const struct gas *g);
/** The own batch that has a group. */
struct gas_batch *gas_batch_with(const struct gas *g, int level, uint32_t group);
/** The groups of any batch of a level. */
struct group_span gas_batch_span(const struct gas_level *l, uint32_t batch);
/** A batch of a level that has been divided, without data. Below the root level groups come and go: with room sizes
 * recur, and StarPU finds memory of GPUs that it has already. There all batches of a level have the same room. */
struct gas_batch gas_batch_without_data(const struct gas *g, int level, uint32_t batch);
/** The home that has a batch or a group. */
uint32_t gas_home_of_batch(const struct gas *g, int level, uint32_t batch);
uint32_t gas_home(const struct gas *g, int level, uint32_t group);
/** What a home of this rank has of a batch: all where the batch is its own. @return NULL: nothing */
struct gas_batch *gas_seen(const struct gas *g, int level, uint32_t home, uint32_t batch);

/** Present cells of a group, whose handle is acquired; NULL if another rank has it. */
void *gas_cells(const struct gas *g, int level, uint32_t group);

/** Number of cells at a level that are not refined. */
uint64_t gas_leaf_cells(const struct gas *g, int level);

/** Divide a level, whose groups are those of the topology, into batches without data. The old ones
 * must have been taken off with gas_take_level(). */
void gas_divide_level(struct gas *g, int level);
/** Make the data of this rank's batches that have none. */
void gas_make_batches(struct gas *g, int level);
/** Both of these. */
void gas_make_level(struct gas *g, int level);
/** Take a level out of the mesh, with its batches as StarPU has them. gas_free_level() follows, when
 * no task uses them. Its messages stay, whose data the next ones have. */
struct gas_level gas_take_level(struct gas *g, int level);
void gas_free_level(struct gas_level *l);
/** Let new batches of a level that are not made yet, and what homes have of batches of other homes, have memory that
 * the level that was taken out needs no more: as many batches are mostly there again, in the same homes. What the
 * memory holds has no meaning. */
void gas_reuse_data(struct gas *g, int level, struct gas_level *old);
/** Drop all data of the batches of a level that was taken out, but their present cells. No task uses what is
 * dropped. */
void gas_keep_present_cells(struct gas_level *l);
/** Give a level the groups of a checkpoint, whose cells are to be read. Coarser levels come first.
 * gas_link() follows. Collective. @param key  [count] of this rank, taken over; as struct new_groups */
void gas_restore_level(struct gas *g, int level, uint64_t *key, uint32_t count, int64_t steps);
/** Make the lists of batches and the ghosts of levels anew, `first` to `last` so far as there are
 * groups. A change of groups concerns their level, the next coarser and the next finer one. */
void gas_link(struct gas *g, int first, int last);

/** Zeroed memory that the host and tasks on cores and GPUs write to; free it with gas_free_shared(). */
void *gas_shared_array(size_t count, size_t size, const char *what);
/** The same, of which the bytes are not set. */
void *gas_shared_room(size_t bytes, const char *what);
/** @param array  may be NULL. @param bytes  count times size */
void gas_free_shared(void *array, size_t bytes);

/** End the run if a rank has found a fault since the last call: says which cell. Collective. */
void gas_require_sound(const struct gas *g);

#endif
