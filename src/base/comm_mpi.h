/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The communicators of the run, for the files that call MPI. */
#ifndef PHOTONS_COMM_MPI_H
#define PHOTONS_COMM_MPI_H

#include <mpi.h>

#include "photons/base/comm.h"

/** Tags of messages between two ranks. Those of sparse exchanges take turns. */
enum { TAG_EXCHANGE = 1, TAG_TURN, TAG_PAIR, TAG_SPARSE, TAG_SPARSE_NEXT };

/** A communicator of all ranks, apart from StarPU's: that of the calling thread. */
MPI_Comm comm_all(void);
/** Whether the calling thread has called comm_use_background(). */
bool comm_in_background(void);
/** End the program where a call of MPI failed. */
void comm_check(int status, const char *what);
/** Count what this rank has sent. */
void comm_count(enum comm_way way, size_t bytes);

#endif
