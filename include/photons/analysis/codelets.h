/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stages of pictures. Each function submits one task. */
#ifndef PHOTONS_ANALYSIS_CODELETS_H
#define PHOTONS_ANALYSIS_CODELETS_H

#include <starpu.h>

struct sheet_part;

/**
 * Add planes of cells of the phase-space sheet to a map.
 * @param part      its arrays are those of the handles
 * @param position  vector of (planes + 1) side^2 points, 12 bytes each
 * @param map       vector of pixels^2 numbers, 8 bytes each
 */
void sheet_deposit_submit(const struct sheet_part *part, starpu_data_handle_t position,
                          starpu_data_handle_t map);

#endif
