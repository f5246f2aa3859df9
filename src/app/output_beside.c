/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "output_beside.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "photons/analysis/fof.h"
#include "photons/app/output_log.h"
#include "photons/base/clock.h"
#include "photons/base/comm.h"
#include "photons/base/console.h"
#include "photons/runtime/background.h"

bool output_beside_wanted(const struct parameters *p) { return p->output.beside == BESIDE_YES; }

/** What files and measurements have of particles. */
static column_set columns_needed(const struct parameters *p, column_set columns) {
  column_set needed = (column_set)1 << COLUMN_position | (column_set)1 << COLUMN_momentum |
                      (column_set)1 << COLUMN_id | (column_set)1 << COLUMN_relative_mass |
                      (column_set)1 << COLUMN_type;
  if (p->output.accelerations) needed |= (column_set)1 << COLUMN_acceleration;
  return needed & columns;
}

double output_beside_bytes(const struct parameters *p, column_set columns) {
  return (double)columns_bytes(columns_needed(p, columns));
}

/** On the thread of the output. */
static void write_output(void *context) {
  struct output_beside *b = context;
  const double start = wall_clock();
  products_write_rest(&b->products);
  b->seconds = wall_clock() - start;
}

/** Let the output use the copies. */
static void use_copies(struct output_beside *b) {
  struct products *o = &b->products;
  b->copy.potential = b->potential;
  if (o->fof) o->fof->particles = o->light ? &b->light : &b->copy;
  if (o->light) o->light = &b->light;
  o->particles = &b->copy;
  o->parameters = &b->parameters;
}

void output_beside_begin(struct output_beside *b, struct products *o, struct particles *light,
                         float *potential, const char *moment) {
  const double start = wall_clock();
  *b = (struct output_beside){
      .products = *o, .parameters = *o->parameters, .light = *light, .begun = true};
  b->potential = potential;
  snprintf(b->moment, sizeof b->moment, "%s", moment);
  b->copy = particles_copy(o->particles, columns_needed(o->parameters, o->particles->columns));
  use_copies(b);
  b->products.seconds[PART_COPY] = wall_clock() - start;
  o->fof = NULL;
  o->power = NULL;
  *light = (struct particles){0};
  background_begin(write_output, b);
}

void output_beside_end_if_written(struct output_beside *b) {
  if (!b->begun) return;
  uint32_t ended = background_ended();
  comm_min_u32(&ended, 1);
  if (ended) output_beside_end(b);
}

void output_beside_end(struct output_beside *b) {
  if (!b->begun) return;
  const double start = wall_clock();
  background_wait();
  const double waited = wall_clock() - start;
  b->products.seconds[PART_WAITED] = waited;
  b->products.seconds[PART_BESIDE] = fmax(b->seconds - waited, 0.0);
  say("output %zu at %s written in %.2f s, %.2f s of it beside the steps\n", b->products.number,
      b->moment, b->seconds, b->products.seconds[PART_BESIDE]);
  output_log_add(&b->products);
  particles_free(&b->copy);
  particles_free(&b->light);
  free(b->potential);
  *b = (struct output_beside){0};
}
