/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A stage is one kind of task: one codelet under codelets/, or one loop over parts (loop.h). The
 * file of a stage gives the stage's name, family and colour, and registers the stage when the
 * program is loaded. Logs, traces and pictures therefore know all stages without a table
 * elsewhere. */
#ifndef PHOTONS_RUNTIME_STAGE_H
#define PHOTONS_RUNTIME_STAGE_H

#include <starpu.h>
#include <stdbool.h>
#include <stdint.h>

enum { STAGES_MOST = 128 };

struct stage {
  const char *family; /**< stages whose times the progress line adds up, e.g. "pm"; NULL: "other" */
  bool untimed;       /**< for outputs, whose time does not count as time of a step */
  struct starpu_codelet *codelet; /**< has the stage's name and colour */
  uint32_t number;                /**< 0 .. stage_count() - 1 in the order of the names; set by
                                   *   stage_count() */
  struct stage *next;             /**< in the list of registered stages */
};

/** Register a stage before main(): called by the constructor that STAGE_REGISTER defines. */
void stage_register(struct stage *stage);
#define STAGE_REGISTER(variable)                                       \
  __attribute__((constructor)) static void register_##variable(void) { \
    stage_register(&(variable));                                       \
  }                                                                    \
  struct stage /* takes the semicolon */

/** Number of the program's stages that are not untimed, and each of these, in the order of their
 * names. */
uint32_t stage_count(void);
const struct stage *stage_at(uint32_t number);
static inline const char *stage_name(const struct stage *s) { return s->codelet->name; }

#endif
