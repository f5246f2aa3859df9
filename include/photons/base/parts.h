/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Division of n things into consecutive, nearly equal parts: particles among groups, groups among
 * ranks, planes among slabs, rows among tasks. */
#ifndef PHOTONS_BASE_PARTS_H
#define PHOTONS_BASE_PARTS_H

#include <stddef.h>

/** The first thing of part @p part, if n things are divided into @p parts parts; n for
 * part = parts. Exact for every n. */
static inline size_t block_first(size_t n, size_t parts, size_t part) {
  size_t product;
  if (!__builtin_mul_overflow(n, part, &product)) return product / parts; /* one instruction */
  return (size_t)((unsigned __int128)n * part / parts);
}

/** The part that thing i of n is in. */
static inline size_t block_containing(size_t n, size_t parts, size_t i) {
  size_t product;
  if (!__builtin_mul_overflow(i + 1, parts, &product)) return (product - 1) / n;
  return (size_t)((((unsigned __int128)i + 1) * parts - 1) / n);
}

#endif
