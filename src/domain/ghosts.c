/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ghosts: groups of other processes that groups here can meet. Of the positions only those in branches of the tree within reach are sent:
 * both ends know the branches' boxes and find the same. */
#include <stdlib.h>
#include <string.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/domain/simulation.h"

static int compare_ghosts(const void *a, const void *b) {
  const struct ghost *x = a, *y = b;
  return x->process != y->process ? (x->process > y->process) - (x->process < y->process)
                                  : (x->group > y->group) - (x->group < y->group);
}

/** Sort by process and group, each once. */
static void sort_ghosts(struct ghosts *g) {
  qsort(g->ghost, g->count, sizeof *g->ghost, compare_ghosts);
  uint32_t n = 0;
  for (uint32_t i = 0; i < g->count; i++)
    if (n == 0 || compare_ghosts(&g->ghost[n - 1], &g->ghost[i]) != 0) g->ghost[n++] = g->ghost[i];
  g->count = n;
}

/** Who gets which own group, or which groups come from whom; neighbourhood is mutual, so that both ends see it. */
static struct ghosts list_ghosts(const struct simulation *s, bool sent) {
  const int me = comm_rank();
  size_t most = 0;
  for (uint32_t i = group_first(s, me); i < group_first(s, me + 1); i++) most += s->groups[i].neighbours;
  struct ghosts g = {.ghost = allocate(most, sizeof *g.ghost, "ghosts")};
  for (uint32_t i = group_first(s, me); i < group_first(s, me + 1); i++)
    for (uint32_t k = 1; k < s->groups[i].neighbours; k++) {
      const struct group *other = &s->groups[s->groups[i].neighbour[k]];
      if (other->owner != me)
        g.ghost[g.count++] = (struct ghost){.group = sent ? i : other->index, .process = other->owner};
    }
  sort_ghosts(&g);
  g.ghost = reallocate(g.ghost, g.count, sizeof *g.ghost, "ghosts");
  return g;
}

/** The uppermost nodes of all ghosts' trees. */
static void exchange_tops(struct simulation *s) {
  const size_t processes = (size_t)comm_size(), nodes = tree_nodes(s->top_depth), size = nodes * sizeof(struct node);
  size_t *bytes = allocate(2 * processes, sizeof *bytes, "message sizes");
  for (uint32_t i = 0; i < s->sent.count; i++) bytes[s->sent.ghost[i].process] += size;
  for (uint32_t i = 0; i < s->received.count; i++) bytes[processes + (size_t)s->received.ghost[i].process] += size;
  struct node *out = allocate(s->sent.count * nodes, sizeof *out, "trees of ghosts");
  for (uint32_t i = 0; i < s->sent.count; i++) memcpy(out + i * nodes, s->groups[s->sent.ghost[i].group].top, size);
  s->ghost_top = reallocate(s->ghost_top, s->received.count * nodes, sizeof *s->ghost_top, "trees of ghosts");
  comm_exchange(out, bytes, s->ghost_top, bytes + processes);
  for (uint32_t i = 0; i < s->received.count; i++) s->groups[s->received.ghost[i].group].top = s->ghost_top + i * nodes;
  free(out);
  free(bytes);
}

/** Branches of a group's tree below a node that are within reach of a box. Rounding may hide a gap of this size above the leaves. */
static uint64_t branches_near(const struct simulation *s, const struct node *top, uint32_t node,
                              const struct node *box) {
  if (box_gap_squared(s, &top[node], box) >= 1.0f + 1e-4f) return 0;
  const uint32_t branches = 1u << s->top_depth;
  if (node >= branches) return (uint64_t)1 << (node - branches);
  return branches_near(s, top, 2 * node, box) | branches_near(s, top, 2 * node + 1, box);
}

static struct ghost *find_ghost(const struct ghosts *g, uint32_t group, int process) {
  const struct ghost key = {.group = group, .process = process};
  if (g->count == 0) return NULL;
  return bsearch(&key, g->ghost, g->count, sizeof key, compare_ghosts);
}

/** Which branches are in reach of any group of the other side. */
static void find_branches(struct simulation *s) {
  const int me = comm_rank();
  for (uint32_t i = group_first(s, me); i < group_first(s, me + 1); i++) {
    const struct group *own = &s->groups[i];
    for (uint32_t k = 1; k < own->neighbours; k++) {
      const struct group *other = &s->groups[own->neighbour[k]];
      if (other->owner == me) continue;
      find_ghost(&s->sent, i, other->owner)->branches |= branches_near(s, own->top, 1, &other->root);
      find_ghost(&s->received, other->index, other->owner)->branches |= branches_near(s, other->top, 1, &own->root);
    }
  }
}

static void count_particles(const struct simulation *s, struct ghosts *g) {
  for (uint32_t i = 0; i < g->count; i++) {
    struct ghost *ghost = &g->ghost[i];
    const uint32_t all = s->groups[ghost->group].count;
    if (ghost->branches == 0) ghost->branches = 1; /* something: what is never written cannot be read */
    for (uint32_t b = 0; b < 1u << s->top_depth; b++)
      if (ghost->branches >> b & 1)
        ghost->count += level_first(all, s->top_depth, b + 1) - level_first(all, s->top_depth, b);
    handle_fit(&ghost->handle, 3 * (size_t)ghost->count);
  }
}

/** The new list takes the old one's place, and the handles of those that are on both. @param drop  what else to do with those that are not */
static void replace(struct simulation *s, struct ghosts *old, struct ghosts new, void (*drop)(struct group *)) {
  for (uint32_t i = 0; i < old->count; i++) {
    struct ghost *ghost = &old->ghost[i], *heir = find_ghost(&new, ghost->group, ghost->process);
    if (heir) {
      heir->handle = ghost->handle;
    } else {
      handle_drop(&ghost->handle);
      if (drop) drop(&s->groups[ghost->group]);
    }
  }
  free(old->ghost);
  *old = new;
}

static void drop_tree(struct group *g) {
  handle_drop(&g->position_handle);
  handle_drop(&g->tree_handle);
  handle_drop(&g->multipole_handle);
}

static void make_tree(const struct simulation *s, struct group *g) {
  const size_t nodes = tree_nodes(s->depth);
  if (g->position_handle) return;
  g->position_handle = handle_make(3 * (size_t)g->count, sizeof(uint32_t));
  g->tree_handle = handle_make(nodes, sizeof(struct node));
  g->multipole_handle = handle_make(nodes * fmm_multipole_size(s->acceptance.order), sizeof(float));
}

void simulation_find_ghosts(struct simulation *s) {
  if (comm_size() == 1) return;
  replace(s, &s->sent, list_ghosts(s, true), NULL);
  replace(s, &s->received, list_ghosts(s, false), drop_tree);
  exchange_tops(s);
  find_branches(s);
  count_particles(s, &s->sent);
  count_particles(s, &s->received);
  for (uint32_t i = 0; i < s->received.count; i++) make_tree(s, &s->groups[s->received.ghost[i].group]);
}

void simulation_drop_ghosts(struct simulation *s) {
  replace(s, &s->sent, (struct ghosts){0}, NULL);
  replace(s, &s->received, (struct ghosts){0}, drop_tree);
  free(s->ghost_top);
  s->ghost_top = NULL;
}
