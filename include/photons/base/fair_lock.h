/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Locks that threads get in turn. A thread that holds a lock nearly always, as one that polls does, can
 * take a lock of the usual kind again and again before a thread that waits for the lock is awake. */
#ifndef PHOTONS_BASE_FAIR_LOCK_H
#define PHOTONS_BASE_FAIR_LOCK_H

#include <stdbool.h>

/** From now on, or no longer, the mutexes that this thread initialises without attributes are fair: who
 * unlocks such a mutex hands it to a thread that waits. For locks of libraries. Local. */
void fair_locks(bool fair);

#endif
