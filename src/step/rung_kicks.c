/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The kicks by rungs of all targets of this rank. */
#include "rung_kicks.h"

#include <string.h>

#include "photons/domain/codelets.h"
#include "photons/step/codelets.h"
#include "photons/tree/codelets.h"

static void kick_all(struct nbody *n, const struct rung_kick *k) {
  FOR_GROUPS(&n->domain, g)
  if (g->targets > 0) kick_rungs_submit(n, g, k);
}

static void kick_by_pairs(struct nbody *n, const struct rung_kick *k) {
  struct rung_kick close = *k, open = *k;
  if (k->choice != RUNG_BY_ACCELERATION) close.choice = RUNG_BY_CHANGE;
  memset(close.open, 0, sizeof close.open);
  open.choice = RUNG_BY_PAIRS;
  memset(open.close, 0, sizeof open.close);
  kick_all(n, &close);
  ghosts_momenta_submit(&n->domain);
  FOR_GROUPS(&n->domain, g)
  if (g->targets > 0) pair_rates_submit(&n->short_range, g);
  kick_all(n, &open);
}

void rung_kicks_submit(struct nbody *n, const struct rung_kick *k) {
  if (n->short_range.keep_near)
    kick_by_pairs(n, k);
  else
    kick_all(n, k);
}
