/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The N-body system: its start and end, migration of groups, and the sizes of its parts. */
#include "photons/step/nbody.h"

#include <stdlib.h>

#include "photons/base/error.h"
#include "photons/base/kept.h"
#include "photons/config/parameters.h"
#include "photons/runtime/handle.h"
#include "photons/runtime/pinned.h"
#include "photons/runtime/task_log.h"
#include "photons/step/external.h"
#include "photons/step/holes.h"

static const struct split *split_of_mesh(const struct nbody *n) {
  return n->mesh_alone ? NULL : &n->short_range.split;
}

/** Rungs are known at the next opening of a base step. */
static void take_rungs(struct nbody *n) {
  const size_t bytes = n->domain.particles.blocks * sizeof *n->rungs;
  n->rungs = allocate(n->domain.particles.blocks, sizeof *n->rungs, "rungs of groups");
  kept_set(KEPT_RUNGS, bytes);
  pin_memory(n->rungs, bytes); /* GPU tasks write into it */
}

static void leave_rungs(struct nbody *n) {
  unpin_memory(n->rungs, n->domain.particles.blocks * sizeof *n->rungs);
  free(n->rungs);
  n->rungs = NULL;
}

struct nbody *nbody_create(const struct parameters *p, struct particles particles) {
  struct nbody *n = allocate(1, sizeof *n, "the simulation");
  const struct layout layout = layout_choose(p, particles.all);
  const bool isolated = p->box.boundary == BOUNDARY_ISOLATED;
  const double cell = isolated ? 0.0 : particles.box / layout.mesh.cells;
  n->parameters = p;
  n->kernels = step_kernels_select();
  n->a = 1.0;
  n->net_force = (struct net_force){NAN, NAN};
  n->mesh_alone = p->time.step == STEP_PM;
  n->moves = handle_make_empty();
  const bool block = p->time.step == STEP_BLOCK;
  if (block) particles_add_columns(&particles, columns_present(PRESENT_BLOCK_STEPS));
  n->domain = domain_make(
      particles, &layout.domain,
      geometry_make(particles.box, isolated ? particles.box : p->gravity.r_cut * cell));
  n->domain.ghost_momenta = block && p->time.criterion == CRITERION_PAIRS;
  domain_start(&n->domain);
  if (block) take_rungs(n);
  short_range_start(&n->short_range, &n->domain, p);
  n->external = external_start(p);
  n->holes = holes_start(p, n->domain.particles.blocks,
                         particles_have(&n->domain.particles, COLUMN_type));
  if (!isolated)
    long_range_start(&n->long_range, &n->domain, p, layout.mesh.cells, split_of_mesh(n));
  return n;
}

uint32_t nbody_mesh_cells(const struct nbody *n) {
  return nbody_has_mesh(n) ? n->long_range.mesh->cells : 0;
}

void nbody_change_mesh(struct nbody *n, uint32_t cells) {
  struct geometry *geometry = &n->domain.geometry;
  long_range_free(&n->long_range);
  *geometry = geometry_make(geometry->box, n->parameters->gravity.r_cut * geometry->box / cells);
  short_range_rescale(&n->short_range, n->parameters);
  long_range_start(&n->long_range, &n->domain, n->parameters, cells, split_of_mesh(n));
}

void nbody_free(struct nbody *n) {
  handle_drop(&n->moves);
  external_free(n->external);
  holes_free(n->holes);
  if (nbody_has_mesh(n)) long_range_free(&n->long_range);
  short_range_free(&n->short_range);
  if (n->rungs) leave_rungs(n);
  domain_free(&n->domain);
  free(n);
}

struct nbody *nbody_keep(struct nbody *n, const bool *keep) {
  domain_acquire(&n->domain);
  const struct particles kept = particles_select(&n->domain.particles, keep);
  domain_release(&n->domain);
  task_log_forget_owners();
  struct nbody *new = nbody_create(n->parameters, kept);
  new->steps = n->steps;
  new->step = n->step;
  new->a = n->a;
  nbody_free(n);
  return new;
}

void nbody_migrate(struct nbody *n, const uint32_t *owner_first) {
  if (nbody_has_mesh(n)) long_range_leave(&n->long_range);
  const bool rungs = n->rungs != NULL;
  if (n->holes) holes_unregister(n->holes);
  if (rungs) leave_rungs(n);
  short_range_unregister(&n->short_range);
  domain_unregister(&n->domain);
  domain_migrate(&n->domain, owner_first);
  domain_register(&n->domain);
  short_range_register(&n->short_range);
  if (rungs) take_rungs(n);
  if (n->holes) holes_register(n->holes, n->domain.particles.blocks);
}

struct layout layout_choose(const struct parameters *p, size_t particles) {
  struct layout l = {.domain = domain_layout_choose(p, particles)};
  if (p->box.boundary == BOUNDARY_PERIODIC) l.mesh = mesh_layout_choose(p, particles);
  const int order = (int)p->gravity.order;
  const double nodes = (double)l.domain.group_count * (double)tree_nodes(l.domain.depth);
  l.columns = columns_present(PRESENT_ALWAYS);
  if (p->time.step == STEP_BLOCK) l.columns |= columns_present(PRESENT_BLOCK_STEPS);
  l.bytes_particles = (double)particles * (double)columns_bytes(l.columns);
  l.bytes_tree = nodes * (double)(sizeof(struct node) + sizeof(float) * (fmm_multipole_size(order) +
                                                                         fmm_local_size(order)));
  return l;
}
