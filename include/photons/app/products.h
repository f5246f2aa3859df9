/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Everything that an output consists of: snapshot, halos, mass function, power spectrum, pictures.
 */
#ifndef PHOTONS_PRODUCTS_H
#define PHOTONS_PRODUCTS_H

#include <stdbool.h>
#include <stddef.h>

#include "photons/config/parameters.h"
#include "photons/cosmology/cosmology.h"
#include "photons/domain/particles.h"

struct fof;
struct linear_power;
struct species;
struct tree_past;

/** What an output consists of. Halos without their search for subhalos. */
enum product_part {
  PART_FRIENDS,
  PART_POWER,
  PART_PICTURES,
  PART_HALOS,
  PART_SUBHALOS,
  PART_TREES,
  PART_STATISTICS,
  PART_SNAPSHOT,
  PART_SUBSAMPLE,
  PART_COPY,   /**< where the output is written beside the next steps */
  PART_BESIDE, /**< of all of these but the copy, while steps went on, */
  PART_WAITED, /**< and while the run waited for the rest */
  PRODUCT_PARTS
};

struct products {
  const struct parameters *parameters; /**< which of them, where, in which units */
  const struct cosmology *cosmology;
  const struct linear_power *linear; /**< NULL: unknown, theory is left out */
  const struct species *species;     /**< NULL: theory has one growth of all waves */
  const struct particles *particles; /**< of this process, in the order of domain_rebuild() */
  unsigned depth;                    /**< of the groups' trees */
  /** Halos consist of these particles, of one mass, which fill a part of the box only, and have trees
   * of depth `light_depth`. There is no mass function then. NULL: halos consist of all particles. */
  const struct particles *light;
  unsigned light_depth;
  double light_most; /**< largest mass of a light particle, 1e10 Msun/h; particles above are heavy */
  size_t lattice;    /**< side of the lattice that the ids number; 0: unknown */
  bool regular;      /**< the particles began on a grid or a glass; false: unknown */
  double a;
  size_t number;           /**< NNN in the names */
  size_t mesh;             /**< of the power spectrum, cells a side */
  struct tree_past *trees; /**< of the outputs before; becomes what the next output needs */
  bool last;               /**< of the outputs that are planned: trees are written with it */
  bool snapshot;           /**< write one, if the parameters say so */
  struct fof *fof;         /**< between products_write_positions() and _rest(), which frees it */
  /** Likewise the power spectrum: its bins, or NULL, and power_effective_number() of the particles. */
  struct power_bin *power;
  size_t power_bins;
  double power_number;
  double snapshot_bytes;         /**< of the snapshot's files */
  double seconds[PRODUCT_PARTS]; /**< wall time that each part took on this process */
};

/* All of this on every process; the first one prints. */

/** Do what needs nothing but the positions: measure the power spectrum, draw pictures, find friends of
 * friends. Other tasks may run meanwhile, as long as none writes positions. */
void products_write_positions(struct products *o);
/** Afterwards the rest: the file of the power spectrum, halos, their mass function and merger trees, snapshot; and print one
 * line about the growth of structure and one about the halos. Files get their names as those of a batch do (output_batch_end()). */
void products_write_rest(struct products *o);
/** Both. */
void products_write(struct products *o);
/** Draw the projected density of the present state as a frame of the movie: all frames have the
 * same colours. Needs positions only. */
void products_draw_frame(const struct products *o, const char *path);

#endif
