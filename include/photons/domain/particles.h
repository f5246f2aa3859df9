/* Particles of this process: structure of arrays, in blocks of one group each.
 *
 * The N particles of the run are cut into G blocks (groups) of nearly equal count; block g holds particles
 * [N g / G, N (g+1) / G). A process has some consecutive blocks, processes follow each other by rank. Inside a block the three
 * components follow each other, so that a block is one contiguous piece of each array: component c of particle i of the block
 * stands at 3 first + c count + i. Initial conditions are made and read with one block a process, then plain [3][count]. */
#ifndef PHOTONS_PARTICLES_H
#define PHOTONS_PARTICLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "photons/base/parts.h"
#include "photons/domain/geometry.h"

/**
 * The columns: what is known of each particle. A row here is all that it takes to add a column: memory,
 * StarPU's handles, rebuilds, sorts, migration between ranks and checkpoints follow this table.
 *   name, type (uint8_t, uint32_t, float or uint64_t), components, dataset of snapshots (NULL: none;
 *   "" where src/io/snapshot.c writes the column in units of the file format)
 *
 * position:      x = u L / 2^32 (geometry.h)
 * momentum:      p = a^2 dx/dt, km/s
 * acceleration:  -grad(phi), comoving, (km/s)^2/(Mpc/h), of the last force computation
 * id:            unique in the run
 */
#define PARTICLE_COLUMNS(COLUMN)    \
  COLUMN(position, uint32_t, 3, "") \
  COLUMN(momentum, float, 3, "")    \
  COLUMN(acceleration, float, 3, "") \
  COLUMN(id, uint64_t, 1, "")

#define PARTICLE_COLUMN_INDEX(name, type, components, dataset) COLUMN_##name,
enum particle_column_index { PARTICLE_COLUMNS(PARTICLE_COLUMN_INDEX) PARTICLE_COLUMN_COUNT };

enum column_type { COLUMN_UINT8, COLUMN_UINT32, COLUMN_UINT64, COLUMN_FLOAT };

struct particle_column {
  const char *name;
  enum column_type type;
  size_t size;         /**< bytes of one number */
  unsigned components; /**< numbers a particle */
  const char *dataset; /**< see PARTICLE_COLUMNS */
  size_t member;       /**< offset of the pointer in struct particles */
};
/** By enum particle_column_index. */
#ifdef __cplusplus
extern "C"
#else
extern
#endif
    const struct particle_column particle_columns[PARTICLE_COLUMN_COUNT];

#define PARTICLE_COLUMN_MEMBER(name, type, components, dataset) type *name;
struct particles {
  size_t all, all_blocks;     /**< N and G of the run */
  size_t first_block, blocks; /**< those of this process */
  size_t count;               /**< particles in them */
  bool sorted;                /**< blocks are groups in the order of their trees, as domain_rebuild() leaves them */
  double box;                 /**< L in Mpc/h */
  double mass;                /**< of one particle, 1e10 Msun/h */
  PARTICLE_COLUMNS(PARTICLE_COLUMN_MEMBER)
};

/** A column's array, and another in its place. */
void *particles_column(const struct particles *s, enum particle_column_index column);
void particles_set_column(struct particles *s, enum particle_column_index column, void *array);
/** Bytes of a column for one particle. */
static inline size_t particle_column_bytes(const struct particle_column *c) {
  return c->components * c->size;
}

/** One block of particles; component arrays have `count` elements. */
struct particle_block {
  size_t first, count; /**< first: counted from the process's first particle */
  uint32_t *x[3];
  float *p[3], *acc[3];
  uint64_t *id;
};

/** Index among all particles of the run of this process's first. */
static inline size_t particles_first(const struct particles *s) {
  return block_first(s->all, s->all_blocks, s->first_block);
}

/** Block g of this process, g < s->blocks; its `first` counts from this process's first particle. */
static inline struct particle_block particles_block(const struct particles *s, size_t g) {
  size_t first = block_first(s->all, s->all_blocks, s->first_block + g) - particles_first(s);
  size_t count = block_first(s->all, s->all_blocks, s->first_block + g + 1) - particles_first(s) - first;
  struct particle_block b;
  b.first = first;
  b.count = count;
  b.id = s->id + first;
  for (size_t c = 0; c < 3; c++) {
    b.x[c] = s->position + 3 * first + c * count;
    b.p[c] = s->momentum + 3 * first + c * count;
    b.acc[c] = s->acceleration + 3 * first + c * count;
  }
  return b;
}

/** Allocate for n particles in one block that no other process shares, accelerations zero; failure ends the program. */
struct particles particles_create(size_t n, double box, double mass);
/** The same for this process's share of n particles: one block a process. */
struct particles particles_create_share(size_t n, double box, double mass);
/** Take this process's share of `blocks` blocks, dealt out evenly: memory is allocated, nothing is in it. */
struct particles particles_create_blocks(size_t n, size_t blocks, double box, double mass);
void particles_free(struct particles *s);

#endif
