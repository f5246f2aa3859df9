/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The choice of instruction set at run time. */
#include "photons/runtime/kernels.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "build_config.h"
#include "photons/base/error.h"

extern const struct kernels kernels_baseline;
#ifdef HAVE_X86_KERNELS
extern const struct kernels kernels_avx2, kernels_avx512;
#endif

struct kernel_set {
  const char *isa; /* as in PHOTONS_ISA */
  const struct kernels *kernels;
  bool usable;
};

const struct kernels *kernels_select(void) {
  /* The builtin also asks whether the operating system saves the registers. */
#ifdef HAVE_X86_KERNELS
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
#endif
  const struct kernel_set sets[] = {
  /* best first */
#ifdef HAVE_X86_KERNELS
      {"avx512", &kernels_avx512, avx512},
      {"avx2", &kernels_avx2, avx2},
#endif
      {"baseline", &kernels_baseline, true},
  };
  const char *wanted = getenv("PHOTONS_ISA");
  const bool any = !wanted || !*wanted;
  for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
    if (!any && strcmp(wanted, sets[i].isa) != 0) continue;
    if (sets[i].usable) return sets[i].kernels;
    if (!any) fail(EXIT_BAD_USAGE, "PHOTONS_ISA=%s: this processor does not have these instructions", wanted);
  }
  fail(EXIT_BAD_USAGE, "PHOTONS_ISA=%s: not one of the instruction sets of this build (baseline, avx2, avx512)",
       wanted);
}
