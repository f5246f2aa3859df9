/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ranks that stop answering. A thread of each rank sends a short message to the next rank about
 * once a second, and listens to the rank before, in a ring. A computation may last as long as it
 * likes, since the thread goes on beside it. A process that is stopped, hangs in the kernel or has
 * died is silent, and so is one whose host or network has failed: then the next rank that lives
 * ends the run and names the silent one. */
#ifndef PHOTONS_BASE_HEARTBEAT_H
#define PHOTONS_BASE_HEARTBEAT_H

#include <stdbool.h>

/**
 * Listen from now on. Nothing happens on one rank. Collective.
 * @param timeout  seconds of silence after which fail() is called on a thread of its own; 0: never.
 *                 Time in which the listening rank itself is stopped does not count.
 * @param advice   ends the message: what the user can do now; NULL: nothing
 */
void heartbeat_start(double timeout, const char *(*advice)(void));
/** Wait until all ranks stop, and name one that is silent before; comm_end() calls this. From then on the
 * program has as much time again to end, and more where ranks share cores. Collective. */
void heartbeat_stop(void);
/** Whether this rank itself was silent for so long that another rank may have ended the run: it was
 * stopped, and has woken up in the last seconds. Local. */
bool heartbeat_given_up(void);

#endif
