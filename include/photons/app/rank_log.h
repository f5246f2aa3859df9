/* SPDX-License-Identifier: GPL-3.0-or-later */
/* log/ranks.csv: what ranks have sent to each other in a step, and how much memory each has for what it knows of
 * others, by counts. docs/dev/scaling-model.md has formulas for these numbers. */
#ifndef PHOTONS_APP_RANK_LOG_H
#define PHOTONS_APP_RANK_LOG_H

#include <stdint.h>

#include "photons/base/comm.h"

/** Kinds of messages and ways of collective functions, see rank_log.c. */
enum { RANK_LOG_SENT_MOST = 32 };

struct rank_log {
  struct sent first[RANK_LOG_SENT_MOST], last[RANK_LOG_SENT_MOST];
  int64_t steps; /**< between these two; below 0: no step has been taken */
};

/** Counts begin at the end of the first step that is told, since it may include what is sent once. Local. */
void rank_log_begin(struct rank_log *r);
void rank_log_step(struct rank_log *r);
/** Write the file, if there are several ranks. Collective. */
void rank_log_write(const struct rank_log *r, const char *dir);

#endif
