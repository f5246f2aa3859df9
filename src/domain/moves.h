/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Particles on their way to the owners of their parts. A rank tells only those ranks of its particles to
 * which some go. */
#ifndef PHOTONS_MOVES_H
#define PHOTONS_MOVES_H

#include <stddef.h>
#include <stdint.h>

struct orb_parts;

struct moves {
  size_t *send, *receive; /* [rank] particles */
  size_t *arrive;         /* [source][own part] particles */
  size_t sources; /* ranks with particles of own parts, this one among them, by rising rank */
  uint32_t first_part, own_parts;
  size_t *part_first; /* [own part + 1] first of its particles on this rank */
  size_t count;       /* particles of this rank when all have moved */
};

/** Find out how many particles of each part this rank sends and receives; collective. moves_free() it.
 * @param of_part  [part] particles of this rank */
struct moves moves_plan(const struct orb_parts *parts, const size_t *of_part);
/** Send rows of `size` bytes, sorted by part, to the owners of the parts; collective. Frees `sorted`.
 * @return the received rows, sorted by part and inside a part by source rank */
char *moves_rows(const struct moves *m, char *sorted, size_t size);
void moves_free(struct moves *m);

#endif
