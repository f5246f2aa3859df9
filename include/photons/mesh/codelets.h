/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stages of the mesh as tasks. Set 1 is the mesh shifted by half a cell (interlacing). */
#ifndef PHOTONS_MESH_CODELETS_H
#define PHOTONS_MESH_CODELETS_H

#include <stdbool.h>

#include "photons/mesh/long_range.h"

void pm_assign_submit(struct long_range *l, struct group *g, uint32_t set);
/** Planes of a group's patch that another rank adds up. */
void patch_cut_submit(struct long_range *l, struct group *g, uint32_t piece, uint32_t set);
void patch_add_submit(struct long_range *l, uint32_t set, uint32_t slab);
void fft_yz_submit(struct long_range *l, uint32_t set, uint32_t slab);
/** With Green's function and the inverse transform. */
void fft_x_submit(struct long_range *l, uint32_t column);
void ifft_yz_submit(struct long_range *l, uint32_t set, uint32_t field, uint32_t slab);
/** What another rank's group reads of the slabs here. */
void pm_cut_submit(struct long_range *l, struct group *g, uint32_t piece, uint32_t set);
void pm_read_submit(struct long_range *l, struct group *g, uint32_t set);

/* Messages of all groups, slabs and columns; collective. */

void patches_transfer(struct long_range *l, uint32_t set);
/** Blocks of slabs to their columns' owners, or back. */
void spectra_transfer(struct long_range *l, bool back);
void pieces_transfer(struct long_range *l);
/** Kinds of messages, see MESSAGE_KINDS. */
enum {
  MESSAGE_PATCH = 3,
  MESSAGE_PIECE = MESSAGE_PATCH + SETS_MOST,
  MESSAGE_BLOCK = MESSAGE_PIECE + SETS_MOST
};

#endif
