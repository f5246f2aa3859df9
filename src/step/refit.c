/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/runtime/message.h"
#include "photons/step/step.h"
#include "photons/tree/codelets.h"

void step_refit(struct nbody *n) {
  FOR_GROUPS(&n->domain, g) refit_submit(&n->short_range, g);
  message_wait();
}
