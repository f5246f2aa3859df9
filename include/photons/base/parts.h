/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How n things are dealt out in consecutive, nearly equal parts: particles to groups, groups to
 * ranks, planes to slabs, rows to tasks. */
#ifndef PHOTONS_BASE_PARTS_H
#define PHOTONS_BASE_PARTS_H

#include <stddef.h>

/** First thing of part @p part, if n things are dealt out to @p parts parts; that of part `parts`
 * is n. Exact for every n. */
static inline size_t block_first(size_t n, size_t parts, size_t part) {
  return (size_t)((unsigned __int128)n * part / parts);
}

/** The part that holds thing i of n. */
static inline size_t block_containing(size_t n, size_t parts, size_t i) {
  return (size_t)((((unsigned __int128)i + 1) * parts - 1) / n);
}

#endif
