/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stages of the domain: loops and codelets. */
#ifndef PHOTONS_DOMAIN_CODELETS_H
#define PHOTONS_DOMAIN_CODELETS_H

#include <starpu.h>
#include <stdbool.h>
#include <stdint.h>

#include "photons/domain/domain.h"
#include "photons/domain/group_cut.h"
#include "photons/runtime/engine.h"
#include "photons/runtime/loop.h"

/** Loops on CPUs: the rebuild of the domain, and the search for neighbours. */
extern struct stage rebuild_stage, neighbours_stage;

/** Submit the sort of a group's particles into the order of its tree. A refit must follow. */
void sort_submit(const struct domain *d, struct group *g);

/** A group of the old domain while the particles are cut into a new one. */
struct group_cut {
  starpu_data_handle_t side;   /**< [particle] uint16_t */
  starpu_data_handle_t result; /**< what the next pass finds */
  struct node_cut *cut; /**< [side] nodes to cut, by the side that the last pass found; NULL before */
  uint32_t sides, rows; /**< length of `cut`; nodes that hold particles of the group */
};
/** Submit a pass that counts values of a digit of the medians: of uint32_t [rows][DIGIT_VALUES]. */
void cut_count_submit(const struct group *g, const struct group_cut *c, int digit);
/** Submit a pass that sends particles to the sides of the cuts, which the result describes: struct
 * node_part [2 rows]. Without cuts all go to side 0. */
void cut_send_submit(const struct group *g, const struct group_cut *c);
/** Submit the sort of a group's particles by their side, of which there are c->sides. */
void part_order_submit(const struct domain *d, const struct group *g, const struct group_cut *c);
/** Columns of particles that are copied together to other ones. */
struct part_move {
  uint32_t count; /**< of particles */
  uint32_t segments, sources;
  struct segment *segment;      /**< [segments] until the task has ended; `from` is not looked at */
  starpu_data_handle_t *source; /**< [sources] no two the same */
};
/** Submit the copy of segments to `to`. @param column  enum particle_column_index
 * @param owner  group that the task works on */
void part_move_submit(const struct part_move *m, int column, const uint32_t *owner,
                      starpu_data_handle_t to);
/** Submit the copy from `moved` to the group's column. */
void part_keep_submit(const struct group *g, int column, starpu_data_handle_t moved);

/** What messages carry of each ghost. */
struct carried {
  enum bundle_kind kind;
  unsigned message; /**< kind, see message_transfer() */
  enum priority priority;
  bool positions;   /**< those in branches that the other rank needs */
  uint32_t nodes;   /**< data of nodes: those that the other rank needs */
  uint32_t columns; /**< data of particles that are sent whole, where the other rank needs any */
  /** Data i < nodes + columns, those of nodes first. */
  starpu_data_handle_t (*data)(void *context, const struct group *g, uint32_t i);
  void *context;
};
/** Submit the exchange of data of ghosts: pack those of each bundle, send and receive bundles, and unpack
 * what was received into the groups. Collective. */
void ghosts_transfer(struct domain *d, const struct carried *c);
/** The exchange of positions, trees, masses and types. Collective. */
void ghosts_submit(struct domain *d);
/** Send and receive the momenta of ghosts, where domain.ghost_momenta. Collective. */
void ghosts_momenta_submit(struct domain *d);

/** Kinds of messages, see message_transfer(). */
enum { MESSAGE_GHOST = 0, MESSAGE_MOMENTUM = 11, MESSAGE_MOVED = 15 };

#endif
