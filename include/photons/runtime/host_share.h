/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How processes of one host share its cores and GPUs. */
#ifndef PHOTONS_HOST_SHARE_H
#define PHOTONS_HOST_SHARE_H

struct parameters;

/**
 * Set what StarPU should take, where several processes run on this host and neither the user (STARPU_NCPU, STARPU_WORKERS_CUDAID,
 * runtime.workers ...) nor the launcher's binding says it: an equal share of the cores, unbound, and of the GPUs, one at least. A binding to
 * fewer cores than that share (mpirun's default for two processes is one core each) is widened to all cores; one to that share or more
 * holds. Before StarPU starts.
 */
void host_share(const struct parameters *p);

#endif
