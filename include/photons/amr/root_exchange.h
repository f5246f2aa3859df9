/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cells of the root level on their way between its groups, which ranks have in the order of the
 * octree, and a mesh over the level that is divided over the ranks for Fourier transforms. A rank
 * sends and receives its share of the cells. */
#ifndef PHOTONS_AMR_ROOT_EXCHANGE_H
#define PHOTONS_AMR_ROOT_EXCHANGE_H

#include <stdint.h>

#include "photons/amr/gas.h"
#include "photons/fft/fft.h"

struct root_exchange;

/**
 * Find where groups are in messages, and allocate these. Batches of the root level have been divided.
 * @param axis   of the level (0 is x) along which each axis of the mesh is
 * @param stage  of the loops over groups
 */
struct root_exchange *root_exchange_make(const struct gas *g, const struct fft_mesh *mesh,
                                         const unsigned axis[3], struct stage *stage);
/** @param e  may be NULL */
void root_exchange_free(struct root_exchange *e);
/** Bytes of the messages of all ranks, for so many cells. */
double root_exchange_bytes_of_all(double cells);

/** What gives or takes the cells of an own group; a worker calls it. @param cube  [16][16][16] along
 * the axes of the mesh */
typedef void root_give(void *context, uint32_t group, double *cube);
typedef void root_take(void *context, uint32_t group, const double *cube);

/** Set the values of the mesh to what the groups of all ranks have. Collective. @param memory  of the
 * mesh's values */
void root_exchange_to_mesh(struct root_exchange *e, root_give *give, void *context, double *memory);
/** Let groups have the values of the mesh. Collective. @param memory  of the mesh's values; they stay */
void root_exchange_to_groups(struct root_exchange *e, double *memory, root_take *take,
                             void *context);

#endif
