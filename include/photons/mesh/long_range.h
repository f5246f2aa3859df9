/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The long-range force: the particle mesh of a domain as StarPU data, and the cells that each group
 * deposits to and reads. */
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

/** Sizes of the mesh and of its parts. The division into slabs and columns does not change results:
 * cells and modes are added up and transformed in the same order. */
struct mesh_layout {
  uint32_t cells; /**< cells a side */
  uint32_t slabs, columns;
};
/** The layout of the mesh with which a run begins. */
struct mesh_layout mesh_layout_choose(const struct parameters *p, size_t particles);

enum { SETS_MOST = 2 }; /* the mesh, and with interlacing the mesh shifted by half a cell */

/** Mesh planes exchanged between a group's owner and one other rank: planes of the group's patch
 * that are sent to be added up there, or planes of the fields that are cut out of the slabs
 * there. */
struct mesh_piece {
  int rank;
  uint32_t first, planes;                 /**< planes first .. first + planes - 1, modulo N */
  starpu_data_handle_t handle[SETS_MOST]; /**< NULL where this rank is neither end */
};
struct mesh_pieces {
  struct mesh_piece *piece;
  uint32_t count;
};

/** The mesh cells of one group. */
struct group_cells {
  struct patch patch;                           /**< cells that the group deposits to */
  starpu_data_handle_t patch_handle[SETS_MOST]; /**< NULL where the patch is not in this rank's
                                                     memory */
  struct mesh_pieces sent;                      /**< patch planes whose slabs other ranks own */
  struct field_box field_box;                   /**< cells of the fields that the group reads */
  struct mesh_pieces read; /**< field planes that the group reads, [field][plane][y][z], received
                                and local ones; empty where this rank owns all of them: the group
                                then reads the slabs */
};

struct long_range {
  struct domain *domain;
  const struct mesh_kernels *kernels;
  struct mesh *mesh;
  uint32_t sets;              /**< 1, or 2 with interlacing */
  float factor;               /**< G m; the fields of the mesh are per unit of G m */
  struct group_cells *groups; /**< [group] of the domain */
  float **slab;          /**< by slab_row(): density (field 0), then the fields; NULL for slabs of
                              other ranks */
  float complex **block; /**< transpose blocks of the spectra by block_row(): density (spectrum 0),
                              then the fields' spectra; allocated for this rank's slabs and
                              columns */
  starpu_data_handle_t *slab_handle, *block_handle;
  double *slab_sum;      /**< by slab_row(): sums of densities, for long_range_check_mass() */
  void **fft;            /**< [worker] scratch memory of mesh_scratch_bytes() */
  struct gpu_mesh **gpu; /**< [worker] tables and plans on the worker's GPU; NULL for CPU workers */
};

/** Index of a slab or a transpose block in the tables of struct long_range. */
static inline size_t slab_row(const struct long_range *l, uint32_t set, uint32_t field,
                              uint32_t slab) {
  return ((size_t)set * l->mesh->fields + field) * l->mesh->slabs + slab;
}
static inline size_t block_row(const struct long_range *l, uint32_t set, uint32_t spectrum,
                               uint32_t slab, uint32_t column) {
  return (((size_t)set * l->mesh->spectra + spectrum) * l->mesh->slabs + slab) * l->mesh->columns +
         column;
}

/** @param cells  a side of the mesh
 * @param split  split whose mesh factor the mesh applies; must outlive the mesh */
void long_range_start(struct long_range *l, struct domain *d, const struct parameters *p,
                      uint32_t cells, const struct split *split);
void long_range_free(struct long_range *l);

/** The rank that owns a slab or a column. */
int slab_owner(const struct mesh *m, uint32_t slab);
int column_owner(const struct mesh *m, uint32_t column);

/** Find the patches and pieces of all groups for their present boxes and register handles of these
 * sizes. After domain_find_neighbours(). */
void long_range_place(struct long_range *l);
/** Free patches and pieces, before groups change owners. */
void long_range_leave(struct long_range *l);

/** With --enable-debug-checks, after forces computed on cores: the density of each set adds up to
 * all particles. Collective. */
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
