/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "snapshot_set.h"

#include "photons/io/snapshot.h"

enum { RANKS_OF_FILE = 8 };

size_t snapshot_files(const struct parameters *p, size_t ranks) {
  const int64_t given = p->output.files;
  if (given < 0) return (ranks + RANKS_OF_FILE - 1) / RANKS_OF_FILE;
  return given == 0 || (size_t)given > ranks ? ranks : (size_t)given;
}

size_t snapshot_count(const struct snapshot *s, unsigned type, int first, int end) {
  size_t sum = 0;
  for (int r = first; r < end; r++) sum += s->count[r][type];
  return sum;
}

/** How many particles from @p i on are of one type, at most @p room. */
static size_t run_of_type(const struct particle_block *b, unsigned type, size_t i, size_t room) {
  const size_t most = b->count - i < room ? b->count - i : room;
  size_t n = 0;
  if (!b->type) return type == PARTICLE_HALO ? most : 0;
  while (n < most && b->type[i + n] == type) n++;
  return n;
}

void snapshot_convert(const struct snapshot *s, const struct snapshot_field *f, unsigned type,
                      struct snapshot_place *at, size_t count, void *rows, size_t row_size) {
  for (size_t done = 0; done < count;) {
    while (at->i == at->block.count) {
      at->block = particles_block(s->particles, at->next_block++);
      at->i = 0;
    }
    const size_t n = run_of_type(&at->block, type, at->i, count - done);
    f->convert(&s->units, &at->block, at->i, n, (char *)rows + done * row_size);
    done += n;
    at->i += n > 0 ? n : 1;
  }
}
