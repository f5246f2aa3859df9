/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A stage is one kind of task: one codelet under codelets/, or one loop over parts (loop.h). Each
 * stage says its own name, family and colour and registers itself when the program is loaded, so
 * that logs, traces and pictures know it without a table elsewhere. */
#ifndef PHOTONS_RUNTIME_STAGE_H
#define PHOTONS_RUNTIME_STAGE_H

#include <starpu.h>
#include <stdbool.h>
#include <stdint.h>

enum { STAGES_MOST = 64 };

struct stage {
  const char *family; /**< what the progress line adds up under one name, e.g. "pm"; NULL: "other" */
  bool untimed;       /**< outputs: not accounted for as time of a step */
  struct starpu_codelet *codelet; /**< its name and colour are the stage's */
  uint32_t number;                /**< 0 .. stage_count() - 1, by name; set when first asked for */
  struct stage *next;             /**< of those registered */
};

/** From a function with the attribute constructor, before main(); see STAGE_REGISTER. */
void stage_register(struct stage *stage);
#define STAGE_REGISTER(variable)                                       \
  __attribute__((constructor)) static void register_##variable(void) { \
    stage_register(&(variable));                                       \
  }                                                                    \
  struct stage /* takes the semicolon */

/** Stages of this program that are accounted for (untimed ones are not), and each of them, by name. */
uint32_t stage_count(void);
const struct stage *stage_at(uint32_t number);
static inline const char *stage_name(const struct stage *s) { return s->codelet->name; }

#endif
