/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Instruction sets. The files in src/ROOM/kernels/ are compiled once for each instruction set. A
 * room has a table of kernels for each instruction set and selects one table at run time. */
#ifndef PHOTONS_RUNTIME_ISA_H
#define PHOTONS_RUNTIME_ISA_H

enum isa { ISA_BASELINE, ISA_AVX2, ISA_AVX512, ISAS };

/** The best instruction set that this build has and this processor runs. The environment variable
 * PHOTONS_ISA (baseline, avx2, avx512) asks for a lower one; one that cannot run ends the program
 * (EXIT_BAD_USAGE). */
enum isa isa_select(void);
/** "baseline", "AVX2", "AVX-512" */
const char *isa_name(enum isa isa);

/* For files in src/ROOM/kernels/ only, where the build defines KERNEL_ISA as baseline, avx2 or
 * avx512. KERNEL(name) gives each copy of a function its own symbol. KERNEL_FUNCTION declares the
 * symbol with the type of the table's member that points to it. */
#define KERNEL_PASTE2(name, isa) name##_##isa
#define KERNEL_PASTE(name, isa) KERNEL_PASTE2(name, isa)
#define KERNEL(name) KERNEL_PASTE(name, KERNEL_ISA)
#define KERNEL_FUNCTION(set, member, function) \
  __typeof__(*((struct set *)0)->member) KERNEL(function)

/* Defines NAME_select(), which chooses among the tables NAME_baseline, NAME_avx2 and NAME_avx512 of
 * a type. */
#ifdef HAVE_X86_KERNELS
#define KERNEL_TABLES(type, name)                                                            \
  extern const type name##_baseline, name##_avx2, name##_avx512;                             \
  const type *name##_select(void) {                                                          \
    static const type *const table[ISAS] = {&name##_baseline, &name##_avx2, &name##_avx512}; \
    return table[isa_select()];                                                              \
  }
#else
#define KERNEL_TABLES(type, name)    \
  extern const type name##_baseline; \
  const type *name##_select(void) {  \
    (void)isa_select();              \
    return &name##_baseline;         \
  }
#endif

#endif
