/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PHOTONS_CONFIG_SCHEDULER_NAMES_H
#define PHOTONS_CONFIG_SCHEDULER_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/** The scheduler of include/photons/runtime/owner_computes.h. */
#define OWNER_COMPUTES "owner-computes"

/**
 * Is it a scheduler that a run may use? OWNER_COMPUTES is, and all of StarPU's are, but those
 * that do not work here (scheduler_names.c).
 * @param[out] allowed  the names, each after a space, where the answer is no
 */
bool scheduler_allowed(const char *name, char *allowed, size_t size);

#endif
