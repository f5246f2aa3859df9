/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/base/kept.h"

static size_t most[KEPT_COUNT]; /* of the process, as its memory is */

void kept_set(enum kept kind, size_t bytes) {
  if (bytes > most[kind]) most[kind] = bytes;
}

size_t kept_most(enum kept kind) { return most[kind]; }

const char *kept_name(enum kept kind) {
#define KEPT_NAME(name) #name,
  static const char *const names[] = {KEPT_KINDS(KEPT_NAME)};
  return names[kind];
}
