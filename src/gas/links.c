/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/gas/links.h"

#include "photons/base/comm.h"
#include "photons/gas/gas.h"
#include "photons/runtime/engine.h"
#include "photons/runtime/handle.h"
#include "photons/runtime/pinned.h"

static gas_link_t link_of(const struct gas *g, const struct batch_list *list, uint32_t group) {
  if (group == NO_GROUP) return NO_GROUP;
  uint32_t i = 0;
  while (list->batch[i] != group / g->batch) i++;
  return i << GAS_LINK_SHIFT | group % g->batch;
}

/** What refines the neighbour across a face of a patch. */
static uint32_t finer_group(const struct topology *t, int level, uint32_t group, int patch,
                            int face) {
  const struct patch_number n = topology_patch_neighbour(t, level, group, patch,
                                                         topology_across(face));
  return n.group == NO_GROUP ? NO_GROUP : t->level[level].group[n.group].son[n.patch];
}

static uint32_t edges_of(const struct topology *t, int level, const uint32_t place[3]) {
  uint32_t edges = 0;
  for (int c = 0; c < 3; c++) {
    if (t->boundary[c][0] == GAS_PERIODIC) continue;
    if (place[c] == 0) edges |= 1u << 2 * c;
    if (place[c] == (t->root[c] << level) - 1) edges |= 2u << 2 * c;
  }
  return edges;
}

static void link_group(const struct gas *g, int level, const struct gas_batch *b, uint32_t group,
                       struct gas_links *links) {
  const struct topology *t = &g->topology;
  const struct gas_group *me = &t->level[level].group[group];
  links->patch = (uint32_t)(t->level[level].key[group] & 7);
  for (int c = 0; c < 3; c++) links->place[c] = me->place[c];
  links->edges = edges_of(t, level, me->place);
  for (int n = 0; n < NEIGHBOURS; n++) {
    links->near[n] = link_of(g, &b->near, me->near[n]);
    links->coarse[n] = level == 0 ? NO_GROUP
                                  : link_of(g, &b->coarse,
                                            topology_patch_neighbour(t, level - 1, me->father,
                                                                     (int)links->patch, n)
                                                .group);
  }
  links->refined = 0;
  for (int p = 0; p < GAS_PATCHES; p++) {
    const uint32_t son = me->son[p];
    const bool refined = son != NO_GROUP;
    const bool own = refined && gas_owner(g, level + 1, son) == comm_rank();
    links->refined |= (uint32_t)refined << p;
    links->son[p] = link_of(g, &b->sons, own ? son : NO_GROUP);
    links->share[p] = link_of(g, &b->around, g->gravity ? son : NO_GROUP);
    for (int face = 0; face < GAS_FACES; face++) {
      const uint32_t finer = finer_group(t, level, group, p, face);
      links->finer[p][face] = link_of(g, &b->fine, refined ? NO_GROUP : finer);
      links->share_beside[p][face] = link_of(g, &b->around, g->gravity ? finer : NO_GROUP);
    }
  }
}

void gas_links_make(const struct gas *g, int level, struct gas_batch *b) {
  gas_links_free(b);
  if (!engine_gpu()) return;
  b->link = pinned_take(engine_pool(), b->count * sizeof *b->link);
  for (uint32_t i = 0; i < b->count; i++) link_group(g, level, b, b->first + i, &b->link[i]);
  b->links = handle_register(b->link, b->count, sizeof *b->link);
}

void gas_links_free(struct gas_batch *b) {
  handle_drop(&b->links);
  if (b->link) pinned_give_back(engine_pool(), b->link, b->count * sizeof *b->link);
  b->link = NULL;
}
