/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which groups of other ranks a rank knows. All ranks tell all ranks their domains; each rank then sends the boxes
 * of its groups to those ranks whose domains these groups may reach. */
#include "meet.h"

#include <stdlib.h>
#include <string.h>

#include "box_tree.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/base/kept.h"
#include "photons/domain/domain.h"

/** Where the groups of a rank are. Consecutive groups are some at the end of one node of the ORB tree and some at
 * the beginning of the next one: a box around both might be as large as the volume of all ranks. */
struct rank_domain {
  struct node box[2];
  uint32_t boxes;
  float moved; /* the most of any group */
};

/** What a rank tells of a group. */
struct announcement {
  struct node box;
  uint32_t index, targets;
  float moved;
};

/** Announcements to ranks, one rank after the other. */
struct letters {
  struct announcement *letter;
  uint32_t letters, room;
  struct sparse_pieces to;
};

static struct box_tree tree_of_own(struct domain *d) {
  struct group **own = allocate(d->particles.blocks, sizeof(struct group *), "groups");
  uint32_t n = 0;
  FOR_GROUPS(d, g) own[n++] = g;
  const struct box_tree tree = box_tree_make(&d->geometry, own, n);
  free(own);
  return tree;
}

static struct rank_domain domain_of(const struct box_tree *own) {
  struct rank_domain r = {.moved = own->moved, .boxes = own->count > 1 ? 2 : own->count};
  if (r.boxes == 1) r.box[0] = own->node[0].box;
  if (r.boxes == 2) {
    r.box[0] = own->node[1].box;
    r.box[1] = own->node[own->node[1].next].box;
  }
  return r;
}

/** Whether particles in a box may reach a rank's domain. */
static bool reaches(const struct geometry *geometry, const struct node *box, float moved,
                    const struct rank_domain *r) {
  const float reach = reach_squared(moved, r->moved) + BOX_ROUNDING;
  for (uint32_t k = 0; k < r->boxes; k++)
    if (box_gap_squared(geometry, box, &r->box[k]) < reach) return true;
  return false;
}

static void add_letter(struct letters *l, const struct group *g) {
  if (l->letters == l->room) {
    l->room = 2 * l->room + 64;
    l->letter = reallocate(l->letter, l->room, sizeof *l->letter, "boxes of groups");
  }
  l->letter[l->letters++] = (struct announcement){g->root, g->index, g->targets, g->moved};
}

/** Write to a rank about the groups that may reach its domain. */
static void write_to(const struct domain *d, const struct box_tree *own, int rank,
                     const struct rank_domain *r, struct letters *l) {
  const uint32_t before = l->letters;
  for (uint32_t i = 0; i < own->count;) {
    const struct box_node *node = &own->node[i];
    const float moved = node->group ? node->group->moved : own->moved;
    const bool near = reaches(&d->geometry, &node->box, moved, r);
    if (near && node->group) add_letter(l, node->group);
    i = near ? i + 1 : node->next;
  }
  if (l->letters == before) return;
  sparse_add(&l->to, rank, (l->letters - before) * sizeof *l->letter);
}

/** @param all  [comm_size()] domains */
static struct letters write_letters(const struct domain *d, const struct box_tree *own,
                                    const struct rank_domain *all) {
  struct letters l = {.letter = NULL};
  for (int r = 0; r < comm_size(); r++)
    if (r != comm_rank()) write_to(d, own, r, &all[r], &l);
  return l;
}

/** The particles of a group or of a node above groups. */
static uint32_t particles_of(const struct domain *d, uint32_t index) {
  const size_t of = d->group_count, node = index < of ? of + index : index - of;
  const unsigned below = node_level((uint32_t)of) - node_level((uint32_t)node);
  const size_t count = block_first(d->particles.all, of, ((node + 1) << below) - of) -
                       block_first(d->particles.all, of, (node << below) - of);
  return count <= INT32_MAX ? (uint32_t)count : 0;
}

static int compare_met(const void *a, const void *b) {
  const struct group *x = a, *y = b;
  return (x->index > y->index) - (x->index < y->index);
}

/** What others have told of, by rising index. */
static struct group *list_met(const struct domain *d, const struct announcement *letter,
                              const struct sparse_pieces *from, uint32_t *count) {
  size_t most = 0;
  for (uint32_t k = 0; k < from->ranks; k++) most += from->bytes[k] / sizeof *letter;
  struct group *met = allocate(most, sizeof *met, "groups");
  uint32_t n = 0;
  for (uint32_t k = 0; k < from->ranks; k++)
    for (size_t i = from->bytes[k] / sizeof *letter; i-- > 0; letter++)
      met[n++] = (struct group){.index = letter->index,
                                .count = particles_of(d, letter->index),
                                .owner = from->rank[k],
                                .root = letter->box,
                                .targets = letter->targets,
                                .moved = letter->moved};
  qsort(met, n, sizeof *met, compare_met);
  *count = n;
  return met;
}

/** What is here of a group stays, if it is told of again. */
static void keep_data(struct group *g, const struct group *old) {
  const struct group now = *g;
  *g = *old;
  g->owner = now.owner;
  g->root = now.root;
  g->count = now.count;
  g->targets = now.targets;
  g->moved = now.moved;
}

/** The groups that others have told of replace those that were met before. */
static void replace_met(struct domain *d, const struct announcement *letter,
                        const struct sparse_pieces *from) {
  uint32_t count, old = 0;
  struct group *met = list_met(d, letter, from, &count);
  for (uint32_t n = 0; n < count; n++) {
    for (; old < d->met_count && d->met[old].index < met[n].index; old++) ghost_drop(&d->met[old]);
    if (old < d->met_count && d->met[old].index == met[n].index) keep_data(&met[n], &d->met[old++]);
  }
  for (; old < d->met_count; old++) ghost_drop(&d->met[old]);
  free(d->met);
  d->met = met;
  d->met_count = count;
}

/** @param each  bytes of each rank. @param own  of own groups */
static void count_kept(const struct domain *d, const struct letters *sent, size_t each,
                       size_t own) {
  const size_t letters = sent->letters + d->met_count;
  kept_set(KEPT_BOXES, (size_t)comm_size() * each + sparse_list_bytes(&sent->to) + own +
                           letters * sizeof(struct announcement));
  kept_set(KEPT_GROUPS, d->particles.blocks * (sizeof *d->groups + sizeof *d->group_seconds) +
                            d->met_count * sizeof *d->met);
}

/** Send letters and read those of others. */
static void deliver(struct domain *d, const struct letters *l) {
  struct sparse_pieces from;
  struct announcement *letter = comm_exchange_sparse(l->letter, &l->to, &from);
  replace_met(d, letter, &from);
  sparse_free(&from);
  free(letter);
}

static void free_letters(struct letters *l) {
  free(l->letter);
  sparse_free(&l->to);
}

void domain_meet(struct domain *d) {
  if (comm_size() == 1) return;
  struct box_tree own = tree_of_own(d);
  struct rank_domain mine = domain_of(&own),
                     *all = allocate((size_t)comm_size(), sizeof *all, "domains of ranks");
  comm_gather_all(&mine, sizeof mine, all);
  struct letters l = write_letters(d, &own, all);
  deliver(d, &l);
  count_kept(d, &l, sizeof *all, 2 * d->particles.blocks * sizeof *own.node);
  free_letters(&l);
  free(all);
  box_tree_free(&own);
}

void domain_tell(struct domain *d, struct ghosts told, size_t held) {
  struct letters l = {.letter = NULL};
  ghosts_sort(&told);
  for (uint32_t i = 0; i < told.count; i++) {
    sparse_add(&l.to, told.ghost[i].rank, sizeof *l.letter);
    add_letter(&l, group_known(d, told.ghost[i].group));
  }
  deliver(d, &l);
  count_kept(d, &l, held, 0);
  free_letters(&l);
  free(d->told.ghost);
  d->told = told;
}
