/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The groups that a rank meets on the mesh. Owners of groups tell the ranks whose planes these groups read. */
#include "met.h"
#include "pieces.h"

#include <math.h>
#include <stdlib.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/runtime/loop.h"

LOOP_STAGE(patches, 0xbb99bb, .family = "pm");

enum { TASKS = 64, GROUPS_EACH_LEAST = 16 };

/** The patches of this rank's groups, and the ranks that have planes or rows of what these groups read, other than
 * this one. Each task looks at some of the groups. */
struct search {
  const struct long_range *l;
  uint32_t tasks;
  struct patch *patch; /* [own group] */
  struct told told[TASKS];
};

static void tell(struct told *t, int rank, uint32_t group) {
  if (t->count == t->room) {
    t->room = 2 * t->room + 16;
    t->rank = reallocate(t->rank, t->room, sizeof *t->rank, "groups on the mesh");
    t->group = reallocate(t->group, t->room, sizeof *t->group, "groups on the mesh");
  }
  t->rank[t->count] = rank;
  t->group[t->count++] = group;
}

static struct patch find_patch(const struct long_range *l, const struct node *root) {
  double half[3];
  for (int c = 0; c < 3; c++)
    half[c] = fmin((double)root->half[c] / (double)l->domain->geometry.scale, 0.5 * POSITION_TURN);
  return patch_for_box(l->mesh, root->centre, half);
}

void tell_ranks(struct told *t, uint32_t group, const struct mesh_piece *piece, uint32_t count,
                uint32_t *latest) {
  for (uint32_t k = 0; k < count; k++)
    if (piece[k].rank != comm_rank() && comes_first(&latest[piece[k].rank], group))
      tell(t, piece[k].rank, group);
}

static void find_patches(void *context, uint32_t task) {
  struct search *s = context;
  const struct mesh *m = s->l->mesh;
  const size_t groups = s->l->domain->particles.blocks;
  struct mesh_piece *piece = allocate(pieces_most(m), sizeof *piece, "pieces of the mesh");
  uint32_t *latest = allocate((size_t)comm_size(), sizeof *latest, "pieces of the mesh");
  for (size_t i = block_first(groups, s->tasks, task); i < block_first(groups, s->tasks, task + 1);
       i++) {
    s->patch[i] = find_patch(s->l, &s->l->domain->groups[i].root);
    const struct field_box box = field_box_for_patch(m, &s->patch[i]);
    const uint32_t count = comm_size() > 1 ? cut_field_box(m, &box, piece) : 0;
    tell_ranks(&s->told[task], (uint32_t)i, piece, count, latest);
  }
  free(latest);
  free(piece);
}

/** What a rank tells another of a group that deposits to its planes or reads them. */
struct patch_letter {
  uint32_t group;
  struct patch patch;
};

/** Letters to ranks, one rank after the other. */
struct letters {
  struct patch_letter *letter;
  struct sparse_pieces to;
};

/** Sort what tasks have found by rank, and for each rank by group. */
static struct letters sort_letters(const struct search *s) {
  const size_t ranks = (size_t)comm_size();
  size_t *first = allocate(ranks + 1, sizeof *first, "message sizes");
  for (uint32_t t = 0; t < s->tasks; t++)
    for (uint32_t k = 0; k < s->told[t].count; k++) first[s->told[t].rank[k] + 1]++;
  struct letters l = {.letter = NULL};
  for (size_t r = 0; r < ranks; r++) {
    if (first[r + 1] > 0) sparse_add(&l.to, (int)r, first[r + 1] * sizeof *l.letter);
    first[r + 1] += first[r];
  }
  l.letter = allocate(first[ranks], sizeof *l.letter, "groups on the mesh");
  for (uint32_t t = 0; t < s->tasks; t++)
    for (uint32_t k = 0; k < s->told[t].count; k++) {
      const uint32_t i = s->told[t].group[k];
      l.letter[first[s->told[t].rank[k]]++] = (struct patch_letter){s->l->domain->groups[i].index,
                                                                    s->patch[i]};
    }
  free(first);
  return l;
}

/** The cells of what ranks below this one have told, or of what ranks above have told. */
static void add_told(struct cells_list *met, const struct patch_letter *letter,
                     const struct sparse_pieces *from, bool below) {
  for (uint32_t k = 0; k < from->ranks; letter += from->bytes[k++] / sizeof *letter)
    for (size_t i = 0; i < from->bytes[k] / sizeof *letter; i++)
      if ((from->rank[k] < comm_rank()) == below)
        met->cells[met->count++] = (struct group_cells){
            .group = letter[i].group, .owner = from->rank[k], .patch = letter[i].patch};
}

/** Tell other ranks of this rank's groups. Returns the groups that this rank meets, without handles. */
static struct cells_list exchange_letters(const struct search *s) {
  const struct domain *d = s->l->domain;
  struct letters l = sort_letters(s);
  struct sparse_pieces from;
  struct patch_letter *told = comm_exchange_sparse(l.letter, &l.to, &from);
  struct cells_list met = {
      .room = (uint32_t)(sparse_bytes(&from) / sizeof *told + d->particles.blocks)};
  met.cells = allocate(met.room, sizeof *met.cells, "groups on the mesh");
  add_told(&met, told, &from, true);
  FOR_GROUPS(d, g)
  met.cells[met.count++] = (struct group_cells){
      .group = g->index, .owner = g->owner, .patch = s->patch[group_place(d, g)]};
  add_told(&met, told, &from, false);
  sparse_free(&from);
  sparse_free(&l.to);
  free(told);
  free(l.letter);
  return met;
}

struct cells_list find_met(const struct long_range *l) {
  const size_t groups = l->domain->particles.blocks;
  struct search s = {.l = l, .tasks = groups < TASKS * GROUPS_EACH_LEAST ? 1 : TASKS};
  s.patch = allocate(groups, sizeof *s.patch, "groups on the mesh");
  loop_run(&patches_stage, s.tasks, find_patches, &s);
  const struct cells_list met = exchange_letters(&s);
  for (uint32_t t = 0; t < s.tasks; t++) {
    free(s.told[t].rank);
    free(s.told[t].group);
  }
  free(s.patch);
  return met;
}
