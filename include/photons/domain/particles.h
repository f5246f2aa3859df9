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

struct particles {
  size_t all, all_blocks;     /**< N and G of the run */
  size_t first_block, blocks; /**< those of this process */
  size_t count;               /**< particles in them */
  bool sorted;                /**< blocks are groups in the order of their trees, as domain_rebuild() leaves them */
  double box;                 /**< L in Mpc/h */
  double mass;                /**< of one particle, 1e10 Msun/h */
  uint32_t *position;         /**< 3 N; x = u L / 2^32: the integer's overflow is the periodic wrap */
  float *momentum;            /**< 3 N; p = a^2 dx/dt in km/s */
  float *acceleration;        /**< 3 N; -grad(phi), comoving, (km/s)^2/(Mpc/h); of the last force computation */
  uint64_t *id;               /**< N */
};

/** One block of particles; component arrays have `count` elements. */
struct particle_block {
  size_t first, count; /**< first: counted from the process's first particle */
  uint32_t *x[3];
  float *p[3], *acc[3];
  uint64_t *id;
};

/** First particle of block g of G over N particles (exact for N < 2^53 / G). */
static inline size_t block_first(size_t n, size_t blocks, size_t g) {
  return (size_t)((unsigned __int128)n * g / blocks);
}

/** The block that holds thing i of n. */
static inline size_t block_containing(size_t n, size_t blocks, size_t i) {
  return (size_t)((((unsigned __int128)i + 1) * blocks - 1) / n);
}

/** Index among all particles of the run of this process's first. */
static inline size_t particles_first(const struct particles *s) {
  return block_first(s->all, s->all_blocks, s->first_block);
}

/** Block g of this process, g < s->blocks; its `first` counts from this process's first particle. */
static inline struct particle_block particles_block(const struct particles *s, size_t g) {
  size_t first = block_first(s->all, s->all_blocks, s->first_block + g) - particles_first(s);
  size_t count = block_first(s->all, s->all_blocks, s->first_block + g + 1) - particles_first(s) - first;
  struct particle_block b = {.first = first, .count = count, .id = s->id + first};
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

/** Position in Mpc/h (any real, wrapped) to its integer; rounds to nearest. */
static inline uint32_t position_to_integer(double x, double box) {
  double turns = x / box;
  turns -= __builtin_floor(turns);
  return (uint32_t)(int64_t)(turns * 4294967296.0 + 0.5); /* 2^32 wraps to 0 */
}
static inline double position_from_integer(uint32_t u, double box) { return u * (box / 4294967296.0); }

#endif
