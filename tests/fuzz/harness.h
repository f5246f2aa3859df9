/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the fuzzing targets share: one input as a file, one call of a reader, and an end of the
 * reader that is not the end of the process. */
#ifndef PHOTONS_FUZZ_HARNESS_H
#define PHOTONS_FUZZ_HARNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "photons/base/error.h"
#include "photons/config/parameters.h"

/** A reader and how it is to be run. */
struct fuzz_reader {
  void (*read)(const char *path); /**< read the file and free what came out of it */
  enum exit_code refusal;         /**< the only code that the reader may give to fail() */
  /**
   * Free all memory that the reader left behind when it failed, whoever asked for it. False: only
   * what allocate(), reallocate() and open_memstream() gave, because a library keeps memory from
   * one input to the next.
   */
  bool free_all;
  void (*clean)(void); /**< called after each input; may be NULL */
};

/**
 * Write the input to a file and have it read. A reader that gives another code than its refusal
 * ends the process.
 */
void fuzz_input(const struct fuzz_reader *reader, const uint8_t *bytes, size_t size);

/**
 * End the process with a report of the fuzzer unless @p sound: for what must be true of an accepted
 * file.
 */
void fuzz_require(bool sound, const char *what);

/** The configuration with which the checkpoint of the corpus is written and read. */
static inline void fuzz_parameters(struct parameters *p) {
  parameters_default(p);
  p->box.size = 50.0;
  p->box.npart_side = 2;
}
/** The same for files of gas. */
static inline void fuzz_gas_parameters(struct parameters *p) {
  parameters_default(p);
  p->run.system = SYSTEM_GAS;
}

#endif
