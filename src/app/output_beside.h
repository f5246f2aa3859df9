/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An output that is written beside the next steps, from a copy of the particles. All functions are collective. */
#ifndef PHOTONS_OUTPUT_BESIDE_H
#define PHOTONS_OUTPUT_BESIDE_H

#include "photons/app/products.h"

/** An output at work, or all zero. */
struct output_beside {
  struct products products;
  struct parameters parameters; /**< the run may change its own */
  struct particles copy, light; /**< all particles; those of halos, where these are others */
  float *potential;             /**< of the copy, or NULL */
  char moment[64];              /**< for messages */
  double seconds;               /**< of the thread */
  bool begun;
};

/** Whether the run of these parameters writes outputs beside its steps. */
bool output_beside_wanted(const struct parameters *p);
/** Bytes a particle of the copy. @param columns  that the particles have */
double output_beside_bytes(const struct parameters *p, column_set columns);

/**
 * Copy the particles of an output and begin to write what products_write_rest() writes. The one of before must have
 * ended.
 * @param o          products_write_positions() has been called; what it holds belongs to the output from here on
 * @param light      particles of the halos, or empty; likewise
 * @param potential  of all particles, or NULL; likewise
 * @param moment     for messages
 */
void output_beside_begin(struct output_beside *b, struct products *o, struct particles *light,
                         float *potential, const char *moment);
/** End the output if all ranks have written it, without waiting. */
void output_beside_end_if_written(struct output_beside *b);
/** Wait until the output is written, if there is one, and log what it cost. */
void output_beside_end(struct output_beside *b);

#endif
