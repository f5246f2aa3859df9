/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tasks of the long-range force. Each *_submit() function inserts one task and returns at once;
 * StarPU derives the order of the tasks from the data that they read and write. Argument `set`
 * selects a mesh: 0 is the mesh itself, 1 the mesh shifted by half a cell (interlacing). */
#ifndef PHOTONS_MESH_CODELETS_H
#define PHOTONS_MESH_CODELETS_H

#include <stdbool.h>

#include "photons/mesh/long_range.h"
/** Deposit a group's particles into the group's own patch. */
void pm_assign_submit(struct long_range *l, struct group *g, uint32_t set);
/** Copy the patch planes that another rank adds up into the message to that rank, of patch_messages. */
void patch_cut_submit(struct long_range *l, uint32_t message, uint32_t set);
/** Add the patches of all groups to a density slab, in the order of the groups. */
void patch_add_submit(struct long_range *l, uint32_t set, uint32_t slab);
/** Transform a density slab along y and z. */
void fft_yz_submit(struct long_range *l, uint32_t set, uint32_t slab);
/** The two parts of fft_yz of pencils: this rank's rows of a density slab along z, and its kz along y. */
void fft_z_submit(struct long_range *l, uint32_t set, uint32_t slab);
void fft_y_submit(struct long_range *l, uint32_t set, uint32_t slab);
/** Transform a column along x, multiply by Green's function, and transform back along x. */
void fft_x_submit(struct long_range *l, uint32_t column);
/** The two parts of fft_x where sets are made in turn: from the densities of both sets to the
 * potential, and from the potential to the spectra of a set. */
void potential_x_submit(struct long_range *l, uint32_t column);
void fields_x_submit(struct long_range *l, uint32_t set, uint32_t column);
/** Transform one field of a slab back along y and z. */
void ifft_yz_submit(struct long_range *l, uint32_t set, uint32_t field, uint32_t slab);
/** The two parts of ifft_yz of pencils. */
void ifft_y_submit(struct long_range *l, uint32_t set, uint32_t field, uint32_t slab);
void ifft_z_submit(struct long_range *l, uint32_t set, uint32_t field, uint32_t slab);
/** Copy the field planes that the groups of another rank read out of this rank's slabs into a message, of
 * field_messages. */
void pm_cut_submit(struct long_range *l, uint32_t message, uint32_t set);
/** Interpolate the fields to a group's particles and add the result to their accelerations. */
void pm_read_submit(struct long_range *l, struct group *g, uint32_t set);

/* Sends and receives of all groups, slabs and columns. Collective. */

/** Send pieces of patches to the ranks that own their slabs. */
void patches_transfer(struct long_range *l, uint32_t set);
/** Send transpose blocks of the densities of all sets from the owners of slabs to the owners of
 * columns. */
void densities_transfer(struct long_range *l);
/** Send transpose blocks of the spectra of a set from the owners of columns to those of slabs. */
void spectra_transfer(struct long_range *l, uint32_t set);
/** Of which mesh rows are: the density, or from ROWS_OF_FIELDS on the fields. */
enum mesh_rows { ROWS_OF_DENSITY, ROWS_OF_FIELDS };
/** Send row blocks of a set's pencils: those of the density to the parts of a slab that have their kz, those of a field
 * back to those that have their rows. */
void rows_transfer(struct long_range *l, uint32_t set, enum mesh_rows what);
/** Send pieces of the fields of a set to the ranks whose groups read them. */
void pieces_transfer(struct long_range *l, uint32_t set);
/** Kinds of messages, see MESSAGE_KINDS. */
enum {
  MESSAGE_PATCH = 3,
  MESSAGE_PIECE = MESSAGE_PATCH + SETS_MOST,
  MESSAGE_BLOCK = MESSAGE_PIECE + SETS_MOST,
  MESSAGE_ROW_BLOCK
};

#endif
