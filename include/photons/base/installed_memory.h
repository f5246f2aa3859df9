/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How much memory the machines in use have. */
#ifndef PHOTONS_BASE_INSTALLED_MEMORY_H
#define PHOTONS_BASE_INSTALLED_MEMORY_H

/** Bytes of memory that a run may use, of machines like this one, as many as are in use. Of this machine it is
 * what is installed, or what a batch system or a container left the process at the first call, if that is less. For the
 * main thread. */
double installed_memory(void);

/**
 * The least limit of memory among the control groups of a process and those that contain it (Linux, versions
 * 1 and 2).
 * @param groups  the process' list of control groups, as /proc/self/cgroup
 * @param root    where control groups are mounted, as /sys/fs/cgroup
 * @return bytes; infinity where nothing limits the memory, or files are missing
 */
double memory_limit_of_groups(const char *groups, const char *root);

#endif
