/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ghosts: what groups of a home (gas.h) need of groups of other homes, of the same rank or of others. It
 * travels packed, in messages of some tens of groups each. Sender and receiver find the same messages
 * from what they know of the octree. With one home there are none. */
#ifndef PHOTONS_AMR_GHOSTS_H
#define PHOTONS_AMR_GHOSTS_H

#include <starpu.h>
#include <stdbool.h>
#include <stdint.h>

struct gas;
struct gpu_ghost;

/** Numbers of batches of one level, rising. */
struct batch_list {
  uint32_t count,
      groups;      /**< batches, and groups of each of the level's batches but the last one */
  uint32_t *batch; /**< [count] */
};

/** What a message holds. */
enum ghost_kind {
  GHOST_CELLS, /**< present cells, for the ghost cells of blocks of their level and of the next finer
                    one */
  GHOST_SIDES,        /**< fluxes through sides, for the fix-up of the next coarser level */
  GHOST_MEANS,        /**< means of the cells of whole groups, for the next coarser level */
  GHOST_POTENTIALS,   /**< of self-gravity: a potential of the cells that GHOST_CELLS has */
  GHOST_SHARES,       /**< of self-gravity: struct poisson_share, for the next coarser level */
  GHOST_MATTER,       /**< of particles: gas_matter.coarse of patches, for what refines these */
  GHOST_MATTER_MEANS, /**< of particles: matter_means() of whole groups, for the next coarser level */
  GHOST_KINDS
};

/** A group's part in a message.
 * parts, a bit for each that the message has:
 * GHOST_CELLS, GHOST_POTENTIALS, GHOST_MATTER: cube x + 4 y + 16 z of the 4^3 cubes of 4^3 cells of the group
 * GHOST_SIDES: side of the group, kernels.h
 * GHOST_MEANS, GHOST_SHARES, GHOST_MATTER_MEANS: 1 */
struct ghost_item {
  uint32_t group;
  uint32_t first; /**< number of parts of the groups before it in the message */
  uint64_t parts;
};

struct ghost_message {
  uint32_t from, to;     /**< homes */
  bool within;           /**< both are of this rank */
  uint32_t number;       /**< of the message among those of its kind and level of the two homes */
  uint32_t count, parts; /**< groups, and parts of all of them */
  size_t room;           /**< parts that the data have memory for */
  const struct ghost_item *item; /**< [count], groups rising */
  /** The batches that the message is made from, or goes to: of the groups, but both kinds of means
   * go to the batches of the groups' fathers. */
  struct batch_list batches;
  /** [part], ghost_part_bytes() each; means as patches of groups, [part / 8][variable][part % 8].
   * Between homes of a rank the message that is received has the data of the one that is sent. */
  starpu_data_handle_t packed;
  starpu_data_handle_t
      places; /**< ghost_messages.places, of which the message has those from `first_place` on */
  uint32_t first_place;
};

/** Messages that the homes of a rank send or receive, by own home, other home and group. A batch is in
 * one message at most of those that a home receives of a kind. */
struct ghost_messages {
  uint32_t count;
  struct ghost_message *message;
  uint32_t items;
  struct ghost_item *item; /**< [items] */
  struct gpu_ghost
      *place; /**< [items] where these are (links.h), where this rank uses a GPU, else NULL */
  starpu_data_handle_t places; /**< of these: GPUs keep them till the next regridding */
};

/** The messages of a level. */
struct gas_ghosts {
  struct ghost_messages sent[GHOST_KINDS], received[GHOST_KINDS];
};

/** Whether a received message goes to the fathers of its groups. */
static inline bool ghost_for_fathers(enum ghost_kind kind) {
  return kind == GHOST_MEANS || kind == GHOST_MATTER_MEANS;
}

/** Bytes of a part: of one cube or side of all variables; of the means of a group, whose room is that
 * of a patch; of one cube of a potential or of densities; of the shares of a group; or of the means
 * of its densities. */
size_t ghost_part_bytes(const struct gas *g, enum ghost_kind kind);

/** Find the messages of levels, `first` to `end` - 1, from the octree: all parts, in any order, on any threads; then the
 * end, which sets gas_level.ghosts. Messages that were there are freed, but for data of messages between the same homes that
 * have the same room.
 * @param[out] parts  0: there is one home */
struct ghost_search;
struct ghost_search *ghosts_find_begin(struct gas *g, int first, int end, uint32_t *parts);
void ghosts_find_part(const struct ghost_search *all, uint32_t part);
void ghosts_find_end(struct ghost_search *all);
/** No task uses the messages. */
void ghosts_free(struct gas_ghosts *ghosts);

#endif
