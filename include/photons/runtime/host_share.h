/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Division of a host's cores and GPUs among the ranks that run on it. */
#ifndef PHOTONS_HOST_SHARE_H
#define PHOTONS_HOST_SHARE_H

struct parameters;

/**
 * Give each rank of this host an equal part of the cores, unbound, and of the GPUs, at least one of
 * each. Does nothing for one rank per host, and leaves alone what the user (STARPU_NCPU,
 * STARPU_WORKERS_CUDAID, runtime.workers ...) or the launcher's binding has set. A binding to fewer
 * cores than the equal part (mpirun's default for two ranks is one core each) is widened to all
 * cores; a binding to at least that many is kept. Must be called before StarPU starts.
 */
void host_share(const struct parameters *p);

#endif
