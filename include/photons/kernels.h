/* Numeric kernels, compiled once for each instruction set and chosen at run time.
 * A file in src/kernels/ is compiled several times; KERNEL(name) gives each copy its own symbol. */
#ifndef PHOTONS_KERNELS_H
#define PHOTONS_KERNELS_H

#include "photons/fmm.h"
#include "photons/mesh.h"

#define KERNEL_PASTE2(name, isa) name##_##isa
#define KERNEL_PASTE(name, isa) KERNEL_PASTE2(name, isa)
/** In src/kernels/ only, where the build defines KERNEL_ISA as baseline, avx2 or avx512. */
#define KERNEL(name) KERNEL_PASTE(name, KERNEL_ISA)

struct kernels {
  const char *name; /**< "AVX-512", "AVX2", "baseline" */
  struct fmm_operators fmm;
  struct mesh_kernels mesh;
};

/**
 * The best kernels that this processor runs; the environment variable PHOTONS_ISA (baseline, avx2, avx512) asks for less.
 */
const struct kernels *kernels_select(void);

#endif
