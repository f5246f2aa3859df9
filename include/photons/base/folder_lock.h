/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One process at a time writes into a folder. */
#ifndef PHOTONS_BASE_FOLDER_LOCK_H
#define PHOTONS_BASE_FOLDER_LOCK_H

#include <stdbool.h>

/**
 * Make the folder, and lock it until folder_unlock() or the end of this process, however it ends.
 * Where another process holds the lock, the program ends with EXIT_RUN_FAILED, the folder, and the
 * number and host of that process. Collective: the first process holds the lock for all.
 * @return what folder_unlock() wants
 */
int folder_lock(const char *folder);
void folder_unlock(int lock);

enum { FOLDER_LOCK_HOLDER = 128 };
/**
 * Whether another process holds the lock of the folder; local. The question takes no lock itself
 * and writes nothing: a run that wants the lock at the same time gets it.
 * @param[out] holder  number and host of that process; untouched without one
 */
bool folder_locked(const char *folder, char holder[FOLDER_LOCK_HOLDER]);

#endif
