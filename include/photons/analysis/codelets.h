/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stages of pictures and halos. Each function submits one task. */
#ifndef PHOTONS_ANALYSIS_CODELETS_H
#define PHOTONS_ANALYSIS_CODELETS_H

#include <starpu.h>
#include <stdbool.h>

struct fof;
struct halo_part;
struct power_folding;
struct power_layout;
struct sheet_part;

/**
 * Add planes of cells of the phase-space sheet to a map.
 * @param part      its arrays are those of the handles
 * @param position  vector of (planes + 1) side^2 points, 12 bytes each
 * @param map       vector of pixels^2 numbers, 8 bytes each
 */
void sheet_deposit_submit(const struct sheet_part *part, starpu_data_handle_t position,
                          starpu_data_handle_t map);

/**
 * Link the particles of an ORB group of this rank with each other: its particles in f->head get heads
 * among themselves.
 * @param position  vector of the group's positions, 3 count numbers of 4 bytes
 * @param head      vector of its count heads, 4 bytes each
 */
void fof_link_submit(struct fof *f, uint32_t block, starpu_data_handle_t position,
                     starpu_data_handle_t head);

/**
 * Find densities in halos, and the neighbours that make them.
 * @param part       its table of trees is that of the handle
 * @param tree       vector of its trees, struct part_tree
 * @param x          vector of the coordinates of all rows in phase space, HALO_PHASE_AXES numbers of 8 bytes each
 * @param box        vector of the boxes of all nodes, struct density_box
 * @param density    vector of the densities of part->count rows, 8 bytes each
 * @param neighbour  vector of their neighbours, HALO_LINKED numbers of 4 bytes each
 */
void halo_density_submit(const struct halo_part *part, starpu_data_handle_t tree,
                         starpu_data_handle_t x, starpu_data_handle_t box,
                         starpu_data_handle_t density, starpu_data_handle_t neighbour);

/**
 * Find potentials of particles in their own field: sums of 1/sqrt(r^2 + softening^2).
 * @param part  its table of trees is that of the handle
 * @param tree  vector of its trees, struct part_tree
 * @param x     vector of the positions of all rows, three numbers of 4 bytes each
 * @param node  vector of all nodes, struct part_node
 * @param sum   vector of the sums of part->count rows, 8 bytes each
 */
void halo_potential_submit(const struct halo_part *part, float softening, starpu_data_handle_t tree,
                           starpu_data_handle_t x, starpu_data_handle_t node,
                           starpu_data_handle_t sum);

/** Columns of an ORB group: vectors of its 3 count positions and momenta, or NULL in real space, and of its
 * count masses, or NULL where all are 1; 4 bytes each. */
struct power_group_handles {
  starpu_data_handle_t position, momentum, mass;
};

/**
 * Add the particles of an ORB group to the meshes of a power spectrum, on a GPU.
 * @param count     of the particles, above 0
 * @param cells     vectors of n planes of 4-byte integers: the plain mesh, and the one shifted by half a cell
 * @param overflow  vector of a number of 4 bytes, which becomes 1 where a cell holds 2^31 or more
 * @param clear     fill cells and overflow with zeros before
 */
void power_deposit_submit(const struct power_layout *layout, const struct power_folding *folding,
                          uint32_t count, const struct power_group_handles *group,
                          const starpu_data_handle_t cells[2], starpu_data_handle_t overflow,
                          bool clear);

/**
 * Transform these meshes, which are lost, and sum up the modes of equal |k|, on a GPU.
 * @param unit       of the deposits, mean masses
 * @param particles  number of all, which is their mass in mean masses
 * @param table      vector of 3 n floats: exp(-i k h/2) of one axis, and 1/W^2 of one axis
 * @param shell      vector of power_shells_of(n) struct power_shell
 */
void power_shells_submit(const struct power_layout *layout, double unit, size_t particles,
                         const starpu_data_handle_t cells[2], starpu_data_handle_t table,
                         starpu_data_handle_t shell);

#endif
