/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How much memory a run needs, from the sizes of what it allocates. */
#ifndef PHOTONS_APP_MEMORY_H
#define PHOTONS_APP_MEMORY_H

#include "photons/step/nbody.h"

struct parameters;

/** Peak of the resident memory in bytes, all ranks together. The peak is the sum of all these less
 * what is on GPUs. */
struct memory_use {
  double program;   /**< the program, its libraries and StarPU, once a rank */
  double particles; /**< their columns */
  double trees;     /**< nodes and expansions */
  double mesh;      /**< slabs, blocks and the patches of groups */
  double tasks; /**< StarPU's handles and tasks of the groups; crossings and maps of light cones */
  double at_times; /**< beyond all that: of initial conditions, rebuilds and outputs, which follow
                         each other, the largest */
  double on_gpus;  /**< what GPUs hold of trees, mesh and tasks, and the host does not */
};
/** @param s  how many particles there are, and their columns; no values are read */
struct memory_use memory_estimate(const struct parameters *p, const struct particles *s);
double memory_peak(const struct memory_use *use);

/** Settle runtime.memory and gravity.pm_grid_most where the parameters leave them open: fast, and a finest mesh of 2,
 * 1.75, 1.5 or 1.25 times the cells a side of the first one, as a quarter of the machines' memory or three quarters of
 * that of the GPUs hold on all ranks. Collective.
 * @param most  cells a side that the softening allows a mesh that gets finer by itself */
void memory_settle(struct parameters *p, const struct particles *s, double most);

/** End the program where this machine cannot hold so many particles, with the finest mesh
 * that the run may change to: where memory is promised freely, the kernel kills who uses it. */
void memory_require(const struct parameters *p, const struct particles *s);

#endif
