/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The long-range force: the particle mesh of a domain as StarPU data, and the cells that each group
 * deposits to and reads. */
#ifndef PHOTONS_MESH_LONG_RANGE_H
#define PHOTONS_MESH_LONG_RANGE_H

#include <complex.h>
#include <starpu.h>
#include <stdint.h>

#include "photons/domain/domain.h"
#include "photons/mesh/copies.h"
#include "photons/mesh/kernels.h"
#include "photons/mesh/mesh.h"
#include "photons/runtime/pages.h"

struct parameters;
struct gpu_mesh;

/** Sizes of the mesh and of its parts. The division into slabs and columns does not change results:
 * cells and modes are added up and transformed in the same order. */
struct mesh_layout {
  uint32_t cells; /**< cells a side */
  uint32_t slabs, columns;
  uint32_t
      parts; /**< of each slab and column, each of another rank; 1: whole slabs, see photons/mesh/mesh.h */
};
/** The layout of the mesh with which a run begins. */
struct mesh_layout mesh_layout_choose(const struct parameters *p, size_t particles);

enum { SETS_MOST = 2 }; /* the mesh, and with interlacing the mesh shifted by half a cell */

/** What a group has of the planes of one rank: planes of the group's patch that are sent to be added up there, or
 * of the fields that the group reads. */
struct mesh_piece {
  int rank;
  uint32_t first, planes; /**< planes first .. first + planes - 1, modulo N */
  uint32_t first_y, ys;   /**< rows first_y .. first_y + ys - 1 of each, modulo N */
  uint32_t message; /**< of a patch: that it is a part of, where this rank is one of its ends */
  size_t at;        /**< its first float there */
};
struct mesh_pieces {
  struct mesh_piece *piece;
  uint32_t count;
};

/** Of a message of patches: which of the groups that are met, which of its pieces. */
struct piece_place {
  uint32_t cells, piece;
};
/** Of a message of fields: cells [field][x][y][z], size[c] of them along axis c from first[c] on. */
struct field_part {
  uint32_t first[3], size[3];
  size_t at; /**< their first float in the message */
};
/** A node of a tree over the parts of a message of fields: cells first .. end - 1 along each axis hold those of its parts.
 * The left child follows. */
struct mesh_part_node {
  uint32_t first[3], end[3];
  uint32_t next; /**< the node after all nodes below this one */
  uint32_t part; /**< its first part */
};

/** Parts that go from one rank to another in one message, one after the other.
 *
 * Patches: the pieces of all groups of the sender, by rising groups, so that both ends have the same order.
 *
 * Fields: what the groups of the receiver read of the planes of the sender. A cell that several groups read is in it once: a
 * field is only copied, so that nothing depends on how groups share cells. Both ends place the same boxes of cells. */
struct mesh_message {
  int from, to;
  uint32_t number; /**< among the messages of these two ranks, of which there are several only where
                        one would be too large for MPI */
  uint32_t parts, room;
  size_t floats;
  union {
    void *part; /**< [parts], with memory for `room` */
    struct piece_place *piece;
    struct field_part *field;
  };
  struct mesh_part_node *node; /**< of fields that this rank receives */
  uint32_t nodes;
  starpu_data_handle_t handle[SETS_MOST]; /**< by set_place() */
};
/** Those between the same ranks follow each other in a list of fields. */
struct mesh_messages {
  struct mesh_message *message;
  uint32_t count;
};

/** The mesh cells of one group. */
struct group_cells {
  uint32_t group;                               /**< index */
  int owner;                                    /**< rank of the group */
  struct patch patch;                           /**< cells that the group deposits to */
  starpu_data_handle_t patch_handle[SETS_MOST]; /**< by set_place(); NULL where the patch is not in
                                                     this rank's memory */
  struct mesh_pieces sent;                      /**< patch planes whose slabs other ranks own */
  struct field_box field_box;                   /**< cells of the fields that the group reads */
  uint32_t *
      reads; /**< of own groups: the first message of fields from each rank that has some of these cells */
  uint32_t read_ranks; /**< how many; 0: this rank has all planes */
};

/** Groups by rising index. */
struct cells_list {
  struct group_cells *cells;
  uint32_t count, room;
};

struct long_range {
  struct domain *domain;
  const struct mesh_kernels *kernels;
  struct mesh *mesh;
  uint32_t sets; /**< 1, or 2 with interlacing */
  bool in_turn;  /**< the two sets are made one after the other, in the same memory */
  bool together; /**< the two sets share their transpose blocks and row blocks, so that a pair of
                          *   ranks has half the messages */
  bool rests;    /**< its memory is given back after forces */
  float factor;  /**< G m; the fields of the mesh are per unit of G m */
  struct cells_list met; /**< this rank's groups, and those that deposit to or read its planes */
  uint32_t own;          /**< the first of this rank's groups on that list */
  struct mesh_messages patch_messages, field_messages; /**< that this rank sends or receives */
  struct pages memory;  /**< on cores: the slabs and transpose blocks of this rank. Without a GPU in
                              use StarPU keeps none of them elsewhere */
  size_t patches_begin; /**< bytes of `memory` before that part which is empty until all densities
                              are transformed. It holds the patches of groups till then */
  starpu_data_handle_t *slab_handle; /**< by slab_row(): density (field 0), then the fields; NULL
                                           for slabs of other ranks */
  starpu_data_handle_t *block_handle; /**< transpose blocks by block_place(), of this rank's slabs and
                                           columns */
  starpu_data_handle_t
      *row_handle; /**< pencils: row blocks by row_block_of(), of this rank's slabs; all
                                           spectra and fields of a set have the same ones in turn */
  struct mesh_range own_slabs, own_columns; /**< of this rank */
  double *
      potential; /**< [ky of this rank's columns][kz of its part] sums of potentials; see mesh_fft_x() */
  starpu_data_handle_t *potential_handle; /**< [column] its part of `potential` */
  double *slab_sum;      /**< [set][slab] sums of densities, for long_range_check_mass() */
  void **fft;            /**< [worker] scratch memory of mesh_scratch_bytes() */
  struct gpu_mesh **gpu; /**< [worker] tables and plans on the worker's GPU; NULL for CPU workers */
};

/** Number of sets that are in memory at a time, and which of these places a set has. */
static inline uint32_t set_places(const struct long_range *l) { return l->in_turn ? 1 : l->sets; }
static inline uint32_t set_place(const struct long_range *l, uint32_t set) {
  return l->in_turn ? 0 : set;
}
/** Index of a slab or a transpose block in the tables of struct long_range. */
static inline size_t slab_row(const struct long_range *l, uint32_t set, uint32_t field,
                              uint32_t slab) {
  return ((size_t)set_place(l, set) * l->mesh->fields + field) * l->mesh->slabs + slab;
}
static inline size_t block_row(const struct long_range *l, uint32_t set, uint32_t spectrum,
                               uint32_t slab, uint32_t column) {
  return (((size_t)(l->together ? 0 : set) * l->mesh->spectra + spectrum) * l->mesh->slabs + slab) *
             l->mesh->columns +
         column;
}
/* Spectra of a set begin with that of its density. Where sets are made in turn there is one
 * spectrum more: the density of set 0, which then becomes the potential. The density of set 1 is in
 * the place of spectrum 0. */
static inline size_t spectrum_row(const struct long_range *l, uint32_t set, uint32_t spectrum,
                                  uint32_t slab, uint32_t column) {
  return block_row(l, set_place(l, set), spectrum, slab, column);
}
static inline size_t density_row(const struct long_range *l, uint32_t set, uint32_t slab,
                                 uint32_t column) {
  return l->in_turn ? block_row(l, 0, set == 0 ? l->mesh->spectra : 0, slab, column)
                    : block_row(l, set, 0, slab, column);
}

/** How many sets a transpose block or a row block has, and where in a transpose block, in complex numbers,
 * one of them begins. */
static inline uint32_t block_sets(const struct long_range *l) { return l->together ? l->sets : 1; }
static inline size_t block_at(const struct long_range *l, uint32_t set, uint32_t slab,
                              uint32_t column) {
  return l->together ? set * block_size(l->mesh, slab, column) : 0;
}
/** How a task writes its set to a block: another set may have written there before. */
static inline enum starpu_data_access_mode block_written(const struct long_range *l, uint32_t set) {
  return l->together && set > 0 ? STARPU_RW : STARPU_W;
}

/** The blocks of a set or spectrum that have a handle here are those of this rank's slabs, then those of all
 * slabs in its columns. */
static inline size_t blocks_each(const struct long_range *l) {
  return (size_t)(l->own_slabs.end - l->own_slabs.first) * l->mesh->columns +
         (size_t)(l->own_columns.end - l->own_columns.first) * l->mesh->slabs;
}
static inline bool in_range(const struct mesh_range *r, size_t i) {
  return i >= r->first && i < r->end;
}
/** Index of a transpose block in block_handle. */
static inline size_t block_place(const struct long_range *l, size_t row) {
  const struct mesh_range *slabs = &l->own_slabs, *columns = &l->own_columns;
  const size_t all = l->mesh->columns, column = row % all, slab = row / all % l->mesh->slabs,
               begin = row / all / l->mesh->slabs * blocks_each(l);
  if (in_range(slabs, slab)) return begin + (slab - slabs->first) * all + column;
  return begin + (slabs->end - slabs->first) * all + slab * (columns->end - columns->first) +
         (column - columns->first);
}
/** A transpose block of this rank's slabs or columns. */
static inline starpu_data_handle_t block_of(const struct long_range *l, size_t row) {
  return l->block_handle[block_place(l, row)];
}

/** Row block (i, j) of a slab of this rank, whose part is i or j. */
static inline starpu_data_handle_t *row_block_of(const struct long_range *l, uint32_t set,
                                                 uint32_t slab, uint32_t i, uint32_t j) {
  const struct mesh *m = l->mesh;
  const size_t slabs = l->own_slabs.end - l->own_slabs.first,
               own = (l->together ? 0 : set_place(l, set)) * slabs + slab - l->own_slabs.first;
  return &l->row_handle[own * 2 * m->parts + (i == m->part ? j : m->parts + i)];
}

/** @param cells  a side of the mesh
 * @param split  split whose mesh factor the mesh applies; must outlive the mesh. NULL: there is no other
 *         force, and accelerations begin with those of the mesh */
void long_range_start(struct long_range *l, struct domain *d, const struct parameters *p,
                      uint32_t cells, const struct split *split);
void long_range_free(struct long_range *l);
/** Let the force of a mesh without pairs be half at another wave number, from long_range_respond() on.
 * @param cut  over the Nyquist frequency of the mesh; 0: as mesh_create() has it
 * @return whether it is another one */
bool long_range_cut(struct long_range *l, double cut);
/** From now on the mesh adds the response of species that are not made of particles, see
 * mesh_make_green(). No task may run. */
void long_range_respond(struct long_range *l, const struct response *response);

/** The rank that owns a part of a slab. Ranks are a grid of comm_size()/parts rows, each of which has a range of
 * slabs and a range of columns, and in it a rank for each part; ranks beyond the grid have none. */
int part_owner(const struct mesh *m, uint32_t slab, uint32_t part);
/** The rank that owns a slab or a column: of pencils, this rank's part of it. */
int slab_owner(const struct mesh *m, uint32_t slab);
int column_owner(const struct mesh *m, uint32_t column);
/** This rank's slabs or columns, of n. */
struct mesh_range own_range(const struct mesh *m, uint32_t n);

/** Find the patches and pieces of all groups for their present boxes and register handles of these
 * sizes. After domain_find_neighbours(). */
void long_range_place(struct long_range *l);
/** Bytes of the mesh's memory that so many bytes take up. */
static inline size_t mesh_memory_room(size_t bytes) { return (bytes + 63) / 64 * 64; }
/** Free patches and pieces, before groups change owners. */
void long_range_leave(struct long_range *l);
/** Give the memory of the mesh back until the next forces. All tasks must have ended. */
void long_range_rest(const struct long_range *l);

/** The sum over all particles of minus their potential on the mesh at the last forces with the mesh,
 * per unit of G m, (Mpc/h)^-1. It includes that of each particle's own smoothed cloud. The same on
 * any number of ranks. Collective. */
double long_range_potential(const struct long_range *l);

/** With --enable-debug-checks, after forces computed on cores: the density of each set adds up to
 * all particles. Collective. */
void long_range_check_mass(const struct long_range *l);

/** The cells of a group of this rank, after long_range_place(). */
static inline struct group_cells *cells_of(struct long_range *l, const struct group *g) {
  return &l->met.cells[l->own + (g->index - group_first(l->domain, comm_rank()))];
}
/** For the messages with cells that a group of this rank reads. */
#define FOR_MESSAGES_READ(l, c, name)                                                           \
  for (uint32_t rank_ = 0; rank_ < (c)->read_ranks; rank_++)                                    \
    for (const struct mesh_message *all_ = (l)->field_messages.message,                         \
                                   *name = &all_[(c)->reads[rank_]];                            \
         name < all_ + (l)->field_messages.count && name->from == all_[(c)->reads[rank_]].from; \
         name++)
/** Some parts of a message of fields, among which are the next ones that have cells of a box.
 * @param cells         N
 * @param box           cells that may reach around the box, see copies_add()
 * @param[in,out] node  0 for the first ones
 * @param[out] end      behind the last one
 * @return NULL: no others have. All calls together look at few others, however many parts there are */
const struct field_part *parts_near(const struct mesh_message *message, uint32_t cells,
                                    const struct cell_layout *box, uint32_t *node,
                                    const struct field_part **end);
/** The messages that this rank fills. */
#define FOR_MESSAGES_FROM_HERE(list, k)       \
  for (uint32_t k = 0; k < (list).count; k++) \
    if ((list).message[k].from == comm_rank())
/** For the cells of each group that this rank meets; none before long_range_place(). */
#define FOR_CELLS(l, c) \
  for (struct group_cells *c = (l)->met.cells; c && c < (l)->met.cells + (l)->met.count; c++)
static inline size_t patch_cells(const struct patch *p) {
  return (size_t)p->size[0] * p->size[1] * p->size[2];
}
/** The part of a patch that a piece holds. */
static inline struct patch patch_of_piece(const struct patch *p, const struct mesh_piece *piece) {
  struct patch part = *p;
  part.origin[0] = piece->first;
  part.size[0] = piece->planes;
  part.origin[1] = piece->first_y;
  part.size[1] = piece->ys;
  return part;
}

#endif
