/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "moves.h"

#include <stdlib.h>
#include <string.h>

#include "bisect.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"

/** The ranks to which particles of this rank go, and for each how many of each of its parts. */
struct letters {
  struct sparse_pieces to;
  size_t *of_part;
};

static struct letters write_letters(struct moves *m, const struct orb_parts *all,
                                    const size_t *of_part) {
  const uint32_t parts = all->count;
  struct letters l = {.of_part = allocate(parts, sizeof *l.of_part, "message sizes")};
  size_t written = 0;
  for (uint32_t p = 0, end; p < parts; p = end) { /* parts of an owner follow each other */
    const int owner = all->part[p].owner;
    for (end = p; end < parts && all->part[end].owner == owner; end++)
      m->send[owner] += of_part[end];
    if (owner == comm_rank()) m->first_part = p;
    if (owner == comm_rank()) m->own_parts = end - p;
    if (m->send[owner] == 0) continue;
    memcpy(l.of_part + written, of_part + p, (end - p) * sizeof *of_part);
    written += end - p;
    sparse_add(&l.to, owner, (end - p) * sizeof *of_part);
  }
  return l;
}

/** Note what comes from the ranks that have particles of this rank's parts. */
static void take_letters(struct moves *m, const struct sparse_pieces *from) {
  m->sources = from->ranks;
  m->part_first = allocate((size_t)m->own_parts + 1, sizeof *m->part_first, "parts");
  for (uint32_t k = 0; k < m->own_parts; k++) {
    m->part_first[k + 1] = m->part_first[k];
    for (size_t p = 0; p < m->sources; p++) {
      const size_t n = m->arrive[p * m->own_parts + k];
      m->receive[from->rank[p]] += n;
      m->part_first[k + 1] += n;
    }
  }
  m->count = m->part_first[m->own_parts];
}

struct moves moves_plan(const struct orb_parts *parts, const size_t *of_part) {
  const size_t processes = (size_t)comm_size();
  struct moves m = {.send = allocate(2 * processes, sizeof *m.send, "message sizes")};
  m.receive = m.send + processes;
  struct letters l = write_letters(&m, parts, of_part);
  struct sparse_pieces from = {0};
  if (processes > 1) {
    m.arrive = comm_exchange_sparse(l.of_part, &l.to, &from);
    take_letters(&m, &from);
  } else {
    m.arrive = l.of_part;
    l.of_part = NULL;
    take_letters(&m, &(struct sparse_pieces){.ranks = 1, .rank = (int[]){0}});
  }
  sparse_free(&from);
  sparse_free(&l.to);
  free(l.of_part);
  return m;
}

char *moves_rows(const struct moves *m, char *sorted, size_t size) {
  const int processes = comm_size();
  size_t *bytes = allocate(2 * (size_t)processes, sizeof *bytes, "message sizes");
  for (int p = 0; p < processes; p++) {
    bytes[p] = m->send[p] * size;
    bytes[processes + p] = m->receive[p] * size;
  }
  char *received = allocate_large(m->count, size, "particles on the way"), *from = received;
  comm_exchange(sorted, bytes, received, bytes + processes);
  free(sorted);
  free(bytes);
  char *rows = allocate_large(m->count, size, "particles on the way");
  size_t *next = allocate(m->own_parts, sizeof *next, "parts");
  memcpy(next, m->part_first, m->own_parts * sizeof *next);
  for (size_t p = 0; p < m->sources; p++)
    for (uint32_t k = 0; k < m->own_parts; k++) {
      const size_t n = m->arrive[p * m->own_parts + k];
      memcpy(rows + next[k] * size, from, n * size);
      next[k] += n;
      from += n * size;
    }
  free(next);
  free(received);
  return rows;
}

void moves_free(struct moves *m) {
  free(m->send);
  free(m->arrive);
  free(m->part_first);
  *m = (struct moves){0};
}
