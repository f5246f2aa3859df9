/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The forces as a task graph, one line for each stage. Each rank submits the tasks of its own
 * groups, slabs and columns, and the messages that send data to other ranks and receive theirs.
 * Data dependencies order the stages. Mesh and tree meet only in the acceleration, which p2p writes
 * and l2p and pm_read add to, always in this order, so that sums do not depend on which worker or
 * rank computes them. */
#include "forces.h"

#include <stdlib.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/config/parameters.h"
#include "photons/domain/codelets.h"
#include "photons/mesh/codelets.h"
#include "photons/runtime/handle.h"
#include "photons/runtime/message.h"
#include "photons/runtime/owner_computes.h"
#include "photons/step/codelets.h"
#include "photons/step/holes.h"
#include "photons/tree/codelets.h"

/** Numbers of turns in which group_in_turn() gives all groups of this rank. */
static uint32_t turns(const struct domain *d) {
  const uint32_t groups = (uint32_t)d->particles.blocks, gpus = owner_count();
  return gpus > 1 ? (groups + gpus - 1) / gpus * gpus : groups;
}

/** The groups of this rank, GPUs in turn, each of which owns consecutive ones (owner_set()): so all of them
 * have work while tasks are submitted. NULL: a GPU has no more. */
static struct group *group_in_turn(const struct domain *d, uint32_t turn) {
  const uint64_t groups = d->particles.blocks, gpus = owner_count() > 1 ? owner_count() : 1,
                 gpu = turn % gpus, place = (gpu * groups + gpus - 1) / gpus + turn / gpus;
  return place < ((gpu + 1) * groups + gpus - 1) / gpus ? d->groups + place : NULL;
}

/* Groups of this rank with targets. */
#define FOR_TARGETS(d, g) FOR_GROUPS(d, g) if ((g)->targets > 0)
#define FOR_TARGETS_IN_TURN(d, g)                               \
  for (uint32_t turn = 0; turn < turns(d); turn++)              \
    for (struct group *g = group_in_turn(d, turn); g; g = NULL) \
      if ((g)->targets > 0)
/* Slabs and columns of this rank. */
#define FOR_SLABS(l, slab) \
  for (uint32_t slab = (l)->own_slabs.first; slab < (l)->own_slabs.end; slab++)
#define FOR_COLUMNS(l, column) \
  for (uint32_t column = (l)->own_columns.first; column < (l)->own_columns.end; column++)

/* The sets that share blocks with this one, the first of them. */
#define FOR_SETS_OF_BLOCK(l, first, set) \
  for (uint32_t set = (first); set < (first) + block_sets(l); set++)

/** The transpose blocks of a density. */
static void submit_density(struct long_range *l, uint32_t set) {
  const uint32_t sets = block_sets(l);
  if (l->mesh->parts == 1) {
    FOR_SLABS(l, slab) fft_yz_submit(l, set, slab);
    return;
  }
  FOR_SLABS(l, slab) fft_z_submit(l, set, slab);
  if ((set + 1) % sets > 0) return; /* another set's rows go with these */
  rows_transfer(l, set, ROWS_OF_DENSITY);
  FOR_SETS_OF_BLOCK(l, set + 1 - sets, s) FOR_SLABS(l, slab) fft_y_submit(l, s, slab);
}

/** The fields of the sets that share blocks with this one, from their pencils. */
static void submit_pencils(struct long_range *l, uint32_t first) {
  for (uint32_t field = 0; field < l->mesh->fields; field++) {
    FOR_SETS_OF_BLOCK(l, first, set) FOR_SLABS(l, slab) ifft_y_submit(l, set, field, slab);
    rows_transfer(l, first, ROWS_OF_FIELDS + field);
    FOR_SETS_OF_BLOCK(l, first, set) FOR_SLABS(l, slab) ifft_z_submit(l, set, field, slab);
  }
}

/** The fields of a set from its transpose blocks. */
static void submit_back(struct long_range *l, uint32_t set) {
  if (l->mesh->parts > 1) {
    if (set % block_sets(l) == 0) submit_pencils(l, set);
    return;
  }
  for (uint32_t field = 0; field < l->mesh->fields; field++)
    FOR_SLABS(l, slab) ifft_yz_submit(l, set, field, slab);
}

/** The fields of a set, from the spectra of the densities of all sets. */
static void submit_fields(struct long_range *l, uint32_t set) {
  FOR_COLUMNS(l, column) if (l->in_turn) fields_x_submit(l, set, column);
  spectra_transfer(l, set);
  submit_back(l, set);
  FOR_MESSAGES_FROM_HERE(l->field_messages, k) pm_cut_submit(l, k, set);
  pieces_transfer(l, set);
}

static void submit_mesh(struct domain *d, struct long_range *l) {
  for (uint32_t set = 0; set < l->sets; set++) {
    FOR_GROUPS(d, g) pm_assign_submit(l, g, set);
    FOR_MESSAGES_FROM_HERE(l->patch_messages, k) patch_cut_submit(l, k, set);
    patches_transfer(l, set);
    FOR_SLABS(l, slab) patch_add_submit(l, set, slab);
    submit_density(l, set);
  }
  densities_transfer(l);
  FOR_COLUMNS(l, column)(l->in_turn ? potential_x_submit : fft_x_submit)(l, column);
  for (uint32_t set = 0; set < set_places(l); set++) submit_fields(l, set);
}

/** Each set's fields are read before the next set takes their place. */
static void submit_reads(struct domain *d, struct long_range *l) {
  for (uint32_t set = 0; set < l->sets; set++) {
    if (set >= set_places(l)) submit_fields(l, set);
    FOR_GROUPS(d, g) pm_read_submit(l, g, set);
  }
}

/** Whether a group needs expansions. With the default accuracy hardly any pair of nodes uses them;
 * if the host knows that a group's far list is empty, its tasks are not submitted. */
static bool far_wanted(struct short_range *s, const struct group *g) {
  return s->expansions && g->targets > 0 && !lists_known_no_far(&expansions_of(s, g)->lists);
}

/** Whether any group on any rank needs expansions. */
static bool any_far_wanted(struct domain *d, struct short_range *s) {
  uint32_t any = 0;
  if (!s->expansions) return false;
  FOR_GROUPS(d, g) any |= far_wanted(s, g);
  comm_max_u32(&any, 1);
  return any;
}

/** Whether any group reads this group's multipoles. These groups are its own neighbours, because
 * neighbourhood is mutual. For neighbours on other ranks the host does not know. */
static bool multipoles_wanted(struct short_range *s, const struct group *g) {
  if (comm_size() > 1) return true;
  for (uint32_t k = 0; k < g->near.count; k++)
    if (far_wanted(s, g->near.group[k])) return true;
  return false;
}

static bool meets_ghosts(const struct group *g) {
  for (uint32_t k = 0; k < g->near.count; k++)
    if (g->near.group[k]->owner != g->owner) return true;
  return false;
}

/** Whether groups need expansions before their walks have told: isolated systems always do, so that what
 * makes their multipoles runs while the host waits for walks. */
static bool far_certain(const struct short_range *s) {
  return s->expansions && s->acceptance.newton;
}

static void submit_multipoles_of_groups(struct domain *d, struct short_range *s) {
  FOR_GROUPS(d, g) {
    if (!far_certain(s) && !multipoles_wanted(s, g)) continue;
    p2m_submit(s, g);
  }
}

static void submit_own_multipoles(struct domain *d, struct short_range *s) {
  submit_multipoles_of_groups(d, s);
  m2m_upper_submit(s, true);
}

/** @param own  those of this rank, too */
static void submit_multipoles(struct domain *d, struct short_range *s, bool own) {
  if (own) submit_own_multipoles(d, s);
  multipoles_transfer(s);
  m2m_upper_submit(s, false);
}

/** Whether nodes above groups have masses of their own. */
static bool masses_above(const struct short_range *s) {
  return far_certain(s) && s->domain->sources_later &&
         particles_have(&s->domain->particles, COLUMN_relative_mass);
}

static void submit_near(struct short_range *s, struct group *g) {
  lists_make(s, g);
  p2p_submit(s, g);
}

static void submit_far(struct short_range *s, struct group *g) {
  if (far_wanted(s, g)) {
    m2l_submit(s, g);
    l2l_submit(s, g);
    l2p_submit(s, g);
  } else {
    list_release(&expansions_of(s, g)->lists, LIST_FAR);
  }
}

/** More targets first. */
static int compare_targets(const void *a, const void *b) {
  const struct group *const *x = a, *const *y = b;
  if ((*x)->targets != (*y)->targets) return (*x)->targets < (*y)->targets ? 1 : -1;
  return (*x > *y) - (*x < *y);
}

/** Groups with most targets come first, so that no long task begins when all others end. */
static void submit_most_first(struct domain *d, struct short_range *s) {
  struct group **list = allocate(d->particles.blocks, sizeof *list, "groups with targets");
  size_t count = 0;
  FOR_TARGETS(d, g) list[count++] = g;
  qsort(list, count, sizeof(struct group *), compare_targets);
  for (size_t i = 0; i < count; i++) {
    submit_near(s, list[i]);
    submit_far(s, list[i]);
  }
  free(list);
}

static void submit_tree(struct domain *d, struct short_range *s) {
  const bool far_at_once = far_certain(s); /* so that expansions are evaluated beside direct sums */
  for (int ghosts = 0; lists_wait() && ghosts < 2; ghosts++) /* first those without ghosts */
    FOR_TARGETS_IN_TURN(d, g) {
      if (meets_ghosts(g) != ghosts) continue;
      submit_near(s, g);
      if (far_at_once) submit_far(s, g);
    }
  if (!far_certain(s) && any_far_wanted(d, s)) submit_multipoles(d, s, true);
  if (!lists_wait())
    submit_most_first(d, s);
  else if (!far_at_once)
    FOR_TARGETS(d, g) submit_far(s, g);
}

void forces_submit_external(struct nbody *n) {
  if (!n->external) return;
  FOR_TARGETS(&n->domain, g) external_submit(n, g);
}

/** Particles that do not attract each other. */
static void submit_tracers(struct nbody *n, void (*choose)(struct nbody *, struct group *, void *),
                           void *context) {
  message_begin();
  FOR_TARGETS(&n->domain, g) choose(n, g, context);
}

bool forces_wait_for_boxes(const struct nbody *n) {
  return comm_size() == 1 && n->domain.sources_later && n->parameters->external.self_gravity;
}

/** Submit what needs no sources, so that workers have tasks while the host waits for the boxes of all groups and
 * finds the sources. */
static void submit_before_boxes(struct nbody *n,
                                void (*choose)(struct nbody *, struct group *, void *),
                                void *context) {
  struct domain *d = &n->domain;
  FOR_TARGETS(d, g) choose(n, g, context); /* first: walks need no multipoles */
  if (far_certain(&n->short_range)) submit_multipoles_of_groups(d, &n->short_range);
  handle_wait(n->moves);
  domain_find_neighbours(d);
}

void forces_submit(struct nbody *n, bool mesh,
                   void (*choose)(struct nbody *, struct group *, void *), void *context) {
  struct domain *d = &n->domain;
  struct short_range *s = &n->short_range;
  struct long_range *l = &n->long_range;
  if (!n->parameters->external.self_gravity) {
    submit_tracers(n, choose, context);
    return;
  }
  const bool waits = forces_wait_for_boxes(n);
  if (waits) submit_before_boxes(n, choose, context);
  short_range_find_ghosts(s);
  if (mesh) long_range_place(l);
  message_begin();
  const bool masses = masses_above(s); /* which walks read, and which are among the ghosts */
  if (waits)
    m2m_upper_submit(s, true);
  else if (masses)
    submit_own_multipoles(d, s);
  ghosts_submit(d);
  if (n->holes) holes_submit(n);
  if (!waits) FOR_TARGETS(d, g) choose(n, g, context);
  if (masses) submit_multipoles(d, s, false);
  /* The walks come before submit_mesh(), whose tasks keep GPUs busy while the host waits for
   * walks. */
  FOR_TARGETS_IN_TURN(d, g) lists_begin(s, g);
  if (far_certain(s) && !masses) submit_multipoles(d, s, !waits);
  if (mesh) submit_mesh(d, l);
  /* With accelerations of their own these need not come after p2p. */
  const bool reads_first = particles_have(&d->particles, COLUMN_mesh_acceleration);
  if (mesh && reads_first) submit_reads(d, l);
  submit_tree(d, s);
  if (mesh && !reads_first) submit_reads(d, l);
  if (n->holes) holes_gather(n);
}
