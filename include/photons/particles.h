/* Particles of this process: structure of arrays, in blocks of one group each.
 *
 * The N particles are cut into G blocks (groups) of nearly equal count; block g holds particles
 * [N g / G, N (g+1) / G). Inside a block the three components follow each other, so that a block is one contiguous
 * piece of each array: component c of particle i of the block stands at 3 first + c count + i.
 * With G = 1 the arrays are plain [3][N]; initial conditions are made and read in that form. */
#ifndef PHOTONS_PARTICLES_H
#define PHOTONS_PARTICLES_H

#include <stddef.h>
#include <stdint.h>

struct particles {
  size_t count;        /**< N on this process */
  size_t blocks;       /**< G */
  double box;          /**< L in Mpc/h */
  double mass;         /**< of one particle, 1e10 Msun/h */
  uint32_t *position;  /**< 3 N; x = u L / 2^32: the integer's overflow is the periodic wrap */
  float *momentum;     /**< 3 N; p = a^2 dx/dt in km/s */
  float *acceleration; /**< 3 N; -grad(phi), comoving, (km/s)^2/(Mpc/h); of the last force computation */
  uint64_t *id;        /**< N */
};

/** One block of particles; component arrays have `count` elements. */
struct particle_block {
  size_t first, count;
  uint32_t *x[3];
  float *p[3], *acc[3];
  uint64_t *id;
};

/** First particle of block g of G over N particles (exact for N < 2^53 / G). */
static inline size_t block_first(size_t n, size_t blocks, size_t g) {
  return (size_t)((unsigned __int128)n * g / blocks);
}

static inline struct particle_block particles_block(const struct particles *s, size_t g) {
  size_t first = block_first(s->count, s->blocks, g);
  size_t count = block_first(s->count, s->blocks, g + 1) - first;
  struct particle_block b = {.first = first, .count = count, .id = s->id + first};
  for (size_t c = 0; c < 3; c++) {
    b.x[c] = s->position + 3 * first + c * count;
    b.p[c] = s->momentum + 3 * first + c * count;
    b.acc[c] = s->acceleration + 3 * first + c * count;
  }
  return b;
}

/** Allocate for n particles in one block, accelerations zero; failure ends the program. */
struct particles particles_create(size_t n, double box, double mass);
void particles_free(struct particles *s);

/** Position in Mpc/h (any real, wrapped) to its integer; rounds to nearest. */
static inline uint32_t position_to_integer(double x, double box) {
  double turns = x / box;
  turns -= __builtin_floor(turns);
  return (uint32_t)(int64_t)(turns * 4294967296.0 + 0.5); /* 2^32 wraps to 0 */
}
static inline double position_from_integer(uint32_t u, double box) { return u * (box / 4294967296.0); }

#endif
