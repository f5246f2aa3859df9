/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How much memory this rank has taken for what it knows of other ranks: tables and lists whose size depends on
 * the number of ranks or of all groups, rather than on the particles of this rank. Counted by its kind, for
 * log/ranks.csv. */
#ifndef PHOTONS_KEPT_H
#define PHOTONS_KEPT_H

#include <stddef.h>

/** Kinds of such memory. */
#define KEPT_KINDS(kind)                                                              \
  kind(groups)         /* the domain's table of all groups */                         \
      kind(cells)      /* of all groups: their cells of the mesh */                   \
      kind(expansions) /* of all groups: their expansions and interaction lists */    \
      kind(rungs)      /* of all groups: largest rungs, with block steps */           \
      kind(boxes)      /* boxes of all groups, while neighbours are searched */       \
      kind(costs)      /* of all groups, for the balance between ranks */             \
      kind(ghosts)     /* lists of ghosts, and the upper levels of their trees */     \
      kind(pieces)     /* lists of mesh planes that are sent or received */           \
      kind(blocks)     /* tables of the slabs and transpose blocks of the mesh */     \
      kind(cuts)       /* nodes and cuts, while the domain is decomposed */           \
      kind(counts)     /* particles by digits of the cuts, all chunks of this rank */ \
      kind(ties)       /* particles at the cuts */
#define KEPT_INDEX(name) KEPT_##name,
enum kept { KEPT_KINDS(KEPT_INDEX) KEPT_COUNT };

/** So many bytes are taken now. From the main thread. */
void kept_set(enum kept kind, size_t bytes);
/** The most bytes that have been taken at a time. */
size_t kept_most(enum kept kind);
const char *kept_name(enum kept kind);

#endif
