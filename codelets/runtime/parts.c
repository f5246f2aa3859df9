/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/runtime/parts.h"

#include "codelets/runtime/task.h"
#include "photons/runtime/idle_workers.h"
#include "photons/runtime/offers.h"
#include "photons/runtime/task_log.h"

/** A stage's task in parts. */
struct task_parts {
  struct parts parts; /* first */
  const struct stage *stage;
  uint32_t owner; /* group of the task */
};

/** When the task ends its log is complete: helpers leave after this call. */
static void log_help(const struct parts *parts, double start, double end) {
  const struct task_parts *p = (const struct task_parts *)parts;
  if (!p->stage->untimed) task_log_add_part(p->stage, p->owner, 1e-6 * start, 1e-6 * end);
}

void parts_run(uint32_t n, void (*function)(void *context, uint32_t i), void *context) {
  struct task_parts p = {
      .parts = {.function = function, .context = context, .n = n, .helped = log_help}};
  if (n > 1 && idle_workers_help_tasks()) p.stage = task_stage(&p.owner);
  if (p.stage)
    offer_parts(&p.parts);
  else
    (void)parts_take(&p.parts);
}
