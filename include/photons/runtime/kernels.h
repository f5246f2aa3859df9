/* Numeric kernels, compiled once for each instruction set and chosen at run time.
 * A file in src/kernels/ is compiled several times; KERNEL(name) gives each copy its own symbol. */
#ifndef PHOTONS_KERNELS_H
#define PHOTONS_KERNELS_H

#include "photons/tree/fmm.h"
#include "photons/mesh/mesh.h"
#include "photons/tree/p2p.h"
#include "photons/tree/walk.h"

#define KERNEL_PASTE2(name, isa) name##_##isa
#define KERNEL_PASTE(name, isa) KERNEL_PASTE2(name, isa)
/** In src/kernels/ only, where the build defines KERNEL_ISA as baseline, avx2 or avx512. */
#define KERNEL(name) KERNEL_PASTE(name, KERNEL_ISA)

/** Time integration of one group's particles; component c of each array at + c * count. */
struct step_kernels {
  /** momentum += factor * acceleration; returns the largest |acceleration|. */
  float (*kick)(uint32_t count, float factor, const float *acceleration, float *momentum);
  /** x += factor * momentum, factor in position units (2^32 = L) per momentum. */
  void (*drift)(uint32_t count, float factor, const float *momentum, uint32_t *x);
};

/** Candidates for links of friends of friends; index has room for n. Both return how many there are. */
struct fof_kernels {
  /** Particles at a squared distance <= limit2 (position units, float rounding). */
  uint32_t (*near_point)(uint32_t n, const uint32_t *x, const uint32_t *y, const uint32_t *z, const uint32_t point[3],
                         float limit2, uint32_t *index);
  /** Particles in the periodic box [low, low + extent]. */
  uint32_t (*near_box)(uint32_t n, const uint32_t *x, const uint32_t *y, const uint32_t *z, const uint32_t low[3],
                       const uint32_t extent[3], uint32_t *index);
};

struct kernels {
  const char *name; /**< "AVX-512", "AVX2", "baseline" */
  struct fmm_operators fmm;
  struct mesh_kernels mesh;
  struct p2p_kernels p2p;
  struct walk_kernels walk;
  struct step_kernels step;
  struct fof_kernels fof;
};

#ifdef KERNEL_ISA
/* What the tables point to, declared with the members' types: definitions are checked against the tables. */
#define KERNEL_FUNCTION(set, member, function) __typeof__(*((struct set *)0)->member) KERNEL(function)
KERNEL_FUNCTION(fmm_operators, p2m, fmm_p2m);
KERNEL_FUNCTION(fmm_operators, m2m, fmm_m2m);
KERNEL_FUNCTION(fmm_operators, m2l, fmm_m2l);
KERNEL_FUNCTION(fmm_operators, l2l, fmm_l2l);
KERNEL_FUNCTION(fmm_operators, l2p, fmm_l2p);
KERNEL_FUNCTION(mesh_kernels, deposit, mesh_deposit);
KERNEL_FUNCTION(mesh_kernels, patch_add, mesh_patch_add);
KERNEL_FUNCTION(mesh_kernels, read, mesh_read);
KERNEL_FUNCTION(p2p_kernels, p2p, p2p);
KERNEL_FUNCTION(walk_kernels, refit, refit);
KERNEL_FUNCTION(walk_kernels, walk, walk);
KERNEL_FUNCTION(step_kernels, kick, kick);
KERNEL_FUNCTION(step_kernels, drift, drift);
KERNEL_FUNCTION(fof_kernels, near_point, fof_near_point);
KERNEL_FUNCTION(fof_kernels, near_box, fof_near_box);
#endif

/**
 * The best kernels that this processor runs; the environment variable PHOTONS_ISA (baseline, avx2, avx512) asks for less.
 */
const struct kernels *kernels_select(void);

#endif
