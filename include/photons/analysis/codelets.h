/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stages of pictures and halos. Each function submits one task. */
#ifndef PHOTONS_ANALYSIS_CODELETS_H
#define PHOTONS_ANALYSIS_CODELETS_H

#include <starpu.h>

struct fof;
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

#endif
