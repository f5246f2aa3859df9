/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The list of stages. */
#include "photons/runtime/stage.h"

#include <stdlib.h>
#include <string.h>

#include "photons/base/error.h"

static struct stage *registered;
static const struct stage *by_name[STAGES_MOST];
static uint32_t count;

void stage_register(struct stage *stage) {
  stage->next = registered;
  registered = stage;
}

static int compare_names(const void *a, const void *b) {
  const struct stage *const *x = a, *const *y = b;
  return strcmp(stage_name(*x), stage_name(*y));
}

uint32_t stage_count(void) {
  if (count > 0 || !registered) return count;
  for (struct stage *s = registered; s; s = s->next) {
    if (s->untimed) continue;
    if (count == STAGES_MOST)
      fail(EXIT_RUN_FAILED, "more than %d stages are registered: raise STAGES_MOST in stage.h",
           STAGES_MOST);
    by_name[count++] = s;
  }
  qsort(by_name, count, sizeof *by_name, compare_names);
  for (struct stage *s = registered; s; s = s->next)
    for (uint32_t i = 0; i < count; i++)
      if (by_name[i] == s) s->number = i;
  return count;
}

const struct stage *stage_at(uint32_t number) { return by_name[number]; }
