/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The choice of the instruction set. */
#include "photons/runtime/isa.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "build_config.h"
#include "photons/base/error.h"

static const struct {
  const char *name, *setting; /* name in messages; value of PHOTONS_ISA */
} isas[ISAS] = {[ISA_BASELINE] = {"baseline", "baseline"},
                [ISA_AVX2] = {"AVX2", "avx2"},
                [ISA_AVX512] = {"AVX-512", "avx512"}};

/** Whether this build has the instruction set and the processor runs it. */
static bool usable(enum isa isa) {
#ifdef HAVE_X86_KERNELS
  /* The builtin also checks that the operating system saves the registers. */
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                    __builtin_cpu_supports("bmi2");
  if (isa == ISA_AVX2) return avx2;
  if (isa == ISA_AVX512)
    return avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
#endif
  return isa == ISA_BASELINE;
}

enum isa isa_select(void) {
  const char *wanted = getenv("PHOTONS_ISA");
  const bool any = !wanted || !*wanted;
  for (enum isa isa = ISAS; isa-- > 0;) {
    if (!any && strcmp(wanted, isas[isa].setting) != 0) continue;
    if (usable(isa)) return isa;
    if (!any)
      fail(EXIT_BAD_USAGE,
           "PHOTONS_ISA=%s: this processor or this build lacks these instructions; unset "
           "PHOTONS_ISA",
           wanted);
  }
  fail(EXIT_BAD_USAGE, "PHOTONS_ISA=%s: not an instruction set (baseline, avx2, avx512)", wanted);
}

const char *isa_name(enum isa isa) { return isas[isa].name; }
