/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The long-range force: the particle mesh of a domain as data of the task graph, and what each group
 * deposits to and reads from it. */
#ifndef PHOTONS_MESH_LONG_RANGE_H
#define PHOTONS_MESH_LONG_RANGE_H

#include <complex.h>
#include <starpu.h>
#include <stdint.h>

#include "photons/domain/domain.h"
#include "photons/mesh/kernels.h"
#include "photons/mesh/mesh.h"

struct parameters;
struct gpu_mesh;

/** Sizes of the mesh and of its parts. The parts do not change results: cells and modes are added up
 * and transformed in the same order. */
struct mesh_layout {
  uint32_t cells; /**< a side */
  uint32_t slabs, columns;
};
struct mesh_layout mesh_layout_choose(const struct parameters *p, size_t particles);

enum { SETS_MOST = 2 }; /* the mesh, and with interlacing the mesh shifted by half a cell */

/** Mesh planes exchanged between a group's owner and one other rank: planes of the group's patch that
 * are sent to be added up there, or planes of the fields that are cut out of the slabs there. */
struct mesh_piece {
  int rank;
  uint32_t first, planes;                 /**< planes first .. modulo N */
  starpu_data_handle_t handle[SETS_MOST]; /**< NULL where this rank is neither end */
};
struct mesh_pieces {
  struct mesh_piece *piece;
  uint32_t count;
};

/** What a group has on the mesh. */
struct group_cells {
  struct patch patch;                    /**< cells that it deposits to */
  starpu_data_handle_t patch_handle[SETS_MOST]; /**< NULL: not here */
  struct mesh_pieces sent;               /**< planes of the patch that are on other ranks */
  struct field_box field_box;            /**< cells of the fields that it reads */
  struct mesh_pieces read; /**< what it reads, [field][plane][y][z], where other ranks have some of
                                it; none: it reads slabs */
};

struct long_range {
  struct domain *domain;
  const struct mesh_kernels *kernels;
  struct mesh *mesh;
  uint32_t sets;              /**< 1, or 2 with interlacing */
  float factor;               /**< G m: the mesh's fields are per unit of it */
  struct group_cells *groups; /**< [group] of the domain */
  float **slab;          /**< see slab_row(): density (field 0), then the fields; NULL: not here */
  float complex **block; /**< see block_row(): density (spectrum 0), then the fields' spectra; here are
                              those of own slabs and of own columns */
  starpu_data_handle_t *slab_handle, *block_handle;
  double *slab_sum;      /**< see slab_row(): sums of densities, for long_range_check_mass() */
  void **fft;            /**< [worker] mesh_scratch_bytes() of scratch memory */
  struct gpu_mesh **gpu; /**< [worker] tables and plans on its GPU; NULL on cores */
};

/** Place of a slab or a block in the tables above. */
static inline size_t slab_row(const struct long_range *l, uint32_t set, uint32_t field,
                              uint32_t slab) {
  return ((size_t)set * l->mesh->fields + field) * l->mesh->slabs + slab;
}
static inline size_t block_row(const struct long_range *l, uint32_t set, uint32_t spectrum,
                               uint32_t slab, uint32_t column) {
  return (((size_t)set * l->mesh->spectra + spectrum) * l->mesh->slabs + slab) *
             l->mesh->columns +
         column;
}

/** @param split  its mesh factor is the mesh's; must outlive it */
void long_range_start(struct long_range *l, struct domain *d, const struct parameters *p,
                      const struct split *split);
void long_range_free(struct long_range *l);

/** The ranks that have a slab, a column. */
int slab_owner(const struct mesh *m, uint32_t slab);
int column_owner(const struct mesh *m, uint32_t column);

/** After domain_find_neighbours(): patches and pieces for the present boxes, with handles of their sizes. */
void long_range_place(struct long_range *l);
/** Forget patches and pieces, before groups change owners. */
void long_range_leave(struct long_range *l);

/** With --enable-debug-checks, after forces computed on cores: the density of each set adds up to all
 * particles. Collective. */
void long_range_check_mass(const struct long_range *l);

static inline struct group_cells *cells_of(struct long_range *l, const struct group *g) {
  return &l->groups[g->index];
}
static inline size_t patch_cells(const struct patch *p) {
  return (size_t)p->size[0] * p->size[1] * p->size[2];
}
/** The part of a patch that a piece holds. */
static inline struct patch patch_of_piece(const struct patch *p, const struct mesh_piece *piece) {
  struct patch part = *p;
  part.origin[0] = piece->first;
  part.size[0] = piece->planes;
  return part;
}

#endif
